//! The nodes of a cluster, which are always the same: from situation to situation they get other labels, taints and GPUs.
//!
//! That is faster than new nodes, which have to become ready first; and who has seen the last change of a node has seen all others,
//! because a watch tells of them in their order.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;

use super::{
    objects::{NodeShape, idle, shape},
    situation::Situation,
};
use crate::{
    nodes::{Hall, node_name},
    scenario::{Context, DEADLINE, PodState, eventually},
};

/// Nodes that a situation may have, and the perch.
const NODES: usize = 17;
/// Label of the node for canaries, with the number of the change after which it was set.
const PERCH: &str = "situations.grove.io/perch";
/// The taint that a cordoned node gets from a controller.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The nodes of a cluster.
pub(super) struct Floor {
    nodes: Api<Node>,
    /// What each is now.
    shapes: Vec<NodeShape>,
    /// The nodes of the situation, by the name that they have there.
    names: BTreeMap<String, usize>,
    canaries: usize,
}

impl Floor {
    /// Makes the nodes.
    pub(super) async fn new(context: &mut Context) -> Result<Self> {
        context.nodes(Hall::racks(NODES).gpus(0)).await?;
        let nodes = Api::all(context.client());
        let mut floor = Self { nodes, shapes: Vec::new(), names: BTreeMap::new(), canaries: 0 };
        let everywhere = (0..NODES).map(|at| floor.put(at, None, idle()));
        floor.shapes = try_join_all(everywhere).await?;
        Ok(floor)
    }

    /// Gives the nodes the shapes of a situation.
    pub(super) async fn arrange(&mut self, situation: &Situation) -> Result<()> {
        let wanted = situation.nodes();
        ensure!(wanted.len() < NODES, "{} nodes; at most {}", wanted.len(), NODES - 1);
        self.names = wanted.iter().enumerate().map(|(at, it)| (it.0.clone(), at)).collect();
        let shapes = (0..NODES - 1).map(|at| match wanted.get(at) {
            Some((_, nodes)) => shape(&node_name(at, 0), nodes),
            None => Ok(idle()),
        });
        let shapes: Vec<NodeShape> = shapes.collect::<Result<_>>()?;
        self.become_shapes(shapes).await
    }

    /// What a node is called in the cluster.
    pub(super) fn node(&self, name: &str) -> Result<String> {
        self.names.get(name).map(|at| node_name(*at, 0)).with_context(|| format!("no node {name}"))
    }

    /// The label of a node by its name in the cluster.
    pub(super) fn label(&self, node: &str, key: &str) -> Option<String> {
        let at = (0..NODES).find(|at| node_name(*at, 0) == node)?;
        self.shapes[at].labels[key].as_str().map(str::to_owned)
    }

    /// Keeps new pods off nodes, or lets them on again.
    pub(super) async fn cordon(&mut self, names: &[String], cordoned: bool) -> Result<()> {
        let mut shapes = self.shapes[..NODES - 1].to_vec();
        for name in names {
            let at = self.names.get(name).with_context(|| format!("no node {name}"))?;
            shapes[*at].cordoned = cordoned;
        }
        self.become_shapes(shapes).await
    }

    async fn become_shapes(&mut self, shapes: Vec<NodeShape>) -> Result<()> {
        let changed = shapes.into_iter().enumerate().filter(|(at, it)| self.shapes[*at] != *it);
        let changed: Vec<(usize, NodeShape)> = changed.collect();
        let this = &*self;
        let puts = changed.into_iter().map(|(at, shape)| async move {
            Ok::<_, anyhow::Error>((at, this.put(at, Some(&this.shapes[at]), shape).await?))
        });
        let put: Vec<(usize, NodeShape)> = try_join_all(puts).await?;
        for (at, shape) in put {
            self.shapes[at] = shape;
        }
        Ok(())
    }

    /// Changes a node, and waits for the taint that belongs to it.
    async fn put(&self, at: usize, before: Option<&NodeShape>, shape: NodeShape) -> Result<NodeShape> {
        let name = node_name(at, 0);
        let taints = shape.taints.iter().map(|(key, effect)| json!({ "key": key, "effect": effect }));
        let spec = json!([
            { "op": "add", "path": "/metadata/labels", "value": shape.labels },
            { "op": "add", "path": "/spec", "value": { "taints": taints.collect::<Vec<_>>(), "unschedulable": shape.cordoned } },
        ]);
        let patch: Patch<()> = Patch::Json(serde_json::from_value(spec)?);
        self.nodes.patch(&name, &PatchParams::default(), &patch).await?;
        if before.is_none_or(|it| (it.gpus, it.cpus) != (shape.gpus, shape.cpus)) {
            let amounts = json!({ "nvidia.com/gpu": shape.gpus.to_string(), "cpu": shape.cpus.to_string() });
            let status = json!({ "status": { "capacity": amounts, "allocatable": amounts } });
            self.nodes.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await?;
        }
        if shape.cordoned || before.is_some_and(|it| it.cordoned) {
            eventually("the taint of a cordoned node comes and goes with it", DEADLINE, || async {
                let node = self.nodes.get(&name).await?;
                let taints = node.spec.and_then(|it| it.taints).unwrap_or_default();
                let is_tainted = taints.iter().any(|it| it.key == UNSCHEDULABLE);
                ensure!(is_tainted == shape.cordoned, "{name}: {taints:?}");
                Ok(())
            })
            .await?;
        }
        Ok(shape)
    }

    /// Waits until the scheduler binds a pod that came after everything that there is now, and so has seen it: nodes, because the pod
    /// needs a label that its node got after them, and pods, because they are told of in their order.
    pub(super) async fn canary(&mut self, context: &Context) -> Result<()> {
        self.canaries += 1;
        let number = self.canaries.to_string();
        let label = json!({ "metadata": { "labels": { PERCH: number } } });
        let perch = node_name(NODES - 1, 0);
        self.nodes.patch(&perch, &PatchParams::default(), &Patch::Merge(label)).await?;
        let name = format!("canary-{number}");
        context.pod(&name, 0, json!({ "spec": { "nodeSelector": { PERCH: number } } })).await?;
        let bound = |pods: &[PodState]| pods.iter().any(|it| it.name == name && it.node.is_some());
        context.expect("the canary is bound", bound).await?;
        context.delete_pod(&name).await
    }

    /// Takes all pods of the namespace away, and waits until they are gone.
    pub(super) async fn clear(&self, context: &Context) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
        let at_once = DeleteParams::default().grace_period(0);
        pods.delete_collection(&at_once, &ListParams::default()).await?;
        context.expect("all pods are gone", <[PodState]>::is_empty).await?;
        Ok(())
    }
}
