//! Laws that hold for any input.

use grove_api::{
    defaulting::default_pod_clique_set,
    limits::{MAX_CLIQUE_REPLICAS, MAX_GROUP_REPLICAS, MAX_PACK_GROUPS, MAX_SET_REPLICAS},
    manifest, names,
    review::{review, review_update},
    validation::{Environment, validate_create, validate_update},
    wire::PodCliqueSet,
};
use proptest::{
    prelude::*,
    sample::{Index, select},
};
use serde_json::{Value, json};

use crate::table;

/// What Kubernetes allows for label values, host names and Service names.
const MAX: usize = 63;

fn is_dns_label(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= MAX
        && text.starts_with(alphanumeric)
        && text.ends_with(alphanumeric)
        && text.chars().all(|c| alphanumeric(c) || c == '-')
}

/// Mostly good names, of all lengths, and some that are not.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![30 => "[a-z]([a-z0-9-]{0,20}[a-z0-9])?", 1 => "[a-z0-9.-]{1,46}", 1 => "[A-Za-z_ ]{0,5}"]
}

fn set_of(set: &str, group: &str, member: &str, single: &str, claim: Option<&str>) -> PodCliqueSet {
    let pod = json!({ "containers": [{ "name": "c", "image": "i" }] });
    let sharing: Vec<Value> =
        claim.into_iter().map(|it| json!({ "name": it, "scope": "PerReplica" })).collect();
    let clique = |name: &str| json!({ "name": name, "resourceSharing": sharing, "spec": { "roleName": name, "podSpec": pod } });
    let template = json!({
        "cliques": [clique(single), clique(member)],
        "podCliqueScalingGroups": [{ "name": group, "cliqueNames": [member], "resourceSharing": sharing }],
        "resourceSharing": sharing,
    });
    let value = json!({ "metadata": { "name": set }, "spec": { "template": template } });
    let mut set = serde_json::from_value(value).unwrap();
    default_pod_clique_set(&mut set, None);
    set
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, max_global_rejects: 100_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn admitted_names_make_names_that_kubernetes_takes(
        set in name(), group in name(), member in name(), single in name(), claim in prop::option::of("[a-z]{1,20}"),
    ) {
        let object = set_of(&set, &group, &member, &single, claim.as_deref());
        prop_assume!(validate_create(&object, &Environment::default()).errors.is_empty());

        let last = |count: i32| u32::try_from(count).unwrap() - 1;
        let (i, g, p) = (last(MAX_SET_REPLICAS), last(MAX_GROUP_REPLICAS), last(MAX_CLIQUE_REPLICAS));
        let scaling_group = names::scaling_group(&set, i, &group);
        let cliques = [names::standalone_clique(&set, i, &single), names::member_clique(&scaling_group, g, &member)];
        let mut made = vec![
            names::headless_service(&set, i),
            names::base_gang(&set, i),
            names::scaled_gang(&scaling_group, g),
            names::topology_group(&scaling_group, g),
            names::pack_group(&set, i, MAX_PACK_GROUPS - 1),
            names::pack_group_of_replica(&set, i, MAX_PACK_GROUPS - 1, &group, g),
        ];
        if let Some(claim) = &claim {
            made.push(names::replica_claim(&set, i, claim));
            made.push(names::replica_claim(&scaling_group, g, claim));
            made.extend(cliques.iter().map(|it| names::replica_claim(it, p, claim)));
        }
        for clique in &cliques {
            made.push(names::hostname(clique, p));
            // The API server cuts a longer prefix, and two cliques could then share it.
            made.push(format!("{}abcde", names::pod_prefix(clique)));
        }
        made.extend(cliques);
        made.push(scaling_group);
        for name in made {
            prop_assert!(is_dns_label(&name), "{} has {} characters", name, name.len());
        }
        // A Service must begin with a letter.
        prop_assert!(names::headless_service(&set, i).starts_with(|c: char| c.is_ascii_lowercase()));
    }
}

/// Any JSON, not too deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        select(vec![-1i64, 0, 1, 2_147_483_647, 2_147_483_648]).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        select(vec!["a", "b", "work", "CliqueStartupTypeExplicit", "30s", "-1s", "rack"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let key = prop_oneof![
            select(vec!["name", "spec", "cliques", "replicas", "podSpec", "startsAfter", "pack", "items"])
                .prop_map(str::to_owned),
            ".{0,4}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

/// All nodes of a value, as JSON pointers.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, it)| pointers(it, &format!("{at}/{i}"), out));
        }
        Value::Object(fields) => {
            for (key, it) in fields {
                pointers(it, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        _ => {}
    }
}

/// A valid manifest with a few nodes replaced by anything.
fn mutated() -> impl Strategy<Value = Value> {
    let base =
        select(vec!["pair", "grouped", "sharing", "packed", "policy", "binding", "clique", "scaling-group"]);
    (base, prop::collection::vec((any::<Index>(), any_json()), 0..4)).prop_map(|(base, changes)| {
        let mut value = table::base(base);
        for (at, with) in changes {
            let mut all = Vec::new();
            pointers(&value, "", &mut all);
            if let Some(node) = value.pointer_mut(at.get(&all).as_str()) {
                *node = with;
            }
        }
        value
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics_and_defaulting_is_idempotent(value in mutated(), other in mutated()) {
        let environment = table::environment(true, true);
        let _ = review(&value, &environment);
        let _ = review_update(&value, &other, &Environment::default());
        if let Ok(mut set) = serde_json::from_value::<PodCliqueSet>(value) {
            default_pod_clique_set(&mut set, None);
            let once = set.clone();
            default_pod_clique_set(&mut set, None);
            prop_assert_eq!(&once, &set);
            // A set is always a valid successor of itself, whatever it is.
            prop_assert_eq!(validate_update(&set, &once, &environment).errors, vec![]);
        }
    }

    #[test]
    fn parsing_never_panics(text in any::<String>(), yaml in "[-a&*:{}\\[\\], \n#\"'|>!?%<0-9]{0,60}") {
        let _ = manifest::parse(&text);
        let _ = manifest::parse(&yaml);
    }
}
