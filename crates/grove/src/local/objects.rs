//! Applies manifests to a cluster.

use std::{io, time::Duration};

use grove_api::manifest;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams},
    core::GroupVersionKind,
    discovery::{Scope, pinned_kind},
    runtime::wait::{await_condition, conditions},
};
use serde_json::Value;
use tokio::time::Instant;

const MANAGER: &str = "grove-up";
/// What the API server says where a webhook does not answer.
const WEBHOOK_FAILURE: &str = "failed calling webhook";
/// Before a webhook is asked again.
const PAUSE: Duration = Duration::from_millis(20);
/// CRDs and webhooks are served within milliseconds; this only ends the wait if something is broken.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Creates CRDs, and waits until all are served.
pub(super) async fn install_crds(client: &Client, definitions: &[Value]) -> io::Result<()> {
    for definition in definitions {
        apply(client, definition, "").await?;
    }
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for definition in definitions {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let established = await_condition(api.clone(), name, conditions::is_crd_established());
        tokio::time::timeout(TIMEOUT, established)
            .await
            .map_err(|_| io::Error::other(format!("CRD {name} is not served after {TIMEOUT:?}")))?
            .map_err(io::Error::other)?;
    }
    Ok(())
}

/// Applies all objects of a YAML text, in order; those without a namespace go to `namespace`.
///
/// The operator tells the API server of its webhooks' certificate a moment after it is ready, so a webhook that fails is asked again.
pub(crate) async fn apply_text(client: &Client, text: &str, namespace: &str) -> io::Result<()> {
    let documents = manifest::parse(text).map_err(|it| io::Error::other(it.message))?;
    let end = Instant::now() + TIMEOUT;
    for document in documents {
        while let Err(error) = apply(client, &document.value, namespace).await {
            if !error.to_string().contains(WEBHOOK_FAILURE) || Instant::now() > end {
                return Err(error);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

/// Applies one object on the server's side.
pub(super) async fn apply(client: &Client, object: &Value, namespace: &str) -> io::Result<()> {
    let object: DynamicObject = serde_json::from_value(object.clone()).map_err(io::Error::other)?;
    let types = object.types.clone().unwrap_or_default();
    let name = object.metadata.name.clone().unwrap_or_default();
    let failed = |it: kube::Error| {
        let why = match it {
            kube::Error::Api(status) => status.message.clone(),
            other => crate::cluster::causes(&other),
        };
        io::Error::other(format!("{} {name}: {why}", types.kind))
    };
    let kind = GroupVersionKind::try_from(&types).map_err(io::Error::other)?;
    let (resource, capabilities) = pinned_kind(client, &kind).await.map_err(failed)?;
    let namespace = object.metadata.namespace.as_deref().unwrap_or(namespace);
    let api: Api<DynamicObject> = match capabilities.scope {
        Scope::Namespaced => Api::namespaced_with(client.clone(), namespace, &resource),
        Scope::Cluster => Api::all_with(client.clone(), &resource),
    };
    let parameters = PatchParams::apply(MANAGER).force();
    api.patch(&name, &parameters, &Patch::Apply(&object)).await.map(drop).map_err(failed)
}
