use super::*;
use crate::{
    fixture::{annotated, owned},
    group::{GroupOwner, SubGroup, Topology},
    sub_groups::leaf,
};

/// Everything that the rule does not say is that of the default.
#[test]
fn a_rule_extends_the_default() {
    let run = with_spec(
        labelled(
            object("example.com/v1", "Run", "demo", "uid"),
            &[("kai.scheduler/queue", "q"), ("kai.scheduler/preemptibility", "preemptible")],
        ),
        json!({ "n": 4, "priority": "high" }),
    );
    let spec = json!({ "minMember": { "path": ".spec.n" }, "priorityClass": { "path": ".spec.priority" } });
    let case = |settings| Case::new(pod("p", "pod-uid"), vec![run.clone()]).set(settings).group().unwrap();
    let by_default = case(classes(&["train", "high"]));
    assert_eq!((by_default.min_members, by_default.priority_class.as_str()), (1, "train"));
    let group = case(settings_with(&[rule("r", spec)]));
    let want = Group { min_members: 4, priority_class: "high".to_owned(), ..by_default };
    assert_eq!(group, want);
    assert_eq!((group.name.as_str(), group.queue.as_str()), ("pg-demo-uid", "q"));
    let owner = GroupOwner {
        api_version: "example.com/v1".to_owned(),
        kind: "Run".to_owned(),
        name: "demo".to_owned(),
        uid: "uid".to_owned(),
    };
    assert_eq!(group.owner, owner);
}

#[test]
fn minima_are_fixed_read_added_up_or_the_default() {
    let table = [
        (json!({}), 1),
        (json!({ "minMember": { "value": 7 } }), 7),
        (json!({ "minMember": { "path": ".spec.n" } }), 3),
        (json!({ "minMember": { "path": ".spec.text" } }), 5),
        (json!({ "minMember": { "path": ".spec.groups[*].min" } }), 3),
        (json!({ "minMember": { "path": "$.spec.groups[1].min" } }), 2),
        (json!({ "minMember": { "path": ".spec.absent", "default": 9 } }), 9),
        (json!({ "minMember": { "path": ".spec.null", "default": 9 } }), 9),
        (json!({ "minMember": { "path": ".spec.zero", "default": 9 } }), 0),
    ];
    let owner =
        json!({ "n": 3, "text": "5", "zero": 0, "null": null, "groups": [{ "min": 1 }, { "min": 2 }, {}] });
    for (spec, want) in table {
        let group = grouped(spec.clone(), &[], owner.clone()).unwrap();
        assert_eq!((group.min_members, group.min_sub_groups), (want, None), "{spec}");
    }
}

#[test]
fn priority_is_that_of_the_path_if_it_exists() {
    let rule = json!({ "priorityClass": { "path": ".spec.priority", "default": "inference" } });
    let class = |rule: &Value, owner: Value| {
        let group = grouped(rule.clone(), &[], owner).unwrap();
        (group.priority_class, group.remarks)
    };
    let named = |name: &str| (name.to_owned(), Vec::<String>::new());
    assert_eq!(class(&rule, json!({ "priority": "high" })), named("high"));
    // The fallback is not looked for, as that of plugins.
    assert_eq!(class(&rule, json!({})), named("inference"));
    assert_eq!(class(&json!({ "priorityClass": { "default": "build" } }), json!({})), named("build"));
    let told = "PriorityClass none, which Run demo names, is not there: inference is used";
    assert_eq!(class(&rule, json!({ "priority": "none" })), ("inference".to_owned(), vec![told.to_owned()]));
}

#[test]
fn names_have_the_value_of_their_key() {
    let of_pod = json!({ "nameKey": { "path": ".metadata.labels.replica" } });
    let name = |rule: &Value, labels: &[(&str, &str)]| {
        grouped(rule.clone(), labels, json!({ "shard": 3 })).map(|it| it.name)
    };
    assert_eq!(name(&of_pod, &[("replica", "a.1")]), Ok("pg-demo-uid-a.1".to_owned()));
    assert_eq!(name(&of_pod, &[("replica", "b")]), Ok("pg-demo-uid-b".to_owned()));
    let with_default = json!({ "nameKey": { "path": ".metadata.labels.replica", "default": "one" } });
    assert_eq!(name(&with_default, &[]), Ok("pg-demo-uid-one".to_owned()));
    let of_owner = json!({ "nameKey": { "from": "Owner", "path": ".spec.shard" } });
    assert_eq!(name(&of_owner, &[]), Ok("pg-demo-uid-3".to_owned()));
}

fn topology(name: &str, required: Option<&str>, preferred: Option<&str>) -> Topology {
    let owned = |it: Option<&str>| it.map(str::to_owned);
    Topology { name: name.to_owned(), required: owned(required), preferred: owned(preferred) }
}

