//! What kubelets do where no annotation says otherwise.

use std::time::Duration;

use crate::annotations::Behaviour;

/// Options of the simulated kubelets.
#[derive(Clone, Debug)]
pub struct KubeletOptions {
    /// How long it takes to pull an image.
    pub pull_after: Duration,
    /// From the start of the containers to the readiness of the pod.
    pub ready_after: Duration,
    /// How long an init container runs.
    pub init_after: Duration,
    /// Requests for pods at a time.
    pub concurrency: usize,
    /// How often each node's lease is renewed. Without it leases are created once, and a quiet cluster sees no writes.
    pub lease_renewal: Option<Duration>,
}

/// Everything happens at once.
impl Default for KubeletOptions {
    fn default() -> Self {
        Self {
            pull_after: Duration::ZERO,
            ready_after: Duration::ZERO,
            init_after: Duration::ZERO,
            concurrency: 32,
            lease_renewal: None,
        }
    }
}

impl KubeletOptions {
    pub(super) fn behaviour(&self) -> Behaviour {
        Behaviour {
            pull_after: self.pull_after,
            ready_after: self.ready_after,
            init_after: self.init_after,
            ..Behaviour::default()
        }
    }
}
