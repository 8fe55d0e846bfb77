//! The backend of the stock scheduler: gangs to exact objects, pods, rules and words.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
#![allow(clippy::too_many_lines, reason = "a table is as long as it has rows")]

#[path = "../common/mod.rs"]
mod common;

mod cluster;
mod explain;
mod flat;
mod pods;
mod tree;
mod validate;

use std::sync::Arc;

use grove_scheduler::{Gang, Object, Probe, Probed, Scheduler, SchedulerBackend, kube::KubeBackend};
use k8s_openapi::api::scheduling::{v1alpha3::CompositePodGroup, v1beta1::PodGroup};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// What an API server has.
#[derive(Clone, Copy)]
struct Cluster {
    groups: bool,
    composites: bool,
    /// Fields that the dry run keeps or fills in.
    kept: &'static [&'static str],
}

const TREE: Cluster =
    Cluster { groups: true, composites: true, kept: &["schedulingConstraints", "preemptionPolicy"] };
const FLAT_TOPOLOGY: Cluster = Cluster { groups: true, composites: false, kept: &["schedulingConstraints"] };
const FLAT: Cluster = Cluster { groups: true, composites: false, kept: &[] };
const PLAIN: Cluster = Cluster { groups: false, composites: false, kept: &[] };

impl Cluster {
    /// Answers the probes as the API server would.
    fn probed(self) -> Probed {
        KubeBackend.probes(&json!({})).into_iter().fold(Probed::default(), |probed, probe| match probe {
            Probe::Served(resource) => {
                let served = match resource.resource.as_str() {
                    "podgroups" => self.groups && resource.version == "v1beta1",
                    "compositepodgroups" => self.composites && resource.version == "v1alpha3",
                    _ => false,
                };
                probed.with_served(&resource, served)
            }
            Probe::DryRun { name, mut object, .. } => {
                let spec = object["spec"].as_object_mut().unwrap();
                spec.insert("preemptionPolicy".to_owned(), json!("PreemptLowerPriority"));
                for gated in ["schedulingConstraints", "preemptionPolicy"] {
                    if !self.kept.contains(&gated) {
                        spec.remove(gated);
                    }
                }
                let missing = Err("the server could not find the requested resource".to_owned());
                probed.with_dry_run(name, if self.groups { Ok(object) } else { missing })
            }
            other => panic!("not asked before: {other:?}"),
        })
    }

    fn scheduler(self) -> Arc<dyn Scheduler> {
        KubeBackend.init(&json!({}), &self.probed()).unwrap()
    }

    fn render(self, gang: &Gang) -> Vec<Value> {
        values(&self.scheduler().render(gang, &[]).unwrap())
    }

    fn refusal(self, gang: &Gang) -> String {
        self.scheduler().render(gang, &[]).unwrap_err().0
    }
}

fn values(objects: &[Object]) -> Vec<Value> {
    objects.iter().map(|it| it.value.clone()).collect()
}

/// A CompositePodGroup at the root.
fn root(name: &str, children: usize) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1alpha3", "kind": "CompositePodGroup",
        "metadata": { "name": name },
        "spec": {
            "schedulingPolicy": { "gang": { "minGroupCount": children } },
            "disruptionMode": { "all": {} },
            "workloadRef": { "workloadName": name, "templateName": "root" },
        },
    })
}

/// A CompositePodGroup below another.
fn bundle(gang: &str, name: &str, parent: &str, children: usize) -> Value {
    let mut it = root(name, children);
    it["spec"]["parentCompositePodGroupName"] = parent.into();
    it["spec"]["workloadRef"] = json!({ "workloadName": gang, "templateName": "bundle" });
    it
}

/// A PodGroup that is a gang by itself.
fn alone(name: &str, min: u32) -> Value {
    json!({
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
        "metadata": { "name": name },
        "spec": {
            "schedulingPolicy": { "gang": { "minCount": min } },
            "disruptionMode": { "all": {} },
        },
    })
}

/// A PodGroup below a CompositePodGroup.
fn leaf(gang: &str, name: &str, parent: &str, min: u32) -> Value {
    let mut it = alone(name, min);
    it["spec"]["parentCompositePodGroupName"] = parent.into();
    it["spec"]["workloadRef"] = json!({ "workloadName": gang, "templateName": "group" });
    it
}

/// With a topology level.
fn at(level: &str, mut it: Value) -> Value {
    it["spec"]["schedulingConstraints"] = json!({ "topology": [{ "key": level }] });
    it
}

/// With a PriorityClass.
fn class(class: &str, mut it: Value) -> Value {
    it["spec"]["priorityClassName"] = class.into();
    it
}

/// Kubernetes' own types drop what they do not know, and write an empty marker that was not given as `null`.
fn has_known_fields_only(object: &Value) {
    fn read<T: DeserializeOwned + Serialize>(object: &Value) -> Value {
        serde_json::to_value(serde_json::from_value::<T>(object.clone()).unwrap()).unwrap()
    }
    let known = match object["kind"].as_str() {
        Some("PodGroup") => read::<PodGroup>(object),
        _ => read::<CompositePodGroup>(object),
    };
    assert_eq!(known, *object);
}

fn check(cluster: Cluster, table: Vec<(&str, Gang, Vec<Value>)>) {
    for (name, gang, expected) in table {
        let rendered = cluster.render(&gang);
        let text = |it: &[Value]| serde_json::to_string_pretty(it).unwrap();
        assert_eq!(rendered, expected, "{name}: {}\ninstead of {}", text(&rendered), text(&expected));
        rendered.iter().for_each(has_known_fields_only);
    }
}
