//! What has to change on a child that exists. `None`: nothing.
//!
//! `spec.replicas` of cliques and groups is missing here on purpose: after creation it belongs to whoever scales.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    constants::{annotations, labels},
    wire::{PodClique, PodCliqueScalingGroup, PodGang},
};
use k8s_openapi::{
    api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    facts::{label, template_hash},
    hash,
    objects::{ADOPTED, MIRRORED, Mirrored, same_meaning, same_pod_template, template_of},
    patch,
};

pub(super) fn service(current: &Service, wanted: &Service) -> Option<Value> {
    let spec = |service: &Service| {
        let spec = service.spec.as_ref();
        json!({
            "selector": spec.and_then(|it| it.selector.clone()),
            // The API server leaves `false` out.
            "publishNotReadyAddresses": spec.and_then(|it| it.publish_not_ready_addresses).unwrap_or(false),
        })
    };
    let change = patch::exact(&spec(current), &spec(wanted));
    join(metadata(&current.metadata, &wanted.metadata), change)
}

pub(super) fn autoscaler(
    current: &HorizontalPodAutoscaler,
    wanted: &HorizontalPodAutoscaler,
) -> Option<Value> {
    // What we do not say (behaviour) is filled in by the API server, and is then not ours.
    let mut change = patch::owned(&value(&current.spec), &value(&wanted.spec));
    // Metrics that the template does not have any more go, and the API server fills in its own.
    let metrics = current.spec.metrics.as_deref().unwrap_or_default();
    if wanted.spec.metrics.is_none() && !metrics.is_empty() && value(&metrics) != default_metrics() {
        patch::merge(change.get_or_insert_with(|| json!({})), json!({ "metrics": null }));
    }
    join(metadata(&current.metadata, &wanted.metadata), change)
}

/// What the API server gives an autoscaler without metrics.
fn default_metrics() -> Value {
    let target = json!({ "type": "Utilization", "averageUtilization": 80 });
    json!([{ "type": "Resource", "resource": { "name": "cpu", "target": target } }])
}

pub(super) fn group(current: &PodCliqueScalingGroup, wanted: &PodCliqueScalingGroup) -> Option<Value> {
    let spec = |group: &PodCliqueScalingGroup| json!({ "minAvailable": group.spec.min_available, "cliqueNames": group.spec.clique_names });
    let change = patch::exact(&spec(current), &spec(wanted));
    join(metadata(&current.metadata, &wanted.metadata), change)
}

/// What has to change on a clique.
pub fn clique_patch(current: &PodClique, wanted: &PodClique) -> Option<Value> {
    let mut metadata_change = metadata(&current.metadata, &wanted.metadata);
    if metadata_change.is_some() && same_template(current, wanted) {
        // Made by another version or by upstream Grove, and the same: its hash stays, or every pod would be replaced.
        metadata_change = metadata_change.and_then(|it| without_hash(it, &current.metadata));
    } else if template_hash(&current.metadata) != template_hash(&wanted.metadata) {
        patch::merge(metadata_change.get_or_insert_with(|| json!({})), adoption(current, wanted));
    }
    let spec = |clique: &PodClique| {
        let mut spec = value(&clique.spec);
        if let Some(spec) = spec.as_object_mut() {
            spec.remove("replicas");
        }
        spec
    };
    let mut change = None;
    if !specs_equal(current, wanted) {
        change = patch::exact(&spec(current), &spec(wanted));
    }
    join(metadata_change, change)
}

/// Whether a patch of a clique gives it another template.
pub fn changes_template(patch: &Value) -> bool {
    patch["metadata"]["labels"].get(labels::POD_TEMPLATE_HASH).is_some()
}

/// Quickly, because nearly always nothing changed.
fn specs_equal(current: &PodClique, wanted: &PodClique) -> bool {
    let (a, b) = (&current.spec, &wanted.spec);
    a.role_name.as_deref().unwrap_or_default() == b.role_name.as_deref().unwrap_or_default()
        && a.min_available == b.min_available
        && a.starts_after == b.starts_after
        && a.auto_scaling_config == b.auto_scaling_config
        && same_meaning(current, wanted)
}

/// What has to change on a gang: specification and what is mirrored from the set.
pub fn gang_patch(current: &PodGang, wanted: &PodGang) -> Option<Value> {
    let change = if current.spec == wanted.spec {
        None
    } else {
        patch::exact(&value(&current.spec), &value(&wanted.spec))
    };
    let mut metadata = metadata(&current.metadata, &wanted.metadata);
    let has = |it: &PodGang| {
        it.metadata.annotations.as_ref().is_some_and(|it| it.contains_key(annotations::TOPOLOGY_NAME))
    };
    if has(current) && !has(wanted) {
        let removal = json!({ "annotations": { annotations::TOPOLOGY_NAME: null } });
        patch::merge(metadata.get_or_insert_with(|| json!({})), removal);
    }
    join(metadata, change)
}

