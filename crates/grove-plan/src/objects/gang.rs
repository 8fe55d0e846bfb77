//! PodGangs.

use std::collections::BTreeMap;

use grove_api::{
    constants::{GROUP, annotations, components, labels},
    wire::{NamespacedName, PodGang, PodGangSpec, PodGroup},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Context, MIRRORED, Mirrored, labels::Labels, owner};
use crate::{
    layout::{self, Place, set_name, set_namespace, wire_count},
    topology::{Placement, Topology},
};

/// The scheduler of a set's pods: the first that a clique names, else the default.
pub fn scheduler_of(context: Context<'_>) -> &str {
    let cliques = &context.set.spec.template.cliques;
    let mut named = cliques.iter().filter_map(|it| it.spec.pod_spec.scheduler_name.as_deref());
    named.find(|it| !it.is_empty()).unwrap_or(context.default_scheduler)
}

/// The gang at `place`, as it is created. `topology` is the one that the set names, where there is one; `references` are the
/// pods of a clique, by its name, and `None` where it is scaled to zero.
///
/// `None` where the template has no such place.
pub fn gang(
    context: Context<'_>,
    place: Place<'_>,
    topology: Option<&Topology>,
    references: impl Fn(&str) -> Option<Vec<NamespacedName>>,
) -> Option<PodGang> {
    let set = context.set;
    let spec = gang_spec(context, place, topology, references)?;
    let name = context.gang_at(place)?.name;
    let mirrored_labels = foreign(set.metadata.labels.as_ref());
    let mut notes = foreign(set.metadata.annotations.as_ref());
    let mirrored = Mirrored {
        labels: mirrored_labels.keys().cloned().collect(),
        annotations: notes.keys().cloned().collect(),
    };
    notes.extend(mirrored.write().map(|it| (MIRRORED.to_owned(), it)));
    if let Some(topology) = topology.filter(|_| is_constrained(&spec)) {
        notes.insert(annotations::TOPOLOGY_NAME.to_owned(), topology.name.clone());
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
    topology: Option<&Topology>,
    references: impl Fn(&str) -> Option<Vec<NamespacedName>>,
) -> Option<PodGangSpec> {
    let set = context.set;
    let placement = topology.and_then(|it| Placement::of(set, it));
    let placement = placement.as_ref();
    let (mut cliques, mut pod_groups) = (layout::cliques_of(set, place)?, Vec::new());
    cliques.retain(|clique| {
        let Some(pod_references) = references(&clique.name) else { return false };
        pod_groups.push(PodGroup {
            name: clique.name.clone(),
            pod_references,
            min_replicas: wire_count(layout::clique_minimum(clique.template) as usize),
            topology_constraint: placement.and_then(|it| it.clique(&clique.template.name)),
        });
        true
    });
    Some(PodGangSpec {
        pod_groups,
        topology_constraint: placement.and_then(|it| it.gang(place)),
        topology_constraint_group_configs: placement.map_or_else(Vec::new, |it| it.bundles(place, &cliques)),
        priority_class_name: set.spec.template.priority_class_name.clone(),
        reuse_reservation_ref: None,
    })
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
