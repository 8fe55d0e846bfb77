//! PodGangs.

use std::collections::BTreeMap;

use grove_api::{
    constants::{GROUP, annotations, components, labels},
    names,
    wire::{
        ClusterTopologyBinding, GangTopologyConstraint, NamespacedName, PackConstraint, PodGang, PodGangSpec,
        PodGroup, TopologyConstraint, TopologyGroupConfig,
    },
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Context, MIRRORED, Mirrored, labels::Labels, owner};
use crate::layout::{self, Place, set_name, set_namespace, wire_count};

/// The topology of a set: what its domains are called on nodes.
#[derive(Clone, Copy, Debug)]
pub struct GangTopology<'a> {
    /// The binding that the set names.
    pub binding: &'a ClusterTopologyBinding,
}

impl GangTopology<'_> {
    /// A constraint in node labels. A domain that the topology does not have is left out: the set's condition says so.
    fn translate(self, constraint: &TopologyConstraint) -> Option<GangTopologyConstraint> {
        let key = |domain: Option<&str>| {
            let levels = &self.binding.spec.levels;
            domain.and_then(|it| levels.iter().find(|level| level.domain == it)).map(|it| it.key.clone())
        };
        let pack =
            PackConstraint { required: key(constraint.required()), preferred: key(constraint.preferred()) };
        (pack != PackConstraint::default()).then_some(GangTopologyConstraint { pack_constraint: Some(pack) })
    }
}

/// The scheduler of a set's pods: the first that a clique names, else the default.
pub fn scheduler_of(context: Context<'_>) -> &str {
    let cliques = &context.set.spec.template.cliques;
    let mut named = cliques.iter().filter_map(|it| it.spec.pod_spec.scheduler_name.as_deref());
    named.find(|it| !it.is_empty()).unwrap_or(context.default_scheduler)
}

/// The gang at `place`, as it is created. `references` are the pods of a clique, by its name.
///
/// `None` where the template has no such place.
pub fn gang(
    context: Context<'_>,
    place: Place<'_>,
    topology: Option<GangTopology<'_>>,
    references: impl Fn(&str) -> Vec<NamespacedName>,
) -> Option<PodGang> {
    let set = context.set;
    let spec = gang_spec(context, place, topology, references)?;
    let name = match place {
        Place::Base { replica } => names::base_gang(set_name(set), replica),
        Place::Scaled { replica, group, group_replica } => {
            let config = layout::group_config(&set.spec.template, group)?;
            layout::gang_of_member(set, replica, config, group_replica).name
        }
    };
    let mirrored_labels = foreign(set.metadata.labels.as_ref());
    let mut notes = foreign(set.metadata.annotations.as_ref());
    let mirrored = Mirrored {
        labels: mirrored_labels.keys().cloned().collect(),
        annotations: notes.keys().cloned().collect(),
    };
    notes.extend(mirrored.write().map(|it| (MIRRORED.to_owned(), it)));
    if let Some(topology) = topology.filter(|_| is_constrained(&spec)) {
        let name = topology.binding.metadata.name.clone().unwrap_or_default();
        notes.insert(annotations::TOPOLOGY_NAME.to_owned(), name);
    }
    if !context.form.is_empty() {
        notes.insert(annotations::SCHEDULER_FORM.to_owned(), context.form.to_owned());
    }
    let labels = Labels::from_template(&mirrored_labels)
        .of_set(set_name(set))
        .with(labels::COMPONENT, components::POD_GANG)
        .with(labels::SCHEDULER_NAME, scheduler_of(context))
        .into_map();
    Some(PodGang {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels),
            annotations: (!notes.is_empty()).then_some(notes),
            owner_references: owner(set).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        spec,
        status: None,
    })
}

/// What has to be placed together at `place`.
fn gang_spec(
    context: Context<'_>,
    place: Place<'_>,
    topology: Option<GangTopology<'_>>,
    references: impl Fn(&str) -> Vec<NamespacedName>,
) -> Option<PodGangSpec> {
    let template = &context.set.spec.template;
    let translate = |constraint: Option<&TopologyConstraint>| topology?.translate(constraint?);
    let cliques = layout::cliques_of(context.set, place)?;
    let pod_groups = cliques
        .iter()
        .map(|clique| PodGroup {
            name: clique.name.clone(),
            pod_references: references(&clique.name),
            min_replicas: wire_count(layout::clique_minimum(clique.template) as usize),
            topology_constraint: translate(clique.template.topology_constraint.as_ref()),
        })
        .collect();
    let whole = template.topology_constraint.as_ref();
    let (topology_constraint, groups) = match place {
        Place::Base { .. } => {
            let groups = topology.map_or_else(Vec::new, |topology| topology_groups(&cliques, topology));
            (translate(whole), groups)
        }
        Place::Scaled { group, .. } => {
            let own = layout::group_config(template, group).and_then(|it| it.topology_constraint.as_ref());
            (translate(own.or(whole)), Vec::new())
        }
    };
    Some(PodGangSpec {
        pod_groups,
        topology_constraint,
        topology_constraint_group_configs: groups,
        priority_class_name: template.priority_class_name.clone(),
        reuse_reservation_ref: None,
    })
}

/// One entry for each replica of a constrained group that is in the base gang.
fn topology_groups(cliques: &[layout::Clique<'_>], topology: GangTopology<'_>) -> Vec<TopologyGroupConfig> {
    let mut groups: Vec<TopologyGroupConfig> = Vec::new();
    for clique in cliques {
        let Some(member) = &clique.member else { continue };
        let Some(constraint) = &member.config.topology_constraint else { continue };
        let name = names::topology_group(&member.group, member.replica);
        if groups.last().is_none_or(|it| it.name != name) {
            let topology_constraint = topology.translate(constraint);
            groups.push(TopologyGroupConfig { name, pod_group_names: Vec::new(), topology_constraint });
        }
        if let Some(group) = groups.last_mut() {
            group.pod_group_names.push(clique.name.clone());
        }
    }
    groups
}

fn is_constrained(spec: &PodGangSpec) -> bool {
    spec.topology_constraint.is_some()
        || spec.pod_groups.iter().any(|it| it.topology_constraint.is_some())
        || spec.topology_constraint_group_configs.iter().any(|it| it.topology_constraint.is_some())
}

/// Keys of a set that a gang mirrors: not Grove's own, and not the text that kubectl keeps for itself, which would make
/// `kubectl apply` take the gang for the set.
fn foreign(keys: Option<&BTreeMap<String, String>>) -> BTreeMap<String, String> {
    const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
    let ours = format!("{GROUP}/");
    let wanted =
        keys.into_iter().flatten().filter(|(key, _)| !key.starts_with(&ours) && *key != LAST_APPLIED);
    wanted.map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests;
