//! The PodGroup of a gang.

use grove_api::{constants::labels::KAI_QUEUE, limits::MAX_LABEL_LENGTH, wire::GoDuration};
use serde_json::{Map, Value, json};

use crate::{
    backend::Object,
    tree::{Content, Gang, Node, Pack},
};

use super::{
    GROUP, Installed, NODE_POOL, NODE_POOL_KEY, PREEMPTIBILITY_KEY, PREEMPTION_DELAY_KEY, STALENESS_KEY,
    TOP_OWNER_KEY, VERSION, form::Form, pod_groups, rival,
};

/// Annotations of a gang that are nobody else's business.
const BOOKKEEPING: [&str; 2] = ["grove.io/mirrored-keys", "kubectl.kubernetes.io/last-applied-configuration"];
/// Names the topology of a gang that Grove gave none.
const TOPOLOGY_KEY: &str = "kai.scheduler/topology";
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
    let mut tree = Tree { form: kai.form, gang, before, bundles: Vec::new(), groups: Vec::new(), min: 0 };
    for child in &gang.children {
        tree.add(child, None)?;
    }
    let mut spec = json!({
        "minMember": tree.min,
        "queue": queue,
        "subGroups": tree.bundles.into_iter().chain(tree.groups).collect::<Vec<_>>(),
    });
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

/// Placement of a part of the gang. A topology without a level would silently never be scheduled.
fn constraint(gang: &Gang, pack: &Pack, whose: &str) -> Result<Option<Value>, String> {
    if pack.is_empty() {
        return Ok(None);
    }
    let fallback = gang.annotations.get(TOPOLOGY_KEY).map_or("", String::as_str);
    let topology = if gang.topology.is_empty() { fallback } else { &gang.topology };
    if topology.is_empty() {
        return Err(format!(
            "{whose} is placed by topology, but the gang does not name one (annotation grove.io/topology-name)"
        ));
    }
    let mut constraint = json!({ "topology": topology });
    if let Some(level) = &pack.required {
        constraint["requiredTopologyLevel"] = level.as_str().into();
    }
    if let Some(level) = &pack.preferred {
        constraint["preferredTopologyLevel"] = level.as_str().into();
    }
    Ok(Some(constraint))
}

/// Sub-groups while they are collected: those with children first, as KAI's pod grouper orders them.
struct Tree<'a> {
    form: Form,
    gang: &'a Gang,
    before: Option<&'a Value>,
    bundles: Vec<Value>,
    groups: Vec<Value>,
    min: u32,
}

impl Tree<'_> {
    fn add(&mut self, node: &Node, parent: Option<&str>) -> Result<(), String> {
        check_name(&node.name)?;
        let mut entry = json!({ "name": node.name });
        if let Some(parent) = parent {
            entry["parent"] = parent.into();
        }
        if let Some(constraint) = constraint(self.gang, &node.pack, &format!("{:?}", node.name))? {
            entry["topologyConstraint"] = constraint;
        }
        match &node.content {
            Content::Group { min, .. } => {
                let min = self.effective(&node.name, *min);
                self.min = self.min.saturating_add(min);
                entry["minMember"] = min.into();
                self.groups.push(entry);
            }
            Content::Bundle(children) => {
                if self.form > Form::SubGroups {
                    entry["minSubGroup"] = children.len().into();
                }
                self.bundles.push(entry);
                for child in children {
                    self.add(child, Some(&node.name))?;
                }
            }
        }
        Ok(())
    }

    /// A minimum that is lifted keeps its value at the scheduler.
    fn effective(&self, name: &str, min: u32) -> u32 {
        if min > 0 {
            return min;
        }
        let before = self.before.and_then(|it| it["spec"]["subGroups"].as_array());
        let before = before.into_iter().flatten().find(|it| it["name"] == name);
        let before = before.and_then(|it| it["minMember"].as_u64()).and_then(|it| u32::try_from(it).ok());
        before.unwrap_or_default().max(1)
    }
}

/// Pods carry the name as a label value, and KAI looks parents up in lower case.
fn check_name(name: &str) -> Result<(), String> {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=MAX_LABEL_LENGTH).contains(&name.len())
        && name.chars().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-');
    if is_label {
        return Ok(());
    }
    Err(format!(
        "{name:?} cannot be a sub-group of KAI: at most {MAX_LABEL_LENGTH} lower case letters, digits and dashes"
    ))
}
