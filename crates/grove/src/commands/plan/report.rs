//! What is shown of a plan: a pure function of the objects and of where gangs fit.

use std::collections::BTreeMap;

use grove_placement::{
    pod::requests,
    resources::{self, PODS},
};
use grove_scheduler::{Content, Node, Pack};
use serde::Serialize;
use serde_json::Value;

use super::{
    fit::Fit,
    objects::{Objects, PlannedGang},
    room::Room,
    sets::Set,
};

/// All that is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether every gang fits; absent where no nodes were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fits: Option<bool>,
    /// The nodes that the gangs were placed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) nodes: Option<Nodes>,
    pub(super) sets: Vec<SetPlan>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Nodes {
    /// What they were read from.
    pub(super) source: String,
    pub(super) count: usize,
    /// Before anything of the plan is placed.
    pub(super) free_gpus: i64,
    pub(super) gpus: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetPlan {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) scheduler: String,
    /// What the scheduler's API was assumed to be.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) scheduler_api: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) topology: Option<String>,
    /// What people call the node labels of the topology.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) levels: BTreeMap<String, String>,
    /// How many objects there are of each kind.
    pub(super) creates: BTreeMap<String, usize>,
    pub(super) gangs: Vec<GangPlan>,
    /// All objects, in the order in which they are created.
    pub(super) objects: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GangPlan {
    pub(super) name: String,
    /// The gang that is scheduled before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<String>,
    /// Pods that are placed together, or not at all.
    pub(super) minimum_pods: u32,
    pub(super) pods: usize,
    #[serde(flatten)]
    pub(super) levels: Levels,
    pub(super) groups: Vec<GroupPlan>,
    /// The scheduler's objects for it.
    pub(super) scheduler_objects: Vec<SchedulerObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fit: Option<Fit>,
}

/// Node labels of topology levels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Levels {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) required: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) preferred: Option<String>,
}

/// The pods of a PodClique, or PodCliques that are placed together.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupPlan {
    pub(super) name: String,
    /// How deep it is in groups of groups.
    pub(super) depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) minimum: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pods: Option<usize>,
    #[serde(flatten)]
    pub(super) levels: Levels,
    /// What each pod asks for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) requests: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SchedulerObject {
    pub(super) kind: String,
    pub(super) name: String,
}

impl Report {
    pub(super) fn new(
        sets: &[Set],
        planned: &[Objects],
        room: Option<&Room>,
        fits: Option<&[Vec<Fit>]>,
    ) -> Self {
        let plans = sets.iter().zip(planned).enumerate().map(|(number, (set, objects))| {
            SetPlan::new(set, objects, fits.and_then(|it| it.get(number)).map(Vec::as_slice))
        });
        Self {
            fits: fits.map(|it| it.iter().flatten().all(Fit::is_placed)),
            nodes: room.map(Nodes::of),
            sets: plans.collect(),
        }
    }
}

impl Nodes {
    fn of(room: &Room) -> Self {
        let (free_gpus, gpus) = room.gpus();
        Self { source: room.source.clone(), count: room.cluster.nodes().len(), free_gpus, gpus }
    }
}

impl SetPlan {
    fn new(it: &Set, objects: &Objects, fits: Option<&[Fit]>) -> Self {
        let mut creates: BTreeMap<String, usize> = BTreeMap::new();
        for object in &objects.all {
            *creates.entry(object["kind"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        let levels = it.topology.iter().flat_map(|it| &it.levels);
        let gangs = objects.gangs.iter().enumerate();
        let gangs =
            gangs.map(|(number, gang)| GangPlan::new(gang, fits.and_then(|it| it.get(number)).cloned()));
        Self {
            namespace: it.object.metadata.namespace.clone().unwrap_or_default(),
            name: it.object.metadata.name.clone().unwrap_or_default(),
            scheduler: it.scheduler.name.clone(),
            scheduler_api: it.scheduler.assumed,
            topology: it.topology.as_ref().map(|it| it.name.clone()),
            levels: levels.map(|it| (it.key.clone(), it.domain.clone())).collect(),
            creates,
            gangs: gangs.collect(),
            objects: objects.all.clone(),
        }
    }
}

impl GangPlan {
    fn new(gang: &PlannedGang, fit: Option<Fit>) -> Self {
        let mut groups = Vec::new();
        for node in &gang.tree.children {
            add(node, gang, 0, &mut groups);
        }
        let object =
            |(kind, name): &(String, String)| SchedulerObject { kind: kind.clone(), name: name.clone() };
        Self {
            name: gang.tree.name.clone(),
            base: gang.base.clone(),
            minimum_pods: gang.tree.min(),
            pods: gang.pods.len(),
            levels: Levels::of(&gang.tree.pack),
            groups,
            scheduler_objects: gang.rendered.iter().map(object).collect(),
            fit,
        }
    }
}

impl Levels {
    fn of(pack: &Pack) -> Self {
        Self { required: pack.required.clone(), preferred: pack.preferred.clone() }
    }
}

fn add(node: &Node, gang: &PlannedGang, depth: usize, out: &mut Vec<GroupPlan>) {
    let empty = GroupPlan {
        name: node.name.clone(),
        depth,
        minimum: None,
        pods: None,
        levels: Levels::of(&node.pack),
        requests: BTreeMap::new(),
    };
    match &node.content {
        Content::Group { min, pods } => {
            let spec = pods.first().and_then(|it| gang.pods.get(it)?.spec.as_ref());
            // Pods that cannot be read have been refused before.
            let requests = spec.and_then(|it| requests(it).ok()).unwrap_or_default();
            let requests = requests.iter().filter(|it| it.0 != PODS);
            let requests = requests.map(|(name, amount)| (name.to_owned(), resources::text(name, amount)));
            out.push(GroupPlan {
                minimum: Some(*min),
                pods: Some(pods.len()),
                requests: requests.collect(),
                ..empty
            });
        }
        Content::Bundle(children) => {
            out.push(empty);
            for it in children {
                add(it, gang, depth + 1, out);
            }
        }
    }
}
