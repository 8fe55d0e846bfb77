//! One node: its kubelet says that it is well, and has a lease.

use std::sync::Arc;

use grove_runtime::{Outcome, WriteError};
use k8s_openapi::{
    api::{coordination::v1::Lease, core::v1::Node},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use serde_json::json;
use tracing::warn;

use super::{
    Kubelet,
    node_status::{address, node_status},
    version,
};
use crate::{caches::LEASES, clock::later, pod_key::PodKey, status_patch};

/// How long a lease is good for: longer than anybody waits, where it is not renewed.
const LEASE_SECONDS: i32 = 40;

impl Kubelet {
    pub(super) async fn reconcile_node(self: Arc<Self>, name: String) -> Result<Outcome, WriteError> {
        let Some(node) = self.node(&name) else { return Ok(Outcome::Done) };
        self.report_status(&name, &node).await?;
        self.keep_lease(&name, &node).await
    }

    async fn report_status(&self, name: &str, node: &Arc<Node>) -> Result<(), WriteError> {
        let free = || self.addresses.next_node(|it| self.caches.nodes_by_address.count(it) > 0);
        let status = node_status(node, free, self.clock.now());
        if node.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let had_address = address(node).is_some();
        match status_patch(version(&**node), node.status.as_ref(), &status) {
            Ok(patch) => {
                let written = self.writer.patch_status::<Node>("", name, &patch).await?;
                self.caches.nodes.written(written);
            }
            Err(error) => warn!(node = name, %error, "status cannot be written"),
        }
        if !had_address {
            // Pods that were bound before the node had an address wait for it.
            for pod in self.caches.pods_by_node.get(name) {
                self.pods.add(PodKey::of(&pod));
            }
        }
        Ok(())
    }

    /// Somebody who deletes the lease gets a new one. It is renewed only if that was asked for.
    async fn keep_lease(&self, name: &str, node: &Node) -> Result<Outcome, WriteError> {
        let now = self.clock.now();
        let Some(lease) = self.caches.leases.get(LEASES, name) else {
            let lease = self.writer.create::<Lease>(LEASES, &new_lease(name, node, now)).await;
            match lease {
                Ok(lease) => drop(self.caches.leases.written(lease)),
                // The informer is about to show it.
                Err(error) if error.is_already_exists() => {}
                Err(error) => return Err(error),
            }
            return Ok(self.options.lease_renewal.map_or(Outcome::Done, Outcome::After));
        };
        let Some(period) = self.options.lease_renewal else { return Ok(Outcome::Done) };
        let renewed = lease.spec.as_ref().and_then(|it| it.renew_time.as_ref());
        let due = renewed.map_or(now, |it| later(it.0, period));
        if now < due {
            return Ok(Outcome::After(self.clock.until(due)));
        }
        let patch = json!({ "spec": { "holderIdentity": name, "renewTime": MicroTime(now) } });
        self.caches.leases.written(self.writer.patch::<Lease>(LEASES, name, &patch).await?);
        Ok(Outcome::After(period))
    }
}

/// Goes with its node.
fn new_lease(name: &str, node: &Node, now: Timestamp) -> serde_json::Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {
            "name": name, "namespace": LEASES,
            "ownerReferences": [{ "apiVersion": "v1", "kind": "Node", "name": name, "uid": node.metadata.uid }],
        },
        "spec": { "holderIdentity": name, "leaseDurationSeconds": LEASE_SECONDS, "renewTime": MicroTime(now) },
    })
}
