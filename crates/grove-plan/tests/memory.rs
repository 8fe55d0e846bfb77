//! What planning the largest sets takes: objects are counted, and a child process plans them within 512 MB.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{collections::BTreeMap, fs, process::Command};

use grove_api::{
    defaulting::default_pod_clique_set,
    limits::{MAX_CLIQUE_REPLICAS, MAX_POD_CLIQUE_BYTES_PER_SET, MAX_POD_CLIQUES_PER_SET, MAX_PODS_PER_SET},
    size::{ReplicaSize, clique_bytes, replicas},
    validation::{Environment, validate_create},
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    allotment::{Allotment, Existing},
    children::{Action, Batch, ChildPlan, SetChildren, plan_set},
    layout,
    objects::{self, Context, Start},
};
use serde_json::{Value, json};

/// As the operator plans.
const BATCH: usize = 512;
/// What the operator may have in all.
const LIMIT_KB: usize = 512 * 1024;

/// A set of `cliques` cliques with `pods` pods each, whose pods have variables of `bytes` bytes.
fn set(replicas: i32, cliques: usize, pods: i32, bytes: usize) -> PodCliqueSet {
    let variables: Vec<Value> = (0..bytes / 64)
        .map(|it| json!({ "name": format!("VARIABLE_{it:04}"), "value": "x".repeat(34) }))
        .collect();
    let clique = |at: usize| {
        let pod = json!({ "containers": [{ "name": "main", "image": "engine:1", "env": variables }] });
        json!({
            "name": format!("c{at}"),
            "spec": { "roleName": format!("c{at}"), "replicas": pods, "minAvailable": 1, "podSpec": pod },
        })
    };
    let cliques: Vec<Value> = (0..cliques).map(clique).collect();
    let object = json!({
        "metadata": { "name": "big", "namespace": "ml", "uid": "uid-big" },
        "spec": { "replicas": replicas, "template": { "cliques": cliques } },
    });
    let mut set = serde_json::from_value(object).unwrap();
    default_pod_clique_set(&mut set, None);
    set
}

/// The largest set by PodCliques, with the largest templates that so many may have.
fn most_cliques() -> PodCliqueSet {
    let set = set(200, 50, 1, 4_600);
    assert_eq!(validate_create(&set, &Environment::default()).errors, []);
    assert_eq!(replicas(&set) * ReplicaSize::of(&set.spec.template).cliques, MAX_POD_CLIQUES_PER_SET);
    let bytes = replicas(&set) * clique_bytes(&set.spec.template);
    assert!(bytes > MAX_POD_CLIQUE_BYTES_PER_SET / 10 * 9, "{bytes} bytes");
    set
}

/// The largest set by pods.
fn most_pods() -> PodCliqueSet {
    let set = set(20, 1, MAX_CLIQUE_REPLICAS, 4_600);
    assert_eq!(validate_create(&set, &Environment::default()).errors, []);
    assert_eq!(replicas(&set) * ReplicaSize::of(&set.spec.template).pods, MAX_PODS_PER_SET);
    set
}

/// 96,000 PodCliques: what was admitted before PodCliques were counted.
fn over_the_cap() -> PodCliqueSet {
    let set = set(1_500, 64, 1, 4_600);
    assert_ne!(validate_create(&set, &Environment::default()).errors, []);
    set
}

fn planned(set: &PodCliqueSet, cliques: &[PodClique]) -> ChildPlan {
    let context = Context {
        set,
        default_scheduler: "default-scheduler",
        form: "",
        gang_names: &grove_plan::gang_names::OurNames,
    };
    let groups = BTreeMap::new();
    let children = SetChildren {
        cliques: cliques.iter().map(|it| (it.metadata.name.as_deref().unwrap(), it)).collect(),
        allotment: Allotment::of(set, &groups, || Existing::of(cliques, [])),
        batch: Batch { size: BATCH, skip: 0 },
        ..SetChildren::default()
    };
    plan_set(context, None, &children)
}

