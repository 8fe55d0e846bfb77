//! A scheduler of the tests, whose backend does as it is told: it describes a gang by a Herd, and a topology by a
//! Pasture.

use std::sync::Arc;

use grove_api::{
    config::check_keys,
    constants::annotations,
    field::{Errors, Path},
    wire::ClusterTopologyBinding,
};
use grove_scheduler::{
    Answer, Capabilities, Gang, Object, PrepareError, Probe, Probed, RenderError, ResourceUse, Scheduler,
    SchedulerBackend, TopologyPart, Uses,
};
use k8s_openapi::api::core::v1::Pod;
use kube::core::{ApiResource, GroupVersionKind};
use parking_lot::Mutex;
use serde_json::{Value, json};

pub(crate) const HERDS: &str = "herds.toy.example.com";
pub(crate) const PASTURES: &str = "pastures.toy.example.com";
/// What pods carry as their scheduler.
pub(crate) const TOY: &str = "toy-scheduler";

/// What the backend does, from now on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    /// Why it cannot be initialised.
    pub(crate) missing: Option<&'static str>,
    /// Why it cannot render.
    pub(crate) no_render: Option<&'static str>,
    /// Why it cannot prepare pods.
    pub(crate) no_prepare: Option<&'static str>,
    /// It renames pods, which it must not.
    pub(crate) renames: bool,
    /// It leaves a note behind that somebody has to delete.
    pub(crate) leaves_a_note: bool,
}

/// The backend.
#[derive(Clone, Debug, Default)]
pub(crate) struct Toy {
    orders: Arc<Mutex<Orders>>,
}

impl Toy {
    pub(crate) fn order(&self, change: impl FnOnce(&mut Orders)) {
        change(&mut self.orders.lock());
    }
}

pub(crate) fn herds() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("toy.example.com", "v1", "Herd"), "herds")
}

fn pastures() -> ApiResource {
    let kind = GroupVersionKind::gvk("toy.example.com", "v1", "Pasture");
    ApiResource::from_gvk_with_plural(&kind, "pastures")
}

/// The definition of Herds.
pub(crate) fn definition() -> Value {
    definition_of("Herd", "herd", "Namespaced")
}

/// The definition of Pastures.
pub(crate) fn pasture_definition() -> Value {
    definition_of("Pasture", "pasture", "Cluster")
}

fn definition_of(kind: &str, singular: &str, scope: &str) -> Value {
    let plural = format!("{singular}s");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.toy.example.com") },
        "spec": {
            "group": "toy.example.com", "scope": scope,
            "names": { "kind": kind, "plural": plural, "singular": singular, "listKind": format!("{kind}List") },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            } } }],
        },
    })
}

impl SchedulerBackend for Toy {
    fn name(&self) -> &'static str {
        TOY
    }

    fn check_config(&self, config: &Value, path: &Path) -> Errors {
        check_keys(config, path, &[])
    }

    fn resources(&self, _: &Value) -> Vec<ResourceUse> {
        vec![
            ResourceUse { resource: herds(), uses: Uses::Writes, reason: "gangs" },
            ResourceUse { resource: pastures(), uses: Uses::Writes, reason: "topologies" },
        ]
    }

    fn topology(&self) -> Option<&dyn TopologyPart> {
        Some(&Pastures)
    }

    fn probes(&self, _: &Value) -> Vec<Probe> {
        Vec::new()
    }

    fn init(&self, _: &Value, _: &Probed) -> Result<Arc<dyn Scheduler>, String> {
        match self.orders.lock().missing {
            Some(why) => Err(why.to_owned()),
            None => Ok(Arc::new(self.clone())),
        }
    }
}

/// A Pasture has the node labels of the levels, and cannot be changed.
#[derive(Debug)]
struct Pastures;

impl TopologyPart for Pastures {
    fn resource(&self) -> ApiResource {
        pastures()
    }

