//! Every object that a set would become: the operator's own planners, run on an empty cluster.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    constants::start_order,
    names,
    wire::{NamespacedName, PodClique, PodCliqueScalingGroup, PodGang},
};
use grove_operator::tree_of;
use grove_plan::{
    allotment::{Allotment, Existing},
    children::{Action, Batch, Child, GroupChildren, SetChildren, plan_group, plan_set},
    gang_names::OurNames,
    layout::{self, Place, count, set_name, set_namespace},
    objects::{Context, Start, pod},
    topology::Spread,
};
use grove_scheduler::{Gang, backend::prepare};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde::Serialize;
use serde_json::{Value, json};

use super::sets::{Set, UID};

/// What a set would become.
pub(super) struct Objects {
    /// Base gangs first, as they are scheduled.
    pub(super) gangs: Vec<PlannedGang>,
    /// All objects in the order in which they are created, without owner references.
    pub(super) all: Vec<Value>,
}

/// A gang with its pods.
pub(super) struct PlannedGang {
    /// With its pods named.
    pub(super) tree: Gang,
    /// The gang that goes first.
    pub(super) base: Option<String>,
    /// Pods by name.
    pub(super) pods: BTreeMap<String, Pod>,
    /// The objects that tell the scheduler of it: kind and name.
    pub(super) rendered: Vec<(String, String)>,
}

impl Objects {
    pub(super) fn of(it: &Set) -> Result<Self, String> {
        let context = Context {
            set: &it.object,
            default_scheduler: &it.scheduler.name,
            form: it.scheduler.scheduler.form(),
            gang_names: &OurNames,
        };
        let mut planner =
            Planner { it, context, all: Vec::new(), cliques: BTreeMap::new(), gangs: BTreeMap::new() };
        planner.children();
        let mut gangs = Vec::new();
        for place in places(&it.object) {
            gangs.extend(planner.gang(place)?);
        }
        Ok(Self { gangs, all: planner.all })
    }
}

struct Planner<'a> {
    it: &'a Set,
    context: Context<'a>,
    all: Vec<Value>,
    cliques: BTreeMap<String, PodClique>,
    gangs: BTreeMap<String, PodGang>,
}

