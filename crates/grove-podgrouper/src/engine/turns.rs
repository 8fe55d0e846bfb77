//! Who may write a group: one at a time.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tokio::sync::Mutex;

/// Far more than workers, so that those of different groups seldom meet.
const TURNS: usize = 256;

/// Turns of groups. Two groups may share one; it only costs time.
#[derive(Debug)]
pub(crate) struct Turns(Vec<Mutex<()>>);

impl Default for Turns {
    fn default() -> Self {
        Self(std::iter::repeat_with(Mutex::default).take(TURNS).collect())
    }
}

impl Turns {
    pub(crate) fn of(&self, namespace: &str, group: &str) -> &Mutex<()> {
        let mut hasher = DefaultHasher::new();
        (namespace, group).hash(&mut hasher);
        // Taken modulo its length, which is not 0.
        let place = usize::try_from(hasher.finish() % TURNS as u64).unwrap_or_default();
        &self.0[place]
    }
}
