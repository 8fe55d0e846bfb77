use super::*;

#[test]
fn numbers_that_are_none_are_refused_with_rule_and_path() {
    let owner =
        json!({ "text": "many", "list": [1], "negative": -1, "half": 1.5, "large": [2_147_483_647, 1] });
    let table = [
        (".spec.absent", "finds nothing in Run demo: set it there, or set spec.minMember.default"),
        (
            ".spec.text",
            "what it finds in Run demo is \"many\": set it to a whole number from 0 to 2147483647",
        ),
        (".spec.list", "what it finds in Run demo is a list: set it to a whole number from 0 to 2147483647"),
        (".spec.negative", "what it finds in Run demo is -1: set it to a whole number from 0 to 2147483647"),
        (".spec.half", "what it finds in Run demo is 1.5: set it to a whole number from 0 to 2147483647"),
        (".spec.large[*]", "its numbers in Run demo ask for more than 2147483647 pods: lower them"),
        (
            ".spec.text.deeper",
            "in Run demo .spec.text is a text, and the next step needs a map: correct the path",
        ),
    ];
    for (path, want) in table {
        let got = refused(json!({ "minMember": { "path": path } }), &[], owner.clone());
        assert_eq!(got, format!("rule r: spec.minMember.path {path}: {want}"));
    }
}

#[test]
fn names_that_are_none_are_refused() {
    let rule = json!({ "nameKey": { "path": ".metadata.labels.replica" } });
    assert_eq!(
        refused(rule.clone(), &[], json!({})),
        "rule r: spec.nameKey.path .metadata.labels.replica: finds nothing in Pod p: set it there, or set \
         spec.nameKey.default"
    );
    let longest = "a".repeat(63);
    assert!(grouped(rule.clone(), &[("replica", &longest)], json!({})).is_ok());
    for value in ["A", "a_b", "-a", "a..b", &"a".repeat(64)] {
        let got = refused(rule.clone(), &[("replica", value)], json!({}));
        let begin = format!(
            "rule r: spec.nameKey.path .metadata.labels.replica: what it finds in Pod p is \"{value}\": it is a part"
        );
        assert!(got.starts_with(&begin), "{got}");
    }
    let all = json!({ "nameKey": { "path": ".metadata.labels[*]" } });
    assert_eq!(
        refused(all, &[("a", "b"), ("c", "d")], json!({})),
        "rule r: spec.nameKey.path .metadata.labels[*]: finds 2 values in Pod p: let it find one"
    );
}

fn each(path: &str, name: Option<&str>) -> Value {
    let mut each = json!({ "path": path, "podLabel": "group" });
    if let Some(name) = name {
        each["name"] = name.into();
    }
    json!({ "subGroups": [{ "forEach": each, "minMember": { "path": ".min", "default": 1 } }] })
}

#[test]
fn parts_that_are_none_are_refused_with_their_item() {
    let owner = json!({
        "n": 3,
        "groups": [{ "name": "a" }, { "name": "b", "min": "x" }],
        "nameless": [{ "name": "a" }, {}],
        "wrong": [{ "name": "a b" }],
        "twice": [{ "name": "a" }, { "name": "A" }],
        "map": { "a b": {} },
        "empty": [],
    });
    let named = |path: &str| each(path, Some(".name"));
    let fits_none = "spec.subGroups: pod p fits none of them: correct its labels, or add a sub-group without \
                     podSelector for the rest, with minMember 0 if the others do not need it";
    let dns = "it names a part of the group, so use at most 63 lower case letters, digits and dashes, with no dash \
               at either end";
    let table = [
        (
            named(".spec.groups"),
            "spec.subGroups[0].minMember.path .min: what it finds in item 1 of Run demo is \"x\": set it to a whole \
             number from 0 to 2147483647"
                .to_owned(),
        ),
        (
            named(".spec.nameless"),
            "spec.subGroups[0].forEach.name .name: finds nothing in item 1 of Run demo: set it there".to_owned(),
        ),
        (
            named(".spec.wrong"),
            format!("spec.subGroups[0].forEach.name .name: what it finds in item 0 of Run demo is \"a b\": {dns}"),
        ),
        (
            named(".spec.twice"),
            "spec.subGroups make two parts of the group that are named a: give one of them another name".to_owned(),
        ),
        (
            named(".spec.n"),
            "spec.subGroups[0].forEach.path .spec.n: what it finds in Run demo is 3: let it find a list or a map"
                .to_owned(),
        ),
        (
            each(".spec.groups", None),
            "spec.subGroups[0].forEach.name is missing: item 0 of Run demo is of a list, and has no key that could be \
             its name"
                .to_owned(),
        ),
        (
            each(".spec.map", None),
            format!("spec.subGroups[0].forEach: the key of item 0 of Run demo is \"a b\": {dns}"),
        ),
        (named(".spec.empty"), fits_none.to_owned()),
        (named(".spec.absent"), fits_none.to_owned()),
    ];
    for (rule, want) in table {
        assert_eq!(refused(rule, &[], owner.clone()), format!("rule r: {want}"));
    }
}

#[test]
fn parts_have_an_end() {
    let owner = |count: usize| {
        let groups: Vec<Value> = (0..count).map(|it| json!({ "name": format!("g{it}") })).collect();
        json!({ "groups": groups })
    };
    let rule = || each(".spec.groups", Some(".name"));
    let most = grouped(rule(), &[("group", "g9999")], owner(10_000)).unwrap();
    assert_eq!((most.sub_groups.len(), most.min_sub_groups), (10_000, Some(10_000)));
    assert_eq!(
        refused(rule(), &[("group", "g0")], owner(10_001)),
        "rule r: spec.subGroups[0].forEach make 10001 parts of the group, more than 10000: ask for fewer"
    );
}

#[test]
fn a_level_needs_a_topology() {
    let rule = json!({ "subGroups": [{
        "name": "all", "minMember": { "value": 1 }, "topology": { "required": { "path": ".spec.level" } },
    }] });
    assert!(grouped(rule.clone(), &[], json!({})).is_ok());
    assert_eq!(
        refused(rule, &[], json!({ "level": "rack" })),
        "rule r: spec.subGroups[0].topology: Run demo names a level of no topology: set \
         spec.subGroups[0].topology.name, or what it finds"
    );
}
