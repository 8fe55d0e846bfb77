use anstream::adapter::strip_str;

use super::*;
use crate::commands::topology::{
    facts::{Facts, Kind},
    fixture::{RACK, TEXT, ZONE, cluster, gang, node, pod, topology},
    known::HOST,
    view::Depth,
};

const DOCUMENTATION: &str = include_str!("../../../../../../docs/topology-cli.md");

fn plain(facts: &Facts, depth: Depth<'_>) -> String {
    strip_str(&view(&View::of(facts, "nvidia.com/gpu", depth))).to_string()
}

#[test]
fn levels_domains_room_and_gangs() {
    assert_eq!(plain(&cluster(), Depth::Readable), TEXT);
    assert!(DOCUMENTATION.contains(TEXT), "docs/topology-cli.md does not show it");
}

#[test]
fn what_is_left_out_is_told() {
    let text = plain(&cluster(), Depth::Level("rack"));
    assert!(text.contains("\nhosts are not shown; --depth host shows them\n"), "{text}");
    assert!(!text.contains("node-5"), "{text}");
    assert!(text.contains("\n        - default/embed-0: 1 pod, 2 nvidia.com/gpu, on 1 node\n"), "{text}");
    let text = plain(&cluster(), Depth::Level("zone"));
    assert!(text.contains("\nlevels from rack to host are not shown; --depth host shows them\n"), "{text}");
}

#[test]
fn what_must_not_be_read_is_told() {
    let pods = "You may not list pods of all namespaces: free capacity and gangs are unknown.\n";
    let gangs = "PodGangs could not be read: required levels and unscheduled gangs are unknown.\n";
    let kueue = "You may not list Kueue Topologies: they are not shown.\n";
    let whole = cluster();
    let rows = [
        (Facts { pods: None, ..whole.clone() }, vec![pods]),
        (Facts { gangs: None, ..whole.clone() }, vec![gangs]),
        (Facts { pods: None, gangs: None, kueue_refused: true, ..whole.clone() }, vec![pods, kueue]),
        (Facts { kueue_refused: true, ..Facts::default() }, vec![kueue]),
        (Facts::default(), vec![]),
    ];
    for (facts, want) in rows {
        let text = plain(&facts, Depth::Readable);
        let told: Vec<&str> = [pods, gangs, kueue].into_iter().filter(|it| text.contains(it)).collect();
        assert_eq!(told, want, "{text}");
    }
    let text = plain(&Facts { pods: None, ..whole }, Depth::Level("zone"));
    assert!(text.starts_with("cluster (ClusterTopologyBinding): 7 nodes, 48 nvidia.com/gpu\n"), "{text}");
    assert!(text.contains("\n  zone-a    4       ?      32      1 cordoned\n"), "{text}");
    assert_eq!(plain(&Facts::default(), Depth::Readable), "");
}

#[test]
fn levels_that_do_not_nest_are_told() {
    let at = |name: &str, zone: &str, rack: &str| node(name, 8, &[(ZONE, zone), (RACK, rack)]);
    let mut facts = Facts {
        topologies: vec![topology(&[("zone", ZONE), ("rack", RACK), ("block", "example.com/block")])],
        nodes: vec![at("n1", "a", "r1"), at("n2", "b", "r1")],
        ..Facts::default()
    };
    facts.topologies[0].kind = Kind::Kueue;
    let text = plain(&facts, Depth::All);
    assert!(text.starts_with("cluster (Kueue Topology): "), "{text}");
    assert!(text.contains("\n    r1 is in more than one zone: these levels do not nest\n"), "{text}");
    assert!(text.contains("\nblock   example.com/block             0         0 of 2\n"), "{text}");
    facts.nodes.extend([at("n3", "a", "r2"), at("n4", "b", "r2")]);
    let text = plain(&facts, Depth::All);
    assert!(text.contains("\n    r1, r2 are in more than one zone: these levels do not nest\n"), "{text}");
}

#[test]
fn many_names_have_an_end() {
    let names: Vec<String> = (0..12).map(|it| format!("g-{it}")).collect();
    let mut facts = Facts {
        topologies: vec![topology(&[("rack", RACK), ("host", HOST)])],
        nodes: (0..7)
            .map(|it| node(&format!("n{it}"), 8, &[(RACK, if it == 0 { "r" } else { "" })]))
            .collect(),
        pods: Some(names.iter().map(|it| pod("n0", 0, it)).collect()),
        gangs: Some(names.iter().map(|it| gang(it, None)).collect()),
        ..Facts::default()
    };
    let text = plain(&facts, Depth::All);
    assert!(text.contains("1 of 7; missing on n1, n2, n3, n4, n5 and 1 more\n"), "{text}");
    // A gang that takes nothing of the resource.
    assert!(
        text.contains("\n        - default/g-9: 1 pod, on 1 node\n        - … and 2 more gangs\n"),
        "{text}"
    );
    facts.pods = Some(Vec::new());
    let text = plain(&facts, Depth::All);
    let want = "\n12 gangs have no scheduled pods: default/g-0, default/g-1, default/g-2, default/g-3, default/g-4 and 7 more; \
                `grove why podgang/g-0 -n default` shows why\n";
    assert!(text.contains(want), "{text}");
}
