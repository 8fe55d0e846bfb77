//! The PodGroup of a gang.

use grove_api::constants::labels;
use serde_json::{Map, Value, json};

use crate::{backend::Object, tree::Gang};

use super::{
    API_VERSION, DEFAULT_QUEUE, QUEUE,
    form::Form,
    layout::{self, Part},
    pod_groups,
};

/// The PodGroup of a gang, or why there is none. It is named like the gang, as upstream Grove names it.
pub(super) fn render(form: &Form, gang: &Gang, existing: &[Value]) -> Result<Object, String> {
    let is_ours =
        |it: &&Value| it["apiVersion"] == API_VERSION && it["metadata"]["name"] == gang.name.as_str();
    let before = existing.iter().find(is_ours);
    let mut parts = layout::parts(form, gang)?;
    let is_single = gang.shape().groups == 1;
    for group in parts.iter_mut().flat_map(|it| &mut it.groups) {
        group.1 = effective(*group, before, is_single);
    }
    let min = parts.iter().flat_map(|it| &it.groups).fold(0_u32, |sum, it| sum.saturating_add(it.1));
    let mut spec = json!({
        "minMember": min,
        "queue": QUEUE.of_gang(gang)?.unwrap_or(DEFAULT_QUEUE),
    });
    if !gang.priority_class.is_empty() {
        spec["priorityClassName"] = gang.priority_class.as_str().into();
    }
    let there = before.map_or(&Value::Null, |it| &it["spec"]);
    let wish = gang.pack.preferred.is_some() || layout::has_homeless_wish(form, gang, &parts);
    let required = gang.pack.required.as_deref();
    if let Some(network) = network(form, required, wish, &there["networkTopology"])? {
        spec["networkTopology"] = network;
    }
    if form.sub_groups {
        let policies = parts.iter().map(|it| policy(form, it, there));
        spec["subGroupPolicy"] = policies.collect::<Result<Vec<_>, _>>()?.into();
    }
    let tasks = layout::tasks(form, &parts);
    if !tasks.is_empty() {
        let tasks = tasks.iter().map(|(name, min)| ((*name).to_owned(), Value::from(*min)));
        spec["minTaskMember"] = tasks.collect::<Map<_, _>>().into();
    }
    let value = json!({
        "apiVersion": API_VERSION,
        "kind": "PodGroup",
        "metadata": { "name": gang.name, "namespace": gang.namespace, "labels": gang.labels },
        "spec": spec,
    });
    Ok(Object { resource: pod_groups(), value, once: Vec::new(), immutable: Vec::new() })
}

/// A minimum that is lifted keeps its value at the scheduler.
fn effective((name, min): (&str, u32), before: Option<&Value>, is_single: bool) -> u32 {
    if min > 0 {
        return min;
    }
    let spec = before.map(|it| &it["spec"]);
    let policies = spec.and_then(|it| it["subGroupPolicy"].as_array());
    let policy = policies.into_iter().flatten().find(|it| it["name"] == name);
    let size = policy.and_then(|it| it["subGroupSize"].as_u64());
    let task = spec.and_then(|it| it["minTaskMember"].get(name)?.as_u64());
    let whole = spec.and_then(|it| it["minMember"].as_u64()).filter(|_| is_single);
    let before = size.or(task).or(whole).and_then(|it| u32::try_from(it).ok());
    before.unwrap_or_default().max(1)
}

/// One policy, of which one sub-group is needed. Without keys to match by, a policy has no effect.
fn policy(form: &Form, part: &Part<'_>, there: &Value) -> Result<Value, String> {
    let names: Vec<&str> = part.groups.iter().map(|it| it.0).collect();
    let (selector, key) = if part.is_bundle {
        let expression = json!({ "key": labels::POD_CLIQUE, "operator": "In", "values": names });
        // All pods of a bundle have the name of the gang in common, whatever the bundle is made of.
        (json!({ "matchExpressions": [expression] }), labels::POD_GANG)
    } else {
        (json!({ "matchLabels": { labels::POD_CLIQUE: part.name } }), labels::POD_CLIQUE)
    };
    let size = part.groups.iter().fold(0_u32, |sum, it| sum.saturating_add(it.1));
    let mut policy = json!({
        "name": part.name,
        "labelSelector": selector,
        "matchLabelKeys": [key],
        "subGroupSize": size,
        "minSubGroups": 1,
    });
    let there = there["subGroupPolicy"].as_array().into_iter().flatten().find(|it| it["name"] == part.name);
    let there = there.map_or(&Value::Null, |it| &it["networkTopology"]);
    let (required, wish) = (part.pack.required.as_deref(), part.pack.preferred.is_some());
    if let Some(network) = network(form, required, wish, there)? {
        policy["networkTopology"] = network;
    }
    Ok(policy)
}

/// A required level holds; it packs as closely as it can, so that a preferred one beside it needs no word. A preferred
/// level alone cannot be named: that is said on the pods.
pub(super) fn network(
    form: &Form,
    required: Option<&str>,
    wish: bool,
    there: &Value,
) -> Result<Option<Value>, String> {
    if let Some(key) = required {
        // Volcano writes the number of the tier in the place of its name, and must not be fought over it.
        let number = match (form.tier(key)?, there["highestTierAllowed"].as_i64()) {
            (_, None) => None,
            (Some(tier), Some(_)) => Some(tier),
            (None, Some(there)) => Some(there),
        };
        return Ok(Some(match number {
            None => json!({ "mode": "hard", "highestTierName": key }),
            Some(number) => json!({ "mode": "hard", "highestTierAllowed": number }),
        }));
    }
    Ok((wish && form.packs()).then(|| json!({ "mode": "soft" })))
}
