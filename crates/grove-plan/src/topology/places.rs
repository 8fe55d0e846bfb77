//! Where pods are: the domains of their nodes, and how well a gang sits by them.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::{GangTopologyConstraint, PodGang};

/// Labels of nodes, by node and key. A node that is not in it is not known.
pub type Places = BTreeMap<String, BTreeMap<String, String>>;

/// How well a gang sits.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The share of its preferred levels that are met: 1 where all are.
    pub share: f64,
    /// Those that are not, in words.
    pub missed: Vec<String>,
}

/// Node labels that a gang prefers its pods to share.
pub fn preferred_keys(gang: &PodGang) -> BTreeSet<&str> {
    wishes(gang).into_iter().map(|it| it.key).collect()
}

/// The score of a gang whose bound pods are these: clique and node. `None` where it prefers nothing, or a node is not known.
pub fn score(gang: &PodGang, pods: &[(&str, &str)], places: &Places) -> Option<Score> {
    let mut total = 0_u32;
    let mut missed = Vec::new();
    for Wish { what, cliques, key } in wishes(gang) {
        let mut domains = BTreeSet::new();
        for (_, node) in pods.iter().filter(|(clique, _)| cliques.contains(clique)) {
            // A node without the label is in no domain, and so apart from all others.
            domains.insert(places.get(*node)?.get(key).map_or(*node, String::as_str));
        }
        total += 1;
        if domains.len() > 1 {
            missed.push(format!("{what} is in {} domains of {key} instead of one", domains.len()));
        }
    }
    let met = total.checked_sub(u32::try_from(missed.len()).unwrap_or(total))?;
    (total > 0).then(|| Score { share: f64::from(met) / f64::from(total), missed })
}

/// The one domain of a level in which all of these nodes are.
pub fn common_domain<'n, 'p>(
    nodes: impl Iterator<Item = &'n str>,
    key: &str,
    places: &'p Places,
) -> Option<&'p str> {
    let mut common = None;
    for node in nodes {
        let domain = places.get(node)?.get(key)?.as_str();
        if *common.get_or_insert(domain) != domain {
            return None;
        }
    }
    common
}

/// Something of a gang that prefers a level.
struct Wish<'a> {
    what: String,
    cliques: Vec<&'a str>,
    key: &'a str,
}

fn preferred(constraint: Option<&GangTopologyConstraint>) -> Option<&str> {
    constraint?.pack_constraint.as_ref()?.preferred.as_deref()
}

fn wishes(gang: &PodGang) -> Vec<Wish<'_>> {
    let spec = &gang.spec;
    let all = spec.pod_groups.iter().map(|it| it.name.as_str()).collect();
    let whole = preferred(spec.topology_constraint.as_ref()).map(|key| Wish {
        what: "the gang".to_owned(),
        cliques: all,
        key,
    });
    let bundles = spec.topology_constraint_group_configs.iter().filter_map(|it| {
        let cliques = it.pod_group_names.iter().map(String::as_str).collect();
        Some(Wish { what: it.name.clone(), cliques, key: preferred(it.topology_constraint.as_ref())? })
    });
    let groups = spec.pod_groups.iter().filter_map(|it| {
        let key = preferred(it.topology_constraint.as_ref())?;
        Some(Wish { what: it.name.clone(), cliques: vec![it.name.as_str()], key })
    });
    whole.into_iter().chain(bundles).chain(groups).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The gang prefers a zone, the bundle `x` of `b` and `c` a rack, and `a` a host.
    fn gang() -> PodGang {
        let near = |key: &str| json!({ "packConstraint": { "preferred": key } });
        let group = |name: &str| json!({ "name": name, "podReferences": [], "minReplicas": 1 });
        let mut a = group("a");
        a["topologyConstraint"] = near("host");
        serde_json::from_value(json!({
            "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": { "name": "g" },
            "spec": {
                "podgroups": [a, group("b"), group("c")],
                "topologyConstraint": near("zone"),
                "topologyConstraintGroupConfigs": [
                    { "name": "x", "podGroupNames": ["b", "c"], "topologyConstraint": near("rack") },
                ],
            },
        }))
        .unwrap()
    }

    /// Nodes `n1` and `n2` in rack 1, `n3` in rack 2, `n4` in another zone, `bare` without labels.
    fn places() -> Places {
        let node = |name: &str, zone: &str, rack: &str| {
            let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
            (name.to_owned(), BTreeMap::from([label("zone", zone), label("rack", rack), label("host", name)]))
        };
        let mut places = Places::from([
            node("n1", "z1", "r1"),
            node("n2", "z1", "r1"),
            node("n3", "z1", "r2"),
            node("n4", "z2", "r3"),
        ]);
        places.insert("bare".to_owned(), BTreeMap::new());
        places
    }

    fn scored(pods: &[(&str, &str)]) -> Option<(f64, Vec<String>)> {
        score(&gang(), pods, &places()).map(|it| (it.share, it.missed))
    }

    #[test]
    fn the_score_is_the_share_of_wishes_that_are_met() {
        assert_eq!(scored(&[("a", "n1"), ("b", "n1"), ("c", "n2")]), Some((1.0, vec![])));
        let rack = "x is in 2 domains of rack instead of one".to_owned();
        assert_eq!(scored(&[("a", "n1"), ("b", "n1"), ("c", "n3")]), Some((2.0 / 3.0, vec![rack.clone()])));
        let zone = "the gang is in 2 domains of zone instead of one".to_owned();
        assert_eq!(scored(&[("a", "n1"), ("b", "n1"), ("c", "n4")]), Some((1.0 / 3.0, vec![zone, rack])));
        let host = "a is in 2 domains of host instead of one".to_owned();
        assert_eq!(scored(&[("a", "n1"), ("a", "n2"), ("b", "n2")]), Some((2.0 / 3.0, vec![host])));
    }

    #[test]
    fn a_node_without_the_label_is_apart() {
        assert_eq!(scored(&[("b", "n1"), ("c", "bare")]).map(|it| it.1.len()), Some(2));
    }

    #[test]
    fn what_is_not_known_is_not_scored() {
        assert_eq!(scored(&[("a", "n1"), ("b", "gone")]), None);
        let plain = PodGang::default();
        assert_eq!(score(&plain, &[("a", "n1")], &places()), None);
        assert_eq!(preferred_keys(&gang()), BTreeSet::from(["host", "rack", "zone"]));
    }

    #[test]
    fn a_common_domain_is_that_of_all() {
        let places = places();
        let common = |nodes: &[&str]| common_domain(nodes.iter().copied(), "rack", &places);
        assert_eq!(common(&["n1", "n2"]), Some("r1"));
        assert_eq!(common(&["n1", "n3"]), None);
        assert_eq!(common(&["n1", "bare"]), None);
        assert_eq!(common(&["n1", "gone"]), None);
        assert_eq!(common(&[]), None);
    }
}