impl Planner<'_> {
    /// All but pods and the scheduler's objects.
    fn children(&mut self) {
        let set = self.context.set;
        let allotment = Allotment::of(set, &BTreeMap::new(), Existing::default);
        let children = SetChildren { allotment: allotment.clone(), ..SetChildren::default() };
        let plan = plan_set(self.context, self.it.topology.as_ref(), &children);
        let mut groups = Vec::new();
        for action in plan.actions {
            match action {
                Action::CreateClique(draft) => self.add_clique(draft.into_object()),
                Action::Create(Child::Clique(clique)) => self.add_clique(*clique),
                Action::Create(Child::Group(group)) => {
                    self.add("grove.io/v1alpha1", "PodCliqueScalingGroup", &*group);
                    groups.push(*group);
                }
                Action::Create(Child::Gang(gang)) => {
                    self.gangs.insert(gang.name_any(), *gang);
                }
                Action::Create(Child::Service(service)) => self.add("v1", "Service", &*service),
                Action::Create(Child::Autoscaler(it)) => {
                    self.add("autoscaling/v2", "HorizontalPodAutoscaler", &*it);
                }
                Action::Patch { .. } | Action::Delete { .. } => {}
            }
        }
        for group in groups {
            self.members(group, &allotment);
        }
    }

    /// The cliques of a scaling group.
    fn members(&mut self, mut group: PodCliqueScalingGroup, allotment: &Allotment) {
        group.metadata.uid = Some(UID.to_owned());
        let set = self.context.set;
        let found = (0..count(set.spec.replicas)).find_map(|replica| {
            let config = layout::group_named(set, replica, &group.name_any())?;
            Some((replica, config))
        });
        let Some((replica, config)) = found else { return };
        let children = GroupChildren {
            group: &group,
            config,
            replica,
            cliques: BTreeMap::new(),
            pods: BTreeMap::new(),
            held: BTreeSet::new(),
            unknown: BTreeSet::new(),
            allotment: allotment.clone(),
            batch: Batch::default(),
        };
        for action in plan_group(self.context, &children).actions {
            if let Action::CreateClique(draft) = action {
                self.add_clique(draft.into_object());
            }
        }
    }

    /// The gang at `place`, its pods and the scheduler's objects for it; `None` where it is scaled to zero.
    fn gang(&mut self, place: Place<'_>) -> Result<Option<PlannedGang>, String> {
        let set = self.context.set;
        let members = layout::cliques_of(set, place).unwrap_or_default();
        let Some((name, base)) = members.first().map(|it| (it.gang.name.clone(), it.gang.base.clone()))
        else {
            return Ok(None);
        };
        let Some(mut gang) = self.gangs.remove(&name) else { return Ok(None) };
        for group in &mut gang.spec.pod_groups {
            let pods = self.cliques.get(&group.name).and_then(|it| it.spec.replicas).map_or(0, count);
            let reference = |index| NamespacedName {
                namespace: set_namespace(set).to_owned(),
                name: names::hostname(&group.name, index),
            };
            group.pod_references = (0..pods).map(reference).collect();
        }
        gang.metadata.uid = Some(UID.to_owned());
        let tree = tree_of(set, &gang, place).map_err(|it| format!("PodGang {name}: {it}"))?;
        self.add("scheduler.grove.io/v1alpha1", "PodGang", &gang);
        let scheduler = self.it.scheduler.scheduler.as_ref();
        let mut rendered = Vec::new();
        for object in scheduler.render(&tree, &[]).map_err(|it| format!("PodGang {name}: {it}"))? {
            let mut value = object.value;
            value["metadata"]["namespace"] = json!(set_namespace(set));
            let text =
                |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
            rendered.push((text("/kind"), text("/metadata/name")));
            self.all.push(value);
        }
        let spread = Spread::noted(&gang);
        let mut pods = BTreeMap::new();
        for member in &members {
            let Some(clique) = self.cliques.get(&member.name) else { continue };
            let parents = layout::parents(set, member);
            let start = Start { image: start_order::INIT_CONTAINER, parents: &parents, may_start: false };
            for index in 0..clique.spec.replicas.map_or(0, count) {
                let Some(mut made) = pod(set_name(set), clique, index, start, spread) else { continue };
                let spec = made.spec.get_or_insert_default();
                if spec.scheduler_name.as_deref().unwrap_or_default().is_empty() {
                    spec.scheduler_name = Some(self.it.scheduler.name.clone());
                }
                prepare(scheduler, &mut made, &tree)
                    .map_err(|it| format!("pods of {}: {it}", member.name))?;
                // The server completes the name; the host name says which pod it is.
                let name = names::hostname(&member.name, index);
                made.metadata.name = Some(name.clone());
                made.metadata.generate_name = None;
                pods.insert(name, made);
            }
        }
        for pod in pods.values() {
            self.add("v1", "Pod", pod);
        }
        Ok(Some(PlannedGang { tree, base, pods, rendered }))
    }

    fn add_clique(&mut self, mut clique: PodClique) {
        self.add("grove.io/v1alpha1", "PodClique", &clique);
        clique.metadata.uid = Some(UID.to_owned());
        self.cliques.insert(clique.name_any(), clique);
    }

    fn add(&mut self, api_version: &str, kind: &str, object: &impl Serialize) {
        let mut value = serde_json::to_value(object).unwrap_or_default();
        (value["apiVersion"], value["kind"]) = (json!(api_version), json!(kind));
        if let Some(metadata) = value["metadata"].as_object_mut() {
            // They name UIDs, which nothing has yet.
            metadata.remove("ownerReferences");
            metadata.remove("uid");
        }
        self.all.push(value);
    }
}

/// Base gangs first: a scaled gang waits for its base gang.
fn places(set: &grove_api::wire::PodCliqueSet) -> Vec<Place<'_>> {
    let replicas = || 0..count(set.spec.replicas);
    let mut places: Vec<Place<'_>> = replicas().map(|replica| Place::Base { replica }).collect();
    for replica in replicas() {
        for config in &set.spec.template.scaling_groups {
            let further = layout::group_minimum(config)..layout::group_replicas(config);
            places.extend(further.map(|group_replica| Place::Scaled {
                replica,
                group: &config.name,
                group_replica,
            }));
        }
    }
    places
}
