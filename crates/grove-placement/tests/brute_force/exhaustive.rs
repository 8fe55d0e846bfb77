//! Plain enumeration: every pod on every node, or on none.

use grove_placement::{
    Cluster, GangPod, Group, Members, Node, PodRequirements,
    pod::{PodTerm, Spread, reject},
};

use crate::{
    random::Nodes,
    validity::{is_satisfied, keeps_groups},
};

/// Whether some placement of exactly the minima keeps every rule.
pub(crate) fn fits(cluster: &Cluster, gang: &Group) -> bool {
    let mut pods = in_order(gang);
    // Pods that need others near them come last.
    pods.sort_by_key(|it| !it.0.requirements.affinity.is_empty());
    try_pods(cluster, gang, &pods, &mut Vec::new())
}

/// All pods that are not bound, with the number that their group places exactly; within a group those alike together.
fn in_order(group: &Group) -> Vec<(&GangPod, usize, &str)> {
    match &group.members {
        Members::Groups(groups) => groups.iter().flat_map(in_order).collect(),
        Members::Pods(all) => {
            let bound = all.iter().filter(|it| it.node.is_some()).count();
            let need = usize::try_from(group.min_count).unwrap().saturating_sub(bound);
            let mut kinds: Vec<&PodRequirements> = Vec::new();
            for pod in all.iter().filter(|it| it.node.is_none()) {
                if !kinds.contains(&&pod.requirements) {
                    kinds.push(&pod.requirements);
                }
            }
            let is_alike =
                |kind: &PodRequirements, it: &GangPod| it.node.is_none() && it.requirements == *kind;
            let alike = kinds.into_iter().flat_map(|kind| all.iter().filter(move |it| is_alike(kind, it)));
            alike.map(|it| (it, need, group.name.as_str())).collect()
        }
    }
}

type Todo<'a> = [(&'a GangPod, usize, &'a str)];

fn try_pods<'a>(
    cluster: &'a Cluster,
    gang: &Group,
    pods: &Todo<'a>,
    placed: &mut Vec<(&'a GangPod, &'a Node, &'a str)>,
) -> bool {
    let Some(((pod, need, group), rest)) = pods.split_first() else {
        let nodes: Nodes = placed.iter().map(|it| (it.0.name.clone(), it.1.name.clone())).collect();
        return is_satisfied(gang, &nodes) && keeps_groups(cluster, gang, &nodes).is_ok();
    };
    let have = placed.iter().filter(|it| it.2 == *group).count();
    if have < *need {
        for node in cluster.nodes() {
            if may_go(cluster, pod, node, placed) {
                placed.push((pod, node, group));
                let found = try_pods(cluster, gang, rest, placed);
                placed.pop();
                if found {
                    return true;
                }
            }
        }
    }
    // Part of a group is never right.
    let left = rest.iter().filter(|it| it.2 == *group).count();
    (have == 0 || have + left >= *need) && try_pods(cluster, gang, rest, placed)
}

fn may_go(cluster: &Cluster, pod: &GangPod, to: &Node, placed: &[(&GangPod, &Node, &str)]) -> bool {
    let own = &pod.requirements;
    let here = || placed.iter().filter(|it| it.1.name == to.name).map(|it| &it.0.requirements);
    let fits = own.requests.iter().all(|(resource, amount)| {
        let used: i64 = here().map(|it| it.requests.get(resource)).sum();
        used + to.used.get(resource) + amount <= to.allocatable.get(resource)
    });
    let same = |key: &str, other: &Node| to.label(key).is_some() && to.label(key) == other.label(key);
    let means = |term: &PodTerm, it: &PodRequirements| term.matches(&it.namespace, &it.labels);
    let apart = placed.iter().all(|(other, at, _)| {
        let their = &other.requirements;
        let mine = own.anti_affinity.iter().any(|it| means(it, their) && same(&it.topology_key, at));
        let theirs = their.anti_affinity.iter().any(|it| means(it, own) && same(&it.topology_key, at));
        let ports =
            own.host_ports.iter().any(|it| their.host_ports.iter().any(|port| port.conflicts_with(it)));
        !(mine || theirs || ports && at.name == to.name)
    });
    fits && reject(own, to).is_none()
        && apart
        && is_near(own, to, placed)
        && own.spread.iter().all(|it| is_spread(cluster, own, it, to, placed))
}

/// Affinity: one of the pods before it in each place, or it is the first of those that it wants to be near.
fn is_near(own: &PodRequirements, to: &Node, placed: &[(&GangPod, &Node, &str)]) -> bool {
    let all = |it: &PodRequirements| own.affinity.iter().all(|term| term.matches(&it.namespace, &it.labels));
    let others: Vec<&Node> = placed.iter().filter(|it| all(&it.0.requirements)).map(|it| it.1).collect();
    own.affinity.iter().all(|term| {
        let key = &term.topology_key;
        let is_known =
            own.affinity.iter().any(|it| others.iter().any(|at| at.label(&it.topology_key).is_some()));
        let is_first = !is_known && all(own);
        to.label(key).is_some() && (is_first || others.iter().any(|at| at.label(key) == to.label(key)))
    })
}

fn is_spread(
    cluster: &Cluster,
    own: &PodRequirements,
    spread: &Spread,
    to: &Node,
    placed: &[(&GangPod, &Node, &str)],
) -> bool {
    let key = &spread.topology_key;
    let counts = |at: &Node| {
        let bare = |tainted: bool| {
            let mut only = own.clone();
            if tainted {
                only.node_selector.clear();
            }
            let mut bare = at.clone();
            if !tainted {
                bare.taints.clear();
                bare.unschedulable = false;
            }
            reject(&only, &bare).is_none()
        };
        own.spread.iter().all(|it| at.label(&it.topology_key).is_some())
            && (!spread.honors_affinity || bare(false))
            && (!spread.honors_taints || bare(true))
    };
    let eligible: Vec<&Node> = cluster.nodes().iter().filter(|it| counts(it)).collect();
    let number = |value: &str| {
        let inside = placed.iter().filter(|it| it.1.label(key) == Some(value) && counts(it.1));
        i64::try_from(inside.filter(|it| spread.selector.matches(&it.0.requirements.labels)).count()).unwrap()
    };
    let mut domains: Vec<&str> = eligible.iter().filter_map(|it| it.label(key)).collect();
    domains.sort_unstable();
    domains.dedup();
    let few = domains.len() < usize::try_from(spread.min_domains).unwrap();
    let least = if few { 0 } else { domains.iter().map(|it| number(it)).min().unwrap_or_default() };
    let itself = i64::from(spread.selector.matches(&own.labels));
    to.label(key).is_some_and(|it| number(it) + itself - least <= i64::from(spread.max_skew))
}