    fn render(&self, binding: &ClusterTopologyBinding) -> Object {
        let resource = pastures();
        let value = json!({
            "apiVersion": resource.api_version, "kind": resource.kind,
            "metadata": { "name": self.name_of(binding) },
            "spec": { "labels": labels_of(binding) },
        });
        Object { resource, value, once: Vec::new(), immutable: vec!["/spec/labels".to_owned()] }
    }

    fn drift(&self, binding: &ClusterTopologyBinding, there: &Value) -> Option<String> {
        let labels = &there["spec"]["labels"];
        (*labels != json!(labels_of(binding))).then(|| format!("its labels are {labels}"))
    }
}

fn labels_of(binding: &ClusterTopologyBinding) -> Vec<&str> {
    binding.spec.levels.iter().map(|it| it.key.as_str()).collect()
}

impl Scheduler for Toy {
    fn version(&self) -> Option<String> {
        Some("1".to_owned())
    }

    fn capabilities(&self) -> Capabilities {
        let native = Answer::Native;
        Capabilities {
            single_group_gang: native,
            multi_group_gang: native,
            hierarchical_gang: native,
            best_effort_above_minimum: native,
            minimum_change: native,
            required_topology_gang: Answer::Reject("herds know no places"),
            required_topology_bundle: Answer::Reject("herds know no places"),
            required_topology_group: Answer::Reject("herds know no places"),
            nested_required_topology: Answer::Reject("herds know no places"),
            preferred_topology: Answer::Pass("herds know no places"),
            required_and_preferred_topology: Answer::Reject("herds know no places"),
            priority_class: Answer::Pass("all herds are equal"),
            gang_preemptor: native,
            gang_victim: native,
            reservation_reuse: Answer::Pass("nothing is kept"),
            scaled_after_base: Answer::Emulated("by gates"),
            queue: native,
            group_status: native,
        }
    }

    fn render(&self, gang: &Gang, _: &[Value]) -> Result<Vec<Object>, RenderError> {
        if let Some(why) = self.orders.lock().no_render {
            return Err(RenderError(why.to_owned()));
        }
        let resource = herds();
        let mut value = json!({
            "apiVersion": resource.api_version, "kind": resource.kind,
            "metadata": { "name": gang.name },
            "spec": { "heads": gang.min(), "pasture": "any" },
        });
        if !gang.topology.is_empty() {
            value["spec"]["topology"] = json!(gang.topology);
        }
        Ok(vec![Object { resource, value, once: vec!["/spec/pasture".to_owned()], immutable: Vec::new() }])
    }

    fn on_pod_gang_delete(&self, gang: &Gang) -> Vec<Object> {
        let (leaves, resource) = (self.orders.lock().leaves_a_note, herds());
        let value = json!({
            "apiVersion": resource.api_version, "kind": resource.kind,
            "metadata": { "name": note_of(&gang.name) },
        });
        let note = Object { resource, value, once: Vec::new(), immutable: Vec::new() };
        leaves.then_some(note).into_iter().collect()
    }

    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
        let orders = self.orders.lock();
        if let Some(why) = orders.no_prepare {
            return Err(PrepareError(why.to_owned()));
        }
        if orders.renames {
            pod.metadata.generate_name = Some("mine-".to_owned());
        }
        let notes = pod.metadata.annotations.get_or_insert_default();
        notes.insert("toy.example.com/herd".to_owned(), gang.name.clone());
        notes.insert(annotations::POD_GROUP_NAME.to_owned(), gang.uid.clone());
        Ok(())
    }

    fn pod_group_name(&self, gang: &Gang) -> Option<String> {
        Some(gang.uid.clone())
    }

    fn explain(&self, _: &Gang, objects: &[Value]) -> Option<String> {
        objects.iter().find_map(|it| it["status"]["why"].as_str()).map(str::to_owned)
    }
}

/// What a gang may leave behind.
pub(crate) fn note_of(gang: &str) -> String {
    format!("{gang}-note")
}