/// Change of labels, annotations, finalizers-free metadata: ours are set, mirrored ones that went are removed.
fn metadata(current: &ObjectMeta, wanted: &ObjectMeta) -> Option<Value> {
    let empty = BTreeMap::new();
    let labels = wanted.labels.as_ref().unwrap_or(&empty);
    let annotations = wanted.annotations.as_ref().unwrap_or(&empty);
    let mut change = Map::new();
    for (field, current, wanted) in
        [("labels", &current.labels, labels), ("annotations", &current.annotations, annotations)]
    {
        let differs =
            |(key, value): &(&String, &String)| current.as_ref().and_then(|it| it.get(*key)) != Some(*value);
        let set: Map<String, Value> = wanted
            .iter()
            .filter(differs)
            .map(|(key, value)| (key.clone(), Value::String(value.clone())))
            .collect();
        if !set.is_empty() {
            change.insert(field.to_owned(), Value::Object(set));
        }
    }
    let mut change = Value::Object(change);
    let before = Mirrored::read(current.annotations.as_ref());
    patch::merge(&mut change, Value::Object(before.removals(labels, annotations)));
    if before != Mirrored::default() && !annotations.contains_key(MIRRORED) {
        patch::merge(&mut change, json!({ "annotations": { MIRRORED: null } }));
    }
    change.as_object().is_some_and(|it| !it.is_empty()).then_some(change)
}

/// Whether a clique says already what the template says: its pods, and the labels and annotations that come from there.
/// Labels of our own are no part of that: that one of them was lost, or is new in this version, makes no new template.
pub fn same_template(current: &PodClique, wanted: &PodClique) -> bool {
    let (old, new) = (&current.metadata, &wanted.metadata);
    let from_template = Mirrored::read(new.annotations.as_ref());
    let before = Mirrored::read(old.annotations.as_ref());
    let same = |keys: &BTreeSet<String>, old: Option<&BTreeMap<_, _>>, new: Option<&BTreeMap<_, _>>| {
        keys.iter().all(|key| label(old, key) == label(new, key))
    };
    same(&from_template.labels, old.labels.as_ref(), new.labels.as_ref())
        && same(&from_template.annotations, old.annotations.as_ref(), new.annotations.as_ref())
        && before.labels.is_subset(&from_template.labels)
        && before.annotations.is_subset(&from_template.annotations)
        && same_pod_template(current, wanted)
}

/// What becomes of a hash that we did not compute when the template changes: it is noted, and comes back with its template.
/// Else pods that were not replaced yet would not be known again.
fn adoption(current: &PodClique, wanted: &PodClique) -> Value {
    let keys = Mirrored::read(wanted.metadata.annotations.as_ref());
    let hash_of = |clique: &PodClique| hash::pod_template(&template_of(clique, &keys));
    let noted = label(current.metadata.annotations.as_ref(), ADOPTED).and_then(|it| it.split_once('='));
    if let Some((_, adopted)) = noted.filter(|(ours, _)| *ours == hash_of(wanted)) {
        return json!({ "labels": { labels::POD_TEMPLATE_HASH: adopted }, "annotations": { ADOPTED: null } });
    }
    let (ours, has) = (hash_of(current), template_hash(&current.metadata));
    if has.is_empty() || has == ours {
        return json!({});
    }
    json!({ "annotations": { ADOPTED: format!("{ours}={has}") } })
}

/// A change without that of the hash; `None` where nothing is left but our note of what is mirrored.
fn without_hash(mut change: Value, current: &ObjectMeta) -> Option<Value> {
    let has_hash = current.labels.as_ref().is_some_and(|it| it.contains_key(labels::POD_TEMPLATE_HASH));
    let fields = change.as_object_mut()?;
    if let Some(ours) = fields.get_mut("labels").and_then(Value::as_object_mut).filter(|_| has_hash) {
        ours.remove(labels::POD_TEMPLATE_HASH);
        if ours.is_empty() {
            fields.remove("labels");
        }
    }
    let only_note = |it: &Value| it.as_object().is_some_and(|it| it.keys().all(|key| key == MIRRORED));
    let rest = fields.iter().any(|(field, it)| field != "annotations" || !only_note(it));
    rest.then_some(change)
}

fn join(metadata: Option<Value>, spec: Option<Value>) -> Option<Value> {
    let mut whole = Map::new();
    whole.extend(metadata.map(|it| ("metadata".to_owned(), it)));
    whole.extend(spec.map(|it| ("spec".to_owned(), it)));
    (!whole.is_empty()).then_some(Value::Object(whole))
}

fn value<T: Serialize>(object: &T) -> Value {
    // Our types have string keys only, so that they always serialise.
    serde_json::to_value(object).unwrap_or_default()
}

#[cfg(test)]
mod tests;