#[test]
fn the_topology_of_a_rule_goes_before_annotations() {
    let rule_ =
        json!({ "topology": { "name": { "value": "racks" }, "required": { "path": ".spec.level" } } });
    let group = |owner: Value| {
        let annotations =
            [("kai.scheduler/topology", "halls"), ("kai.scheduler/topology-preferred-placement", "host")];
        let run = annotated(with_spec(object("example.com/v1", "Run", "demo", "uid"), owner), &annotations);
        let case = Case::new(pod("p", "pod-uid"), vec![run]);
        case.set(settings_with(&[rule("r", rule_.clone())])).group().unwrap().topology
    };
    assert_eq!(group(json!({ "level": "rack" })), Some(topology("racks", Some("rack"), None)));
    assert_eq!(group(json!({})), Some(topology("halls", None, Some("host"))));
}

/// A head, one part for each item of a list, one for each entry of a map, and the rest.
fn parts_rule() -> Value {
    json!({
        "topology": { "name": { "value": "racks" }, "preferred": { "value": "host" } },
        "subGroups": [
            {
                "name": "head", "minMember": { "value": 1 },
                "podSelector": { "matchLabels": { "role": "head" } },
            },
            {
                "forEach": { "path": ".spec.groups", "name": ".name", "podLabel": "group" },
                "minMember": { "path": ".min", "default": 1 },
                "topology": { "required": { "path": ".level" } },
                "podSelector": { "matchExpressions": [{ "key": "role", "operator": "NotIn", "values": ["old"] }] },
            },
            {
                "forEach": { "path": ".spec.roles", "podLabel": "role" },
                "minMember": { "path": "$.spec.n" },
            },
            { "name": "rest", "minMember": { "value": 0 } },
        ],
    })
}

fn parts_owner() -> Value {
    json!({
        "n": 5,
        "groups": [{ "name": "A", "min": 2, "level": "rack" }, { "name": "b" }],
        "roles": { "Chief": {} },
    })
}

#[test]
fn parts_are_those_of_the_rule_and_of_lists_and_maps() {
    let group = grouped(parts_rule(), &[("role", "head")], parts_owner()).unwrap();
    let want = vec![
        SubGroup { pods: vec!["p".to_owned()], ..leaf("head", 1) },
        SubGroup { topology: Some(topology("racks", Some("rack"), None)), ..leaf("a", 2) },
        leaf("b", 1),
        leaf("chief", 5),
        leaf("rest", 0),
    ];
    assert_eq!(group.sub_groups, want);
    assert_eq!((group.min_members, group.min_sub_groups), (9, Some(5)));
    assert_eq!(group.topology, Some(topology("racks", None, Some("host"))));
}

#[test]
fn a_pod_is_in_the_first_part_that_it_fits() {
    let table: &[(&[(&str, &str)], &str)] = &[
        (&[("role", "head")], "head"),
        (&[("role", "head"), ("group", "b")], "head"),
        (&[("group", "b")], "b"),
        (&[("group", "A")], "a"),
        // The selector of the list does not fit.
        (&[("group", "b"), ("role", "old")], "rest"),
        (&[("role", "Chief")], "chief"),
        (&[("group", "c")], "rest"),
        (&[], "rest"),
    ];
    for (labels, want) in table {
        let group = grouped(parts_rule(), labels, parts_owner()).unwrap();
        assert_eq!(group.sub_group_of("p").map(|it| it.name.as_str()), Some(*want), "{labels:?}");
    }
}

#[test]
fn fewer_parts_may_be_enough() {
    let with = |at_least: Value| {
        let mut rule = parts_rule();
        rule["minSubGroup"] = at_least;
        grouped(rule, &[], parts_owner())
    };
    assert_eq!(with(json!({ "value": 2 })).unwrap().min_sub_groups, Some(2));
    assert_eq!(with(json!({ "path": ".spec.n" })).unwrap().min_sub_groups, Some(5));
    for wrong in [0, 6] {
        let want = format!(
            "rule r: spec.minSubGroup is {wrong} for Run demo, which has 5 sub-groups: let it be from 1 to 5"
        );
        assert_eq!(with(json!({ "value": wrong })), Err(Refused(want)));
    }
}

/// A wildcard finds the items themselves, one alone too.
#[test]
fn items_may_be_found_by_a_wildcard() {
    let rule = json!({ "subGroups": [{
        "forEach": { "path": ".spec.groups[*]", "name": ".name", "podLabel": "group" },
        "minMember": { "value": 1 },
    }] });
    for names in [vec!["a"], vec!["a", "b"]] {
        let groups: Vec<Value> = names.iter().map(|it| json!({ "name": it })).collect();
        let group = grouped(rule.clone(), &[("group", "a")], json!({ "groups": groups })).unwrap();
        let made: Vec<&str> = group.sub_groups.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(made, names);
    }
}

/// A rule counts also below an owner that is skipped.
#[test]
fn rules_count_below_skipped_owners() {
    let workflow = object("argoproj.io/v1alpha1", "Workflow", "flow", "flow-uid");
    let run = owned(with_spec(object("example.com/v1", "Run", "demo", "uid"), json!({ "n": 2 })), &workflow);
    let settings = settings_with(&[rule("r", json!({ "minMember": { "path": ".spec.n" } }))]);
    let group = Case::new(pod("p", "pod-uid"), vec![run, workflow]).set(settings).group().unwrap();
    assert_eq!((group.name.as_str(), group.min_members), ("pg-demo-uid", 2));
}
