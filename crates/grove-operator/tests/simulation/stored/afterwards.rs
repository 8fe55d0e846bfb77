//! What was adopted is scaled, repaired and deleted like everything else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    adoption::gang_names,
    cluster::{
        CLIQUES, GANGS, GROUPS, PODS, SETS, adopted, assert_gangs_list_their_pods, cliques, not_running,
        pods, writes_since,
    },
    maps::MAPS,
    objects::GROUP,
    version::Version,
};
use crate::{workload::an_hour_without_writes, world::World};

/// Labels of pods that were not there before.
fn new_pods(world: &World, before: &BTreeSet<String>) -> Vec<Value> {
    pods(world)
        .into_iter()
        .filter(|(name, _)| !before.contains(name))
        .map(|(_, (_, labels))| labels)
        .collect()
}

fn names(world: &World) -> BTreeSet<String> {
    world.names(PODS).into_iter().collect()
}

/// The pods that were there before still are, and as they were.
fn assert_untouched(world: &World, count: u64, before: &BTreeSet<String>) {
    let writes = writes_since(world, count, PODS);
    let touched: Vec<_> = writes.iter().filter(|it| before.contains(&it.name)).collect();
    assert!(touched.is_empty(), "{touched:?}");
    assert!(names(world).is_superset(before));
}

fn label<'a>(labels: &'a Value, key: &str) -> &'a str {
    labels[format!("grove.io/{key}")].as_str().unwrap_or("-")
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_scale_out_join_the_adopted_gang() {
    for version in Version::ALL {
        let world = adopted(version, 11).await;
        let [base, ..] = gang_names(version);
        let (before, count) = (names(&world), world.server.store().write_count());
        world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "replicas": 4 } }));
        world.settle().await;
        let new = new_pods(&world, &before);
        let said: Vec<_> = new.iter().map(|it| (label(it, "podgang"), label(it, "base-podgang"))).collect();
        assert_eq!(said, [(base, "-"), (base, "-")], "{version:?}");
        assert_eq!(not_running(&world), Vec::<String>::new(), "{version:?}");
        assert_untouched(&world, count, &before);
        assert_gangs_list_their_pods(&world);
        an_hour_without_writes(&world).await;
    }
}

/// A gang that is new has the name that we give it, and follows the base gang as that is called.
#[tokio::test(start_paused = true)]
async fn new_group_replica_gets_a_gang_beside_adopted_ones() {
    for version in Version::ALL {
        let world = adopted(version, 12).await;
        let [base, one, two] = gang_names(version);
        let (before, count) = (names(&world), world.server.store().write_count());
        world.patch(GROUPS, GROUP, json!({ "spec": { "replicas": 4 } }));
        world.settle().await;
        let mut gangs = vec![base, one, two, "inf-0-pd-2"];
        gangs.sort_unstable();
        assert_eq!(world.names(GANGS), gangs, "{version:?}");
        let new = new_pods(&world, &before);
        assert_eq!(new.len(), 3);
        for labels in &new {
            assert_eq!((label(labels, "podgang"), label(labels, "base-podgang")), ("inf-0-pd-2", base));
        }
        assert_eq!(not_running(&world), Vec::<String>::new(), "{version:?}");
        assert_untouched(&world, count, &before);
        assert_gangs_list_their_pods(&world);
    }
}

#[tokio::test(start_paused = true)]
async fn lost_pods_come_back_into_their_gang() {
    for version in Version::ALL {
        let world = adopted(version, 13).await;
        let [base, one, _] = gang_names(version);
        let lost = ["inf-0-fe-x7k20", "inf-0-pd-1-dec-x7k21"];
        let mut before = names(&world);
        lost.iter().for_each(|it| assert!(before.remove(*it)));
        lost.iter().for_each(|it| world.delete(PODS, it));
        let count = world.server.store().write_count();
        world.settle().await;
        let new = new_pods(&world, &before);
        let said: Vec<_> = new
            .iter()
            .map(|it| {
                let place = (label(it, "podclique"), label(it, "podclique-pod-index"));
                (place, label(it, "podgang"), label(it, "base-podgang"))
            })
            .collect();
        let wanted = [(("inf-0-fe", "0"), base, "-"), (("inf-0-pd-1-dec", "1"), one, base)];
        assert_eq!(said, wanted, "{version:?}");
        assert_eq!(not_running(&world), Vec::<String>::new(), "{version:?}");
        assert_untouched(&world, count, &before);
        assert_gangs_list_their_pods(&world);
    }
}

#[tokio::test(start_paused = true)]
async fn scale_in_removes_the_adopted_gang_with_its_pods() {
    for version in Version::ALL {
        let world = adopted(version, 14).await;
        let [base, one, two] = gang_names(version);
        let is_of = |gang: &str| {
            let all = pods(&world);
            all.values().filter(|(_, labels)| label(labels, "podgang") == gang).count()
        };
        assert_eq!(is_of(two), 3);
        let maps: Vec<Value> = world.list(MAPS).iter().map(|it| it.value().clone()).collect();
        world.patch(GROUPS, GROUP, json!({ "spec": { "replicas": 2 } }));
        world.settle().await;
        assert_eq!(world.names(GANGS), [base, one], "{version:?}");
        assert_eq!((is_of(base), is_of(one), is_of(two)), (5, 3, 0));
        assert!(cliques(&world).iter().all(|it| !it.contains("pd-2")));
        assert_gangs_list_their_pods(&world);
        let now: Vec<Value> = world.list(MAPS).iter().map(|it| it.value().clone()).collect();
        assert_eq!(now, maps);
        // Scaled out again, the replica is a new one.
        world.patch(GROUPS, GROUP, json!({ "spec": { "replicas": 3 } }));
        world.settle().await;
        assert!(world.names(GANGS).contains(&"inf-0-pd-1".to_owned()), "{version:?}");
        assert_eq!(is_of("inf-0-pd-1"), 3);
        assert_eq!(not_running(&world), Vec::<String>::new());
    }
}

/// Scaled to zero everything leaves its gang; what comes back is new, and is called as we call it.
#[tokio::test(start_paused = true)]
async fn set_that_was_scaled_to_zero_comes_back_under_our_names() {
    for version in Version::ALL {
        let world = adopted(version, 15).await;
        world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "replicas": 0 } }));
        world.patch(GROUPS, GROUP, json!({ "spec": { "replicas": 0 } }));
        world.settle().await;
        assert_eq!((world.names(GANGS).len(), world.names(PODS).len()), (0, 0), "{version:?}");
        world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "replicas": 2 } }));
        world.patch(GROUPS, GROUP, json!({ "spec": { "replicas": 2 } }));
        world.settle().await;
        assert_eq!(world.names(GANGS), ["inf-0", "inf-0-pd-0"], "{version:?}");
        assert_eq!(world.names(PODS).len(), 8);
        assert_eq!(not_running(&world), Vec::<String>::new());
        assert_gangs_list_their_pods(&world);
    }
}

#[tokio::test(start_paused = true)]
async fn deleted_set_leaves_nothing() {
    for version in Version::ALL {
        let world = adopted(version, 16).await;
        world.delete(SETS, "inf");
        world.settle().await;
        let kinds =
            [SETS, GROUPS, CLIQUES, GANGS, PODS, MAPS, "services", "horizontalpodautoscalers.autoscaling"];
        for kind in kinds {
            assert_eq!(world.names(kind), Vec::<String>::new(), "{version:?}: {kind}");
        }
    }
}
