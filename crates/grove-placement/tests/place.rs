//! Where gangs go.

mod common;

use common::{
    BLOCK, GPU, HOST, RACK, all_of, at_least, cluster, cpus, domains_of, gpus, nodes_of, placed, pods,
    prefers, requires, take,
};
use grove_placement::{
    Cluster, GangPod, Group, Members, Outcome, place, place_within,
    pod::{HostPort, LabelRequirement, Operator, PodTerm, Selector, Spread},
    topology::ZONE,
};

#[test]
fn a_required_level_is_one_domain_and_the_tightest() {
    let mut cluster = cluster("blocks=2,racks=2,hosts=2,gpus=8");
    take(&mut cluster, "rack-2-node-0", 4);
    let placement = placed(&cluster, &requires(RACK, pods("w", 3, &gpus(4))));
    assert_eq!(domains_of(&cluster, &placement, "w", RACK), ["rack-2"]);
    assert_eq!((placement.domains[0].key.as_str(), placement.domains[0].value.as_str()), (RACK, "rack-2"));
}

#[test]
fn nested_levels() {
    let cluster = cluster("blocks=2,racks=2,hosts=2,gpus=8");
    let gang = requires(
        BLOCK,
        all_of(vec![requires(RACK, pods("p", 2, &gpus(8))), requires(RACK, pods("d", 2, &gpus(8)))]),
    );
    let placement = placed(&cluster, &gang);
    assert_eq!(domains_of(&cluster, &placement, "p", RACK), ["rack-0"]);
    assert_eq!(domains_of(&cluster, &placement, "d", RACK), ["rack-1"]);
    assert_eq!(
        placement.domains.iter().map(|it| it.value.as_str()).collect::<Vec<_>>(),
        ["block-0", "rack-0", "rack-1"]
    );
}

#[test]
fn a_first_choice_that_blocks_a_later_group_is_taken_back() {
    let mut cluster = cluster("racks=2,hosts=1,gpus=8");
    take(&mut cluster, "rack-0-node-0", 4);
    // Both fit in rack-0; only one order of racks has room for both.
    let gang = all_of(vec![requires(RACK, pods("a", 1, &gpus(4))), pods("b", 1, &gpus(8))]);
    let placement = placed(&cluster, &gang);
    assert_eq!(nodes_of(&placement, "a"), ["rack-0-node-0"]);
    assert_eq!(nodes_of(&placement, "b"), ["rack-1-node-0"]);
}

#[test]
fn nodes_that_are_equally_free_differ_by_their_rack() {
    let mut nodes = cluster("zones=1,racks=3,hosts=2,gpus=8").nodes().to_vec();
    nodes.pop();
    let cluster = Cluster::new(nodes, Vec::new());
    // The first three nodes would leave no rack with two.
    let a = requires(ZONE, pods("a", 3, &gpus(8)));
    let placement = placed(&cluster, &all_of(vec![a, requires(RACK, pods("b", 2, &gpus(8)))]));
    assert_eq!(domains_of(&cluster, &placement, "b", RACK).len(), 1);
    assert!(nodes_of(&placement, "a").contains(&"rack-2-node-0"));
}

#[test]
fn preferred_levels_fall_back_to_wider_ones() {
    let mut cluster = cluster("blocks=2,racks=2,hosts=2,gpus=8");
    let one_rack = prefers(RACK, pods("w", 2, &gpus(8)));
    assert_eq!(domains_of(&cluster, &placed(&cluster, &one_rack), "w", RACK).len(), 1);
    // No rack holds three; a block does.
    let one_block = prefers(RACK, pods("w", 3, &gpus(8)));
    let placement = placed(&cluster, &one_block);
    assert_eq!(domains_of(&cluster, &placement, "w", BLOCK).len(), 1);
    assert_eq!(placement.domains[0].key, BLOCK);
    // Neither: the fewest racks.
    for node in ["rack-0-node-0", "rack-1-node-0", "rack-2-node-0"] {
        take(&mut cluster, node, 8);
    }
    let placement = placed(&cluster, &prefers(RACK, pods("w", 4, &gpus(8))));
    assert_eq!(domains_of(&cluster, &placement, "w", RACK).len(), 3);
    assert_eq!(domains_of(&cluster, &placement, "w", RACK)[2], "rack-3");
}

