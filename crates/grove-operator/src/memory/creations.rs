//! PodCliques of which it is not known whether a pod was created: the answer to the request was lost.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;

/// By UID of the PodClique. Clones share it, so that a write that outlives its reconcile can note that its answer was lost.
#[derive(Clone, Default)]
pub(crate) struct Creations(Arc<Mutex<BTreeSet<String>>>);

impl Creations {
    /// An answer was lost.
    pub(crate) fn lost(&self, clique: &str) {
        self.0.lock().insert(clique.to_owned());
    }

    /// Whether one was, and pods were not listed since.
    pub(crate) fn is_uncertain(&self, clique: &str) -> bool {
        self.0.lock().contains(clique)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// PodCliques that are gone are forgotten: an answer may have been lost after that.
    pub(super) fn sweep(&self, live: &BTreeSet<String>) {
        self.0.lock().retain(|it| live.contains(it));
    }

    /// Pods were listed, or the PodClique is gone.
    pub(crate) fn settled(&self, clique: &str) {
        self.0.lock().remove(clique);
    }
}
