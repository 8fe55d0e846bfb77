use serde_json::json;

use super::*;
use crate::commands::topology::{
    fixture::{RACK, ZONE, cluster, gang, node, pod, topology},
    known::HOST,
};

fn shown(facts: &Facts, depth: Depth<'_>) -> Shown {
    View::of(facts, "nvidia.com/gpu", depth).topologies.remove(0)
}

#[test]
fn how_far_a_tree_goes_down() {
    // 65 hosts are many, 22 racks are not.
    let many: Vec<_> = (0..65)
        .map(|it| node(&format!("n{it}"), 8, &[(ZONE, "a"), (RACK, &format!("r{}", it / 3))]))
        .collect();
    // 65 racks are many, too; the broadest level is shown always.
    let racks: Vec<_> = (0..65).map(|it| node(&format!("n{it}"), 8, &[(RACK, &format!("r{it}"))])).collect();
    let three = topology(&[("zone", ZONE), ("rack", RACK), ("host", HOST)]);
    let two = topology(&[("rack", RACK), ("host", HOST)]);
    let facts = |topology: &Topology, nodes: &Vec<_>| Facts {
        topologies: vec![topology.clone()],
        nodes: nodes.clone(),
        ..Facts::default()
    };
    let rows: [(&str, Facts, Depth<'_>, &[&str]); 7] = [
        ("few nodes", cluster(), Depth::Readable, &[]),
        ("many hosts", facts(&three, &many), Depth::Readable, &["host"]),
        ("all of them", facts(&three, &many), Depth::All, &[]),
        ("as asked, by domain", facts(&three, &many), Depth::Level("host"), &[]),
        ("as asked, by label", facts(&three, &many), Depth::Level(ZONE), &["rack", "host"]),
        ("a level of another topology", facts(&three, &many), Depth::Level("row"), &["host"]),
        ("many racks", facts(&two, &racks), Depth::Readable, &["host"]),
    ];
    for (title, facts, depth, left_out) in rows {
        assert_eq!(shown(&facts, depth).left_out, left_out, "{title}");
    }
}

#[test]
fn labels_that_are_missing_or_do_not_nest_are_told() {
    let facts = Facts {
        topologies: vec![topology(&[("zone", ZONE), ("rack", RACK)])],
        nodes: vec![
            node("n10", 8, &[(ZONE, "a")]),
            node("n2", 8, &[(ZONE, "a")]),
            node("n3", 8, &[(ZONE, "a"), (RACK, "r1")]),
            node("n4", 8, &[(ZONE, "b"), (RACK, "r1")]),
            node("n5", 8, &[(RACK, "r2")]),
        ],
        ..Facts::default()
    };
    let levels = shown(&facts, Depth::All).levels;
    let [zone, rack] = &levels[..] else { panic!() };
    assert_eq!((zone.domains, zone.nodes_with_label, &*zone.torn), (2, 4, &[][..]));
    assert_eq!(zone.nodes_without_label, ["n5"]);
    assert_eq!((rack.domains, rack.nodes_with_label, &*rack.torn), (2, 3, &["r1".to_owned()][..]));
    assert_eq!(rack.nodes_without_label, ["n2", "n10"]);
}

#[test]
fn gangs_without_a_place() {
    let names = ["chat-10", "chat-2", "chat-0", "gone"];
    let mut facts = Facts {
        pods: Some(vec![pod("n1", 1, "chat-0"), pod("gone", 1, "gone")]),
        gangs: Some(names.iter().map(|it| gang(it, None)).collect()),
        ..Facts::default()
    };
    let waiting = |facts: &Facts| View::of(facts, "", Depth::All).gangs_without_place;
    assert_eq!(waiting(&facts), ["default/chat-2", "default/chat-10"]);
    // Without the pods nobody knows.
    facts.pods = None;
    assert_eq!(waiting(&facts), [""; 0]);
}

#[test]
fn machines_get_all_of_it() {
    let mut facts = cluster();
    facts.nodes.retain(|it| ["node-3", "node-4"].contains(&it.name.as_str()));
    facts.topologies = vec![topology(&[("rack", RACK)])];
    let view = View::of(&facts, "nvidia.com/gpu", Depth::All);
    let room = json!({ "nodes": 2, "cordonedNodes": 1, "notReadyNodes": 0, "total": 16, "free": 3, "idleButUnusable": 8 });
    let with = |more: serde_json::Value| {
        let mut all = room.clone();
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let gang = json!({
        "namespace": "default", "name": "chat-1", "pods": 1, "takes": 4, "nodes": ["node-3"],
        "required": { "level": "rack", "holds": true },
    });
    let rack = with(json!({ "level": "rack", "name": "rack-2", "gangs": [gang], "domains": [] }));
    let want = json!({
        "resource": "nvidia.com/gpu",
        "topologies": [{
            "name": "cluster", "kind": "ClusterTopologyBinding",
            "levels": [{
                "domain": "rack", "key": RACK, "domains": 1, "nodesWithLabel": 2, "nodesWithoutLabel": [], "torn": [],
            }],
            "tree": with(json!({ "gangs": [], "domains": [rack] })),
        }],
        "gangsWithoutPlace": ["default/chat-2"],
        "podsRead": true, "gangsRead": true, "kueueRefused": false,
    });
    assert_eq!(serde_json::to_value(&view).unwrap(), want);
}
