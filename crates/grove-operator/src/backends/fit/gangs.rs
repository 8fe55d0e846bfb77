//! The gangs that a set would have, one of each kind: all replicas of a set or of a group are alike.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    field::Path,
    names,
    wire::{
        CliqueTemplate, NamespacedName, PodCliqueSet, PodCliqueSetSpec, PodCliqueSpec, ScalingGroupConfig,
        SetTemplate,
    },
};
use grove_plan::{
    layout::{self, Clique, Place, clique_minimum, clique_replicas, count, group_minimum},
    objects::{Context, gang},
    topology::{Placement, Topology},
};
use grove_scheduler::{Answer, Capabilities, Feature, Gang, judge::features_of, queue};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::backends::tree::tree_of;

/// Replicas of a group that a planned base gang has at most: a third one is like the second.
const MOST_REPLICAS: u32 = 2;

/// A gang that a set would have.
pub(super) struct Planned {
    /// As the scheduler is told.
    pub(super) tree: Gang,
    /// As the set asks for it: without what Grove prefers by itself.
    pub(super) asked: Gang,
    /// The field by which the whole gang is placed.
    pub(super) whole: Path,
    /// Where the set has the group of which the gang is a further replica.
    pub(super) scaled: Option<Path>,
    /// Where the set names a queue.
    pub(super) queues: Vec<Path>,
    /// Where the set has each part of the tree, by its name.
    pub(super) parts: BTreeMap<String, Part>,
}

/// Where a set has a part of a gang.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) path: Path,
    /// The field by which it is placed.
    pub(super) placed: Path,
}

impl Part {
    fn constrained(path: Path) -> Self {
        Self { placed: path.child("topologyConstraint"), path }
    }
}

impl Planned {
    /// What the gang asks for.
    pub(super) fn asked(&self) -> BTreeSet<Feature> {
        let mut asked = features_of(&self.asked);
        asked.extend(self.scaled.as_ref().map(|_| Feature::ScaledAfterBase));
        asked
    }

    /// Why the scheduler cannot have what Grove prefers by itself. That is no reason to refuse a set.
    pub(super) fn lacks_preference(&self, capabilities: &Capabilities) -> Option<&'static str> {
        let is_ours = self.tree.pack.preferred.is_some() && self.asked.pack.preferred.is_none();
        match capabilities.of(Feature::PreferredTopology) {
            Answer::Reject(why) | Answer::Pass(why) if is_ours => Some(why),
            _ => None,
        }
    }
}

/// The base gang, and of each group the gang of a further replica, which may come at any time. A gang that contradicts
/// itself is not one; what is wrong with it is said.
pub(super) fn gangs(
    set: &PodCliqueSet,
    topology: Option<&Topology>,
    scheduler: &str,
) -> Vec<Result<Planned, String>> {
    let set = &outline(set);
    let context = Context {
        set,
        default_scheduler: scheduler,
        form: "",
        gang_names: &grove_plan::gang_names::OurNames,
    };
    let scaled = set.spec.template.scaling_groups.iter().map(|config| Place::Scaled {
        replica: 0,
        group: &config.name,
        group_replica: group_minimum(config),
    });
    let places = std::iter::once(Place::Base { replica: 0 }).chain(scaled);
    places.filter_map(|place| planned(context, place, topology)).collect()
}

/// As much of a set as its gangs are made of. Pods are most of a set, and no part of a gang.
fn outline(set: &PodCliqueSet) -> PodCliqueSet {
    let (metadata, template) = (&set.metadata, &set.spec.template);
    // Where the server is to make the name, it is as long as this.
    let generated = || format!("{}00000", metadata.generate_name.as_deref().unwrap_or_default());
    let name = metadata.name.clone().filter(|it| !it.is_empty()).unwrap_or_else(generated);
    let cliques = template.cliques.iter().map(|it| CliqueTemplate {
        name: it.name.clone(),
        labels: it.labels.clone(),
        annotations: it.annotations.clone(),
        topology_constraint: it.topology_constraint.clone(),
        spec: PodCliqueSpec {
            replicas: Some(layout::wire_count(most_pods(it) as usize)),
            min_available: Some(layout::wire_count(clique_minimum(it) as usize)),
            ..PodCliqueSpec::default()
        },
        ..CliqueTemplate::default()
    });
    let groups = template.scaling_groups.iter().map(|it| ScalingGroupConfig {
        name: it.name.clone(),
        clique_names: it.clique_names.clone(),
        min_available: Some(layout::wire_count(group_minimum(it).min(MOST_REPLICAS) as usize)),
        topology_constraint: it.topology_constraint.clone(),
        ..ScalingGroupConfig::default()
    });
    PodCliqueSet {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: metadata.namespace.clone(),
            labels: metadata.labels.clone(),
            annotations: metadata.annotations.clone(),
            ..ObjectMeta::default()
        },
        spec: PodCliqueSetSpec {
            template: SetTemplate {
                cliques: cliques.collect(),
                scaling_groups: groups.collect(),
                priority_class_name: template.priority_class_name.clone(),
                topology_constraint: template.topology_constraint.clone(),
                scheduling_policy_config: template.scheduling_policy_config.clone(),
                ..SetTemplate::default()
            },
            ..PodCliqueSetSpec::default()
        },
        status: None,
    }
}

