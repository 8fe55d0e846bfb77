use grove_api::{
    manifest,
    review::{Review, review},
    validation::Environment,
};

use super::*;
use crate::commands::topology::{
    facts::Node,
    fixture::{RACK, ZONE, cluster, node},
};

const REGION: &str = "topology.kubernetes.io/region";
const DOCUMENTATION: &str = include_str!("../../../../../../docs/topology-cli.md");

fn detect(output: Output) -> Detect {
    let reach = <Reach as clap::FromArgMatches>::from_arg_matches(
        &Reach::augment_args(clap::Command::new("detect")).get_matches_from(["detect"]),
    );
    Detect { name: "cluster".to_owned(), resource: RESOURCE.to_owned(), output, reach: reach.unwrap() }
}

/// Nodes with GPUs and these labels: a line for each node, `key=value` apart by blanks.
fn nodes(lines: &[&str]) -> Vec<Node> {
    let node = |(number, line): (usize, &&str)| {
        let labels: Vec<(&str, &str)> = line.split_whitespace().filter_map(|it| it.split_once('=')).collect();
        node(&format!("n{number}"), 8, &labels)
    };
    lines.iter().enumerate().map(node).collect()
}

/// `zone=…` stands for the whole key.
fn long(key: &str) -> String {
    match key {
        "region" | "zone" | "block" | "rack" => format!("topology.kubernetes.io/{key}"),
        "spine" | "leaf" => format!("network.topology.nvidia.com/{key}"),
        "nvlink" => "nvidia.com/gpu.clique".to_owned(),
        "type" => "node.kubernetes.io/instance-type".to_owned(),
        other => other.to_owned(),
    }
}

fn chain(lines: &[&str]) -> Chain {
    let mut nodes = nodes(lines);
    for node in &mut nodes {
        node.labels =
            std::mem::take(&mut node.labels).into_iter().map(|(key, value)| (long(&key), value)).collect();
    }
    Chain::of(&nodes.iter().collect::<Vec<_>>())
}

fn domains(chain: &Chain) -> String {
    chain.levels.iter().map(|it| it.domain.as_str()).collect::<Vec<_>>().join(" > ")
}

#[test]
fn labels_that_nest_become_levels() {
    let rows: [(&str, &[&str], &str); 9] = [
        ("nothing but hosts", &["", ""], "host"),
        (
            "by meaning, though each has one domain",
            &["rack=r zone=z region=e block=b", "rack=r zone=z region=e block=b"],
            "region > zone > block > rack > host",
        ),
        ("one node in each zone: zones are kept", &["zone=a", "zone=b"], "zone > host"),
        (
            "switches beside zones",
            &[
                "zone=a spine=s1 leaf=l1",
                "zone=a spine=s1 leaf=l2",
                "zone=b spine=s2 leaf=l3",
                "zone=b spine=s2 leaf=l3",
            ],
            "zone > leaf > host",
        ),
        (
            "where meanings do not tell, nodes do: racks in a leaf",
            &["leaf=l1 rack=r1", "leaf=l1 rack=r1", "leaf=l1 rack=r2", "leaf=l2 rack=r3"],
            "leaf > rack > host",
        ),
        (
            "and leaves in a rack",
            &["leaf=l1 rack=r1", "leaf=l1 rack=r1", "leaf=l2 rack=r1", "leaf=l3 rack=r2"],
            "rack > leaf > host",
        ),
        (
            "an unknown label whose name says a place",
            &[
                "zone=a example.com/row=1",
                "zone=a example.com/row=1",
                "zone=a example.com/row=2",
                "zone=b example.com/row=3",
            ],
            "zone > row > host",
        ),
        (
            "not one whose name says nothing",
            &["zone=a type=x", "zone=a type=x", "zone=a type=y", "zone=b type=z"],
            "zone > host",
        ),
        (
            "nor one that has a value for each node, or one for all",
            &[
                "zone=a example.com/rack-serial=1 example.com/site=x",
                "zone=b example.com/rack-serial=2 example.com/site=x",
            ],
            "zone > host",
        ),
    ];
    for (title, lines, want) in rows {
        assert_eq!(domains(&chain(lines)), want, "{title}");
    }
}

