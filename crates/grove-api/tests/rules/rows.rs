//! The rules, row by row: what is refused, at which field, with which kind of error, and by whom on a cluster.

use std::collections::{BTreeMap, BTreeSet};

use crate::table::{self, Refused, Row};
use grove_api::{
    review::{Review, review, review_update},
    schema::{self, CRDS, Crd},
    validation::Verdict,
};
use serde_json::Value;

fn verdict(row: &Row) -> Verdict {
    let environment = row.environment();
    let outcome = match row.old() {
        Some(old) => review_update(&row.object(), &old, &environment),
        None => review(&row.object(), &environment),
    };
    match outcome {
        Review::Checked(verdict) => verdict,
        Review::Foreign => panic!("{}: not one of our kinds", row.name),
    }
}

fn findings(verdict: &Verdict) -> Vec<String> {
    verdict.errors.iter().map(|it| format!("{} {:?}", it.path, it.kind)).collect()
}

#[test]
fn every_base_is_valid() {
    for name in [
        "pair",
        "grouped",
        "sharing",
        "packed",
        "policy",
        "binding",
        "clique",
        "scaling-group",
        "gang",
        "grouping-rule",
    ] {
        match review(&table::base(name), &table::environment(true, true)) {
            // What it is about is not implemented, and that is said.
            Review::Checked(verdict) if name == "sharing" => assert_eq!(verdict.errors, [], "{name}"),
            Review::Checked(verdict) => assert_eq!(verdict, Verdict::default(), "{name}"),
            Review::Foreign => panic!("{name}: not one of our kinds"),
        }
    }
}