#[test]
fn a_preference_never_costs_the_placement() {
    let mut cluster = cluster("racks=2,hosts=2,gpus=8");
    take(&mut cluster, "rack-0-node-0", 8);
    take(&mut cluster, "rack-1-node-0", 8);
    let gang = prefers(
        RACK,
        all_of(vec![prefers(HOST, pods("a", 2, &gpus(4))), prefers(HOST, pods("b", 2, &gpus(4)))]),
    );
    let placement = placed(&cluster, &gang);
    assert_eq!(nodes_of(&placement, "a").len() + nodes_of(&placement, "b").len(), 2);
}

#[test]
fn pods_above_the_minimum_come_after_all_minima() {
    let cluster = cluster("hosts=3,gpus=8");
    let gang = all_of(vec![at_least("a", 1, 4, &gpus(8)), at_least("b", 1, 1, &gpus(8))]);
    let placement = placed(&cluster, &gang);
    assert_eq!(nodes_of(&placement, "a").len(), 2);
    assert_eq!(nodes_of(&placement, "b").len(), 1);
    assert_eq!(placement.unplaced, ["a-2", "a-3"]);
}

/// As kube-scheduler has it.
#[test]
fn of_groups_that_are_not_all_needed_the_first_are_placed() {
    let cluster = cluster("hosts=1,gpus=8");
    let groups = vec![pods("a", 2, &gpus(1)), pods("b", 7, &gpus(1)), pods("c", 3, &gpus(2))];
    let gang = Group { min_count: 1, ..all_of(groups) };
    let placement = placed(&cluster, &gang);
    let bound = |group: &str| placement.pods.iter().filter(|it| it.group == group).count();
    assert_eq!((bound("a"), bound("b"), bound("c")), (2, 0, 3));
}

/// As kube-scheduler has it: the tightest domain would do for the minimum, and a larger one takes all.
#[test]
fn the_domain_with_room_for_the_pods_above_the_minimum_is_chosen() {
    let mut cluster = cluster("blocks=2,racks=2,hosts=1,gpus=8");
    for (node, used) in
        [("rack-0-node-0", 6), ("rack-1-node-0", 4), ("rack-2-node-0", 3), ("rack-3-node-0", 5)]
    {
        take(&mut cluster, node, used);
    }
    let all = placed(&cluster, &requires(RACK, at_least("w", 2, 4, &gpus(1))));
    assert_eq!((nodes_of(&all, "w"), all.unplaced.len()), (vec!["rack-1-node-0"], 0));
    // No rack takes six: the one with most.
    let most = placed(&cluster, &requires(RACK, at_least("w", 2, 6, &gpus(1))));
    assert_eq!((nodes_of(&most, "w"), most.unplaced.len()), (vec!["rack-2-node-0"], 1));
    // Not without a minimum, either.
    let loose = placed(&cluster, &requires(RACK, at_least("w", 0, 5, &gpus(1))));
    assert_eq!((nodes_of(&loose, "w"), loose.unplaced.len()), (vec!["rack-2-node-0"], 0));
    // The domain of a group around it, and a sibling whose minimum comes first.
    let both = all_of(vec![at_least("a", 1, 4, &gpus(1)), pods("b", 1, &gpus(1))]);
    let both = placed(&cluster, &requires(RACK, both));
    assert_eq!((nodes_of(&both, "a"), nodes_of(&both, "b")), (vec!["rack-2-node-0"], vec!["rack-2-node-0"]));
    // Where a pod is bound, the others go.
    let mut bound = requires(RACK, at_least("w", 1, 4, &gpus(1)));
    if let Members::Pods(pods) = &mut bound.members {
        pods[0].node = Some("rack-0-node-0".to_owned());
    }
    assert_eq!(placed(&cluster, &bound).unplaced.len(), 1);
}

