//! Which sets have gangs whose scheduler objects are being written. A set's deletion waits for them: an object that reached
//! the server after its gang was deleted would have an owner that does not exist.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// Writes under way, by UID of the set.
#[derive(Default)]
pub(crate) struct Syncs(Mutex<BTreeMap<String, usize>>);

impl Syncs {
    pub(crate) fn begin(&self, set: &str) {
        *self.0.lock().entry(set.to_owned()).or_default() += 1;
    }

    pub(crate) fn end(&self, set: &str) {
        let mut running = self.0.lock();
        if let Some(count) = running.get_mut(set) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                running.remove(set);
            }
        }
    }

    pub(crate) fn is_any(&self, set: &str) -> bool {
        self.0.lock().contains_key(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_busy_until_the_last_write_of_it_ends() {
        let syncs = Syncs::default();
        syncs.begin("a");
        syncs.begin("a");
        syncs.begin("b");
        syncs.end("a");
        assert!(syncs.is_any("a") && syncs.is_any("b"));
        syncs.end("a");
        assert!(!syncs.is_any("a") && syncs.is_any("b"));
        syncs.end("b");
        assert!(syncs.0.lock().is_empty());
    }
}
