//! What a restart policy may do.

use super::*;

/// The operator restarts clique `a` for the `count`th time, by its policy.
fn restarts(bench: &Bench, count: u64) -> Option<Rule> {
    notes(bench, "s0-0-a", "Clique", count)
}

/// Likewise a clique, as a part of what `scope` says.
fn notes(bench: &Bench, clique: &str, scope: &str, count: u64) -> Option<Rule> {
    let before = format!("2027-01-15T08:00:0{count}Z");
    let restart = json!({ "before": before, "scope": scope, "reason": "RestartPolicy" });
    let counted = json!({ "scope": scope, "count": count, "windowStart": "2027-01-15T08:00:00Z" });
    let status = json!({ "status": { "restart": restart, "restarts": counted } });
    bench.cluster.patch(OPERATOR, CLIQUES, clique, status);
    bench.verdict()
}

/// A set with a policy, of which a pod has failed or has not.
async fn with_policy(scope: &str, has_failed: bool) -> Bench {
    let bench = Bench::new().await;
    let backoff = json!({ "initial": "20s", "max": "60s" });
    let policy = json!({ "scope": scope, "maxRestarts": 2, "window": "1h", "backoff": backoff });
    bench.cluster.patch("user", SETS, "s0", json!({ "spec": { "template": { "restartPolicy": policy } } }));
    if has_failed {
        let containers = json!([{ "name": "main", "lastState": { "terminated": { "exitCode": 1 } } }]);
        bench.cluster.patch("kubelet", PODS, "p0", json!({ "status": { "containerStatuses": containers } }));
    }
    bench.referee.look();
    sleep(LONG).await;
    bench
}

#[tokio::test(start_paused = true)]
async fn a_policy_restarts_what_failed() {
    for (scope, has_failed, expected) in [
        ("Clique", true, None),
        // A clique in no group is a unit of its own.
        ("GroupReplica", true, None),
        ("SetReplica", true, Some(Rule::Restart)),
        ("Clique", false, Some(Rule::Restart)),
    ] {
        let bench = with_policy(scope, has_failed).await;
        assert_eq!(restarts(&bench, 1), expected, "{scope} {has_failed}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_is_left_alone_unless_it_is_paused() {
    for (paused, expected) in [(false, Some(Rule::Restart)), (true, None)] {
        let bench = with_policy("Clique", true).await;
        let turn = json!({ "updateProgress": { "currentlyUpdating": [{ "replicaIndex": 0 }] } });
        bench.cluster.patch("user", SETS, "s0", json!({ "status": turn }));
        bench.cluster.patch(
            "user",
            SETS,
            "s0",
            json!({ "spec": { "updateStrategy": { "paused": paused } } }),
        );
        bench.referee.look();
        sleep(LONG).await;
        assert_eq!(restarts(&bench, 1), expected, "paused: {paused}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_has_pauses_and_an_end() {
    // A note may be two seconds younger than the decision, and times are in whole seconds.
    for (seconds, expected) in [(16, Some(Rule::Restart)), (17, None)] {
        let bench = with_policy("Clique", true).await;
        assert_eq!(restarts(&bench, 1), None);
        sleep(Duration::from_secs(seconds)).await;
        assert_eq!(restarts(&bench, 2), expected, "after {seconds}s");
    }
    let bench = with_policy("Clique", true).await;
    assert_eq!(restarts(&bench, 3), Some(Rule::Restart), "one more than it allows");
}

/// An operator died between the notes on two cliques; the pause is since the first.
#[tokio::test(start_paused = true)]
async fn the_first_note_is_the_decision() {
    let bench = with_policy("SetReplica", true).await;
    let labels = json!({ labels::PART_OF: "s0", labels::SET_REPLICA_INDEX: "0", labels::POD_GANG: "s0-0" });
    bench.create("user", CLIQUES, "s0-0-b", labels, json!({ "spec": { "replicas": 0, "minAvailable": 0 } }));
    assert_eq!(notes(&bench, "s0-0-a", "SetReplica", 1), None);
    sleep(Duration::from_secs(15)).await;
    assert_eq!(notes(&bench, "s0-0-b", "SetReplica", 1), None);
    sleep(Duration::from_secs(6)).await;
    assert_eq!(notes(&bench, "s0-0-a", "SetReplica", 2), None);
}
