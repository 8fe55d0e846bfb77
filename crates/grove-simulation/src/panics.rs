//! Panics of a run. The operator survives its own, so somebody has to notice.

use std::{
    cell::RefCell,
    panic::{set_hook, take_hook},
    sync::Once,
};

thread_local! {
    /// The last one in this thread, where a whole run takes place.
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

static HOOK: Once = Once::new();

/// Notes panics from now on, and forgets those before.
pub(crate) fn watch() {
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            LAST.set(Some(panic.to_string()));
            usual(panic);
        }));
    });
    LAST.set(None);
}

/// The last one since then, in words.
pub(crate) fn last() -> Option<String> {
    LAST.with_borrow(Clone::clone)
}
