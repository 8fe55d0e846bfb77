//! Where pods of an installation run, what they may use and where their images come from: the same for the operator and the
//! pod grouper.

use std::{collections::BTreeMap, io};

use clap::Args;
use k8s_openapi::api::core::v1::{LocalObjectReference, PodSpec, ResourceRequirements, Toleration};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use super::invalid;
use crate::amount::is_amount;

/// Arguments about pods.
#[derive(Args, Clone, Default)]
pub(super) struct PodArguments {
    /// Run pods only on nodes with this label; repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    node_selector: Vec<String>,

    /// Let pods run on nodes with this taint; repeatable. Without a value any value is tolerated, without an effect any effect.
    #[arg(long, value_name = "KEY[=VALUE][:EFFECT]")]
    toleration: Vec<String>,

    /// Request of a resource, for instance cpu=100m; an empty amount removes a default; repeatable.
    #[arg(long, value_name = "RESOURCE=AMOUNT")]
    request: Vec<String>,

    /// Limit of a resource, for instance memory=2Gi; an empty amount removes a default; repeatable.
    #[arg(long, value_name = "RESOURCE=AMOUNT")]
    limit: Vec<String>,

    /// Secret with credentials of the image registry; repeatable.
    #[arg(long, value_name = "NAME")]
    image_pull_secret: Vec<String>,

    /// When images are pulled [default: what Kubernetes does].
    #[arg(long, value_name = "POLICY", value_parser = ["Always", "IfNotPresent", "Never"])]
    image_pull_policy: Option<String>,
}

/// The same, checked.
#[derive(Clone, Debug, Default)]
pub(super) struct PodOptions {
    node_selector: BTreeMap<String, String>,
    tolerations: Vec<Toleration>,
    /// Amounts that replace defaults; an empty one removes a default.
    requests: BTreeMap<String, String>,
    limits: BTreeMap<String, String>,
    image_pull_secrets: Vec<LocalObjectReference>,
    image_pull_policy: Option<String>,
}

impl PodArguments {
    pub(super) fn check(&self) -> io::Result<PodOptions> {
        let secrets = self.image_pull_secret.iter().map(|it| LocalObjectReference { name: it.clone() });
        Ok(PodOptions {
            node_selector: key_values("--node-selector", &self.node_selector)?,
            tolerations: self.toleration.iter().map(|it| toleration(it)).collect::<io::Result<_>>()?,
            requests: amounts("--request", &self.request)?,
            limits: amounts("--limit", &self.limit)?,
            image_pull_secrets: secrets.collect(),
            image_pull_policy: self.image_pull_policy.clone(),
        })
    }
}

impl PodOptions {
    /// Puts them into a pod.
    pub(super) fn apply(&self, pod: &mut PodSpec) {
        pod.node_selector = (!self.node_selector.is_empty()).then(|| self.node_selector.clone());
        pod.tolerations = (!self.tolerations.is_empty()).then(|| self.tolerations.clone());
        pod.image_pull_secrets =
            (!self.image_pull_secrets.is_empty()).then(|| self.image_pull_secrets.clone());
        for container in &mut pod.containers {
            container.image_pull_policy.clone_from(&self.image_pull_policy);
            let resources = container.resources.get_or_insert_with(ResourceRequirements::default);
            replace(&mut resources.requests, &self.requests);
            replace(&mut resources.limits, &self.limits);
        }
    }
}

fn replace(amounts: &mut Option<BTreeMap<String, Quantity>>, by: &BTreeMap<String, String>) {
    let mut all = amounts.take().unwrap_or_default();
    for (resource, amount) in by {
        if amount.is_empty() {
            all.remove(resource);
        } else {
            all.insert(resource.clone(), Quantity(amount.clone()));
        }
    }
    *amounts = (!all.is_empty()).then_some(all);
}

/// Arguments of the form KEY=VALUE.
pub(super) fn key_values(flag: &str, texts: &[String]) -> io::Result<BTreeMap<String, String>> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(invalid(format!("{flag} {text:?}: is not KEY=VALUE"))),
    };
    texts.iter().map(pair).collect()
}

fn amounts(flag: &str, texts: &[String]) -> io::Result<BTreeMap<String, String>> {
    let amounts = key_values(flag, texts)?;
    match amounts.iter().find(|(_, amount)| !amount.is_empty() && !is_amount(amount)) {
        Some((resource, amount)) => Err(invalid(format!(
            "{flag} {resource}={amount}: {amount:?} is not an amount such as 500m, 2 or 1Gi"
        ))),
        None => Ok(amounts),
    }
}

fn toleration(text: &str) -> io::Result<Toleration> {
    let (taint, effect) = match text.rsplit_once(':') {
        Some((taint, effect)) => (taint, Some(effect)),
        None => (text, None),
    };
    if effect.is_some_and(|it| !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&it)) {
        return Err(invalid(format!(
            "--toleration {text:?}: the effect must be NoSchedule, PreferNoSchedule or NoExecute"
        )));
    }
    let (key, value) = match taint.split_once('=') {
        Some((key, value)) => (key, Some(value)),
        None => (taint, None),
    };
    if key.is_empty() {
        return Err(invalid(format!("--toleration {text:?}: is not KEY[=VALUE][:EFFECT]")));
    }
    Ok(Toleration {
        key: Some(key.to_owned()),
        operator: Some(if value.is_some() { "Equal" } else { "Exists" }.to_owned()),
        value: value.map(str::to_owned),
        effect: effect.map(str::to_owned),
        ..Toleration::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tolerations_name_what_they_name_and_nothing_more() {
        let parsed = |text| serde_json::to_value(toleration(text).unwrap()).unwrap();
        assert_eq!(parsed("gpu"), json!({ "key": "gpu", "operator": "Exists" }));
        assert_eq!(
            parsed("node-role.kubernetes.io/control-plane:NoSchedule"),
            json!({ "key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule" })
        );
        assert_eq!(
            parsed("team=infra:NoExecute"),
            json!({ "key": "team", "operator": "Equal", "value": "infra", "effect": "NoExecute" })
        );
        for text in ["", "=x", ":NoSchedule", "a:Never"] {
            assert!(toleration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn amounts_replace_and_remove_defaults() {
        let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let mut limits = Some(BTreeMap::from([("memory".to_owned(), Quantity("1Gi".to_owned()))]));
        replace(&mut limits, &amounts("--limit", &texts(&["memory=2Gi", "cpu=500m"])).unwrap());
        assert_eq!(json!(limits), json!({ "cpu": "500m", "memory": "2Gi" }));
        replace(&mut limits, &amounts("--limit", &texts(&["memory=", "cpu="])).unwrap());
        assert_eq!(limits, None);
        for wrong in ["memory", "=1", "memory=lots", "cpu=1 2"] {
            assert!(amounts("--limit", &texts(&[wrong])).is_err(), "{wrong}");
        }
    }
}
