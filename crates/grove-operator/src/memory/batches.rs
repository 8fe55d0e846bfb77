//! Children that failed, and are passed over until all others had their turn.

use super::Memory;

impl Memory {
    /// So many children of the object with this UID are passed over.
    pub(crate) fn skip(&self, uid: &str, children: usize) {
        if self.skipped(uid) != children {
            self.note(uid, |notes| notes.skipped = children);
        }
    }

    /// How many are.
    pub(crate) fn skipped(&self, uid: &str) -> usize {
        self.look(uid, |notes| notes.skipped).unwrap_or_default()
    }
}
