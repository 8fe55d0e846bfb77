//! The PodGroup of a gang.

use grove_api::{constants::labels::KAI_QUEUE, wire::GoDuration};
use serde_json::{Map, Value, json};

use crate::{backend::Object, tree::Gang};

use super::{
    GROUP, Installed, NODE_POOL, NODE_POOL_KEY, PREEMPTIBILITY_KEY, PREEMPTION_DELAY_KEY, STALENESS_KEY,
    TOP_OWNER_KEY, VERSION,
    form::Form,
    pod_groups, rival,
    sub_groups::{SubGroups, constraint},
};

/// Annotations of a gang that are nobody else's business.
const BOOKKEEPING: [&str; 2] = ["grove.io/mirrored-keys", "kubectl.kubernetes.io/last-applied-configuration"];
/// Names a PriorityClass.
const PRIORITY_LABEL: &str = "priorityClassName";
/// The operator ends gangs that fell apart, with a delay of the user's choice: KAI must not do so on its own.
const NEVER_STALE: &str = "-1s";

pub(super) const PREEMPTIBILITIES: [&str; 2] = ["preemptible", "non-preemptible"];

/// The name of a gang's PodGroup: cluster-unique, because KAI before mid 2026 tells PodGroups apart by name alone, and
/// the one that KAI's pod grouper computes. A PodGroup that upstream Grove made, named like the gang, is kept: pods
/// that run point to it.
pub(super) fn name<'a>(gang: &Gang, mut there: impl Iterator<Item = &'a str> + Clone) -> String {
    let own = format!("pg-{}-{}", gang.name, gang.uid);
    let is_taken_over = there.clone().any(|it| it == gang.name) && !there.any(|it| it == own);
    if is_taken_over { gang.name.clone() } else { own }
}

/// The PodGroup of a gang, or why there is none.
pub(super) fn render(kai: &Installed, gang: &Gang, existing: &[Value]) -> Result<Object, String> {
    let ours = existing.iter().filter(|it| it["apiVersion"] == format!("{GROUP}/{VERSION}"));
    let name = name(gang, ours.clone().filter_map(name_of));
    let before = ours.clone().find(|it| name_of(it) == Some(&name));

    let spec = spec(kai, gang, before)?;
    if kai.form == Form::SubGroups {
        rival::check(&spec, before)?;
    }
    let mut once = vec!["/spec/queue".to_owned()];
    if kai.form == Form::SubGroups && gang.labels.contains_key(PRIORITY_LABEL) {
        // KAI's pod grouper of those days reads the label too, and not all of them agree on when it counts.
        once.push("/spec/priorityClassName".to_owned());
    }
    let mut value = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "PodGroup",
        "metadata": {
            "name": name,
            "namespace": gang.namespace,
            "labels": labels(gang, before, &mut once)?,
        },
        "spec": spec,
    });
    let annotations = annotations(kai.form, gang);
    if !annotations.is_empty() {
        value["metadata"]["annotations"] = annotations.into();
    }
    Ok(Object { resource: pod_groups(), value, once, immutable: Vec::new() })
}

fn name_of(object: &Value) -> Option<&str> {
    object["metadata"]["name"].as_str()
}

/// The gang's labels. Pool and queue are given when the PodGroup is made, and belong to KAI afterwards.
fn labels(gang: &Gang, before: Option<&Value>, once: &mut Vec<String>) -> Result<Map<String, Value>, String> {
    let mut labels: Map<String, Value> =
        gang.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    let pool = match before {
        Some(_) => None,
        None => NODE_POOL.of_gang(gang)?,
    };
    let queue = gang.labels.get(KAI_QUEUE).map(String::as_str);
    for (key, value) in [(NODE_POOL_KEY, pool), (KAI_QUEUE, queue)] {
        let kept = before.and_then(|it| it["metadata"]["labels"].get(key)?.as_str());
        labels.remove(key);
        if let Some(value) = kept.or(value) {
            labels.insert(key.to_owned(), value.into());
            once.push(format!("/metadata/labels/{}", key.replace('/', "~1")));
        }
    }
    Ok(labels)
}

fn annotations(form: Form, gang: &Gang) -> Map<String, Value> {
    let copied = gang.annotations.iter().filter(|(key, _)| !BOOKKEEPING.contains(&key.as_str()));
    let mut annotations: Map<String, Value> =
        copied.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    // Before, KAI's pod grouper writes it, and by that it is noticed.
    if form > Form::SubGroups {
        annotations.insert(TOP_OWNER_KEY.to_owned(), top_owner(gang).into());
    }
    annotations
}

/// The gang in the words of KAI's pod grouper, which its tools read.
fn top_owner(gang: &Gang) -> String {
    // A text that begins with a digit may read as a number.
    let text = |it: &str| match it.chars().next() {
        Some(first) if !first.is_ascii_digit() => it.to_owned(),
        _ => format!("{it:?}"),
    };
    let (group, version) = gang.api_version.split_once('/').unwrap_or(("", &gang.api_version));
    let lines = [
        ("name", gang.name.as_str()),
        ("uid", &gang.uid),
        ("group", group),
        ("version", version),
        ("kind", &gang.kind),
    ];
    lines.iter().fold(String::new(), |all, (key, value)| all + key + ": " + &text(value) + "\n")
}

fn spec(kai: &Installed, gang: &Gang, before: Option<&Value>) -> Result<Value, String> {
    let queue = match before.and_then(|it| it["spec"]["queue"].as_str()).filter(|it| !it.is_empty()) {
        // KAI never moves a PodGroup to another queue.
        Some(queue) => queue,
        None => kai
            .queue(gang)?
            .ok_or("no queue: label the PodCliqueSet, or its cliques, with kai.scheduler/queue")?,
    };
    let SubGroups { entries, min } = SubGroups::of(kai.form, gang, before)?;
    let mut spec = json!({ "minMember": min, "queue": queue, "subGroups": entries });
    let label = |key: &str| gang.labels.get(key).map(|it| it.trim()).filter(|it| !it.is_empty());
    let priority = Some(gang.priority_class.as_str()).filter(|it| !it.is_empty()).or(label(PRIORITY_LABEL));
    if let Some(priority) = priority {
        spec["priorityClassName"] = priority.into();
    }
    if let Some(preemptibility) = label(PREEMPTIBILITY_KEY).filter(|it| PREEMPTIBILITIES.contains(it)) {
        spec["preemptibility"] = preemptibility.into();
    }
    if let Some(constraint) = constraint(gang, &gang.pack, "the gang")? {
        spec["topologyConstraint"] = constraint;
    }
    if kai.form >= Form::Delays {
        if let Some(delay) = duration(gang, PREEMPTION_DELAY_KEY).filter(|(_, nanos)| *nanos >= 0) {
            spec["preemptionDelay"] = delay.0.into();
        }
        spec["stalenessGracePeriod"] = duration(gang, STALENESS_KEY).map_or(NEVER_STALE, |it| it.0).into();
    }
    Ok(spec)
}

fn duration<'a>(gang: &'a Gang, key: &str) -> Option<(&'a str, i64)> {
    let text = gang.annotations.get(key)?;
    Some((text, GoDuration::from(text.as_str()).nanos().ok()?))
}
