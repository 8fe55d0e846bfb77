//! A PodGang as a tree. What contradicts itself is told, and never guessed.

use std::collections::BTreeMap;

use grove_api::{
    constants::annotations,
    wire::{GangTopologyConstraint, PodGang},
};
use kube::Resource;

use super::{Content, FORM_ANNOTATION, Gang, Node, Pack};

/// A PodGang that no scheduler can be told of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Malformed {
    /// The field.
    pub path: String,
    /// What is wrong with it.
    pub why: String,
}

fn malformed(path: impl Into<String>, why: impl Into<String>) -> Malformed {
    Malformed { path: path.into(), why: why.into() }
}

/// The tree of a PodGang: bundles first, where the first of their groups stands.
pub fn from_pod_gang(gang: &PodGang) -> Result<Gang, Malformed> {
    let namespace = gang.metadata.namespace.clone().unwrap_or_default();
    let bundle_of = bundles(gang)?;
    let mut children: Vec<Node> = Vec::new();
    let mut place_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, group) in gang.spec.pod_groups.iter().enumerate() {
        let path = format!("spec.podgroups[{number}]");
        let earlier = &gang.spec.pod_groups[..number];
        if group.name.is_empty() || earlier.iter().any(|it| it.name == group.name) {
            return Err(malformed(format!("{path}.name"), "must be there, and unique in the gang"));
        }
        let foreign = group.pod_references.iter().position(|it| it.namespace != namespace);
        if let Some(pod) = foreign {
            let path = format!("{path}.podReferences[{pod}].namespace");
            return Err(malformed(path, "must be the namespace of the gang"));
        }
        let min = u32::try_from(group.min_replicas)
            .map_err(|_| malformed(format!("{path}.minReplicas"), "must not be negative"))?;
        let pods = group.pod_references.iter().map(|it| it.name.clone()).collect();
        let node = Node {
            name: group.name.clone(),
            pack: pack(group.topology_constraint.as_ref()),
            content: Content::Group { min, pods },
            ..Node::default()
        };
        match bundle_of.get(group.name.as_str()) {
            None => children.push(node),
            Some((name, constraint)) => {
                let place = *place_of.entry(name).or_insert_with(|| {
                    let content = Content::Bundle(Vec::new());
                    let (name, pack) = ((*name).to_owned(), pack(*constraint));
                    children.push(Node { name, pack, content, ..Node::default() });
                    children.len() - 1
                });
                if let Some(Node { content: Content::Bundle(groups), .. }) = children.get_mut(place) {
                    groups.push(node);
                }
            }
        }
    }
    let metadata = &gang.metadata;
    let annotations = metadata.annotations.clone().unwrap_or_default();
    Ok(Gang {
        namespace,
        name: metadata.name.clone().unwrap_or_default(),
        uid: metadata.uid.clone().unwrap_or_default(),
        api_version: PodGang::api_version(&()).into_owned(),
        kind: PodGang::kind(&()).into_owned(),
        labels: metadata.labels.clone().unwrap_or_default(),
        topology: annotations.get(annotations::TOPOLOGY_NAME).cloned().unwrap_or_default(),
        form: annotations.get(FORM_ANNOTATION).cloned().unwrap_or_default(),
        annotations,
        priority_class: gang.spec.priority_class_name.clone(),
        reuses_reservation: gang.spec.reuse_reservation_ref.is_some(),
        pack: pack(gang.spec.topology_constraint.as_ref()),
        children,
        ..Gang::default()
    })
}

type Bundles<'a> = BTreeMap<&'a str, (&'a str, Option<&'a GangTopologyConstraint>)>;

/// Which bundle each group is in. A config none of whose groups exist is nothing.
fn bundles(gang: &PodGang) -> Result<Bundles<'_>, Malformed> {
    let groups = &gang.spec.pod_groups;
    let configs = &gang.spec.topology_constraint_group_configs;
    let mut bundle_of = BTreeMap::new();
    for (number, config) in configs.iter().enumerate() {
        let path = format!("spec.topologyConstraintGroupConfigs[{number}]");
        let taken = groups.iter().any(|it| it.name == config.name)
            || configs[..number].iter().any(|it| it.name == config.name);
        if config.name.is_empty() || taken {
            return Err(malformed(format!("{path}.name"), "must be there, and unique in the gang"));
        }
        for name in &config.pod_group_names {
            if !groups.iter().any(|it| it.name == *name) {
                continue;
            }
            let bundle = (config.name.as_str(), config.topology_constraint.as_ref());
            if bundle_of.insert(name.as_str(), bundle).is_some() {
                let why = format!("{name:?} must not be in two configs");
                return Err(malformed(format!("{path}.podGroupNames"), why));
            }
        }
    }
    Ok(bundle_of)
}

fn pack(constraint: Option<&GangTopologyConstraint>) -> Pack {
    let pack = constraint.and_then(|it| it.pack_constraint.as_ref());
    let key = |key: Option<&String>| key.filter(|it| !it.is_empty()).cloned();
    Pack {
        required: key(pack.and_then(|it| it.required.as_ref())),
        preferred: key(pack.and_then(|it| it.preferred.as_ref())),
    }
}