#[test]
fn what_is_left_out_is_told_with_figures() {
    let rows: [(&str, &[&str], &str, &str); 9] = [
        (
            "it does not nest",
            &["zone=a rack=r1", "zone=b rack=r1", "zone=b rack=r2"],
            "zone > host",
            "topology.kubernetes.io/rack is left out: it does not nest: 1 of 2 values of topology.kubernetes.io/rack are in \
             more than one of topology.kubernetes.io/zone, such as r1 in a, b",
        ),
        (
            "it nests the wrong way round",
            &["zone=a rack=r1", "zone=b rack=r1"],
            "zone > host",
            "topology.kubernetes.io/rack is left out: it does not nest: 1 of 1 values of topology.kubernetes.io/rack are in \
             more than one of topology.kubernetes.io/zone, such as r1 in a, b",
        ),
        (
            "so does the broader of two",
            &["zone=a region=e1", "zone=a region=e2"],
            "zone > host",
            "topology.kubernetes.io/region is left out: it does not nest: 1 of 1 values of topology.kubernetes.io/zone are \
             in more than one of topology.kubernetes.io/region, such as a in e1, e2",
        ),
        (
            "an unknown label that does not nest",
            &[
                "rack=a example.com/row=1",
                "rack=a example.com/row=2",
                "rack=b example.com/row=2",
                "rack=b example.com/row=1",
            ],
            "rack > host",
            "example.com/row is left out: it does not nest: 2 of 2 values of example.com/row are in more than one of \
             topology.kubernetes.io/rack, such as 1 in a, b",
        ),
        (
            "the same domains",
            &["rack=r1 nvlink=x.1", "rack=r1 nvlink=x.1", "rack=r2 nvlink=x.2"],
            "rack > host",
            "nvidia.com/gpu.clique is left out: it names the same domains as topology.kubernetes.io/rack",
        ),
        (
            "half of the nodes are enough for a known label",
            &["zone=a rack=r1", "zone=a rack=r1", "zone=a", "zone=a"],
            "zone > rack > host",
            "topology.kubernetes.io/rack is on 2 of 4 nodes; missing on n2, n3",
        ),
        (
            "less is not",
            &["zone=a rack=r1", "zone=a", "zone=a"],
            "zone > host",
            "topology.kubernetes.io/rack is left out: only 1 of 3 nodes have it",
        ),
        (
            "an unknown label has to be on all",
            &["zone=a example.com/row=1", "zone=a example.com/row=1", "zone=a example.com/row=2", "zone=a"],
            "zone > host",
            "example.com/row is left out: only 3 of 4 nodes have it",
        ),
        (
            "what may be a place",
            &["zone=a type=x", "zone=a type=x", "zone=a type=y", "zone=b type=z"],
            "zone > host",
            "nothing says that these are places, but they nest: node.kubernetes.io/instance-type (3 values); add them by \
             hand if they are",
        ),
    ];
    for (title, lines, levels, note) in rows {
        let chain = chain(lines);
        assert_eq!((domains(&chain).as_str(), chain.notes()), (levels, vec![note.to_owned()]), "{title}");
    }
}

#[test]
fn labels_that_no_node_shares_do_not_nest() {
    let chain = chain(&["rack=r1", "rack=r2", "leaf=l1", "leaf=l2"]);
    assert_eq!(domains(&chain), "rack > host");
    let left_out =
        "network.topology.nvidia.com/leaf is left out: no node has both it and topology.kubernetes.io/rack";
    assert!(chain.notes().contains(&left_out.to_owned()), "{:?}", chain.notes());
}

/// Each pair nests where nodes have both labels, but the three go round in a circle.
#[test]
fn labels_that_too_few_nodes_share_have_no_place() {
    let chain = chain(&[
        "block=b1 leaf=l1",
        "block=b2 leaf=l1",
        "leaf=l1 rack=r1",
        "leaf=l2 rack=r1",
        "block=b1 rack=r1",
        "block=b1 rack=r2",
    ]);
    assert_eq!(domains(&chain), "block > rack > host");
    let left_out =
        "network.topology.nvidia.com/leaf is left out: too many nodes lack it to say where it belongs"
            .to_owned();
    assert!(chain.notes().contains(&left_out), "{:?}", chain.notes());
}

#[test]
fn labels_that_group_no_nodes_are_not_worth_a_word() {
    let serial = "zone=a example.com/rack-serial=1 example.com/site=x";
    let chain = chain(&[serial, "zone=a example.com/rack-serial=2 example.com/site=x"]);
    assert_eq!((domains(&chain).as_str(), chain.notes()), ("zone > host", vec![]));
}