#[test]
fn every_invalid_row_is_refused_at_its_fields() {
    let rows = table::invalid();
    assert!(rows.len() >= 80, "{} rows", rows.len());
    let names: BTreeSet<&str> = rows.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "names of rows are not unique");
    let mut wrong = Vec::new();
    for row in &rows {
        let got = verdict(row);
        if findings(&got) != row.errors || row.errors.is_empty() {
            let texts: Vec<String> = got.errors.iter().map(ToString::to_string).collect();
            wrong.push(format!("{}: want {:?}, got {:#?}", row.name, row.errors, texts));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_allowed_row_is_admitted() {
    for row in table::allowed() {
        let got = verdict(&row);
        assert_eq!(findings(&got), Vec::<String>::new(), "{}: {:?}", row.name, got.errors);
        if let Some(want) = &row.warnings {
            let warned: Vec<String> = got.warnings.iter().map(|it| it.path.to_string()).collect();
            assert_eq!(warned, *want, "{}: {:?}", row.name, got.warnings);
        }
    }
}

/// Rows about `metadata`, which the API server checks by rules of its own.
const METADATA: [&str; 6] = [
    "set-name-missing",
    "set-label-value",
    "set-annotation-key",
    "metadata-field-unknown",
    "metadata-label-number",
    "metadata-label-number-alone",
];

/// Rows that the evaluator here cannot judge: it matches list items by position, the API server by name.
const MATCHED_BY_NAME: [&str; 3] =
    ["reorder-without-start-order", "update-cliques-reordered", "update-cliques-reordered-explicit"];

/// The table's word on who refuses a row is what the schema and the CEL rules of the CRD say.
#[test]
fn schema_and_cel_refuse_what_the_table_says() {
    let mut compiled = Compiled::default();
    let mut wrong = Vec::new();
    let rows = table::invalid().into_iter().chain(table::allowed());
    for row in rows.filter(|row| !MATCHED_BY_NAME.contains(&row.name.as_str())) {
        let (by, text) = refused_by(&row, &mut compiled);
        // An allowed row has no word in the table: neither schema nor CEL may refuse it.
        if by != row.refused.unwrap_or(Refused::Admission) {
            wrong.push(format!("{}: table says {:?}, it is {by:?}: {text}", row.name, row.refused));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs the CRD's schema and CEL rules over the row as the API server does, behind the defaulting webhook.
fn refused_by(row: &Row, compiled: &mut Compiled) -> (Refused, String) {
    let old = row.stored();
    let Some(mut object) = row.sent() else {
        return (Refused::Schema, "does not decode".to_owned());
    };
    let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
    let Some(crd) = Crd::of(&text("apiVersion"), &text("kind")) else {
        return (Refused::Schema, "no such kind".to_owned());
    };
    if METADATA.contains(&row.name.as_str()) {
        return (Refused::Schema, "the API server looks after metadata itself".to_owned());
    }
    if object["metadata"]["name"].is_null() {
        let prefix = object["metadata"]["generateName"].as_str().unwrap();
        object["metadata"]["name"] = format!("{prefix}x").into();
    }
    let found = schema::check(crd.schema(), &object);
    if !found.is_empty() {
        return (Refused::Schema, format!("{found:?}"));
    }
    let compiled = compiled.get(crd.kind, old.is_some());
    match kube_cel::validate_compiled(compiled, &object, old.as_ref()) {
        Ok(()) => (Refused::Admission, String::new()),
        Err(errors) => {
            let texts: Vec<String> =
                errors.iter().map(|it| format!("{}: {}", it.field_path, it.message)).collect();
            (Refused::Cel, texts.join("; "))
        }
    }
}

/// Compiled rules by kind, for new objects and for updates: compiling takes far longer than evaluating.
#[derive(Default)]
struct Compiled(BTreeMap<(&'static str, bool), kube_cel::CompiledSchema>);

impl Compiled {
    fn get(&mut self, kind: &'static str, update: bool) -> &kube_cel::CompiledSchema {
        self.0.entry((kind, update)).or_insert_with(|| {
            let mut schema = CRDS.iter().find(|it| it.kind == kind).unwrap().schema().clone();
            if update {
                without_rules_for_new_objects(&mut schema);
            }
            kube_cel::compile_schema(&schema)
        })
    }
}

/// Rules that begin with `oldSelf.hasValue() ||` hold in an update; the evaluator here does not know `hasValue`
/// of an old object.
fn without_rules_for_new_objects(schema: &mut Value) {
    if let Some(Value::Array(rules)) = schema.get_mut("x-kubernetes-validations") {
        rules.retain(|rule| rule.get("optionalOldSelf").is_none());
    }
}

#[test]
fn messages_say_what_to_do() {
    let message = |name: &str| {
        let rows = table::invalid();
        let row = rows.iter().find(|row| row.name == name).unwrap();
        verdict(row).errors[0].to_string()
    };
    assert_eq!(
        message("minimum-above-replicas"),
        "spec.template.cliques[1].spec.minAvailable: Invalid value: 5: must not be greater than replicas (3)"
    );
    assert_eq!(
        message("field-unknown"),
        r#"spec.template.cliques[1].spec.minAvailabel: Unknown field: did you mean "minAvailable"?"#
    );
    assert_eq!(
        message("start-order-cycle"),
        r#"spec.template.cliques[0].spec.startsAfter: Invalid value: ["b"]: circular start order: a → b → a"#
    );
    assert_eq!(
        message("rule-path-without-dot"),
        r#"spec.subGroups[1].minMember.path: Invalid value: "min": character 1: a path begins with a dot, as .spec.replicas"#
    );
    assert!(message("scheduler-binary-name").contains("default-scheduler"));
    assert!(message("label-value-number").contains("put it in quotes"));
}

/// The command is the whole of it: a user copies it.
#[test]
fn warnings_have_the_command() {
    let rows = table::allowed();
    let row = rows.iter().find(|row| row.name == "warns-sizes-of-what-runs").unwrap();
    let texts: Vec<String> = verdict(row).warnings.iter().map(|it| it.text.clone()).collect();
    assert_eq!(
        texts,
        [
            "PodCliques that exist keep their size; to scale them: kubectl scale pclq/grouped-0-front --replicas=4 -n default",
            "holds for new replicas of scaling group pre; to scale those that exist: kubectl scale \
             pclq/grouped-0-pre-0-lead pclq/grouped-0-pre-1-lead pclq/grouped-0-pre-2-lead --replicas=2 -n default",
            "PodCliqueScalingGroups that exist keep their size; to scale them: kubectl scale pcsg/grouped-0-pre --replicas=4 \
             -n default",
        ]
    );
}
