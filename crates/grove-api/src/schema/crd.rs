//! The CustomResourceDefinitions.

use std::sync::OnceLock;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use schemars::JsonSchema;
use serde_json::{Value, json};

use super::{core_types, definitions, definitions::Definitions, rules, structural};
use crate::{
    constants::{GROUP, SCHEDULER_GROUP, VERSION},
    field::{Path, Segment},
    wire::{
        ClusterTopologyBindingSpec, ClusterTopologyBindingStatus, GroupingRuleSpec, GroupingRuleStatus,
        PodCliqueScalingGroupSpec, PodCliqueScalingGroupStatus, PodCliqueSetSpec, PodCliqueSetStatus,
        PodCliqueSpec, PodCliqueStatus, PodGangSpec, PodGangStatus, SchedulerBackendSpec,
        SchedulerBackendStatus,
    },
};

/// One of our kinds and what a CRD says of it beside its schema.
pub struct Crd {
    /// API group.
    pub group: &'static str,
    /// Kind.
    pub kind: &'static str,
    /// Plural resource name.
    pub plural: &'static str,
    short: &'static str,
    namespaced: bool,
    /// Where `/scale` finds the selector; `None` where the kind does not scale.
    scale_selector: Option<&'static str>,
    /// Name, JSONPath, type, and whether only `-o wide` shows it.
    columns: &'static [Column],
    description: &'static str,
    collect: fn() -> Definitions,
    spec_type: &'static str,
    status_type: &'static str,
    schema: OnceLock<Value>,
}

