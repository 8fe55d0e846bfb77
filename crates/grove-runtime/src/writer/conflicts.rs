//! Who hears that a write was refused because its object is otherwise by now.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::WriteError;

/// Called with namespace and name.
type Listener = Arc<dyn Fn(&str, &str) + Send + Sync>;

/// Listeners by kind. Clones are the same ones.
#[derive(Clone, Default)]
pub(super) struct Conflicts(Arc<RwLock<BTreeMap<String, Listener>>>);

impl Conflicts {
    pub(super) fn listen(&self, kind: &str, listener: impl Fn(&str, &str) + Send + Sync + 'static) {
        self.0.write().insert(kind.to_owned(), Arc::new(listener));
    }

    pub(super) fn tell(&self, error: &WriteError) {
        if !error.is_conflict() {
            return;
        }
        let listener = self.0.read().get(&error.kind).cloned();
        if let Some(listener) = listener {
            let (namespace, name) = error.name.split_once('/').unwrap_or(("", &error.name));
            listener(namespace, name);
        }
    }
}
