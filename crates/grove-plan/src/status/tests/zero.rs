//! What is scaled to zero.

use crate::{
    fixture::{Deployed, at, conditions},
    status, termination,
};

const SET: &str = "fe=2/2 pre=1/1 dec=2/2 | pd=2/1:pre,dec";

/// A set that was made at 0 and healthy at 60. What is below its minimum is terminated after ten seconds.
fn healthy() -> Deployed {
    let mut deployed = Deployed::new(1, SET).made(0).all("r").written_at(60);
    deployed.set.spec.template.termination_delay = Some("10s".into());
    deployed
}

fn scaled(mut deployed: Deployed, clique: &str, replicas: i32) -> Deployed {
    deployed.cliques.get_mut(clique).unwrap().spec.replicas = Some(replicas);
    deployed
}

fn group_scaled(mut deployed: Deployed, replicas: i32) -> Deployed {
    deployed.groups.get_mut("inf-0-pd").unwrap().spec.replicas = replicas;
    deployed
}

fn of_clique(deployed: &Deployed, name: &str) -> String {
    conditions(&deployed.cliques[name].status.as_ref().unwrap().conditions).join(" ")
}

fn of_group(deployed: &Deployed) -> String {
    conditions(&deployed.groups["inf-0-pd"].status.as_ref().unwrap().conditions).join(" ")
}

fn terminated_at(deployed: &Deployed, second: i64) -> usize {
    termination::plan(&deployed.state_at(second)).restarts.len()
}

#[test]
fn a_clique_without_pods_is_well() {
    let zero = scaled(healthy(), "inf-0-fe", 0).with("inf-0-fe", "").written_at(100);
    assert_eq!(
        of_clique(&zero, "inf-0-fe"),
        "PodCliqueScheduled=True/ScaledToZero MinAvailableBreached=False/ScaledToZero"
    );
    let said = zero.cliques["inf-0-fe"].status.as_ref().unwrap();
    assert_eq!((said.replicas, said.ready_replicas), (0, 0));
    let set = status::set(&zero.report());
    assert_eq!((set.available_replicas, set.updated_replicas), (1, 1), "it counts as available and updated");
    let said = conditions(&set.conditions);
    assert!(said.iter().any(|it| it.starts_with("Progressing=False")), "{said:?}");
    assert_eq!(terminated_at(&zero, 9_000), 0);
}

#[test]
fn a_group_without_replicas_is_well() {
    let mut zero = group_scaled(healthy(), 0);
    for name in ["inf-0-pd-0-pre", "inf-0-pd-0-dec", "inf-0-pd-1-pre", "inf-0-pd-1-dec"] {
        zero = zero.without(name);
    }
    let zero = zero.written_at(100);
    assert_eq!(of_group(&zero), "MinAvailableBreached=False/ScaledToZero");
    let said = zero.groups["inf-0-pd"].status.as_ref().unwrap();
    assert_eq!((said.replicas, said.available_replicas, said.updated_replicas), (0, 0, 0));
    let set = status::set(&zero.report());
    assert_eq!((set.available_replicas, set.updated_replicas), (1, 1));
    assert_eq!(terminated_at(&zero, 9_000), 0);
}

/// What is scaled up and finds no place takes nothing down with it: it never was there.
#[test]
fn what_wakes_and_finds_no_place_is_not_terminated() {
    let zero = scaled(healthy(), "inf-0-fe", 0).with("inf-0-fe", "").written_at(100);
    let awake = scaled(zero, "inf-0-fe", 2).with("inf-0-fe", "0g 1g").written_at(200);
    let said = of_clique(&awake, "inf-0-fe");
    assert!(said.contains("PodCliqueScheduled=False/InsufficientScheduledPods"), "{said}");
    assert_eq!(terminated_at(&awake, 9_000), 0);
    // Placed, and then lost: that counts.
    let lost = awake.with("inf-0-fe", "0r 1r").written_at(300).with("inf-0-fe", "0r").written_at(400);
    assert_eq!(terminated_at(&lost, 409), 0);
    assert_eq!(terminated_at(&lost, 410), 1);
}

#[test]
fn a_group_that_wakes_and_finds_no_place_is_not_terminated() {
    let mut awake = group_scaled(group_scaled(healthy(), 0).written_at(100), 1);
    // Its cliques are made anew.
    for clique in awake.cliques.values_mut().filter(|it| it.metadata.name.as_deref() != Some("inf-0-fe")) {
        clique.status = None;
        clique.metadata.creation_timestamp = Some(grove_api::wire::Time(at(150)));
    }
    let awake = awake.with("inf-0-pd-0-pre", "0g").with("inf-0-pd-0-dec", "0g 1g").written_at(200);
    assert!(of_group(&awake).starts_with("MinAvailableBreached=True"), "{}", of_group(&awake));
    assert_eq!(terminated_at(&awake, 9_000), 0);
}
