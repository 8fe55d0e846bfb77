//! Objects that exist and cannot be decoded. Readers of the cache do not see them; what is known of them is their metadata,
//! so that somebody can see to it that they end.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use parking_lot::{Mutex, RwLock};

use super::key::Key;

/// What is known of an object that cannot be decoded.
#[derive(Clone, Debug)]
pub struct Undecodable {
    /// Its metadata, without annotations and managed fields.
    pub metadata: ObjectMeta,
    /// Why it cannot be decoded.
    pub error: String,
}

type Listener = Arc<dyn Fn(&Undecodable) + Send + Sync>;

/// All of one kind.
#[derive(Default)]
pub(super) struct Undecodables {
    objects: Mutex<BTreeMap<Key, Arc<Undecodable>>>,
    listeners: RwLock<Vec<Listener>>,
}

impl Undecodables {
    pub(super) fn get(&self, namespace: &str, name: &str) -> Option<Arc<Undecodable>> {
        self.objects.lock().get(Key::text(namespace, name).as_str()).cloned()
    }

    pub(super) fn list(&self) -> Vec<Arc<Undecodable>> {
        self.objects.lock().values().cloned().collect()
    }

    pub(super) fn listen(&self, listener: impl Fn(&Undecodable) + Send + Sync + 'static) {
        self.listeners.write().push(Arc::new(listener));
    }

    /// The watch shows it.
    pub(super) fn observed(&self, metadata: &ObjectMeta, error: &str) {
        let metadata = ObjectMeta { annotations: None, managed_fields: None, ..metadata.clone() };
        let found = Arc::new(Undecodable { metadata, error: error.to_owned() });
        self.objects.lock().insert(Key::of(&found.metadata), Arc::clone(&found));
        // A listener may add another, so the list is not locked during the calls.
        let listeners = self.listeners.read().clone();
        for listener in listeners {
            listener(&found);
        }
    }

    /// It is gone, or can be decoded now.
    pub(super) fn forget(&self, metadata: &ObjectMeta) {
        let mut objects = self.objects.lock();
        if !objects.is_empty() {
            objects.remove(&Key::of(metadata));
        }
    }

    /// The object of this name and UID is gone.
    pub(super) fn gone(&self, namespace: &str, name: &str, uid: &str) {
        let mut objects = self.objects.lock();
        let key = Key::text(namespace, name);
        if objects.get(key.as_str()).is_some_and(|it| it.metadata.uid.as_deref() == Some(uid)) {
            objects.remove(key.as_str());
        }
    }

    /// A list starts, and shows all that there are.
    pub(super) fn clear(&self) {
        self.objects.lock().clear();
    }
}