/// All PodCliques of a set, as the caches have them.
fn existing(set: &PodCliqueSet) -> Vec<PodClique> {
    let context = Context {
        set,
        default_scheduler: "default-scheduler",
        form: "",
        gang_names: &grove_plan::gang_names::OurNames,
    };
    let all = (0..layout::count(set.spec.replicas)).flat_map(|it| layout::standalone(set, it));
    all.map(|it| objects::clique(context, &it, None)).collect()
}

#[test]
fn a_plan_has_one_batch_whose_cliques_share_their_pod_specs() {
    for set in [most_cliques(), most_pods(), over_the_cap()] {
        let plan = planned(&set, &[]);
        let drafts = plan.actions.iter().filter_map(|it| match it {
            Action::CreateClique(draft) => Some(draft),
            _ => None,
        });
        assert!(plan.actions.len() <= BATCH);
        assert_eq!(plan.more, plan.actions.len() == BATCH);
        let (mut shared, mut count) = (std::collections::BTreeSet::new(), 0);
        for draft in drafts {
            count += 1;
            shared.insert(draft.pod_spec_address());
        }
        assert!(count > 0 && shared.len() <= set.spec.template.cliques.len(), "{count}: {}", shared.len());
    }
}

/// Peak of the memory of this process.
fn peak_kb() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Runs a test of this file in a process of its own that may have 512 MB; what it took of them.
fn child(name: &str) -> usize {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -v {LIMIT_KB}; exec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"])
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let peak = text.lines().find_map(|it| it.split_once("peak=")).unwrap_or_else(|| panic!("{text}")).1;
    peak.trim().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn the_largest_sets_are_planned_in_bounded_memory() {
    for (test, budget) in [
        ("in_a_child_first_batch_of_most_cliques", 64 * 1024),
        ("in_a_child_first_batch_of_most_pods", 64 * 1024),
        ("in_a_child_first_batch_over_the_cap", 64 * 1024),
        // All 10,000 PodCliques, none of which shares its pod template with another: no cache holds more.
        ("in_a_child_all_of_most_cliques", LIMIT_KB),
    ] {
        let peak = child(test);
        assert!(peak < budget, "{test}: {peak} kB");
        println!("{test}: {peak} kB");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn in_a_child_first_batch_of_most_cliques() {
    let set = most_cliques();
    let plan = planned(&set, &[]);
    assert_eq!(plan.actions.len(), BATCH);
    println!("peak={}", peak_kb());
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn in_a_child_first_batch_over_the_cap() {
    let set = over_the_cap();
    let plan = planned(&set, &[]);
    assert_eq!(plan.actions.len(), BATCH);
    println!("peak={}", peak_kb());
}

/// 256 pods at a time are built and sent.
#[test]
#[ignore = "run by the test above, in a process of its own"]
fn in_a_child_first_batch_of_most_pods() {
    let set = most_pods();
    let plan = planned(&set, &[]);
    assert!(!plan.more);
    let Some(Action::CreateClique(draft)) =
        plan.actions.iter().find(|it| matches!(it, Action::CreateClique(_)))
    else {
        panic!("no clique");
    };
    let mut clique = draft.object();
    clique.metadata.uid = Some("uid-clique".to_owned());
    let start = Start { image: "", parents: &[], may_start: false };
    let pods: Vec<_> = (0..256).map(|it| objects::pod("big", &clique, it, start, None).unwrap()).collect();
    assert_eq!(pods.len(), 256);
    println!("peak={}", peak_kb());
}

/// What the caches have of the largest set, and a look at it that finds nothing to do but Services and gangs.
#[test]
#[ignore = "run by the test above, in a process of its own"]
fn in_a_child_all_of_most_cliques() {
    let set = most_cliques();
    let cliques = existing(&set);
    assert_eq!(cliques.len() as u64, MAX_POD_CLIQUES_PER_SET);
    let plan = planned(&set, &cliques);
    assert!(plan.actions.iter().all(|it| !matches!(it, Action::CreateClique(_))));
    println!("peak={}", peak_kb());
}
