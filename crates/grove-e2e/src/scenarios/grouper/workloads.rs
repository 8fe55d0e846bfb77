//! One workload of each kind, from `e2e/workloads.yaml`. Nobody runs them: their pods are made here.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, PostParams, PropagationPolicy},
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    objects,
    scenario::{Context, DEADLINE, eventually},
};

const TEXT: &str = include_str!("../../../../../e2e/workloads.yaml");
/// What marks definitions that a scenario made.
const MARK: &str = "e2e.grove.io/workload";

/// A workload.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Workload {
    pub(super) name: String,
    /// The one at the top first.
    #[serde(default)]
    owners: Vec<Value>,
    #[serde(default)]
    others: Vec<Value>,
    pub(super) pods: Vec<PodOf>,
    /// In what the groups of KAI's pod grouper and of ours differ.
    #[serde(default)]
    pub(super) differs: BTreeSet<String>,
    /// Why they do.
    #[serde(default)]
    pub(super) why: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PodOf {
    pub(super) name: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

/// All of them.
pub(super) fn all() -> Result<Vec<Workload>> {
    let read = |it: Value| serde_json::from_value(it).context("e2e/workloads.yaml");
    objects::parse(TEXT)?.into_iter().map(read).collect()
}

/// Defines the kinds of workloads that the cluster does not have.
pub(super) async fn define(context: &Context, workloads: &[Workload]) -> Result<()> {
    let all: Vec<Value> =
        workloads.iter().flat_map(|it| it.owners.iter().chain(&it.others)).cloned().collect();
    define_kinds(context, &all).await
}

/// Defines the kinds of objects that the cluster does not have.
pub(super) async fn define_kinds(context: &Context, all: &[Value]) -> Result<()> {
    objects::install_crds(&context.client()).await?;
    let mut kinds: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for object in all {
        let text = |field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let api_version = text("apiVersion");
        let (group, version) = api_version.split_once('/').context("an owner of the core")?;
        // Those of Kubernetes and our own are there.
        if !["apps", "batch"].contains(&group) && !group.ends_with("grove.io") {
            kinds.entry((group.to_owned(), text("kind"))).or_default().insert(version.to_owned());
        }
    }
    for ((group, kind), versions) in kinds {
        objects::apply(&context.client(), definition(&group, &kind, &versions), None).await?;
    }
    objects::until_crds_established(&context.client()).await
}

fn definition(group: &str, kind: &str, versions: &BTreeSet<String>) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let last = versions.last();
    let versions: Vec<Value> = versions
        .iter()
        .map(|it| json!({ "name": it, "served": true, "storage": Some(it) == last, "schema": { "openAPIV3Schema": any } }))
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            "labels": { MARK: "yes" },
            // Some groups of these kinds want to be asked for.
            "annotations": { "api-approved.kubernetes.io": "unapproved, experimental-only" },
        },
        "spec": {
            "group": group, "scope": "Namespaced", "versions": versions,
            "names": { "kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase() },
        },
    })
}

/// Takes the definitions away again, with all that there is of them, and waits: the next scenario may want some again.
pub(super) async fn undefine(context: &Context) -> Result<()> {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    let definitions: Api<CustomResourceDefinition> = Api::all(context.client());
    let marked = ListParams::default().labels(MARK);
    definitions.delete_collection(&DeleteParams::default(), &marked).await?;
    eventually("the definitions are gone", DEADLINE, || async {
        let left = definitions.list(&marked).await?.items.len();
        ensure!(left == 0, "{left} are left");
        Ok(())
    })
    .await
}

/// Makes an object; returns a reference to it.
pub(super) async fn make(context: &Context, object: Value) -> Result<Value> {
    let text = serde_json::to_string(&object)?.replace("NAMESPACE", &context.namespace);
    let mut object: Value = serde_json::from_str(&text)?;
    let api = objects::api_for(&context.client(), &mut object, Some(&context.namespace)).await?;
    let made = api.create(&PostParams::default(), &serde_json::from_value(object.clone())?).await;
    let made = made.with_context(|| format!("{} {}", object["kind"], object["metadata"]["name"]))?;
    Ok(json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"], "name": made.name_any(), "uid": made.uid(),
    }))
}

/// Deletes an object, and with it what it owns.
pub(super) async fn delete(context: &Context, mut object: Value) -> Result<()> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let api = objects::api_for(&context.client(), &mut object, Some(&context.namespace)).await?;
    let foreground =
        DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..DeleteParams::default() };
    api.delete(&name, &foreground).await?;
    Ok(())
}

impl Workload {
    /// Makes its objects and its pods; `more` is merged into each pod.
    pub(super) async fn create(&self, context: &Context, more: &Value) -> Result<()> {
        let mut owner: Option<Value> = None;
        for object in &self.owners {
            let mut object = object.clone();
            if let Some(owner) = &owner {
                object["metadata"]["ownerReferences"] = json!([owner]);
            }
            owner = Some(make(context, object).await?);
        }
        for object in &self.others {
            make(context, object.clone()).await?;
        }
        for pod in &self.pods {
            self.pod(context, pod, owner.as_ref(), more).await?;
        }
        Ok(())
    }

    async fn pod(&self, context: &Context, pod: &PodOf, owner: Option<&Value>, more: &Value) -> Result<()> {
        let mut value = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": pod.name, "labels": pod.labels, "annotations": pod.annotations },
            "spec": {
                "schedulerName": context.scheduler().pod_name(),
                "terminationGracePeriodSeconds": 0,
                "containers": [{ "name": "main", "image": "none" }],
            },
        });
        if let Some(owner) = owner {
            value["metadata"]["ownerReferences"] = json!([owner]);
        }
        json_patch::merge(&mut value, more);
        let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
        let made = pods.create(&PostParams::default(), &serde_json::from_value(value)?).await;
        made.with_context(|| format!("pod of {}", self.name)).map(drop)
    }
}
