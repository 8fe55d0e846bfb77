//! Failures that are too old to count.

use super::*;

/// Who adds a policy to what runs asks for no restart because of what happened weeks ago.
#[test]
fn what_was_before_the_policy_is_history() {
    let policy = || json!({ "scope": "SetReplica" });
    let ran = || {
        let ran = Deployed::new(2, SET).made(0).all("rx@10^20").written_at(60);
        ran.with("inf-0-fe", "0re@10^99 1r@10")
    };
    let deployed = ran().new_policy(policy());
    assert_eq!(due(&deployed, 100), "", "nobody has noted it yet");
    let deployed = deployed.reported_at(100);
    assert_eq!(due(&deployed, 100), "");
    for (pods, want) in
        [("0rx@10^99", ""), ("0rx@10^100", "set:1"), ("0nx@10^20", "set:1"), ("0F@10", "set:1")]
    {
        assert_eq!(
            due(&ran().new_policy(policy()).reported_at(100).with("inf-1-fe", pods), 200),
            want,
            "{pods}"
        );
    }
    // It is noted once, and then stands.
    let noted =
        |it: &Deployed| it.set.status.clone().unwrap().restart_policy.map(|it| it.since.0.as_second());
    let deployed = deployed.reported_at(300);
    assert_eq!(noted(&deployed), Some(100));
    // Another scope is another policy; one that is gone is forgotten.
    let other = deployed.new_policy(json!({ "scope": "Clique" })).with("inf-1-fe", "0rx@10^250");
    assert_eq!(due(&other, 400), "");
    let mut other = other.reported_at(400);
    assert_eq!((due(&other, 400).as_str(), noted(&other)), ("", Some(400)));
    other.set.spec.template.restart_policy = None;
    assert_eq!(noted(&other.reported_at(500)), None);
}

/// What failed before the turn was of the old template, although the new one was known.
#[test]
fn the_turn_begins_the_count_anew() {
    let counted = |turn: i32| {
        let policy = json!({ "scope": "SetReplica", "maxRestarts": 0 });
        let failed = healthy("SetReplica").policy(policy).with("inf-0-fe", "0Fo 1r");
        let mut spent = carried_out(failed, 200);
        assert!(restart::count(&spent.states()["inf-0-pd-0-dec"]).is_some());
        let updating = ReplicaUpdateProgress { replica_index: turn, ..Default::default() };
        let progress =
            PodCliqueSetUpdateProgress { currently_updating: vec![updating], ..Default::default() };
        spent.set.status.get_or_insert_default().update_progress = Some(progress);
        let spent = spent.written_at(300);
        ["inf-0-fe", "inf-0-pd-0-dec"].map(|it| restart::count(&spent.states()[it]).is_some())
    };
    assert_eq!((counted(0), counted(1)), ([false; 2], [true; 2]));
}

/// A new pod may fail while the others are replaced; when it is ready again, the update was well.
#[test]
fn what_was_in_the_turn_is_history() {
    let turn = |mut deployed: Deployed, replica: Option<i32>, second: i64| {
        let updating = |replica_index| ReplicaUpdateProgress { replica_index, ..Default::default() };
        let progress = PodCliqueSetUpdateProgress {
            currently_updating: replica.map(updating).into_iter().collect(),
            update_ended_at: replica.is_none().then(|| grove_api::wire::Time(at(second))),
            ..Default::default()
        };
        let noted = in_force(&deployed.set, Some(&progress), at(second));
        let status = deployed.set.status.get_or_insert_default();
        (status.restart_policy, status.update_progress) = (noted, Some(progress));
        deployed
    };
    let first = turn(healthy("SetReplica"), Some(0), 200).with("inf-0-fe", "0rx@200^210 1r@200");
    assert_eq!(due(&first, 250), "", "it has its turn");
    let second = turn(first, Some(1), 300);
    assert_eq!(due(&second, 300), "");
    assert_eq!(due(&turn(second.with("inf-1-fe", "0rx@300^310 1r@300"), None, 400), 400), "");
    // A pause ends a turn, too.
    let paused = |second: i64| {
        let mut paused = turn(healthy("SetReplica"), Some(0), 200).with("inf-0-fe", "0rx@200^210 1r@200");
        paused.set.spec.update_strategy = Some(serde_json::from_value(json!({ "paused": true })).unwrap());
        let progress = paused.set.status.clone().unwrap().update_progress;
        if second > 200 {
            let noted = in_force(&paused.set, progress.as_ref(), at(second));
            paused.set.status.as_mut().unwrap().restart_policy = noted;
        }
        paused
    };
    assert_eq!((due(&paused(200), 400), due(&paused(300), 400)), (String::new(), String::new()));
    assert_eq!(due(&paused(300).with("inf-0-fe", "0rx@200^300"), 400), "set:0");
    // A failure that waits for the pause of its policy is not forgotten meanwhile.
    let waiting = carried_out(healthy("SetReplica").with("inf-1-fe", "0ne 1r"), 200);
    let waiting = turn(waiting.with("inf-1-fe", "0rx@200^205 1r@200"), Some(0), 207);
    assert_eq!((due(&waiting, 207).as_str(), due(&waiting, 210).as_str()), ("next:210", "set:1"));
}
