//! Whether a placement keeps every rule, written down from the rules.

use std::collections::BTreeMap;

use grove_placement::{Cluster, GangPod, Group, Members, Node, Placement, pod::reject};

use crate::random::Nodes;

pub(crate) fn check(cluster: &Cluster, gang: &Group, placement: &Placement) -> Result<(), String> {
    let nodes: Nodes = placement.pods.iter().map(|it| (it.pod.clone(), it.node.clone())).collect();
    let pods = gang.pods();
    let unbound = pods.iter().filter(|it| it.node.is_none()).count();
    if nodes.len() != placement.pods.len() || nodes.len() + placement.unplaced.len() != unbound {
        return Err("a pod is missing or there twice".to_owned());
    }
    fits_nodes(cluster, &pods, &nodes)?;
    pairs(cluster, &pods, &nodes)?;
    if !is_satisfied(gang, &nodes) {
        return Err("the minimum is not placed".to_owned());
    }
    keeps_groups(cluster, gang, &nodes)
}

pub(crate) fn node<'a>(cluster: &'a Cluster, name: &str) -> &'a Node {
    cluster.nodes().iter().find(|it| it.name == name).unwrap()
}

fn fits_nodes(cluster: &Cluster, pods: &[&GangPod], nodes: &Nodes) -> Result<(), String> {
    let mut used: BTreeMap<(&str, &str), i64> = BTreeMap::new();
    for pod in pods {
        let Some(name) = nodes.get(&pod.name) else { continue };
        if reject(&pod.requirements, node(cluster, name)).is_some() {
            return Err(format!("{} may not go to {name}", pod.name));
        }
        for (resource, amount) in pod.requirements.requests.iter() {
            *used.entry((name, resource)).or_default() += amount;
        }
    }
    for ((name, resource), used) in used {
        let node = node(cluster, name);
        if used + node.used.get(resource) > node.allocatable.get(resource) {
            return Err(format!("{name} has too little {resource}"));
        }
    }
    Ok(())
}

/// Anti-affinity and ports, which hold in every order.
fn pairs(cluster: &Cluster, pods: &[&GangPod], nodes: &Nodes) -> Result<(), String> {
    for one in pods {
        for other in pods.iter().filter(|it| it.name != one.name) {
            let (Some(here), Some(there)) = (nodes.get(&one.name), nodes.get(&other.name)) else { continue };
            let (own, their) = (&one.requirements, &other.requirements);
            let label = |node_name: &str, key: &str| node(cluster, node_name).label(key).map(str::to_owned);
            let broken = own.anti_affinity.iter().any(|term| {
                let (a, b) = (label(here, &term.topology_key), label(there, &term.topology_key));
                term.matches(&their.namespace, &their.labels) && a.is_some() && a == b
            });
            let ports =
                own.host_ports.iter().any(|it| their.host_ports.iter().any(|port| port.conflicts_with(it)));
            if broken || (here == there && ports) {
                return Err(format!("{} and {} exclude each other", one.name, other.name));
            }
        }
    }
    Ok(())
}

fn is_placed(pod: &GangPod, nodes: &Nodes) -> bool {
    pod.node.is_some() || nodes.contains_key(&pod.name)
}

pub(crate) fn is_satisfied(group: &Group, nodes: &Nodes) -> bool {
    let count = match &group.members {
        Members::Pods(pods) => pods.iter().filter(|it| is_placed(it, nodes)).count(),
        Members::Groups(groups) => groups.iter().filter(|it| is_satisfied(it, nodes)).count(),
    };
    count >= usize::try_from(group.min_count).unwrap()
}

/// A group that gets pods gets its minimum, and is in one domain together with its bound pods.
pub(crate) fn keeps_groups(cluster: &Cluster, group: &Group, nodes: &Nodes) -> Result<(), String> {
    let pods = group.pods();
    if !pods.iter().any(|it| nodes.contains_key(&it.name)) {
        return Ok(());
    }
    if !is_satisfied(group, nodes) {
        return Err(format!("{} is placed in part", group.name));
    }
    if let Some(key) = &group.required {
        let places = pods.iter().filter_map(|it| nodes.get(&it.name).or(it.node.as_ref()));
        let mut values: Vec<Option<&str>> = places.map(|it| node(cluster, it).label(key)).collect();
        values.sort_unstable();
        values.dedup();
        if values.len() != 1 || values[0].is_none() {
            return Err(format!("{} is in {values:?}", group.name));
        }
    }
    match &group.members {
        Members::Pods(_) => Ok(()),
        Members::Groups(groups) => groups.iter().try_for_each(|it| keeps_groups(cluster, it, nodes)),
    }
}
