//! What kubelets and controllers know of the cluster: one informer for each kind, shared by all parts.

use grove_runtime::{Cache, Index, inform_guarded};
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{Namespace, Node, Pod},
};
use kube::{Api, Client, Resource, runtime::watcher::Config};
use tokio_util::sync::CancellationToken;

/// Namespace of the nodes' leases.
pub(crate) const LEASES: &str = "kube-node-lease";

/// Caches and their indexes. Clones share the content.
#[derive(Clone, Debug)]
pub(crate) struct Caches {
    pub(crate) pods: Cache<Pod>,
    /// Pods by the name of their node.
    pub(crate) pods_by_node: Index<Pod>,
    /// Pods by their addresses.
    pub(crate) pods_by_address: Index<Pod>,
    /// Pods by namespace and name of their PodGroup.
    pub(crate) pods_by_group: Index<Pod>,
    pub(crate) nodes: Cache<Node>,
    /// Nodes by their addresses.
    pub(crate) nodes_by_address: Index<Node>,
    pub(crate) leases: Cache<Lease>,
    pub(crate) namespaces: Cache<Namespace>,
}

impl Caches {
    pub(crate) fn new() -> Self {
        let (pods, nodes) = (Cache::<Pod>::new(), Cache::<Node>::new());
        Self {
            pods_by_node: pods.index(|pod| node_name(pod).map(str::to_owned).into_iter().collect()),
            pods_by_address: pods.index(|pod| {
                let address = pod.status.as_ref().and_then(|it| it.pod_ip.clone());
                address.into_iter().collect()
            }),
            pods_by_group: pods.index(|pod| {
                let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
                group_name(pod).map(|it| format!("{namespace}/{it}")).into_iter().collect()
            }),
            nodes_by_address: nodes.index(|node| {
                let addresses = node.status.as_ref().and_then(|it| it.addresses.as_ref());
                addresses.into_iter().flatten().map(|it| it.address.clone()).collect()
            }),
            pods,
            nodes,
            leases: Cache::new(),
            namespaces: Cache::new(),
        }
    }

    /// Keeps the caches equal to the server until `stop`.
    pub(crate) async fn run(self, client: Client, stop: CancellationToken) {
        let config = Config::default;
        tokio::join!(
            inform_guarded(Api::all(client.clone()), config(), self.pods, without_managers, stop.clone()),
            inform_guarded(Api::all(client.clone()), config(), self.nodes, without_managers, stop.clone()),
            inform_guarded(
                Api::namespaced(client.clone(), LEASES),
                config(),
                self.leases,
                without_managers,
                stop.clone()
            ),
            inform_guarded(Api::all(client), config(), self.namespaces, without_managers, stop),
        );
    }

    /// Waits until everything is known.
    pub(crate) async fn synced(&self) {
        self.pods.synced().await;
        self.nodes.synced().await;
        self.leases.synced().await;
        self.namespaces.synced().await;
    }
}

/// The node that a pod is bound to.
pub(crate) fn node_name(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|it| !it.is_empty())
}

/// The PodGroup that a pod belongs to.
pub(crate) fn group_name(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.scheduling_group.as_ref()?.pod_group_name.as_deref()
}

/// Nobody here reads who manages which field.
pub(crate) fn without_managers<K: Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}
