//! Faults on purpose, for tests of clients.

use parking_lot::Mutex;

use crate::failure::Failure;
use crate::write::WriteRequest;

/// What goes wrong with a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The server refuses.
    Refuse(Failure),
    /// The write is done, but the client never hears of it.
    Lose,
    /// The connection breaks before the write is done.
    Cut,
}

impl Fault {
    /// The server refuses with this code, reason and message.
    pub fn refuse(code: u16, reason: &str, message: &str) -> Self {
        Self::Refuse(Failure::new(code, reason, message))
    }
}

type Hook = Box<dyn FnMut(&WriteRequest) -> Fault + Send>;

/// Who decides about faults.
#[derive(Default)]
pub(crate) struct Faults(Mutex<Option<Hook>>);

impl Faults {
    pub(crate) fn decide_by(&self, hook: impl FnMut(&WriteRequest) -> Fault + Send + 'static) {
        *self.0.lock() = Some(Box::new(hook));
    }

    pub(crate) fn decide(&self, request: &WriteRequest) -> Fault {
        self.0.lock().as_mut().map_or(Fault::None, |hook| hook(request))
    }
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Faults")
    }
}