/// Pods of a clique, at the most that its autoscaler would make.
fn most_pods(template: &CliqueTemplate) -> u32 {
    let scaled = template.spec.auto_scaling_config.as_ref().map_or(0, |it| count(it.max_replicas));
    clique_replicas(template).max(scaled)
}

/// `None` where the template has no such place.
fn planned(
    context: Context<'_>,
    place: Place<'_>,
    topology: Option<&Topology>,
) -> Option<Result<Planned, String>> {
    let set = context.set;
    let cliques = layout::cliques_of(set, place)?;
    let by_name: BTreeMap<&str, &Clique<'_>> = cliques.iter().map(|it| (it.name.as_str(), it)).collect();
    // One pod too many is enough to see that there are pods above the minimum.
    let pods = |name: &str| {
        let template = by_name.get(name).map(|it| it.template);
        let above = template.filter(|it| clique_replicas(it) > clique_minimum(it));
        let pods = above.map_or(0, |it| clique_minimum(it) + 1);
        let namespace = layout::set_namespace(set);
        let pod =
            |index| NamespacedName { namespace: namespace.to_owned(), name: names::hostname(name, index) };
        // Also of a clique that is scaled to zero: it may be scaled up later.
        Some((0..pods).map(pod).collect())
    };
    let gang = gang(context, place, topology, pods)?;
    let tree = match tree_of(set, &gang, place) {
        Ok(tree) => tree,
        Err(malformed) => {
            let name = gang.metadata.name.unwrap_or_default();
            return Some(Err(format!("PodGang {name} would be invalid: {malformed}")));
        }
    };
    let prefers = topology.and_then(|it| Placement::of(set, it)).is_none_or(|it| it.prefers(place));
    let mut asked = tree.clone();
    if !prefers {
        asked.pack.preferred = None;
    }
    let scaled = match place {
        Place::Base { .. } => None,
        Place::Scaled { group, .. } => Some(group_path(set, group)),
    };
    let (whole, parts) = (whole_path(set, place), parts(set, &cliques));
    Some(Ok(Planned { tree, asked, whole, scaled, queues: queue::fields(set), parts }))
}

/// The field by which the gang at `place` is placed as a whole.
fn whole_path(set: &PodCliqueSet, place: Place<'_>) -> Path {
    let template = &set.spec.template;
    let own = match place {
        Place::Base { .. } => None,
        Place::Scaled { group, .. } => layout::group_config(template, group),
    };
    if let Some(group) = own.filter(|it| it.topology_constraint.is_some()) {
        return group_path(set, &group.name).child("topologyConstraint");
    }
    let policy = template_path().child("schedulingPolicyConfig");
    match &template.scheduling_policy_config {
        _ if template.topology_constraint.is_some() => template_path().child("topologyConstraint"),
        Some(it) if it.grouping_constraints.is_some() => policy.child("groupingConstraints"),
        Some(_) => policy.child("topologyName"),
        // What is placed is a part of the set, and no single field speaks for all of it.
        None => template_path(),
    }
}

/// Where the set has these cliques, and the bundles that they may be in.
fn parts(set: &PodCliqueSet, cliques: &[Clique<'_>]) -> BTreeMap<String, Part> {
    let policy = set.spec.template.scheduling_policy_config.as_ref();
    let packs = policy.map_or(&[][..], |it| it.network_pack_group_configs.as_slice());
    let mut parts = BTreeMap::new();
    for clique in cliques {
        let (template, name) = (&clique.template.name, layout::set_name(set));
        if let Some(member) = &clique.member {
            let bundle = names::topology_group(&member.group, member.replica);
            parts.insert(bundle, Part::constrained(group_path(set, &member.config.name)));
        }
        if let Some(number) = packs.iter().position(|it| it.clique_names.contains(template)) {
            let bundle = match &clique.member {
                None => names::pack_group(name, clique.replica, number),
                Some(it) => {
                    let group = &it.config.name;
                    names::pack_group_of_replica(name, clique.replica, number, group, it.replica)
                }
            };
            parts.insert(bundle, pack_group(number, packs[number].topology_constraint.is_some()));
        }
        parts.insert(clique.name.clone(), Part::constrained(clique_path(set, template)));
    }
    parts
}

fn pack_group(number: usize, is_constrained: bool) -> Part {
    let list = template_path().child("schedulingPolicyConfig").child("networkPackGroupConfigs");
    let path = list.index(number);
    if is_constrained { Part::constrained(path) } else { Part { placed: path.clone(), path } }
}

pub(super) fn template_path() -> Path {
    Path::of(&["spec", "template"])
}

fn clique_path(set: &PodCliqueSet, name: &str) -> Path {
    let at = set.spec.template.cliques.iter().position(|it| it.name == name);
    template_path().child("cliques").index(at.unwrap_or_default())
}

fn group_path(set: &PodCliqueSet, name: &str) -> Path {
    let at = set.spec.template.scaling_groups.iter().position(|it| it.name == name);
    template_path().child("podCliqueScalingGroups").index(at.unwrap_or_default())
}
