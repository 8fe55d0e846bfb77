//! Nodes of the cluster, as far as they explain why pods are not placed.

use std::{collections::BTreeMap, io};

use k8s_openapi::api::core::v1::Node as ApiNode;
use kube::{Api, api::ListParams};

use super::workload::pages::pages;
use crate::{
    amount::Amount,
    cluster::{Cluster, failure},
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) is_cordoned: bool,
    pub(super) labels: BTreeMap<String, String>,
    /// What pods may take of each resource.
    pub(super) allocatable: BTreeMap<String, Amount>,
}

impl Node {
    fn of(node: ApiNode) -> Self {
        let allocatable = node.status.and_then(|it| it.allocatable).unwrap_or_default();
        Self {
            name: node.metadata.name.unwrap_or_default(),
            is_cordoned: node.spec.and_then(|it| it.unschedulable).unwrap_or_default(),
            labels: node.metadata.labels.unwrap_or_default(),
            allocatable: allocatable.iter().map(|(name, it)| (name.clone(), Amount::of(it))).collect(),
        }
    }

    /// Whether it could hold a pod that asks for this much if it were empty.
    pub(super) fn holds(&self, requests: &BTreeMap<String, Amount>) -> bool {
        requests.iter().all(|(name, asked)| self.has(name) >= *asked)
    }

    pub(super) fn has(&self, resource: &str) -> Amount {
        self.allocatable.get(resource).copied().unwrap_or_default()
    }
}

/// All nodes; `None` where they may not be read, or are too many. They have no namespace, so that users of one namespace
/// are often refused them.
pub(super) async fn read(cluster: &Cluster) -> io::Result<Option<Vec<Node>>> {
    let api: Api<ApiNode> = Api::all(cluster.client.clone());
    let mut nodes = Vec::new();
    let keep = |it| nodes.push(Node::of(it));
    match pages(ListParams::default(), async |it| api.list(&it).await, keep).await {
        Ok(is_all) => Ok(is_all.then_some(nodes)),
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404) => Ok(None),
        Err(error) => Err(failure(&cluster.server, &error)),
    }
}
