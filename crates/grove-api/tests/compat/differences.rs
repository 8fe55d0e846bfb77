//! Walks two CRDs and lists every difference, one line each: `podcliques.grove.io .spec.replicas maximum: null -> 5000`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// All differences between two CRDs. Descriptions do not count.
pub(crate) fn between(theirs: &Value, ours: &Value) -> Vec<String> {
    let mut out = Vec::new();
    let name = ours["metadata"]["name"].as_str().unwrap_or_default();
    let mut add = |line: String| out.push(format!("{name} {line}"));
    for field in ["group", "scope"] {
        keyword("spec", field, theirs["spec"].get(field), ours["spec"].get(field), &mut add);
    }
    let (their_names, our_names) = (&theirs["spec"]["names"], &ours["spec"]["names"]);
    for field in ["kind", "listKind", "plural", "singular", "shortNames", "categories"] {
        keyword("names", field, their_names.get(field), our_names.get(field), &mut add);
    }
    let (theirs, ours) = (&theirs["spec"]["versions"], &ours["spec"]["versions"]);
    assert_eq!(theirs.as_array().map(Vec::len), ours.as_array().map(Vec::len), "{name}: versions");
    for field in ["name", "served", "storage", "subresources", "additionalPrinterColumns"] {
        keyword("version", field, theirs[0].get(field), ours[0].get(field), &mut add);
    }
    schema("", &theirs[0]["schema"]["openAPIV3Schema"], &ours[0]["schema"]["openAPIV3Schema"], &mut add);
    out
}

fn schema(path: &str, theirs: &Value, ours: &Value, add: &mut impl FnMut(String)) {
    let empty = Map::new();
    let (theirs, ours) = (theirs.as_object().unwrap_or(&empty), ours.as_object().unwrap_or(&empty));
    let keywords: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    for name in keywords {
        let (their, our) = (theirs.get(name), ours.get(name));
        match name.as_str() {
            "description" => {}
            "properties" => properties(path, their, our, add),
            "items" => {
                schema(&format!("{path}[]"), their.unwrap_or(&json!({})), our.unwrap_or(&json!({})), add);
            }
            "additionalProperties"
                if their.is_some_and(Value::is_object) && our.is_some_and(Value::is_object) =>
            {
                schema(&format!("{path}{{}}"), &theirs[name], &ours[name], add);
            }
            "x-kubernetes-validations" => rules(path, their, our, add),
            _ => keyword(path, name, their, our, add),
        }
    }
}

fn properties(path: &str, theirs: Option<&Value>, ours: Option<&Value>, add: &mut impl FnMut(String)) {
    let empty = Map::new();
    let fields = |it: Option<&Value>| it.and_then(Value::as_object).cloned().unwrap_or_else(|| empty.clone());
    let (theirs, ours) = (fields(theirs), fields(ours));
    let names: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    for name in names {
        let path = format!("{path}.{name}");
        match (theirs.get(name), ours.get(name)) {
            (Some(their), Some(our)) => schema(&path, their, our, add),
            (Some(_), None) => add(format!("{path} is missing")),
            (None, Some(_)) => add(format!("{path} is added")),
            (None, None) => {}
        }
    }
}

/// Rules that upstream has and we lack are named; how many we add is counted.
fn rules(path: &str, theirs: Option<&Value>, ours: Option<&Value>, add: &mut impl FnMut(String)) {
    let list = |it: Option<&Value>| it.and_then(Value::as_array).cloned().unwrap_or_default();
    let (theirs, ours) = (list(theirs), list(ours));
    for rule in theirs.iter().filter(|rule| !ours.contains(rule)) {
        add(format!("{path} rule is missing: {}", rule["rule"].as_str().unwrap_or_default()));
    }
    let more = ours.iter().filter(|rule| !theirs.contains(rule)).count();
    if more > 0 {
        add(format!("{path} rules added: {more}"));
    }
}

fn keyword(
    path: &str,
    name: &str,
    theirs: Option<&Value>,
    ours: Option<&Value>,
    add: &mut impl FnMut(String),
) {
    let null = Value::Null;
    let (theirs, ours) = (theirs.unwrap_or(&null), ours.unwrap_or(&null));
    // serde_json compares maps without regard to order.
    if theirs != ours {
        add(format!("{path} {name}: {theirs} -> {ours}"));
    }
}