#[test]
fn pods_above_the_minimum_keep_the_required_domain_and_leave_the_preferred_one() {
    let line = cluster("blocks=2,racks=2,hosts=1,gpus=8");
    let stays = placed(&line, &requires(RACK, at_least("w", 1, 3, &gpus(8))));
    assert_eq!(stays.unplaced, ["w-1", "w-2"]);
    let leaves = Group { required: Some(BLOCK.to_owned()), ..prefers(RACK, at_least("w", 1, 3, &gpus(8))) };
    let leaves = placed(&line, &leaves);
    assert_eq!(leaves.unplaced, ["w-2"]);
    assert_eq!(domains_of(&line, &leaves, "w", BLOCK).len(), 1);
}

#[test]
fn groups_above_the_minimum_are_placed_whole_or_not_at_all() {
    let cluster = cluster("hosts=4,gpus=8");
    let replica = |name: &str, count: u32| pods(name, count, &gpus(8));
    let mut gang = all_of(vec![replica("a", 1), replica("b", 3), replica("c", 1)]);
    gang.min_count = 1;
    let placement = placed(&cluster, &gang);
    let sizes = ["a", "b", "c"].map(|it| nodes_of(&placement, it).len());
    assert!([[1, 3, 0], [1, 0, 1], [0, 3, 1]].contains(&sizes), "{sizes:?}");
}

#[test]
fn nothing_needed_still_keeps_its_domain() {
    let cluster = cluster("racks=2,hosts=2,gpus=8");
    let placement = placed(&cluster, &requires(RACK, at_least("w", 0, 3, &gpus(8))));
    assert_eq!(domains_of(&cluster, &placement, "w", RACK).len(), 1);
    assert_eq!(placement.unplaced.len(), 1);
}

#[test]
fn bound_pods_count_and_hold_their_group_in_their_domain() {
    let mut cluster = cluster("racks=2,hosts=2,gpus=8");
    let mut gang = requires(RACK, pods("w", 2, &gpus(8)));
    let Members::Pods(all) = &mut gang.members else { panic!("pods") };
    all[0].node = Some("rack-1-node-0".to_owned());
    take(&mut cluster, "rack-1-node-0", 8);
    let placement = placed(&cluster, &gang);
    assert_eq!(nodes_of(&placement, "w"), ["rack-1-node-1"]);
}

#[test]
fn pods_without_gpus_leave_gpu_nodes_to_others() {
    let mut nodes = cluster("hosts=2,gpus=8").nodes().to_vec();
    let mut plain = nodes[0].clone();
    plain.name = "z-plain".to_owned();
    plain.allocatable.set(GPU, 0);
    nodes.push(plain);
    let cluster = Cluster::new(nodes, Vec::new());
    assert_eq!(nodes_of(&placed(&cluster, &pods("router", 2, &cpus(4))), "router"), ["z-plain"]);
}

fn term(key: &str) -> PodTerm {
    let requirement =
        LabelRequirement { key: "app".to_owned(), operator: Operator::In, values: ["w".to_owned()].into() };
    PodTerm { topology_key: key.to_owned(), namespaces: None, selector: Selector::All(vec![requirement]) }
}

