//! PodCliqueScalingGroups.

use std::collections::BTreeMap;

use grove_api::{
    constants::{annotations, components, finalizers, labels},
    names,
    wire::{PodCliqueScalingGroup, PodCliqueScalingGroupSpec, ScalingGroupConfig},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::{Context, MIRRORED, Mirrored, labels::Labels, owner};
use crate::layout::{group_minimum, group_replicas, set_name, set_namespace, wire_count};

/// The scaling group `config` of set replica `replica`, as it is created.
pub fn group(context: Context<'_>, replica: u32, config: &ScalingGroupConfig) -> PodCliqueScalingGroup {
    let set = context.set;
    let name = names::scaling_group(set_name(set), replica, &config.name);
    let labels = Labels::from_template(&BTreeMap::new())
        .of_set(set_name(set))
        .with(labels::NAME, name.clone())
        .with(labels::COMPONENT, components::SCALING_GROUP)
        .with(labels::SET_REPLICA_INDEX, replica.to_string())
        .into_map();
    let mut wanted = config.annotations.clone();
    let of_set = set.metadata.annotations.as_ref().and_then(|it| it.get(annotations::MNNVL_GROUP));
    if let Some(mnnvl) = of_set {
        wanted.entry(annotations::MNNVL_GROUP.to_owned()).or_insert_with(|| mnnvl.clone());
    }
    let mirrored = Mirrored { annotations: wanted.keys().cloned().collect(), ..Mirrored::default() };
    wanted.extend(mirrored.write().map(|it| (MIRRORED.to_owned(), it)));
    PodCliqueScalingGroup {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels),
            annotations: (!wanted.is_empty()).then_some(wanted),
            finalizers: Some(vec![finalizers::SCALING_GROUP.to_owned()]),
            owner_references: owner(set).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        spec: PodCliqueScalingGroupSpec {
            replicas: wire_count(group_replicas(config) as usize),
            min_available: Some(wire_count(group_minimum(config) as usize)),
            clique_names: config.clique_names.clone(),
        },
        status: None,
    }
}
