use anstream::adapter::strip_str;
use serde_json::json;

use super::*;
use crate::commands::rollout::progress::tests::under_way;

const DOCUMENTATION: &str = include_str!("../../../../../../docs/updates.md");

#[test]
fn an_update_under_way() {
    let want = "\
chat in namespace default: updating since 2027-01-01T00:00:00Z, 1 of 3 replicas updated
  replica 1: chat-1-a has 1 of 2 pods updated

REPLICA   NAME          UPDATED           STATE
1         chat-1-a      1 of 2 pods       updating
    pod chat-1-a-1 is being replaced
    1 pod: being deleted
    1 pod: not created yet
1         chat-1-pool   1 of 2 replicas   updating
    replica 1 is being replaced
    2 pods: starting
2         chat-2-a      0 of 2 pods       waiting
0         chat-0-a      2 of 2 pods       done
0         chat-0-pool   2 of 2 replicas   done
";
    let seen = Progress::of(&under_way(), "chat").unwrap();
    assert_eq!(strip_str(&progress(&seen)).to_string(), want);
    assert!(DOCUMENTATION.contains(want), "docs/updates.md does not show it");
}

#[test]
fn every_state_is_told() {
    let mut it = Progress::of(&under_way(), "chat").unwrap();
    it.message.clear();
    it.ended_at.clone_from(&it.started_at);
    let first = |it: &Progress, state: State| {
        let text = strip_str(&progress(&Progress { state, ..it.clone() })).to_string();
        let line = text.lines().next().unwrap().to_owned();
        (line.strip_prefix("chat in namespace default: ").unwrap().to_owned(), text.lines().count() > 1)
    };
    let since = "2027-01-01T00:00:00Z";
    assert_eq!(
        first(&it, State::Never),
        ("the template has not changed since the set was created".to_owned(), false)
    );
    assert_eq!(
        first(&it, State::Unseen),
        ("the operator has not observed the newest change yet".to_owned(), true)
    );
    assert_eq!(first(&it, State::Paused), ("paused, 1 of 3 replicas updated".to_owned(), true));
    let held = Progress { change_pending: true, ..it.clone() };
    let pending =
        "paused with a change pending, 1 of 3 replicas updated; `grove rollout resume chat` starts it";
    assert_eq!(first(&held, State::Paused), (pending.to_owned(), true));
    let stuck =
        format!("stuck: no progress within the deadline; updating since {since}, 1 of 3 replicas updated");
    assert_eq!(first(&it, State::Stuck), (stuck, true));
    let blocked = format!(
        "blocked: pods of the new template are refused; updating since {since}, 1 of 3 replicas updated"
    );
    assert_eq!(first(&it, State::Blocked), (blocked, true));
    assert_eq!(first(&it, State::Ended), (format!("complete since {since}"), false));
    it.message = "3 pods are old".to_owned();
    it.state = State::Ended;
    let text = strip_str(&progress(&it)).to_string();
    assert_eq!(
        text,
        "chat in namespace default: no more pods are replaced, 1 of 3 replicas updated\n  3 pods are old\n"
    );
}

#[test]
fn many_units_are_cut_short() {
    let mut it = Progress::of(&under_way(), "chat").unwrap();
    let one = it.units.pop().unwrap();
    it.units = vec![one; MAX_UNITS + 3];
    let text = strip_str(&progress(&it)).to_string();
    assert_eq!(text.lines().last(), Some("… and 3 more; -o json has all"));
    assert_eq!(text.lines().filter(|it| it.contains("chat-0-pool")).count(), MAX_UNITS);
}

fn change(field: &str, from: Option<&str>, to: Option<&str>) -> Change {
    Change { field: field.to_owned(), from: from.map(str::to_owned), to: to.map(str::to_owned) }
}

#[test]
fn a_history() {
    let revision = |number: i64, created: &str, current: bool, changes: Option<Vec<Change>>| Revision {
        number,
        name: format!("chat-{number}"),
        current,
        created_at: Some(serde_json::from_value(json!(created)).unwrap()),
        changes,
    };
    let all = History {
        namespace: "default".to_owned(),
        name: "chat".to_owned(),
        revisions: vec![
            revision(1, "2027-01-01T00:00:00Z", false, None),
            revision(
                2,
                "2027-01-03T00:00:00Z",
                false,
                Some(vec![
                    change("decode.containers[main].image", Some("engine:1"), Some("engine:2")),
                    change("decode.containers[main].env[CACHE].value", None, Some("on")),
                    change("router.labels.team", Some("a"), None),
                ]),
            ),
            revision(
                3,
                "2027-01-03T11:55:00Z",
                true,
                Some(vec![change("router.containers[main].image", Some("router:7"), Some("router:8"))]),
            ),
        ],
    };
    let want = "\
REVISION   AGE   CHANGE
1          2d    oldest kept revision
2          12h   decode.containers[main].image: engine:1 → engine:2
    decode.containers[main].env[CACHE].value: added: on
    router.labels.team: removed, was a
3 *        5m    router.containers[main].image: router:7 → router:8
* in use
";
    let now = "2027-01-03T12:00:00Z".parse().unwrap();
    assert_eq!(strip_str(&history(&all, now)).to_string(), want);
    assert!(DOCUMENTATION.contains(want), "docs/updates.md does not show it");
    let same = Revision { changes: Some(Vec::new()), ..all.revisions[0].clone() };
    assert_eq!(changes(&same), ["no change to pods"]);
    let none = History { revisions: Vec::new(), ..all };
    assert_eq!(history(&none, now), "no revisions of chat yet: check that the operator is running\n");
}

#[test]
fn ages_have_one_unit() {
    let now: Timestamp = "2027-01-10T00:00:00Z".parse().unwrap();
    let rows = [
        ("2027-01-09T23:59:01Z", "59s"),
        ("2027-01-09T23:59:00Z", "1m"),
        ("2027-01-09T23:00:00Z", "1h"),
        ("2027-01-09T00:00:00Z", "1d"),
        // Clocks differ.
        ("2027-01-10T00:00:05Z", "0s"),
    ];
    for (then, want) in rows {
        assert_eq!(age(now, then.parse().unwrap()), want);
    }
}
