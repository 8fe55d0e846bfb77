//! Pods.

use std::collections::BTreeMap;

use grove_api::{
    constants::{annotations, environment, gates, labels},
    names,
    wire::PodClique,
};
use k8s_openapi::{
    api::core::v1::{EnvVar, Pod, PodSchedulingGate},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{
    ADOPTED, MIRRORED,
    clique::{containers, from_label, prepend},
    init_container::Start,
    labels::Labels,
    owner,
};
use crate::{
    facts::{index_label, label},
    topology::Spread,
};

/// Pod `index` of `clique`, which belongs to the set called `set`, starts as `start` says, and is as far from other replicas
/// as `spread` says. The scheduler's backend has not seen it yet.
///
/// `None` where the clique lacks the labels that say where it belongs: it is not one of ours.
pub fn pod(
    set: &str,
    clique: &PodClique,
    index: u32,
    start: Start<'_>,
    spread: Option<Spread<'_>>,
) -> Option<Pod> {
    let (name, namespace) = (clique.metadata.name.as_deref()?, clique.metadata.namespace.as_deref()?);
    let of_clique = clique.metadata.labels.as_ref();
    let replica = index_label(of_clique, labels::SET_REPLICA_INDEX)?;
    let labels = Labels::from_template(&BTreeMap::new())
        .of_set(set)
        .with_all(of_clique.into_iter().flatten())
        .with(labels::POD_CLIQUE, name)
        .with(labels::SET_REPLICA_INDEX, replica.to_string())
        .with(labels::POD_GANG, label(of_clique, labels::POD_GANG)?)
        .with(labels::POD_INDEX, index.to_string())
        .into_map();
    let mut notes = clique.metadata.annotations.clone().unwrap_or_default();
    notes.remove(MIRRORED);
    notes.remove(ADOPTED);
    // Only what is so may be said, whatever the template says.
    notes.remove(annotations::PARENTS_READY);

    let mut spec = clique.spec.pod_spec.clone();
    let variables = environment_of(set, replica, name, namespace);
    containers(&mut spec).for_each(|container| prepend(container, &variables));
    // Whatever holds the template back on top of us is the user's: theirs stay, ours comes once.
    let gates = spec.scheduling_gates.get_or_insert_default();
    gates.retain(|it| it.name != gates::POD_GANG_PENDING);
    gates.insert(0, PodSchedulingGate { name: gates::POD_GANG_PENDING.to_owned() });
    spec.hostname = Some(names::hostname(name, index));
    spec.subdomain = Some(names::headless_service(set, replica));
    start.add_to(&mut spec, &mut notes);
    if let Some(spread) = spread {
        spread.add_to(&mut spec, set, replica);
    }

    Some(Pod {
        metadata: ObjectMeta {
            generate_name: Some(names::pod_prefix(name)),
            namespace: Some(namespace.to_owned()),
            labels: Some(labels),
            annotations: (!notes.is_empty()).then_some(notes),
            owner_references: Some(vec![owner(clique)?]),
            ..ObjectMeta::default()
        },
        spec: Some(spec),
        status: None,
    })
}

fn environment_of(set: &str, replica: u32, clique: &str, namespace: &str) -> [EnvVar; 5] {
    let plain =
        |name: &str, value: String| EnvVar { name: name.to_owned(), value: Some(value), value_from: None };
    [
        plain(environment::SET_NAME, set.to_owned()),
        plain(environment::SET_INDEX, replica.to_string()),
        plain(environment::CLIQUE_NAME, clique.to_owned()),
        plain(environment::HEADLESS_SERVICE, names::headless_service_address(set, replica, namespace)),
        from_label(environment::POD_INDEX, labels::POD_INDEX),
    ]
}
