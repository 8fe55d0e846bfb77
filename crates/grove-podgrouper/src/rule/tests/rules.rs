use super::{
    super::{Outcome, Rule, Rules},
    *,
};
use crate::{fixture::object, hub::Hub};

fn for_kind(name: &str, group: &str, version: &str, kind: &str) -> GroupingRule {
    rule(name, json!({ "match": { "group": group, "version": version, "kind": kind } }))
}

fn in_force(except: &[&str]) -> Outcome {
    Outcome::InForce { except: except.iter().map(|it| (*it).to_owned()).collect() }
}

#[test]
fn one_rule_counts_for_a_kind() {
    let rules = [
        for_kind("c", "example.com", "v1", "Run"),
        for_kind("b", "example.com", "v1", "Run"),
        for_kind("a", "example.com", "*", "Run"),
        for_kind("d", "other.com", "v1", "Run"),
    ];
    let (rules, outcomes) = Rules::compile(&rules, &[]);
    let after = Outcome::After { other: "b".to_owned() };
    assert_eq!(outcomes, [after, in_force(&[]), in_force(&[]), in_force(&[])]);
    let found = |api_version: &str, kind: &str| {
        rules.find(Kind::parse(api_version, kind)).map(|it| it.rule_name().to_owned())
    };
    let named = |it: &str| Some(it.to_owned());
    assert_eq!(found("example.com/v1", "Run"), named("b"));
    assert_eq!(found("example.com/v2", "Run"), named("a"));
    assert_eq!(found("other.com/v1", "Run"), named("d"));
    assert_eq!(found("other.com/v2", "Run"), None);
    assert_eq!(found("example.com/v1", "Walk"), None);
}

/// An invalid rule does not keep a valid one from being used.
#[test]
fn invalid_rules_are_told_and_not_used() {
    let invalid = rule("a", json!({ "minMember": { "path": "spec.n" } }));
    let (rules, outcomes) = Rules::compile(&[invalid, for_kind("b", "example.com", "v1", "Run")], &[]);
    let Outcome::Invalid(errors) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(
        errors[0].to_string(),
        r#"spec.minMember.path: Invalid value: "spec.n": character 1: a path begins with a dot, as .spec.replicas"#
    );
    assert_eq!(outcomes[1], in_force(&[]));
    let kind = Kind::parse("example.com/v1", "Run");
    assert_eq!(rules.find(kind).map(Rule::rule_name), Some("b"));
}

/// What the schema of a cluster would refuse is refused here too: the CRD may be an older one.
#[test]
fn objects_that_no_schema_has_seen_do_not_compile() {
    let part = json!({ "name": "a", "minMember": { "value": 1 } });
    let mut many: Vec<Value> = (0..65)
        .map(|it| json!({ "name": format!("p{it}"), "minMember": { "value": 1 }, "podSelector": {} }))
        .collect();
    let table = [
        json!({ "minMember": { "value": -1 } }),
        json!({ "minMember": {} }),
        json!({ "minMember": { "path": ".a", "value": 1 } }),
        json!({ "minMember": { "path": ".a", "default": -1 } }),
        json!({ "minMember": { "value": 1 }, "subGroups": [part] }),
        json!({ "minSubGroup": { "value": 1 } }),
        json!({ "priorityClass": {} }),
        json!({ "nameKey": { "path": "" } }),
        json!({ "topology": { "required": { "value": "rack" } } }),
        json!({ "subGroups": [part, part] }),
        json!({ "subGroups": [{ "name": "A", "minMember": { "value": 1 } }] }),
        json!({ "subGroups": [{ "minMember": { "value": 1 } }] }),
        json!({ "subGroups": [{ "forEach": { "path": "a", "podLabel": "b" }, "minMember": { "value": 1 } }] }),
        json!({ "subGroups": [{ "forEach": { "path": ".a", "podLabel": "" }, "minMember": { "value": 1 } }] }),
        json!({ "subGroups": many }),
    ];
    for spec in table {
        let (_, outcomes) = Rules::compile(&[rule("r", spec.clone())], &[]);
        assert!(matches!(&outcomes[0], Outcome::Invalid(errors) if !errors.is_empty()), "{spec}");
    }
    many.pop();
    let (_, outcomes) = Rules::compile(&[rule("r", json!({ "subGroups": many }))], &[]);
    assert_eq!(outcomes, [in_force(&[])]);
}

#[test]
fn kinds_with_plugins_keep_them() {
    let rules = [
        for_kind("a", "batch", "v1", "Job"),
        for_kind("b", "batch", "*", "Job"),
        for_kind("c", "run.ai", "v3", "TrainingWorkload"),
        for_kind("d", "example.com", "*", "Run"),
    ];
    let hub = Hub::builtin();
    let (rules, outcomes) = Rules::compile(&rules, &hub.kinds().collect::<Vec<_>>());
    assert_eq!(outcomes, [Outcome::Native, in_force(&["v1"]), Outcome::Native, in_force(&[])]);
    let settings = Settings { rules, ..Settings::default() };
    let table = [
        ("batch/v1", "Job", "Job"),
        ("batch/v2", "Job", "rule b"),
        ("run.ai/v3", "TrainingWorkload", "skip top owner"),
        ("example.com/v7", "Run", "rule d"),
        ("example.com/v7", "Walk", "default"),
    ];
    for (api_version, kind, want) in table {
        let object = object(api_version, kind, "o", "1");
        assert_eq!(hub.plugin_name(&object, &settings), want, "{api_version} {kind}");
    }
}
