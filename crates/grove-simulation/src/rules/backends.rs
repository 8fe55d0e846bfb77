//! A scheduler's objects of a gang exist before its first gate is removed, and match the gang in the end.

use std::collections::{BTreeMap, BTreeSet};

use grove_apiserver::Object;
use serde_json::Value;

use super::{Broken, Rule};
use crate::{
    cluster::{
        CLIQUES, COMPOSITES, Cluster, GANGS, KAI_POD_GROUPS, KAI_TOPOLOGIES, LEVELS, POD_GROUPS, PODS,
        number, text,
    },
    past::Past,
    plan::Backend,
};

/// The operator removes the gate of a pod: the scheduler's object of its gang is there.
pub(crate) fn gate_lifted(past: &Past, uid: &str) -> Result<(), Broken> {
    let Some(pod) = past.pods.get(uid).filter(|_| past.has_backend) else { return Ok(()) };
    let Some(gang) = past.gangs.get(&pod.gang) else { return Ok(()) };
    let start = past.start();
    let is_there = past.backend_objects.iter().any(|((owner, name), there)| {
        *owner == gang.uid
            && (pod.member_of.is_empty() || *name == pod.member_of)
            && there.had(start, |it| *it)
    });
    if is_there {
        return Ok(());
    }
    let group = if pod.member_of.is_empty() { "any object of its gang" } else { &pod.member_of };
    Err(Rule::Backend.broken(format!("the gate of {} was lifted before {group} was there", pod.name)))
}

/// At rest the objects match the gangs, none is of no gang, and the topology matches its binding.
pub(crate) fn at_rest(cluster: &Cluster, backend: Backend) -> Result<(), Broken> {
    let gangs = cluster.list(GANGS);
    let uids: BTreeSet<&str> = gangs.iter().map(|it| it.uid()).collect();
    for (kind, object) in cluster.backend_objects() {
        if !owners(&object).any(|it| uids.contains(it)) {
            return broken(&format!("{kind} {} is of no gang", object.name()));
        }
    }
    for gang in &gangs {
        let (has, wants) = (has(cluster, gang), wants(gang, backend));
        if has != wants {
            return broken(&format!(
                "the scheduler's objects of gang {} are {has:?} instead of {wants:?}",
                gang.name()
            ));
        }
    }
    if backend == Backend::Kai {
        members(cluster)?;
        topology(cluster)?;
    }
    Ok(())
}

/// Every pod of a clique names a PodGroup that is there, or KAI never places it.
fn members(cluster: &Cluster) -> Result<(), Broken> {
    let cliques = cluster.list(CLIQUES);
    let is_of_clique = |pod: &Object| owners(pod).any(|owner| cliques.iter().any(|it| it.uid() == owner));
    let groups = cluster.list(KAI_POD_GROUPS);
    let pods = cluster.list(PODS);
    let mut live = pods.iter().filter(|it| is_of_clique(it) && !it.is_terminating());
    let stray = live.find(|pod| {
        let group = text(pod, "/metadata/annotations/pod-group-name");
        !matches!(text(pod, "/status/phase"), "Failed" | "Succeeded")
            && !group.is_empty()
            && groups.iter().all(|it| it.name() != group)
    });
    stray.map_or(Ok(()), |it| broken(&format!("pod {} names a PodGroup that is not there", it.name())))
}

/// Objects of a gang by kind and name, with the minimum of each; of KAI's with those of its sub-groups.
type Told = BTreeMap<(&'static str, String), u64>;

fn has(cluster: &Cluster, gang: &Object) -> Told {
    let mut told = Told::new();
    for (kind, object) in cluster.backend_objects() {
        if !owners(&object).any(|it| it == gang.uid()) {
            continue;
        }
        let minimum = match kind {
            POD_GROUPS => number(&object, "/spec/schedulingPolicy/gang/minCount"),
            COMPOSITES => number(&object, "/spec/schedulingPolicy/gang/minGroupCount"),
            _ => number(&object, "/spec/minMember"),
        };
        told.insert((kind, object.name().to_owned()), minimum.unwrap_or_default());
        for group in object.field("/spec/subGroups").and_then(Value::as_array).into_iter().flatten() {
            let name = group["name"].as_str().unwrap_or_default().to_owned();
            if let Some(minimum) = group["minMember"].as_u64() {
                told.insert(("subGroup", name), minimum);
            }
        }
    }
    told
}

fn wants(gang: &Object, backend: Backend) -> Told {
    let groups = gang.field("/spec/podgroups").and_then(Value::as_array).cloned().unwrap_or_default();
    let minima: Vec<(String, u64)> = groups
        .iter()
        .map(|it| {
            (
                it["name"].as_str().unwrap_or_default().to_owned(),
                it["minReplicas"].as_u64().unwrap_or_default(),
            )
        })
        .collect();
    let sum = minima.iter().map(|it| it.1).sum();
    let of_kind = |kind: &'static str| minima.iter().map(move |it| ((kind, it.0.clone()), it.1));
    match backend {
        Backend::KubeFlat => [((POD_GROUPS, gang.name().to_owned()), sum)].into(),
        Backend::KubeTree => {
            let mut told: Told = of_kind(POD_GROUPS).collect();
            if minima.len() > 1 {
                told.insert((COMPOSITES, gang.name().to_owned()), minima.len() as u64);
            }
            told
        }
        Backend::Kai => {
            let mut told: Told = of_kind("subGroup").collect();
            told.insert((KAI_POD_GROUPS, format!("pg-{}-{}", gang.name(), gang.uid())), sum);
            told
        }
    }
}

fn topology(cluster: &Cluster) -> Result<(), Broken> {
    let Some(object) = cluster.server.store().get(KAI_TOPOLOGIES, "", "fabric") else {
        return broken("KAI has no topology");
    };
    let levels = object.field("/spec/levels").and_then(Value::as_array).cloned().unwrap_or_default();
    let has: Vec<&str> = levels.iter().filter_map(|it| it["nodeLabel"].as_str()).collect();
    if has == LEVELS.map(|it| it.1) {
        return Ok(());
    }
    broken(&format!("the topology {} has the levels {has:?}", text(&object, "/metadata/name")))
}

fn owners(object: &Object) -> impl Iterator<Item = &str> {
    object.owner_references().iter().filter_map(|it| it["uid"].as_str())
}

fn broken(words: &str) -> Result<(), Broken> {
    Err(Rule::Backend.broken(words))
}
