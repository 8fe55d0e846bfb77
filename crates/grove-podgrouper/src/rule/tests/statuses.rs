use grove_api::{
    field::{Error, Path},
    wire::{GroupingRuleStatus, Time},
};

use super::{
    super::{Outcome, status},
    *,
};

fn time(second: i64) -> Time {
    serde_json::from_value(json!(format!("2026-01-02T03:04:{second:02}Z"))).unwrap()
}

fn conditions(status: &GroupingRuleStatus) -> Vec<(&str, &str, &str, &str)> {
    status
        .conditions
        .iter()
        .map(|it| (it.type_.as_str(), it.status.as_str(), it.reason.as_str(), it.message.as_str()))
        .collect()
}

#[test]
fn the_status_tells_whether_a_rule_is_used() {
    let invalid = Error::invalid(Path::parse("spec.a"), 1, "wrong");
    let many = vec![Error::required(Path::parse("spec.b"), ""); 12];
    let compiled = ("Compiled", "True", "RuleValid", "");
    let unused = "the rule is not valid, so that pods of a Run are grouped without it";
    let not_compiled = ("Active", "False", "NotCompiled", unused);
    let listed = format!("{}and 2 more", "spec.b: Required value; ".repeat(10));
    let table = [
        (Outcome::InForce { except: Vec::new() }, [compiled, ("Active", "True", "RuleInForce", "")]),
        (
            Outcome::InForce { except: vec!["v1".to_owned()] },
            [
                compiled,
                (
                    "Active",
                    "True",
                    "RuleInForce",
                    "not used for Run of version v1: it is grouped by a built-in plugin",
                ),
            ],
        ),
        (
            Outcome::Native,
            [
                compiled,
                ("Active", "False", "NativeKind", "Run is grouped by a built-in plugin: delete this rule"),
            ],
        ),
        (
            Outcome::After { other: "a".to_owned() },
            [
                compiled,
                (
                    "Active",
                    "False",
                    "OtherRuleFirst",
                    "rule a is for the same kind and goes first: delete one of them",
                ),
            ],
        ),
        (
            Outcome::Invalid(vec![invalid]),
            [("Compiled", "False", "RuleInvalid", "spec.a: Invalid value: 1: wrong"), not_compiled],
        ),
        (Outcome::Invalid(many), [("Compiled", "False", "RuleInvalid", listed.as_str()), not_compiled]),
    ];
    for (outcome, want) in table {
        let got = status(&rule("r", json!({})), &outcome, 7, &time(1));
        assert_eq!(conditions(&got), want, "{outcome:?}");
        assert_eq!((got.observed_generation, got.groups), (Some(3), 7));
        assert!(got.conditions.iter().all(|it| it.observed_generation == Some(3)));
    }
}

#[test]
fn the_time_of_a_condition_is_that_of_its_last_change() {
    let mut rule = rule("r", json!({}));
    let in_force = Outcome::InForce { except: Vec::new() };
    rule.status = Some(status(&rule, &in_force, 0, &time(1)));
    let again = status(&rule, &in_force, 0, &time(2));
    assert_eq!(Some(&again), rule.status.as_ref(), "nothing changed, so nothing is written");
    let native = status(&rule, &Outcome::Native, 0, &time(2));
    let times: Vec<&Time> = native.conditions.iter().map(|it| &it.last_transition_time).collect();
    assert_eq!(times, [&time(1), &time(2)]);
}

#[test]
fn warnings_are_for_rules_that_are_not_used() {
    let warning = |it: Outcome| it.warning("Run");
    assert_eq!(warning(Outcome::InForce { except: Vec::new() }), "");
    assert_eq!(warning(Outcome::Invalid(Vec::new())), "");
    assert_eq!(
        warning(Outcome::InForce { except: vec!["v1".to_owned(), "v2".to_owned()] }),
        "not used for Run of version v1, v2: it is grouped by a built-in plugin"
    );
    assert_eq!(warning(Outcome::Native), "not used: Run is grouped by a built-in plugin");
    let other = "a".to_owned();
    assert_eq!(warning(Outcome::After { other }), "not used: rule a is for the same kind and goes first");
}
