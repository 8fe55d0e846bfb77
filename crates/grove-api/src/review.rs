//! Checks one object the way a cluster would: defaulting, then schema, then rules.

use std::{collections::BTreeSet, sync::LazyLock};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    constants::{GROUP, SCHEDULER_GROUP, VERSION},
    defaulting::{default_pod_clique_set, default_topology},
    field::{Error, ErrorKind, Errors, Path},
    manifest::without_nulls,
    schema::{self, Crd},
    validation::{
        Environment, Verdict, validate_create, validate_grouping_rule, validate_pod_clique,
        validate_scaling_group, validate_topology_binding, validate_update,
    },
    wire::{ClusterTopologyBinding, GroupingRule, PodClique, PodCliqueScalingGroup, PodCliqueSet},
};

/// What became of one object.
#[derive(Debug)]
pub enum Review {
    /// Not one of our kinds; nothing was checked.
    Foreign,
    /// One of our kinds.
    Checked(Verdict),
}

/// Checks a new object of any kind.
pub fn review(value: &Value, environment: &Environment) -> Review {
    review_change(value, None, environment)
}

/// Checks a change from `old` to `new`; `old` is an object that the cluster has.
pub fn review_update(new: &Value, old: &Value, environment: &Environment) -> Review {
    review_change(new, Some(old), environment)
}

fn review_change(new: &Value, old: Option<&Value>, environment: &Environment) -> Review {
    let (new, old) = (without_nulls(new), old.map(without_nulls));
    match kind_of(&new) {
        Kind::Foreign => Review::Foreign,
        Kind::Broken(errors) => Review::Checked(errors_only(errors)),
        Kind::Ours(crd) => Review::Checked(review_ours(crd, &new, old.as_ref(), environment)),
    }
}

enum Kind {
    Ours(&'static Crd),
    Foreign,
    Broken(Errors),
}

fn kind_of(value: &Value) -> Kind {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let missing: Errors = [("apiVersion", api_version), ("kind", kind)]
        .into_iter()
        .filter(|(_, value)| value.is_empty())
        .map(|(field, _)| Error::required(Path::of(&[field]), "every Kubernetes object has one"))
        .collect();
    if !missing.is_empty() {
        return Kind::Broken(missing);
    }
    let group = api_version.split('/').next().unwrap_or_default();
    if let Some(crd) = Crd::of(api_version, kind) {
        return Kind::Ours(crd);
    }
    let kinds: Vec<&str> = schema::CRDS.iter().filter(|crd| crd.group == group).map(|crd| crd.kind).collect();
    if kinds.contains(&kind) {
        let version = format!("{group}/{VERSION}");
        return Kind::Broken(vec![Error::not_supported(Path::of(&["apiVersion"]), api_version, &[&version])]);
    }
    if let Some(crd) = schema::CRDS.iter().find(|crd| crd.kind == kind) {
        // Nobody else has kinds of these names: the group is misspelt.
        let version = format!("{}/{VERSION}", crd.group);
        return Kind::Broken(vec![Error::not_supported(Path::of(&["apiVersion"]), api_version, &[&version])]);
    }
    match group {
        GROUP | SCHEDULER_GROUP => {
            Kind::Broken(vec![Error::not_supported(Path::of(&["kind"]), kind, &kinds)])
        }
        _ => Kind::Foreign,
    }
}

fn review_ours(crd: &Crd, value: &Value, old: Option<&Value>, environment: &Environment) -> Verdict {
    let mut verdict = review_body(crd, value, old, environment);
    // Told once, also where the decoder stumbled over the same field.
    let metadata = check_metadata(value);
    if !metadata.is_empty() {
        let decoder = |error: &Error| error.kind == ErrorKind::TypeInvalid && error.value.is_none();
        let in_metadata = |error: &Error| error.path.to_string().starts_with("metadata");
        verdict.errors.retain(|error| !(decoder(error) && in_metadata(error)));
    }
    verdict.errors.splice(0..0, metadata);
    verdict
}

/// A resource's schema leaves `metadata` open; the API server knows its fields.
fn check_metadata(value: &Value) -> Errors {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let text = json!({ "type": "string" });
        let texts = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        json!({ "type": "object", "properties": {
            "name": text, "generateName": text, "namespace": text, "labels": texts, "annotations": texts,
            "finalizers": { "type": "array", "items": { "type": "string" } },
            "ownerReferences": { "type": "array" }, "managedFields": { "type": "array" },
            "uid": text, "resourceVersion": text, "selfLink": text, "generation": { "type": "integer" },
            "creationTimestamp": text, "deletionTimestamp": text,
            "deletionGracePeriodSeconds": { "type": "integer" },
        } })
    });
    let Some(metadata) = value.get("metadata").filter(|it| !it.is_null()) else { return Errors::new() };
    let mut errors = Errors::new();
    schema::check_at(&SCHEMA, metadata, &Path::of(&["metadata"]), &mut errors);
    errors
}