#[test]
fn pods_that_depend_on_others() {
    let cluster = cluster("racks=3,hosts=2,gpus=8");
    let mut kind = gpus(1);
    kind.labels.insert("app".to_owned(), "w".to_owned());
    let apart = {
        let mut it = kind.clone();
        it.anti_affinity.push(term(HOST));
        it
    };
    assert_eq!(nodes_of(&placed(&cluster, &pods("w", 6, &apart)), "w").len(), 6);
    let near = {
        let mut it = kind.clone();
        it.affinity.push(term(RACK));
        it
    };
    let placement = placed(&cluster, &pods("w", 16, &near));
    assert_eq!(domains_of(&cluster, &placement, "w", RACK).len(), 1);
    assert!(matches!(place(&cluster, &pods("w", 17, &near)), Outcome::DoesNotFit(_)));
    let spread = Spread {
        max_skew: 1,
        topology_key: RACK.to_owned(),
        selector: term(RACK).selector,
        min_domains: 1,
        honors_affinity: true,
        honors_taints: false,
    };
    let even = {
        let mut it = kind.clone();
        it.spread.push(spread);
        it
    };
    let placement = placed(&cluster, &pods("w", 9, &even));
    let in_rack = |rack: &str| placement.pods.iter().filter(|it| it.node.starts_with(rack)).count();
    assert_eq!(["rack-0", "rack-1", "rack-2"].map(in_rack), [3, 3, 3]);
    let port = {
        let mut it = kind;
        it.host_ports.push(HostPort { ip: String::new(), protocol: "TCP".into(), port: 80 });
        it
    };
    assert_eq!(nodes_of(&placed(&cluster, &pods("w", 6, &port)), "w").len(), 6);
    assert!(matches!(place(&cluster, &pods("w", 7, &port)), Outcome::DoesNotFit(_)));
}

#[test]
fn anti_affinity_of_running_pods_counts() {
    let mut cluster = cluster("racks=2,hosts=1,gpus=8");
    let mut running = gpus(1);
    running.anti_affinity.push(term(RACK));
    cluster.node_mut("rack-0-node-0").unwrap().add_pod(&running);
    let mut kind = gpus(1);
    kind.labels.insert("app".to_owned(), "w".to_owned());
    assert_eq!(nodes_of(&placed(&cluster, &pods("w", 1, &kind)), "w"), ["rack-1-node-0"]);
}

#[test]
fn the_same_input_gives_the_same_output_in_any_order_of_nodes() {
    let first = cluster("blocks=2,racks=3,hosts=4,gpus=8");
    let mut nodes = first.nodes().to_vec();
    fastrand::Rng::with_seed(7).shuffle(&mut nodes);
    let second = Cluster::new(nodes, first.levels().to_vec());
    let gang = prefers(
        BLOCK,
        all_of(vec![
            requires(RACK, pods("p", 3, &gpus(4))),
            at_least("d", 5, 9, &gpus(8)),
            pods("r", 2, &cpus(2)),
        ]),
    );
    assert_eq!(place(&first, &gang), place(&second, &gang));
    assert_eq!(place(&first, &gang), place(&first, &gang));
}

/// 25 pods of different sizes, of which a node holds two, for 12 nodes: only counting pairs shows that they do not fit.
fn hard() -> (Cluster, Group) {
    let groups = (34..59).map(|size| pods(&format!("g{size}"), 1, &gpus(size))).collect();
    (cluster("hosts=12,gpus=100"), all_of(groups))
}

#[test]
fn a_search_that_runs_out_of_budget_says_so() {
    let (cluster, gang) = hard();
    let Outcome::GaveUp { tried } = place_within(&cluster, &gang, 500) else { panic!("gives up") };
    assert_eq!(tried, 500);
    let easy = pods("w", 1, &gpus(1));
    assert_eq!(place_within(&cluster, &easy, 0), Outcome::GaveUp { tried: 0 });
    assert!(matches!(place_within(&cluster, &easy, 10), Outcome::Placed(_)));
}

#[test]
fn a_gang_of_nothing_is_placed() {
    for gang in [Group::default(), all_of(Vec::new()), Group::of_pods("w", 0, vec![GangPod::default()])] {
        assert!(matches!(place(&Cluster::default(), &gang), Outcome::Placed(_)), "{gang:?}");
    }
}
