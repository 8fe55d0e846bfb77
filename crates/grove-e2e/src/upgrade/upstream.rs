//! Rewrites what we made to what upstream Grove would have left: its hashes, its statuses, and none of our notes.

use std::fmt::Debug;

use anyhow::{Context as _, Result};
use futures::{StreamExt, TryStreamExt, stream};
use grove_api::{
    constants::{annotations, labels},
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::{apps::v1::ControllerRevision, core::v1::Pod};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    core::NamespaceResourceScope,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::fleet::NAMESPACE;

/// Hashes as upstream computes them: by the Go representation of the template, which nobody else can.
const TEMPLATE_HASH: &str = "7d5c94bf7f";
const GENERATION_HASH: &str = "66c9f7d8db";
/// Our note of which keys came from a template.
const MIRRORED: &str = "grove.io/mirrored-keys";

/// Rewrites everything. No operator runs meanwhile.
pub(super) async fn rewrite(client: &Client) -> Result<()> {
    let hash = json!({ (labels::POD_TEMPLATE_HASH): TEMPLATE_HASH });
    each::<Pod>(client, &json!({ "metadata": { "labels": hash } }), None).await?;
    let note = json!({ "labels": hash, "annotations": { MIRRORED: null } });
    let status = json!({
        "currentPodTemplateHash": TEMPLATE_HASH,
        "currentPodCliqueSetGenerationHash": GENERATION_HASH,
    });
    each::<PodClique>(client, &json!({ "metadata": note }), Some(&status)).await?;
    let status = json!({ "currentPodCliqueSetGenerationHash": GENERATION_HASH });
    each::<PodCliqueScalingGroup>(client, &json!({}), Some(&status)).await?;
    let notes =
        json!({ "metadata": { "annotations": { MIRRORED: null, (annotations::SCHEDULER_FORM): null } } });
    let initialized = json!({
        "type": "Initialized", "status": "True", "reason": "PodGangPodsCreated", "message": "PodGang is fully initialized",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let status = json!({ "phase": "Pending", "conditions": [initialized] });
    each::<PodGang>(client, &notes, Some(&status)).await?;
    // Upstream's set has no conditions and no gangs, and it keeps no history.
    let status =
        json!({ "currentGenerationHash": GENERATION_HASH, "conditions": null, "podGangStatuses": null });
    each::<PodCliqueSet>(client, &json!({}), Some(&status)).await?;
    let revisions: Api<ControllerRevision> = Api::namespaced(client.clone(), NAMESPACE);
    revisions.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    Ok(())
}

/// Changes every object of a kind, and its status.
async fn each<K>(client: &Client, change: &Value, status: Option<&Value>) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + Debug + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), NAMESPACE);
    let params = PatchParams::default();
    let names: Vec<String> =
        api.list(&ListParams::default()).await?.iter().map(ResourceExt::name_any).collect();
    let status = status.map(|it| json!({ "status": it }));
    let one = |name: String| {
        let (api, params, status) = (&api, &params, &status);
        async move {
            if change.as_object().is_some_and(|it| !it.is_empty()) {
                api.patch(&name, params, &Patch::Merge(change)).await?;
            }
            if let Some(status) = status {
                api.patch_status(&name, params, &Patch::Merge(status)).await?;
            }
            Ok::<(), kube::Error>(())
        }
    };
    let all = stream::iter(names).map(one).buffer_unordered(16).try_collect::<Vec<()>>().await;
    all.with_context(|| format!("rewrite {}", K::kind(&())))?;
    Ok(())
}
