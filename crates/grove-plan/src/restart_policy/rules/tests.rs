//! How often and how fast: lives of one unit, failure by failure.

use serde_json::{Value, json};

use super::*;
use crate::fixture::{Deployed, at};

fn set(policy: Value) -> PodCliqueSet {
    Deployed::new(1, "a=1/1").policy(policy).set
}

/// What each failure, at its second, leads to: `1>20` is a first restart after which nothing happens before 20, `w20` waits
/// for 20, `end` is a failure too many, `-` nothing at all.
fn life(rules: &Rules<'_>, failures: &[i64]) -> String {
    let mut noted = None;
    let told = failures.iter().map(|second| match rules.on_failure(noted.as_ref(), at(*second)) {
        Ruling::Restart(count) => {
            let told = format!("{}>{}", count.count, count.next_at.0.as_second());
            noted = Some(count);
            told
        }
        Ruling::Exhausted(count) => {
            assert_eq!(count.exhausted_at, Some(Time(at(*second))));
            noted = Some(count);
            "end".to_owned()
        }
        Ruling::Wait(until) => format!("w{}", until.as_second()),
        Ruling::Over => "-".to_owned(),
    });
    told.collect::<Vec<_>>().join(" ")
}

#[test]
fn pauses_double_and_the_budget_is_for_a_window() {
    let backoff = json!({ "initial": "10s", "max": "30s" });
    let rows = [
        (json!({ "maxRestarts": 9, "backoff": backoff }), "1>10 w10 2>30 3>60 4>90 5>120"),
        (json!({ "maxRestarts": 2, "backoff": backoff }), "1>10 w10 2>30 end - -"),
        (json!({ "maxRestarts": 0 }), "end - - - - -"),
        // The second window begins with the failure at 60.
        (json!({ "maxRestarts": 3, "backoff": backoff, "window": "50s" }), "1>10 w10 2>30 3>60 1>70 2>110"),
        (json!({ "maxRestarts": 9, "backoff": { "initial": "10m" } }), "1>600 w600 w600 w600 w600 w600"),
        (json!({ "maxRestarts": 9, "backoff": { "max": "1s" } }), "1>1 2>6 3>11 4>31 5>61 6>91"),
    ];
    for (mut policy, want) in rows {
        policy["scope"] = json!("Clique");
        let set = set(policy.clone());
        assert_eq!(life(&Rules::of(&set, "h").unwrap(), &[0, 5, 10, 30, 60, 90]), want, "{policy}");
    }
}

/// A status has whole seconds: what it says is not earlier than what was meant.
#[test]
fn pauses_are_not_cut_short() {
    let set = set(json!({ "scope": "Clique", "backoff": { "initial": "10s" } }));
    let rules = Rules::of(&set, "h").unwrap();
    for (millis, next) in [(0, 10), (1, 11), (999, 11), (1000, 11)] {
        let now = Timestamp::from_millisecond(millis).unwrap();
        let Ruling::Restart(count) = rules.on_failure(None, now) else { panic!("not restarted") };
        assert_eq!(count.next_at.0, at(next), "after {millis} ms");
    }
}

#[test]
fn what_is_left_out() {
    let set = set(json!({ "scope": "SetReplica" }));
    let rules = Rules::of(&set, "h").unwrap();
    let failures: Vec<i64> = (0..12).map(|it| it * 300).collect();
    assert_eq!(life(&rules, &failures[..6]), "1>10 2>320 3>640 4>980 5>1360 6>1800");
    assert_eq!(life(&rules, &failures).split(' ').nth(10), Some("end"), "ten within an hour");
    let nonsense =
        json!({ "scope": "SetReplica", "window": "soon", "backoff": { "initial": "-1s", "max": "0s" } });
    assert_eq!(Rules::of(&self::set(nonsense), "h"), Some(rules), "as good as not said");
    let mut without = set.clone();
    without.spec.template.restart_policy = None;
    assert_eq!(Rules::of(&without, "h"), None);
}

/// No number of restarts is too large for the arithmetic.
#[test]
fn pauses_end() {
    let set = set(
        json!({ "scope": "Clique", "maxRestarts": 1000, "backoff": { "initial": "2h", "max": "2562047h" } }),
    );
    let rules = Rules::of(&set, "h").unwrap();
    assert!((0..1000).all(|it| rules.pause(it) <= rules.pause(it + 1)));
    assert_eq!(rules.pause(1000), SignedDuration::from_hours(2_562_047));
}

/// Each row is a set in which the failure at 100 is judged by what was noted under `{"scope":"Clique","maxRestarts":1}`,
/// template `h` and reset `x`.
#[test]
fn what_begins_anew() {
    let deployed = |policy| Deployed::new(1, "a=1/1").policy(policy);
    let one = || json!({ "scope": "Clique", "maxRestarts": 1 });
    let set = deployed(one()).reset("x").set;
    let rules = Rules::of(&set, "h").unwrap();
    let Ruling::Restart(first) = rules.on_failure(None, at(0)) else { panic!("not restarted") };
    let Ruling::Exhausted(noted) = rules.on_failure(Some(&first), at(50)) else { panic!("not exhausted") };
    let long = "x".repeat(200);
    let rows = [
        ("the same", deployed(one()).reset("x"), "h", "-"),
        ("removed", deployed(one()), "h", "-"),
        ("another value", deployed(one()).reset("y"), "h", "1"),
        ("a long value", deployed(one()).reset(&long), "h", "1"),
        ("another template", deployed(one()).reset("x"), "i", "1"),
        ("another scope", deployed(json!({ "scope": "SetReplica", "maxRestarts": 1 })).reset("x"), "h", "1"),
        ("more", deployed(json!({ "scope": "Clique", "maxRestarts": 2 })).reset("x"), "h", "2"),
        ("fewer", deployed(json!({ "scope": "Clique", "maxRestarts": 0 })).reset("x"), "h", "-"),
    ];
    for (what, deployed, hash, want) in rows {
        let rules = Rules::of(&deployed.set, hash).unwrap();
        let got = match rules.on_failure(Some(&noted), at(100)) {
            Ruling::Restart(count) => {
                assert!(rules.counts(&count) && !rules.is_exhausted(&count), "{what}");
                assert!(count.reset.as_ref().is_none_or(|it| it.len() < 64), "{what}: it is on every clique");
                count.count.to_string()
            }
            Ruling::Over => "-".to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(got, want, "{what}");
        assert_eq!(rules.is_exhausted(&noted), want == "-", "{what}");
    }
    // After years it is still what it was.
    assert_eq!(rules.on_failure(Some(&noted), at(1_000_000_000)), Ruling::Over);
}

#[test]
fn words() {
    let set = set(json!({ "scope": "Clique", "maxRestarts": 2, "window": "90m" }));
    let rules = Rules::of(&set, "h").unwrap();
    let Ruling::Restart(count) = rules.on_failure(None, at(0)) else { panic!("not restarted") };
    assert_eq!(
        rules.words(&count),
        "a container failed; restart 1 of at most 2 within 1h 30m, the next not before 1970-01-01T00:00:10Z"
    );
    let words = rules.exhausted_words("clique w-0-a", &count);
    assert!(words.starts_with("clique w-0-a was restarted once within 1h 30m and failed again; "), "{words}");
    assert!(words.contains("grove.io/reset-restarts"), "{words}");
}
