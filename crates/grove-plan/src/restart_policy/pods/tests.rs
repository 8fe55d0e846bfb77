//! Which pods that failed are replaced.

use grove_api::wire::{PodCliqueSetUpdateProgress, ReplicaUpdateProgress, Time, UnitRestart};
use serde_json::json;

use super::*;
use crate::fixture::{Deployed, GENERATION, at, pods};

const CLIQUE: &str = "inf-0-a";

fn deployed(scope: &str) -> Deployed {
    let policy = json!({ "scope": scope, "maxRestarts": 1, "backoff": { "initial": "10s" } });
    Deployed::new(1, "a=3/1").policy(policy).written()
}

fn judged(deployed: &Deployed, text: &str, second: i64) -> FailedPods {
    let facts = pods(text);
    let facts: Vec<&PodFact> = facts.iter().collect();
    failed_pods(&deployed.set, GENERATION, &deployed.cliques[CLIQUE], &facts, at(second))
}

fn note(deployed: &mut Deployed, count: RestartCount) {
    let clique = deployed.cliques.get_mut(CLIQUE).unwrap();
    clique.status.as_mut().unwrap().restarts = Some(count);
}

#[test]
fn one_by_one_within_the_budget() {
    let mut deployed = deployed("Pod");
    for text in ["", "0r 1n 2re", "0r 1F! 2S"] {
        assert_eq!(judged(&deployed, text, 100), FailedPods::Stay(None), "{text}: none failed for good");
    }
    let FailedPods::Replaced(count) = judged(&deployed, "0F 1F 2r", 100) else { panic!("they stay") };
    assert_eq!((count.count, count.next_at.0), (1, at(110)), "both at once are one restart");
    note(&mut deployed, count.clone());
    assert_eq!(judged(&deployed, "0g 1g 2r", 105), FailedPods::Stay(None));
    let FailedPods::Exhausted(end) = judged(&deployed, "0F 1r 2r", 105) else { panic!("it is not over") };
    note(&mut deployed, end);
    assert_eq!(judged(&deployed, "0F 1r 2r", 900), FailedPods::Stay(None), "for good");
    // More is allowed, and not at once.
    let policy = json!({ "scope": "Pod", "maxRestarts": 2 });
    let more = deployed.policy(policy);
    assert_eq!(judged(&more, "0F 1r 2r", 109), FailedPods::Stay(Some(at(110))));
    assert!(matches!(judged(&more, "0F 1r 2r", 110), FailedPods::Replaced(it) if it.count == 2));
}

/// They say that their unit has to be restarted, and go with it.
#[test]
fn those_of_a_larger_unit_stay() {
    for scope in ["Clique", "GroupReplica", "SetReplica"] {
        assert_eq!(judged(&deployed(scope), "0F 1r 2r", 100), FailedPods::Stay(None), "{scope}");
    }
}

#[test]
fn what_is_restarted_anyway_costs_nothing() {
    let mut deployed = deployed("Pod");
    let status = deployed.cliques.get_mut(CLIQUE).unwrap().status.as_mut().unwrap();
    status.restart = Some(UnitRestart {
        before: Time(at(50)),
        reason: "GangTermination".to_owned(),
        scope: RestartScope::SetReplica,
        scheduled_at: None,
    });
    assert_eq!(judged(&deployed, "0F@49 1r 2r", 100), FailedPods::Stay(None));
    assert!(matches!(judged(&deployed, "0F@50 1r 2r", 100), FailedPods::Replaced(_)));
}

#[test]
fn no_policy_and_an_update_leave_them_free() {
    let mut deployed = deployed("Clique");
    let turn = ReplicaUpdateProgress { replica_index: 0, ..ReplicaUpdateProgress::default() };
    let progress = PodCliqueSetUpdateProgress { currently_updating: vec![turn], ..Default::default() };
    deployed.set.status.get_or_insert_default().update_progress = Some(progress);
    assert_eq!(judged(&deployed, "0F 1r 2r", 100), FailedPods::Free);
    let progress = deployed.set.status.as_mut().unwrap().update_progress.as_mut().unwrap();
    progress.currently_updating[0].replica_index = 1;
    assert_eq!(judged(&deployed, "0F 1r 2r", 100), FailedPods::Stay(None), "another replica has its turn");
    deployed.set.spec.template.restart_policy = None;
    assert_eq!(judged(&deployed, "0F 1r 2r", 100), FailedPods::Free);
}
