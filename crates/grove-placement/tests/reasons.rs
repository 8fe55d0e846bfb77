//! Why gangs do not fit, as people read it.

mod common;

use common::{BLOCK, GPU, RACK, all_of, at_least, cluster, cpus, gpus, pods, reason, requires, take};
use grove_placement::{Cluster, Members, PodRequirements, cluster::Taint, pod::HostPort};

#[test]
fn no_domain_is_large_enough() {
    let mut cluster = cluster("racks=3,hosts=1,gpus=8");
    for (node, used) in [("rack-0-node-0", 4), ("rack-1-node-0", 5), ("rack-2-node-0", 2)] {
        take(&mut cluster, node, used);
    }
    let gang = requires(RACK, pods("w", 4, &gpus(2)));
    assert_eq!(
        reason(&cluster, &gang),
        "w: needs 8 nvidia.com/gpu in one rack; the best rack, rack-2, has 6 free"
    );
    let whole = requires(RACK, all_of(vec![pods("a", 1, &gpus(4)), pods("b", 1, &gpus(4))]));
    assert_eq!(
        reason(&cluster, &whole),
        "gang: needs 8 nvidia.com/gpu in one rack; the best rack, rack-2, has 6 free"
    );
    let memory = {
        let mut it = gpus(0);
        it.requests.set("memory", 600 << 30);
        it
    };
    assert_eq!(
        reason(&cluster, &requires(RACK, pods("m", 2, &memory))),
        "m: needs 1200Gi memory in one rack; the best rack, rack-0, has 1024Gi free"
    );
}

#[test]
fn a_domain_that_has_enough_in_pieces_that_are_too_small() {
    let mut cluster = cluster("racks=1,hosts=2,gpus=8");
    take(&mut cluster, "rack-0-node-0", 4);
    assert_eq!(
        reason(&cluster, &requires(RACK, pods("w", 2, &gpus(6)))),
        "w: needs 2 pods: 1 node fits; 1 node has too few nvidia.com/gpu"
    );
    let two = {
        let mut it = cluster.clone();
        take(&mut it, "rack-0-node-0", 0);
        it
    };
    assert_eq!(
        reason(
            &two,
            &requires(
                RACK,
                all_of(vec![pods("a", 1, &gpus(5)), pods("b", 1, &gpus(5)), pods("c", 1, &gpus(4))])
            )
        ),
        "gang: c does not fit in one rack beside a and b, though each fits alone"
    );
}

#[test]
fn nodes_are_counted_by_cause() {
    let mut nodes = cluster("hosts=11,gpus=8").nodes().to_vec();
    let taint = Taint { key: "gpu".into(), value: "true".into(), effect: "NoSchedule".into() };
    for node in &mut nodes[..3] {
        node.taints.push(taint.clone());
    }
    for node in &mut nodes[..6] {
        node.labels.insert("a".to_owned(), "b".to_owned());
    }
    for node in &mut nodes[6..8] {
        node.labels.insert("a".to_owned(), "b".to_owned());
        node.allocatable.set("cpu", 500);
    }
    nodes[5].unschedulable = true;
    let cluster = Cluster::new(nodes, Vec::new());
    let kind = {
        let mut it = gpus(8);
        it.node_selector.insert("a".into(), "b".into());
        it
    };
    assert_eq!(
        reason(&cluster, &all_of(vec![pods("x", 4, &kind)])),
        "x: needs 4 pods: 2 nodes fit; 3 nodes have untolerated taint gpu=true:NoSchedule, 3 nodes lack label a=b, \
         2 nodes have too little cpu, 1 node is unschedulable (cordoned)"
    );
}

#[test]
fn small_numbers() {
    let one = cluster("hosts=1,gpus=8");
    let rows: [(u32, PodRequirements, &str); 4] = [
        (1, gpus(9), "w: needs 1 pod: no node fits; 1 node has too few nvidia.com/gpu"),
        (3, gpus(4), "w: needs 3 pods: 1 node fits 2 of them"),
        (1, cpus(129), "w: needs 1 pod: no node fits; 1 node has too little cpu"),
        (111, cpus(0), "w: needs 111 pods: 1 node fits 110 of them"),
    ];
    for (count, kind, want) in rows {
        assert_eq!(reason(&one, &pods("w", count, &kind)), want);
    }
    assert_eq!(
        reason(&Cluster::default(), &pods("w", 2, &gpus(1))),
        "w: needs 2 pods, but there are no nodes"
    );
}

