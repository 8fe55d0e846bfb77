//! Large clusters and gangs: what counts is how many alternatives are tried, which is the same on every machine.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{BLOCK, HOST, RACK, all_of, cluster, cpus, domains_of, gpus, pods, prefers, requires, take};
use grove_placement::{Cluster, Group, Outcome, place};

/// 1,000 nodes with 8 GPUs.
fn hall() -> Cluster {
    cluster("zones=2,blocks=5,racks=10,hosts=10,gpus=8")
}

fn tried(cluster: &Cluster, gang: &Group) -> u64 {
    match place(cluster, gang) {
        Outcome::Placed(placement) => placement.tried,
        other => panic!("{other:?}"),
    }
}

/// A disaggregated set: `count` replicas, each in one rack, all in one block.
fn replicas(count: usize) -> Group {
    let replica = |number: usize| {
        let parts = vec![
            pods(&format!("leader-{number}"), 1, &gpus(8)),
            pods(&format!("worker-{number}"), 7, &gpus(8)),
            pods(&format!("router-{number}"), 2, &cpus(4)),
        ];
        requires(RACK, Group::all_of(format!("replica-{number}"), parts))
    };
    requires(BLOCK, all_of((0..count).map(replica).collect()))
}

#[test]
fn hundreds_of_pods_are_placed_without_going_back() {
    let hall = hall();
    let flat = pods("w", 800, &gpus(8));
    assert!(tried(&hall, &flat) <= 801);
    let nested = replicas(10);
    assert!(tried(&hall, &nested) < 400, "{}", tried(&hall, &nested));
    let preferred = prefers(
        BLOCK,
        all_of((0..40).map(|it| prefers(HOST, pods(&format!("g{it}"), 8, &gpus(1)))).collect()),
    );
    assert!(tried(&hall, &preferred) < 400, "{}", tried(&hall, &preferred));
}

#[test]
fn what_does_not_fit_is_seen_at_once() {
    let hall = hall();
    // One replica more than a block has racks.
    assert!(matches!(place(&hall, &replicas(11)), Outcome::DoesNotFit(_)));
    assert!(matches!(place(&hall, &pods("w", 1001, &gpus(8))), Outcome::DoesNotFit(_)));
}

#[test]
fn racks_that_all_differ_do_not_make_it_slow() {
    let mut hall = hall();
    // In every rack one host is used, each in another way.
    for rack in 0..100 {
        let node = hall.node_mut(&format!("rack-{rack}-node-0")).unwrap();
        node.used.set("cpu", 100 * i64::from(rack));
    }
    for rack in (0..100).step_by(10) {
        for host in 0..3 {
            take(&mut hall, &format!("rack-{rack}-node-{host}"), 8);
        }
    }
    // Nine racks of each block hold a replica.
    assert!(tried(&hall, &replicas(9)) < 1_000);
    assert!(matches!(place(&hall, &replicas(10)), Outcome::DoesNotFit(_)));
}

#[test]
fn pods_that_keep_apart() {
    let hall = hall();
    let mut kind = gpus(1);
    kind.labels.insert("app".to_owned(), "w".to_owned());
    kind.host_ports.push(grove_placement::pod::HostPort {
        ip: String::new(),
        protocol: "TCP".into(),
        port: 80,
    });
    let gang = requires(BLOCK, pods("w", 100, &kind));
    let Outcome::Placed(placement) = place(&hall, &gang) else { panic!("fits") };
    assert_eq!(domains_of(&hall, &placement, "w", HOST).len(), 100);
    // One more than a block has hosts, of two kinds.
    let mut other = kind.clone();
    other.requests.set("cpu", 2000);
    let crowd = requires(BLOCK, all_of(vec![pods("a", 50, &kind), pods("b", 51, &other)]));
    assert!(matches!(place(&hall, &crowd), Outcome::DoesNotFit(_)));
}