#[test]
fn a_label_may_be_too_long_for_a_level() {
    let key = format!("{}.example.com/rack", "a".repeat(47));
    assert_eq!(key.len(), 64);
    let chain = chain(&[&format!("zone=a {key}=1"), &format!("zone=a {key}=1"), &format!("zone=a {key}=2")]);
    assert_eq!(domains(&chain), "zone > host");
    assert_eq!(chain.notes(), [format!("{key} is left out: the label of a level has at most 63 characters")]);
}

#[test]
fn a_topology_has_an_end() {
    let tiers = |node: usize| {
        let all: Vec<String> =
            (0..20).map(|tier| format!("fabric.topograph.run/tier-{tier}=v{}", node >> tier)).collect();
        all.join(" ")
    };
    let lines: Vec<String> = (0..4).map(tiers).collect();
    let chain = chain(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(chain.levels.len(), 16);
    assert!(
        chain.notes().iter().any(|it| it.ends_with("a topology has at most 16 levels")),
        "{:?}",
        chain.notes()
    );
}

#[test]
fn the_manifest_can_be_applied() {
    let mut nodes = cluster().nodes;
    for node in &mut nodes {
        node.labels.insert(REGION.to_owned(), "here".to_owned());
    }
    let answer = detect(Output::Yaml).proposal(&nodes).unwrap();
    let want = "\
# Proposed by `grove topology detect` from the labels of 6 nodes with nvidia.com/gpu.
apiVersion: grove.io/v1alpha1
kind: ClusterTopologyBinding
metadata:
  name: \"cluster\"
spec:
  # From the broadest to the narrowest.
  levels:
  # 1 domain of 6 nodes; known label: Kubernetes
  - domain: \"region\"
    key: \"topology.kubernetes.io/region\"
  # 2 domains of 2 to 4 nodes; each is in one region; known label: Kubernetes
  - domain: \"zone\"
    key: \"topology.kubernetes.io/zone\"
  # 3 domains of 2 nodes each; each is in one zone; known label: Kubernetes
  - domain: \"rack\"
    key: \"topology.kubernetes.io/rack\"
  # 6 domains of 1 node each; each is in one rack; known label: Kubernetes
  - domain: \"host\"
    key: \"kubernetes.io/hostname\"
";
    assert_eq!(answer, Answer { stdout: want.to_owned(), stderr: String::new(), outcome: Outcome::Success });
    assert!(DOCUMENTATION.contains(want), "docs/topology-cli.md does not show it");

    let json = detect(Output::Json).proposal(&nodes).unwrap().stdout;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let documents = manifest::parse(want).unwrap();
    assert_eq!(documents[0].value, value);
    let Review::Checked(checked) = review(&value, &Environment::default()) else { panic!() };
    assert!(checked.errors.is_empty(), "{:?}", checked.errors);
}

#[test]
fn where_nothing_says_where_nodes_are() {
    let nothing = |looked_at: &str| {
        format!(
            "grove: no label says where nodes are, but for hosts: looked at {looked_at}; label them, such as `kubectl label \
             node NODE topology.kubernetes.io/rack=RACK`, and ask again\n"
        )
    };
    let rows = [
        (vec![], nothing("0 nodes")),
        (vec![node("a", 0, &[]), node("b", 0, &[])], nothing("2 nodes")),
        // Only nodes that offer the resource count.
        (
            vec![node("a", 0, &[(ZONE, "z"), (RACK, "r")]), node("b", 8, &[])],
            nothing("1 node with nvidia.com/gpu"),
        ),
    ];
    for (nodes, want) in rows {
        let answer = detect(Output::Yaml).proposal(&nodes).unwrap();
        assert_eq!(answer, Answer { stdout: String::new(), stderr: want, outcome: Outcome::Findings });
    }
}

#[test]
fn names_that_can_be_applied() {
    for good in ["a", "cluster", "gb200-a.b", "0"] {
        assert_eq!(object_name(good), Ok(good.to_owned()));
    }
    for bad in ["", "A", "a_b", "-a", "a-", "a..b", "a\nb", &"a".repeat(254)] {
        assert!(object_name(bad).is_err(), "{bad}");
    }
}