fn review_body(crd: &Crd, value: &Value, old: Option<&Value>, environment: &Environment) -> Verdict {
    match crd.kind {
        "PodCliqueSet" => review_set(crd, value, old, environment),
        "ClusterTopologyBinding" => {
            typed(crd, value, |it: &ClusterTopologyBinding| validate_topology_binding(it, environment))
        }
        "PodClique" => typed(crd, value, |it: &PodClique| errors_only(validate_pod_clique(it))),
        "GroupingRule" => typed(crd, value, |it: &GroupingRule| errors_only(validate_grouping_rule(it))),
        "PodCliqueScalingGroup" => {
            let old: Option<PodCliqueScalingGroup> = old.and_then(|it| decode(it).ok());
            typed(crd, value, |it: &PodCliqueScalingGroup| {
                errors_only(validate_scaling_group(it, old.as_ref()))
            })
        }
        _ => errors_only(schema::check(crd.schema(), value)),
    }
}

fn errors_only(errors: Errors) -> Verdict {
    Verdict { errors, warnings: Vec::new() }
}

fn typed<T: DeserializeOwned>(crd: &Crd, value: &Value, rules: impl FnOnce(&T) -> Verdict) -> Verdict {
    let found = schema::check(crd.schema(), value);
    match decode::<T>(value) {
        Ok(object) => merge(crd, found, rules(&object)),
        Err(error) => merge(crd, or_else_one(found, error), Verdict::default()),
    }
}

fn review_set(crd: &Crd, value: &Value, old: Option<&Value>, environment: &Environment) -> Verdict {
    let before: PodCliqueSet = match decode(value) {
        Ok(set) => set,
        Err(error) => {
            let mut filled = value.clone();
            fill_required(&mut filled);
            return merge(crd, or_else_one(schema::check(crd.schema(), &filled), error), Verdict::default());
        }
    };
    let default = environment.default_topology.as_deref().filter(|_| old.is_none());
    let old = old.and_then(|text| {
        let stored: PodCliqueSet = decode(text).ok()?;
        let mut set = stored.clone();
        default_pod_clique_set(&mut set, None);
        Some((text, stored, set))
    });
    let mut set = before.clone();
    let earlier = old.as_ref().map(|(.., it)| it);
    default_pod_clique_set(&mut set, earlier);
    default_topology(&mut set, earlier, default);
    let mut found = schema::check(crd.schema(), &patched(value, &before, &set));
    let verdict = match old {
        Some((text, stored, old)) => {
            // What the old object has too does not count, also where a rule speaks of the same field.
            if !found.is_empty() {
                // A set: two objects may have a hundred thousand findings each.
                let known: BTreeSet<Error> =
                    schema::check(crd.schema(), &patched(text, &stored, &old)).into_iter().collect();
                found.retain(|it| !known.contains(it));
            }
            validate_update(&set, &old, environment)
        }
        None => validate_create(&set, environment),
    };
    merge(crd, found, verdict)
}

/// The object as the API server has it behind the defaulting webhook: the user's own text, with what defaulting
/// added. Fields that our types do not know stay, so that the schema can name them.
fn patched(value: &Value, before: &PodCliqueSet, after: &PodCliqueSet) -> Value {
    let mut result = value.clone();
    // What has passed the webhook needs nothing; writing both forms down and comparing them would take longer than all else.
    if before == after {
        return result;
    }
    if let (Ok(before), Ok(after)) = (serde_json::to_value(before), serde_json::to_value(after)) {
        let patch = json_patch::diff(&before, &after);
        for operation in patch.0 {
            // What the text lacks altogether (say, metadata) is the schema's to report.
            let _ = json_patch::patch(&mut result, &[operation]);
        }
    }
    result
}

/// Stands in for defaulting where the object does not decode: these two would be filled in, whatever else is wrong.
fn fill_required(value: &mut Value) {
    let cliques = value.pointer_mut("/spec/template/cliques").and_then(Value::as_array_mut);
    for spec in cliques.into_iter().flatten().filter_map(|it| it.get_mut("spec")?.as_object_mut()) {
        spec.entry("roleName").or_insert_with(|| "".into());
        spec.entry("replicas").or_insert_with(|| 1.into());
    }
}

fn decode<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    // Keeping track of the path takes twice the time, and only an error needs it.
    T::deserialize(value).or_else(|_| {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = Path::parse(&error.path().to_string());
            Error { path, kind: ErrorKind::TypeInvalid, value: None, detail: error.into_inner().to_string() }
        })
    })
}

/// The schema says it better than the decoder, where it says anything.
fn or_else_one(found: Errors, decoder: Error) -> Errors {
    if found.is_empty() { vec![decoder] } else { found }
}

/// Findings of the schema and of the rules, each told once: where both speak of a field, the rule has the better
/// words.
fn merge(crd: &Crd, found: Errors, mut verdict: Verdict) -> Verdict {
    let rules: BTreeSet<Path> = verdict.errors.iter().map(|it| it.path.clone()).collect();
    let duplicates: BTreeSet<Path> = verdict
        .errors
        .iter()
        .filter(|it| it.kind == ErrorKind::Duplicate)
        .filter_map(|it| it.path.parent())
        .collect();
    let told = |error: &Error| {
        rules.contains(&error.path)
            || (error.kind == ErrorKind::Duplicate && duplicates.contains(&error.path))
    };
    let more: Errors = found.into_iter().filter(|error| !told(error)).collect();
    verdict.errors.extend(more);
    verdict.errors.sort_by_cached_key(|error| crd.position(&error.path));
    verdict
}