#[test]
fn too_little_in_all() {
    let cluster = cluster("hosts=3,gpus=8");
    let gang = all_of(vec![pods("a", 2, &gpus(8)), pods("b", 2, &gpus(6))]);
    assert_eq!(
        reason(&cluster, &gang),
        "gang: needs 28 nvidia.com/gpu in all; 24 free on the nodes that fit"
    );
}

#[test]
fn pods_that_do_not_exist() {
    let cluster = cluster("hosts=3,gpus=8");
    assert_eq!(reason(&cluster, &all_of(vec![at_least("a", 3, 2, &gpus(8))])), "a: needs 3 pods, 2 exist");
    let mut some =
        all_of(vec![at_least("a", 3, 2, &gpus(8)), at_least("b", 3, 2, &gpus(8)), pods("c", 1, &gpus(1))]);
    some.min_count = 2;
    assert_eq!(reason(&cluster, &some), "gang: needs 2 groups, 1 have enough pods for their minimum");
}

#[test]
fn labels_that_no_node_has() {
    let cluster = cluster("racks=2");
    let gang = requires(BLOCK, pods("w", 1, &cpus(1)));
    let key = "topology.kubernetes.io/block";
    assert_eq!(reason(&cluster, &gang), format!("w: needs one domain of {key}, but no node has label {key}"));
}

#[test]
fn bound_pods_in_the_way() {
    let cluster = cluster("racks=3,hosts=1,gpus=8");
    let mut gang = requires(RACK, pods("w", 3, &gpus(4)));
    let Members::Pods(all) = &mut gang.members else { panic!("pods") };
    all[0].node = Some("rack-0-node-0".to_owned());
    all[1].node = Some("rack-2-node-0".to_owned());
    assert_eq!(reason(&cluster, &gang), "w: needs one rack, but has pods in rack-0 and rack-2 already");
    let mut full = cluster.clone();
    take(&mut full, "rack-0-node-0", 8);
    let mut gang = requires(RACK, pods("w", 2, &gpus(4)));
    let Members::Pods(all) = &mut gang.members else { panic!("pods") };
    all[0].node = Some("rack-0-node-0".to_owned());
    assert_eq!(
        reason(&full, &gang),
        "w: needs 4 nvidia.com/gpu in one rack; rack rack-0, where it has pods already, has 0 free"
    );
}

#[test]
fn taints_in_the_best_domain() {
    let mut nodes = cluster("racks=2,hosts=2,gpus=8").nodes().to_vec();
    for at in [0, 2] {
        nodes[at].taints.push(Taint { key: "bad".into(), value: String::new(), effect: "NoExecute".into() });
    }
    let levels = cluster("racks=2").levels().to_vec();
    let cluster = Cluster::new(nodes, levels);
    let kind = {
        let mut it = gpus(8);
        it.requests.set(GPU, 5);
        it
    };
    assert_eq!(
        reason(&cluster, &requires(RACK, pods("w", 2, &kind))),
        "w: needs 10 nvidia.com/gpu in one rack; the best rack, rack-0, has 8 free (1 node has untolerated taint bad:NoExecute)"
    );
}

#[test]
fn pods_that_exclude_each_other() {
    let cluster = cluster("racks=2,hosts=2,gpus=8");
    let kind = {
        let mut it = gpus(1);
        it.host_ports.push(HostPort { ip: String::new(), protocol: "TCP".into(), port: 80 });
        it
    };
    assert_eq!(
        reason(&cluster, &requires(RACK, pods("w", 3, &kind))),
        "w: needs 3 pods in one rack; pod affinity, spread constraints or host ports leave room for 2"
    );
}

#[test]
fn groups_in_each_others_way() {
    let cluster = cluster("racks=2,hosts=2,gpus=8");
    let rack = |name: &str| requires(RACK, pods(name, 3, &gpus(4)));
    assert_eq!(
        reason(&cluster, &all_of(vec![rack("a"), rack("b"), requires(RACK, pods("c", 2, &gpus(4)))])),
        "gang: c does not fit in one rack beside a and b, though each fits alone"
    );
}
