//! KAI's Topology: the node labels of the levels, from the broadest to the narrowest.

use grove_api::wire::ClusterTopologyBinding;
use kube::core::{ApiResource, GroupVersionKind, GroupVersionResource};
use serde_json::{Value, json};

use crate::{
    backend::Object,
    topology::TopologyPart,
    tree::{Content, Gang, Node},
};

/// What KAI reads topologies from. Without it, KAI knows none.
pub(super) fn served() -> GroupVersionResource {
    GroupVersionResource::gvr("kai.scheduler", "v1alpha1", "topologies")
}

/// Whether a part of the gang has to be in one domain.
pub(super) fn is_required(gang: &Gang) -> bool {
    gang.pack.required.is_some() || gang.nodes().iter().any(|it| it.pack.required.is_some())
}

/// The gang without preferred levels: KAI never places a gang that names a topology which does not exist, also where it
/// only prefers one.
pub(super) fn without_preferences(gang: &Gang) -> Gang {
    fn strip(nodes: &mut [Node]) {
        for node in nodes {
            node.pack.preferred = None;
            if let Content::Bundle(children) = &mut node.content {
                strip(children);
            }
        }
    }
    let mut gang = gang.clone();
    gang.pack.preferred = None;
    strip(&mut gang.children);
    gang
}

/// KAI's topology objects.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Topologies;

impl TopologyPart for Topologies {
    fn resource(&self) -> ApiResource {
        let kind = GroupVersionKind::gvk("kai.scheduler", "v1alpha1", "Topology");
        ApiResource::from_gvk_with_plural(&kind, "topologies")
    }

    fn render(&self, binding: &ClusterTopologyBinding) -> Object {
        let resource = self.resource();
        let levels: Vec<Value> = keys(binding).into_iter().map(|key| json!({ "nodeLabel": key })).collect();
        let value = json!({
            "apiVersion": resource.api_version, "kind": resource.kind,
            "metadata": { "name": self.name_of(binding) },
            "spec": { "levels": levels },
        });
        Object { resource, value, once: Vec::new(), immutable: vec!["/spec/levels".to_owned()] }
    }

    fn drift(&self, binding: &ClusterTopologyBinding, there: &Value) -> Option<String> {
        let levels = there.pointer("/spec/levels").and_then(Value::as_array);
        // A level may have an alias besides; what counts is the label.
        let has: Vec<&str> =
            levels.into_iter().flatten().map(|it| it["nodeLabel"].as_str().unwrap_or_default()).collect();
        let wants = keys(binding);
        (has != wants).then(|| format!("its levels are {}, and the binding's {}", list(&has), list(&wants)))
    }
}

fn keys(binding: &ClusterTopologyBinding) -> Vec<&str> {
    binding.spec.levels.iter().map(|it| it.key.as_str()).collect()
}

fn list(keys: &[&str]) -> String {
    format!("[{}]", keys.join(", "))
}
