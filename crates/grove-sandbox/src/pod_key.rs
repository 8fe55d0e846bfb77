//! Keys of pods in work queues.

use grove_runtime::QueueKey;
use k8s_openapi::api::core::v1::Pod;

/// Namespace and name of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl PodKey {
    pub(crate) fn of(pod: &Pod) -> Self {
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        Self { namespace: text(&pod.metadata.namespace), name: text(&pod.metadata.name) }
    }
}

impl QueueKey for PodKey {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}
