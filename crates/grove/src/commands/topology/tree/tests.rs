use super::*;
use crate::commands::topology::{
    facts::Facts,
    fixture::{RACK, ZONE, cluster, gang, node, pod, topology},
    known::HOST,
    seats::seats,
};

fn tree(facts: &Facts) -> Domain {
    let nodes: Vec<UsedNode<'_>> =
        facts.nodes.iter().map(|node| UsedNode { node, used: Some(Amount::default()) }).collect();
    grow(&facts.topologies[0].levels, &nodes, seats(facts, &facts.topologies[0]))
}

/// Names from the top, each with the gangs that sit there and in how many domains they are.
fn told(domain: &Domain, path: &str, out: &mut Vec<String>) {
    let path = format!("{path}/{}", domain.name.as_deref().unwrap_or("-"));
    for it in &domain.gangs {
        let spread = it.spread.as_ref().map_or(0, |it| it.domains);
        out.push(format!("{} in {path} over {spread}", it.seat.name));
    }
    domain.domains.iter().for_each(|it| told(it, &path, out));
}

#[test]
fn a_gang_sits_in_the_narrowest_domain_that_holds_it() {
    let nodes = vec![
        node("n1", 8, &[(ZONE, "a"), (RACK, "r1")]),
        node("n2", 8, &[(ZONE, "a"), (RACK, "r1")]),
        node("n3", 8, &[(ZONE, "a"), (RACK, "r2")]),
        node("n4", 8, &[(ZONE, "b"), (RACK, "r3")]),
        node("n5", 8, &[(ZONE, "b")]),
    ];
    let rows: [(&str, &[&str], &str); 8] = [
        ("one host", &["n1", "n1"], "g in /-/a/r1/n1 over 0"),
        ("one rack", &["n1", "n2"], "g in /-/a/r1 over 2"),
        ("two racks", &["n1", "n2", "n3"], "g in /-/a over 2"),
        ("two zones", &["n1", "n2", "n3", "n4"], "g in /- over 2"),
        ("a rack, and no rack", &["n4", "n5"], "g in /-/b over 2"),
        ("no rack", &["n5"], "g in /-/b/-/n5 over 0"),
        ("a node that is gone does not count", &["n4", "gone"], "g in /-/b/r3/n4 over 0"),
        ("only nodes that are gone", &["gone"], ""),
    ];
    for (title, on, want) in rows {
        let facts = Facts {
            topologies: vec![topology(&[("zone", ZONE), ("rack", RACK), ("host", HOST)])],
            nodes: nodes.clone(),
            pods: Some(on.iter().map(|it| pod(it, 1, "g")).collect()),
            ..Facts::default()
        };
        let mut got = Vec::new();
        told(&tree(&facts), "", &mut got);
        assert_eq!(got.join("; "), want, "{title}");
    }
}

#[test]
fn what_a_gang_requires_is_held_against_its_nodes() {
    let nodes = || {
        // The same rack in two zones: for schedulers that go by the label it is one.
        vec![
            node("n1", 8, &[(ZONE, "a"), (RACK, "r1")]),
            node("n2", 8, &[(ZONE, "b"), (RACK, "r1")]),
            node("n3", 8, &[(ZONE, "b"), (RACK, "r2")]),
            node("n4", 8, &[(ZONE, "b")]),
        ]
    };
    let rows: [(&[&str], Option<&str>, Option<bool>); 7] = [
        (&["n1", "n2"], Some(RACK), Some(true)),
        (&["n1", "n3"], Some(RACK), Some(false)),
        (&["n3", "n4"], Some(RACK), Some(false)),
        (&["n4"], Some(RACK), Some(false)),
        (&["n3", "n4"], Some(ZONE), Some(true)),
        (&["n1"], None, None),
        (&["n1"], Some("other"), None),
    ];
    for (on, required, want) in rows {
        let facts = Facts {
            topologies: vec![topology(&[("zone", ZONE), ("rack", RACK)])],
            nodes: nodes(),
            pods: Some(on.iter().map(|it| pod(it, 1, "g")).collect()),
            gangs: Some(vec![gang("g", required)]),
            ..Facts::default()
        };
        let seats = seats(&facts, &facts.topologies[0]);
        assert_eq!(seats[0].required.as_ref().map(|it| it.holds), want, "{on:?} {required:?}");
    }
}

#[test]
fn domains_come_in_the_order_in_which_people_count() {
    let facts = Facts {
        topologies: vec![topology(&[("rack", RACK)])],
        nodes: ["r10", "", "r2", "r1"].iter().map(|it| node("n", 1, &[(RACK, it)])).collect(),
        ..Facts::default()
    };
    let names: Vec<Option<String>> = tree(&facts).domains.into_iter().map(|it| it.name).collect();
    assert_eq!(names, [Some("r1"), Some("r2"), Some("r10"), None].map(|it| it.map(str::to_owned)));
}

#[test]
fn only_nodes_that_pods_may_come_to_have_something_free() {
    let ready = node("a", 8, &[]);
    let rows = [
        (NodeState::Usable, Some(3), Some(5), Some(0), 0, 0),
        // More is used than there is.
        (NodeState::Usable, Some(9), Some(0), Some(0), 0, 0),
        (NodeState::Cordoned, Some(3), Some(0), Some(5), 1, 0),
        (NodeState::NotReady, Some(3), Some(0), Some(5), 0, 1),
        // What is used is not known.
        (NodeState::Usable, None, None, Some(0), 0, 0),
        (NodeState::Cordoned, None, Some(0), None, 1, 0),
    ];
    for (state, used, free, idle, cordoned_nodes, not_ready_nodes) in rows {
        let node = Node { state, ..ready.clone() };
        let (free, idle_but_unusable) = (free.map(Amount::whole), idle.map(Amount::whole));
        let want = Room {
            nodes: 1,
            cordoned_nodes,
            not_ready_nodes,
            total: Amount::whole(8),
            free,
            idle_but_unusable,
        };
        assert_eq!(
            Room::of(&[UsedNode { node: &node, used: used.map(Amount::whole) }]),
            want,
            "{state:?} {used:?}"
        );
    }
}

#[test]
fn a_cut_tree_keeps_its_gangs() {
    let whole = tree(&cluster());
    assert_eq!((1..=3).map(|it| whole.count(it)).collect::<Vec<_>>(), [2, 4, 7]);
    let rows: [(usize, &[&str]); 4] = [
        (
            3,
            &[
                "chat-1 in /- over 2",
                "chat-0 in /-/zone-a/rack-1 over 2",
                "embed-0 in /-/zone-b/rack-10/node-5 over 0",
            ],
        ),
        (
            2,
            &[
                "chat-1 in /- over 2",
                "chat-0 in /-/zone-a/rack-1 over 2",
                "embed-0 in /-/zone-b/rack-10 over 0",
            ],
        ),
        (1, &["chat-1 in /- over 2", "chat-0 in /-/zone-a over 0", "embed-0 in /-/zone-b over 0"]),
        (0, &["chat-0 in /- over 0", "chat-1 in /- over 2", "embed-0 in /- over 0"]),
    ];
    for (levels, want) in rows {
        let mut got = Vec::new();
        told(&whole.clone().cut(levels), "", &mut got);
        assert_eq!(got, want, "{levels}");
    }
}
