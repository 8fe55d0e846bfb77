//! Rules of updates and of restarts.

use super::*;

/// A bench whose clique has another template than its pods, all of which have a node. `turn` says whose turn it is.
async fn changed(strategy: &str, turn: Option<u32>) -> Bench {
    let bench = Bench::new().await;
    bench.cluster.patch("user", SETS, "s0", json!({ "spec": { "updateStrategy": { "type": strategy } } }));
    let turns: Vec<Value> = turn.iter().map(|it| json!({ "replicaIndex": it })).collect();
    let progress = json!({ "status": { "updateProgress": { "currentlyUpdating": turns } } });
    bench.cluster.patch("user", SETS, "s0", progress);
    let label = json!({ "metadata": { "labels": { labels::POD_TEMPLATE_HASH: "new" } } });
    for clique in bench.cluster.list(CLIQUES) {
        bench.cluster.patch("user", CLIQUES, clique.name(), label.clone());
    }
    bench.bind_all();
    bench.referee.look();
    sleep(LONG).await;
    bench
}

#[tokio::test(start_paused = true)]
async fn pods_of_an_older_template_go_in_their_turn() {
    for (strategy, turn, expected) in [
        ("RollingRecreate", Some(0), None),
        ("RollingRecreate", Some(1), Some(Rule::Update)),
        ("RollingRecreate", None, Some(Rule::Update)),
        ("OnDelete", Some(0), Some(Rule::Update)),
    ] {
        let bench = changed(strategy, turn).await;
        bench.delete(PODS, "p2");
        assert_eq!(bench.verdict(), expected, "{strategy} {turn:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_leaves_the_minimum_of_a_clique() {
    let bench = changed("RollingRecreate", Some(0)).await;
    bench.ready("p0", false);
    bench.referee.look();
    sleep(LONG).await;
    bench.delete(PODS, "p2");
    assert_eq!(bench.verdict(), Some(Rule::Budget));
}

/// A user wants an image of role `a`, and later the operator says that this update is over. Pods have no image.
async fn ends(bench: &Bench, image: &str) -> Option<Rule> {
    let role = json!({ "name": "a", "spec": { "podSpec": { "containers": [{ "image": image }] } } });
    bench.cluster.patch("user", SETS, "s0", json!({ "spec": { "template": { "cliques": [role] } } }));
    bench.referee.look();
    sleep(LONG).await;
    let progress = json!({ "updateEndedAt": "2027-01-15T08:00:00Z", "currentlyUpdating": null });
    bench.cluster.patch(OPERATOR, SETS, "s0", json!({ "status": { "updateProgress": progress } }));
    bench.verdict()
}

#[tokio::test(start_paused = true)]
async fn an_update_is_over_when_nothing_old_is_left() {
    for (strategy, image, expected) in [
        ("RollingRecreate", "", None),
        ("RollingRecreate", "new", Some(Rule::Update)),
        ("OnDelete", "new", None),
    ] {
        let bench = changed(strategy, Some(0)).await;
        assert_eq!(ends(&bench, image).await, expected, "{strategy} {image}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_is_over_when_its_last_replica_serves() {
    for (turn, expected) in [(Some(0), Some(Rule::Update)), (None, None)] {
        let bench = changed("RollingRecreate", turn).await;
        bench.ready("p0", false);
        bench.ready("p1", false);
        assert_eq!(ends(&bench, "").await, expected, "turn {turn:?}");
    }
    for (minimum, expected) in [(1, None), (2, Some(Rule::Update))] {
        let bench = group(2, minimum, Some("q1")).await;
        assert_eq!(ends(&bench, "").await, expected, "at least {minimum}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_over_when_its_replica_serves() {
    for (image, broken, update, expected) in [
        ("", false, "2027-01-15T08:00:00Z", None),
        ("", true, "2027-01-15T08:00:00Z", Some(Rule::Update)),
        ("new", false, "2027-01-15T08:00:00Z", Some(Rule::Update)),
        // Another update may begin elsewhere.
        ("", true, "2027-01-15T09:00:00Z", None),
    ] {
        let bench = changed("RollingRecreate", Some(0)).await;
        let role = json!({ "name": "a", "spec": { "podSpec": { "containers": [{ "image": image }] } } });
        let progress = json!({ "updateStartedAt": "2027-01-15T08:00:00Z" });
        bench.cluster.patch("user", SETS, "s0", json!({ "spec": { "template": { "cliques": [role] } } }));
        bench.cluster.patch("user", SETS, "s0", json!({ "status": { "updateProgress": progress } }));
        bench.ready("p0", !broken);
        bench.ready("p1", !broken);
        bench.referee.look();
        sleep(LONG).await;
        let turn = json!({ "updateStartedAt": update, "currentlyUpdating": [{ "replicaIndex": 1 }] });
        bench.cluster.patch(OPERATOR, SETS, "s0", json!({ "status": { "updateProgress": turn } }));
        assert_eq!(bench.verdict(), expected, "{image} {broken} {update}");
    }
}

/// A group with one pod in each replica, in whose set replica it is the turn. One of the pods is not ready, or all are.
async fn group(replicas: u32, minimum: u32, broken: Option<&str>) -> Bench {
    let bench = Bench::new().await;
    let spec = json!({ "spec": { "replicas": replicas, "minAvailable": minimum } });
    bench.create("user", GROUPS, "s0-0-g", json!({}), spec);
    for index in 0..replicas {
        let pod = format!("q{index}");
        member(&bench, index, &pod);
        bench.ready(&pod, broken != Some(&pod));
    }
    let progress =
        json!({ "status": { "updateProgress": { "currentlyUpdating": [{ "replicaIndex": 0 }] } } });
    bench.cluster.patch("user", SETS, "s0", progress);
    bench.bind_all();
    bench.referee.look();
    sleep(LONG).await;
    bench
}

/// The clique of a replica of the group, and its pod.
fn member(bench: &Bench, index: u32, pod: &str) {
    let clique = format!("s0-0-g-{index}-m");
    let labels = json!({
        labels::PART_OF: "s0", labels::SET_REPLICA_INDEX: "0", labels::POD_GANG: "s0-0",
        labels::SCALING_GROUP: "s0-0-g", labels::SCALING_GROUP_REPLICA_INDEX: index.to_string(),
        labels::POD_TEMPLATE_HASH: "new",
    });
    bench.create("user", CLIQUES, &clique, labels, json!({ "spec": { "replicas": 1, "minAvailable": 1 } }));
    bench.pod_of("user", &clique, pod, 0);
}

#[tokio::test(start_paused = true)]
async fn an_update_leaves_the_minimum_of_a_group() {
    for (replicas, minimum, broken, expected) in [
        (2, 1, None, None),
        (2, 1, Some("q1"), Some(Rule::Budget)),
        (3, 2, None, None),
        (3, 2, Some("q1"), Some(Rule::Budget)),
        // It serves nobody.
        (3, 2, Some("q0"), None),
        // All are needed: one may be missing.
        (2, 2, None, None),
    ] {
        let bench = group(replicas, minimum, broken).await;
        bench.delete(PODS, "q0");
        assert_eq!(bench.verdict(), expected, "{replicas} {minimum} {broken:?}");
    }
}

/// A group may have decided before its clique heard that a pod had ended, and its request arrives after that of the clique.
#[tokio::test(start_paused = true)]
async fn a_request_that_was_overtaken_is_not_blamed() {
    for (phase, later, expected) in [
        ("Failed", Duration::ZERO, None),
        ("Failed", TRIP + Duration::from_millis(1), Some(Rule::Budget)),
        ("Running", Duration::ZERO, Some(Rule::Budget)),
    ] {
        let bench = group(2, 2, None).await;
        bench.cluster.patch("kubelet", PODS, "q1", json!({ "status": { "phase": phase } }));
        bench.referee.look();
        bench.delete(PODS, "q1");
        assert_eq!(bench.verdict(), None);
        sleep(later).await;
        bench.delete(PODS, "q0");
        assert_eq!(bench.verdict(), expected, "{phase} {later:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clique_that_was_made_again_counts_once() {
    let bench = group(2, 1, Some("q1")).await;
    bench.cluster.delete("user", CLIQUES, "s0-0-g-1-m", None);
    bench.cluster.delete("user", PODS, "q1", Some(0));
    member(&bench, 1, "q1-again");
    bench.ready("q1-again", true);
    bench.referee.look();
    bench.delete(PODS, "q0");
    assert_eq!(bench.verdict(), None);
}

/// A clique of three pods, of which two are the minimum, may be below it for thirty seconds.
#[tokio::test(start_paused = true)]
async fn a_unit_is_restarted_when_that_is_due() {
    let second = Duration::from_secs(1);
    for (seconds_below, seconds_between, expected) in [
        (0, 0, Some(Rule::Restart)),
        (15, 0, Some(Rule::Restart)),
        (28, 0, Some(Rule::Restart)),
        (30, 0, None),
        (60, 0, None),
        // It served in the middle: for a moment, and for so long that nobody can overlook it.
        (60, 5, None),
        (60, 40, Some(Rule::Restart)),
    ] {
        let bench = Bench::new().await;
        let all = |ready: bool| {
            for pod in ["p0", "p1"] {
                bench.ready(pod, ready);
            }
            bench.referee.look();
        };
        if seconds_below > 0 {
            all(false);
            sleep(second * seconds_below).await;
        }
        if seconds_between > 0 {
            all(true);
            sleep(second * seconds_between).await;
            all(false);
            sleep(second * 20).await;
        }
        let restart = json!({ "before": "2027-01-15T08:00:00Z", "scope": "SetReplica", "reason": "x" });
        bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", json!({ "status": { "restart": restart } }));
        assert_eq!(bench.verdict(), expected, "{seconds_below} {seconds_between}");
    }
}

/// Notes that follow from one that was there are not judged again; and nothing is restarted where that is off.
#[tokio::test(start_paused = true)]
async fn a_restart_is_decided_once_and_only_where_it_may_be() {
    let note = |before: &str| {
        let restart = json!({ "before": before, "scope": "SetReplica", "reason": "x" });
        json!({ "status": { "restart": restart } })
    };
    let bench = Bench::new().await;
    let labels = json!({ labels::PART_OF: "s0", labels::SET_REPLICA_INDEX: "0", labels::POD_GANG: "s0-0" });
    bench.create("user", CLIQUES, "s0-0-b", labels, json!({ "spec": { "replicas": 1, "minAvailable": 1 } }));
    bench.cluster.patch("user", CLIQUES, "s0-0-b", note("2027-01-15T08:00:00Z"));
    bench.referee.look();
    bench.pod_of("user", "s0-0-b", "b0", 0);
    bench.ready("b0", true);
    bench.referee.look();
    sleep(LONG).await;
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", note("2027-01-15T08:00:00Z"));
    assert_eq!(bench.verdict(), None);
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", note("2027-01-15T09:00:00Z"));
    assert_eq!(bench.verdict(), Some(Rule::Restart));

    let bench = Bench::new().await;
    bench.cluster.patch("user", SETS, "s0", json!({ "spec": { "template": { "terminationDelay": null } } }));
    for pod in ["p0", "p1", "p2"] {
        bench.ready(pod, false);
    }
    bench.referee.look();
    sleep(LONG).await;
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", note("2027-01-15T08:00:00Z"));
    assert_eq!(bench.verdict(), Some(Rule::Restart));
}
