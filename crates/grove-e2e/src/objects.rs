//! Objects of any kind, as YAML text or JSON.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use grove_api::manifest;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, ResourceExt as _,
    api::{DynamicObject, ListParams, Patch, PatchParams},
    core::GroupVersionKind,
    discovery::{self, Scope},
};
use serde_json::Value;

use crate::{
    cluster::repository,
    scenario::{DEADLINE, eventually},
};

/// Who we are to server-side apply.
const MANAGER: &str = "grove-e2e";

/// All objects of a YAML text.
pub fn parse(text: &str) -> Result<Vec<Value>> {
    Ok(manifest::parse(text)?.into_iter().map(|it| it.value).collect())
}

/// Applies all objects of a YAML text; those without a namespace go to `namespace`.
pub async fn apply_text(client: &Client, text: &str, namespace: Option<&str>) -> Result<()> {
    for value in parse(text)? {
        apply(client, value, namespace).await?;
    }
    Ok(())
}

/// Applies one object on the server side.
pub async fn apply(client: &Client, mut value: Value, namespace: Option<&str>) -> Result<DynamicObject> {
    let name = value["metadata"]["name"].as_str().context("an object without a name")?.to_owned();
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    let api = api_for(client, &mut value, namespace).await?;
    let object: DynamicObject = serde_json::from_value(value)?;
    let params = PatchParams::apply(MANAGER).force();
    api.patch(&name, &params, &Patch::Apply(&object)).await.with_context(|| format!("apply {kind} {name}"))
}

/// The API of an object's kind, and the object with its namespace filled in.
pub async fn api_for(
    client: &Client,
    value: &mut Value,
    namespace: Option<&str>,
) -> Result<Api<DynamicObject>> {
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion").to_owned(), text("kind").to_owned());
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    let gvk = GroupVersionKind::gvk(group, version, &kind);
    let (resource, capabilities) =
        discovery::pinned_kind(client, &gvk).await.with_context(|| format!("{api_version} {kind}"))?;
    if capabilities.scope == Scope::Cluster {
        return Ok(Api::all_with(client.clone(), &resource));
    }
    let own = value["metadata"]["namespace"].as_str().map(str::to_owned);
    let namespace = own.or_else(|| namespace.map(str::to_owned)).unwrap_or_else(|| "default".to_owned());
    value["metadata"]["namespace"] = namespace.clone().into();
    Ok(Api::namespaced_with(client.clone(), &namespace, &resource))
}

/// Installs our CRDs from `crds/`, as a user does, and waits until they are served.
pub async fn install_crds(client: &Client) -> Result<()> {
    install_crds_from(client, &repository().join("crds")).await
}

/// Likewise from a folder.
pub(crate) async fn install_crds_from(client: &Client, folder: &Path) -> Result<()> {
    for file in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        apply_text(client, &std::fs::read_to_string(file?.path())?, None).await?;
    }
    until_crds_established(client).await
}

/// Waits until the server serves every CRD it has, and says so: discovery follows a little later.
pub async fn until_crds_established(client: &Client) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    eventually("every CRD is served", DEADLINE, || async {
        for crd in crds.list(&ListParams::default()).await?.items {
            let conditions = crd.status.iter().flat_map(|it| &it.conditions).flatten();
            let is_established =
                conditions.into_iter().any(|it| it.type_ == "Established" && it.status == "True");
            ensure!(is_established, "{} is not Established", crd.name_any());
            for version in crd.spec.versions.iter().filter(|it| it.served) {
                let (group, kind) = (&crd.spec.group, &crd.spec.names.kind);
                discovery::pinned_kind(client, &GroupVersionKind::gvk(group, &version.name, kind)).await?;
            }
        }
        Ok(())
    })
    .await
}