type Column = (&'static str, &'static str, &'static str, bool);

const AGE: Column = ("Age", ".metadata.creationTimestamp", "date", false);
const MIN_BREACHED: Column =
    ("MinBreached", r#".status.conditions[?(@.type=="MinAvailableBreached")].status"#, "string", true);

/// All kinds, in the order in which they are installed.
pub static CRDS: [Crd; 7] = [
    Crd {
        group: GROUP,
        kind: "PodClique",
        plural: "podcliques",
        short: "pclq",
        namespaced: true,
        scale_selector: Some(".status.hpaPodSelector"),
        columns: &[
            ("MinAvail", ".spec.minAvailable", "integer", false),
            ("Replicas", ".spec.replicas", "integer", false),
            ("Ready", ".status.readyReplicas", "integer", false),
            ("Scheduled", ".status.scheduledReplicas", "integer", false),
            ("Updated", ".status.updatedReplicas", "integer", false),
            ("Gated", ".status.scheduleGatedReplicas", "integer", true),
            MIN_BREACHED,
            AGE,
        ],
        description: "PodClique is a group of pods of one role. Grove makes it from a PodCliqueSet.",
        collect: collect::<PodCliqueSpec, PodCliqueStatus>,
        spec_type: "PodCliqueSpec",
        status_type: "PodCliqueStatus",
        schema: OnceLock::new(),
    },
    Crd {
        group: GROUP,
        kind: "PodCliqueSet",
        plural: "podcliquesets",
        short: "pcs",
        namespaced: true,
        scale_selector: Some(".status.hpaPodSelector"),
        columns: &[
            ("Replicas", ".spec.replicas", "integer", false),
            ("Available", ".status.availableReplicas", "integer", false),
            ("Updated", ".status.updatedReplicas", "integer", false),
            ("PCLQs-Updated", ".status.updateProgress.updatedPodCliquesCount", "integer", false),
            ("PCLQs-Total", ".status.updateProgress.totalPodCliquesCount", "integer", false),
            ("PCSGs-Updated", ".status.updateProgress.updatedPodCliqueScalingGroupsCount", "integer", false),
            ("PCSGs-Total", ".status.updateProgress.totalPodCliqueScalingGroupsCount", "integer", false),
            AGE,
        ],
        description: "PodCliqueSet is a system of cooperating pods: its roles, their sizes, how they start, scale \
                      and are placed together.",
        collect: collect::<PodCliqueSetSpec, PodCliqueSetStatus>,
        spec_type: "PodCliqueSetSpec",
        status_type: "PodCliqueSetStatus",
        schema: OnceLock::new(),
    },
    Crd {
        group: GROUP,
        kind: "PodCliqueScalingGroup",
        plural: "podcliquescalinggroups",
        short: "pcsg",
        namespaced: true,
        scale_selector: Some(".status.selector"),
        columns: &[
            ("MinAvail", ".spec.minAvailable", "integer", false),
            ("Replicas", ".spec.replicas", "integer", false),
            ("Available", ".status.availableReplicas", "integer", false),
            ("Scheduled", ".status.scheduledReplicas", "integer", false),
            ("Updated", ".status.updatedReplicas", "integer", false),
            ("PCLQs-Updated", ".status.updateProgress.updatedPodCliquesCount", "integer", false),
            ("PCLQs-Total", ".status.updateProgress.totalPodCliquesCount", "integer", false),
            MIN_BREACHED,
            AGE,
        ],
        description: "PodCliqueScalingGroup is a group of PodCliques that scale together. Grove makes it from a \
                      PodCliqueSet.",
        collect: collect::<PodCliqueScalingGroupSpec, PodCliqueScalingGroupStatus>,
        spec_type: "PodCliqueScalingGroupSpec",
        status_type: "PodCliqueScalingGroupStatus",
        schema: OnceLock::new(),
    },
    Crd {
        group: GROUP,
        kind: "ClusterTopologyBinding",
        plural: "clustertopologybindings",
        short: "ct",
        namespaced: false,
        scale_selector: None,
        columns: &[("Domains", ".spec.levels[*].domain", "string", false), AGE],
        description: "ClusterTopologyBinding defines the levels of a topology, such as zone, rack and host, by node \
                      label.",
        collect: collect::<ClusterTopologyBindingSpec, ClusterTopologyBindingStatus>,
        spec_type: "ClusterTopologyBindingSpec",
        status_type: "ClusterTopologyBindingStatus",
        schema: OnceLock::new(),
    },
    Crd {
        group: SCHEDULER_GROUP,
        kind: "PodGang",
        plural: "podgangs",
        short: "pg",
        namespaced: true,
        scale_selector: None,
        columns: &[("Phase", ".status.phase", "string", false), AGE],
        description: "PodGang is a set of pods that are scheduled together or not at all. Schedulers read it.",
        collect: collect::<PodGangSpec, PodGangStatus>,
        spec_type: "PodGangSpec",
        status_type: "PodGangStatus",
        schema: OnceLock::new(),
    },
    Crd {
        group: GROUP,
        kind: "SchedulerBackend",
        plural: "schedulerbackends",
        short: "sb",
        namespaced: false,
        scale_selector: None,
        columns: &[
            ("Ready", r#".status.conditions[?(@.type=="SchedulerBackendReady")].status"#, "string", false),
            ("Default", ".status.default", "boolean", false),
            ("Version", ".status.schedulerVersion", "string", false),
            AGE,
        ],
        description: "SchedulerBackend tells what the operator knows about one scheduler. Only the operator writes it.",
        collect: collect::<SchedulerBackendSpec, SchedulerBackendStatus>,
        spec_type: "SchedulerBackendSpec",
        status_type: "SchedulerBackendStatus",
        schema: OnceLock::new(),
    },
    Crd {
        group: SCHEDULER_GROUP,
        kind: "GroupingRule",
        plural: "groupingrules",
        short: "gr",
        namespaced: false,
        scale_selector: None,
        columns: &[
            ("Group", ".spec.match.group", "string", false),
            ("Kind", ".spec.match.kind", "string", false),
            ("Compiled", r#".status.conditions[?(@.type=="Compiled")].status"#, "string", false),
            ("Active", r#".status.conditions[?(@.type=="Active")].status"#, "string", false),
            ("Groups", ".status.groups", "integer", false),
            AGE,
        ],
        description: "GroupingRule says how the pod grouper groups the pods of a kind of workloads that it does not \
                      know.",
        collect: collect::<GroupingRuleSpec, GroupingRuleStatus>,
        spec_type: "GroupingRuleSpec",
        status_type: "GroupingRuleStatus",
        schema: OnceLock::new(),
    },
];

fn collect<Spec: JsonSchema, Status: JsonSchema>() -> Definitions {
    let mut definitions = definitions::collect::<Spec, Status>();
    core_types::annotate(&mut definitions);
    rules::attach(&mut definitions);
    definitions
}

impl Crd {
    /// The kind of an object, if it is one of ours.
    pub fn of(api_version: &str, kind: &str) -> Option<&'static Self> {
        CRDS.iter().find(|crd| crd.kind == kind && api_version == format!("{}/{VERSION}", crd.group))
    }

    /// `podcliquesets.grove.io`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }

    /// `grove.io_podcliquesets.yaml`, as upstream calls its files.
    pub fn file_name(&self) -> String {
        format!("{}_{}.yaml", self.group, self.plural)
    }

    /// The structural schema of the kind.
    pub fn schema(&self) -> &Value {
        self.schema.get_or_init(|| {
            let definitions = (self.collect)();
            let mut schema = json!({
                "description": self.description,
                "type": "object",
                "required": ["spec"],
                "properties": {
                    "apiVersion": { "type": "string" },
                    "kind": { "type": "string" },
                    "metadata": { "type": "object" },
                    "spec": structural::resolve(&definitions, self.spec_type),
                    "status": structural::resolve(&definitions, self.status_type),
                },
            });
            rules::attach_to_root(self.kind, &mut schema);
            schema
        })
    }

    /// Where a field stands among the others, as a sort key: the order of declaration, list by list.
    pub fn position(&self, path: &Path) -> Vec<usize> {
        let mut schema = Some(self.schema());
        let step = |segment: &Segment| {
            let (position, next) = match segment {
                Segment::Index(index) => (*index, schema.and_then(|it| it.get("items"))),
                Segment::Key(_) => (0, schema.and_then(|it| it.get("additionalProperties"))),
                Segment::Field(name) => {
                    let properties = schema.and_then(|it| it.get("properties")).and_then(Value::as_object);
                    let found =
                        properties.into_iter().flatten().enumerate().find(|(_, (key, _))| *key == name);
                    found.map_or((usize::MAX, None), |(position, (_, schema))| (position, Some(schema)))
                }
            };
            schema = next;
            position
        };
        path.segments().iter().map(step).collect()
    }

    /// The object to install.
    pub fn to_value(&self) -> Value {
        let mut names = json!({
            "kind": self.kind,
            "listKind": format!("{}List", self.kind),
            "plural": self.plural,
            "singular": self.kind.to_lowercase(),
            "shortNames": [self.short],
        });
        names["categories"] = json!(["grove"]);
        let mut subresources = json!({ "status": {} });
        if let Some(selector) = self.scale_selector {
            subresources["scale"] = json!({
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.replicas",
                "labelSelectorPath": selector,
            });
        }
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": { "name": self.name() },
            "spec": {
                "group": self.group,
                "names": names,
                "scope": if self.namespaced { "Namespaced" } else { "Cluster" },
                "versions": [{
                    "name": VERSION,
                    "served": true,
                    "storage": true,
                    "subresources": subresources,
                    "additionalPrinterColumns": self.columns.iter().map(column).collect::<Vec<_>>(),
                    "schema": { "openAPIV3Schema": self.schema() },
                }],
            },
        })
    }

    /// The object to install, typed.
    pub fn to_object(&self) -> Result<CustomResourceDefinition, serde_json::Error> {
        serde_json::from_value(self.to_value())
    }
}

fn column(&(name, path, type_, wide): &Column) -> Value {
    let mut column = json!({ "name": name, "type": type_, "jsonPath": path });
    if wide {
        column["priority"] = json!(1);
    }
    column
}
