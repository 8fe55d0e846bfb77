//! ResourceQuotas, as far as they count pods (`pods`, `count/pods`): the admission plugin that refuses, and the controller
//! that keeps `status`. The real controller is a moment late; here the status changes with the pod.

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::metadata;
use crate::object::Object;
use crate::resource::Resource;
use crate::store::{Key, Transaction};

const QUOTAS: &str = "resourcequotas";
const PODS: &str = "pods";

/// Refuses a pod for which a quota of its namespace leaves no room.
pub(super) fn check(
    tx: &Transaction<'_>,
    resource: &Resource,
    namespace: &str,
    name: &str,
) -> Result<(), Failure> {
    if resource.id() != PODS {
        return Ok(());
    }
    for (_, quota) in tx.list(QUOTAS, Some(namespace)) {
        for (counted, hard) in limits(&quota) {
            let used = used(tx, namespace, &counted);
            if used + 1 > hard {
                let why = format!(
                    "exceeded quota: {}, requested: {counted}=1, used: {counted}={used}, limited: {counted}={hard}",
                    quota.name()
                );
                return Err(Failure::forbidden(resource, name, &why));
            }
        }
    }
    Ok(())
}

/// Writes what is used into the quotas of a namespace, where that has changed.
pub(super) fn count(tx: &mut Transaction<'_>, resource: &Resource, namespace: &str) {
    if ![PODS, QUOTAS].contains(&resource.id()) || namespace.is_empty() {
        return;
    }
    for (key, quota) in tx.list(QUOTAS, Some(namespace)) {
        let (mut hard, mut used_of) = (Map::new(), Map::new());
        for (counted, limit) in limits(&quota) {
            used_of.insert(counted.clone(), used(tx, namespace, &counted).to_string().into());
            hard.insert(counted, limit.to_string().into());
        }
        let status = json!({ "hard": hard, "used": used_of });
        if quota.field("/status") != Some(&status) {
            put(tx, &key, &quota, status);
        }
    }
}

fn put(tx: &mut Transaction<'_>, key: &Key, quota: &Object, status: Value) {
    let mut value = quota.value().clone();
    metadata::map_mut(&mut value).insert("status".to_owned(), status);
    tx.put(key, value);
}

/// What a quota counts, as far as it is known here, and how much of it there may be.
fn limits(quota: &Object) -> Vec<(String, u64)> {
    let hard = quota.field("/spec/hard").and_then(Value::as_object);
    let counted =
        hard.into_iter().flatten().filter(|(name, _)| [PODS, "count/pods"].contains(&name.as_str()));
    let limit = |it: &Value| it.as_u64().or_else(|| it.as_str()?.parse().ok());
    counted.filter_map(|(name, it)| Some((name.clone(), limit(it)?))).collect()
}

/// `count/pods` counts objects, `pods` those that have not ended.
fn used(tx: &Transaction<'_>, namespace: &str, counted: &str) -> u64 {
    let has_ended = |pod: &Object| {
        matches!(pod.field("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"))
    };
    let pods = tx.list(PODS, Some(namespace));
    pods.iter().filter(|(_, pod)| counted != PODS || !has_ended(pod)).count() as u64
}
