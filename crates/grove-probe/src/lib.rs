//! Finds out for a backend what the cluster has.

use std::time::Duration;

use grove_runtime::patiently;
use grove_scheduler::{Probe, Probed};
use k8s_openapi::{
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{
    Api, Client,
    api::{ListParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionResource},
};
use serde_json::{Value, json};

/// Objects that are asked for at a time.
const PAGE: u32 = 500;
/// Of a kind that has more, nothing is known: half of the truth would be a wrong answer.
const MOST_OBJECTS: usize = 20_000;

/// How long each question is asked again where nobody answers: all answers have to be had together.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers the probes of a backend. An answer that cannot be had fails all: half of the truth would be a wrong form.
pub async fn probe(client: &Client, namespace: &str, questions: Vec<Probe>) -> kube::Result<Probed> {
    let mut probed = Probed::default();
    for question in questions {
        probed = match question {
            Probe::Served(resource) => {
                let served = is_served(client, &api_resource(&resource)).await?;
                probed.with_served(&resource, served)
            }
            Probe::Definition(name) => match definition(client, &name).await? {
                Some(definition) => probed.with_definition(&name, definition),
                None => probed,
            },
            Probe::Objects(resource) => match objects(client, &resource).await? {
                Some(names) => probed.with_objects(&resource, names),
                None => probed,
            },
            Probe::DryRun { name, resource, object } => {
                let outcome = dry_run(client, namespace, &resource, object).await?;
                probed.with_dry_run(name, outcome)
            }
        };
    }
    Ok(probed)
}

/// Whether the API server serves a resource.
pub async fn is_served(client: &Client, resource: &ApiResource) -> kube::Result<bool> {
    match patiently(PATIENCE, || client.list_api_group_resources(&resource.api_version)).await {
        Ok(list) => Ok(list.resources.iter().any(|it| it.name == resource.plural)),
        Err(error) if is_not_found(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

async fn definition(client: &Client, name: &str) -> kube::Result<Option<Value>> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = patiently(PATIENCE, || definitions.get_opt(name)).await?.filter(is_established);
    // Only what says something: versions and times would look like news.
    let spec = found.map(|it| serde_json::to_value(it.spec).map_err(kube::Error::SerdeError)).transpose()?;
    Ok(spec.map(|spec| json!({ "spec": spec })))
}

/// One that was just created is not served yet, and one that is being deleted not for long.
fn is_established(definition: &CustomResourceDefinition) -> bool {
    let conditions = definition.status.as_ref().and_then(|it| it.conditions.as_ref());
    definition.metadata.deletion_timestamp.is_none()
        && conditions.into_iter().flatten().any(|it| it.type_ == "Established" && it.status == "True")
}

/// All objects, in pages. `None` where they are not served, or not ours to read.
async fn objects(client: &Client, resource: &GroupVersionResource) -> kube::Result<Option<Vec<Value>>> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &api_resource(resource));
    let (mut values, mut page) = (Vec::new(), ListParams::default().limit(PAGE));
    loop {
        let list = match patiently(PATIENCE, || api.list(&page)).await {
            Ok(list) => list,
            Err(error) if is_not_found(&error) || is_forbidden(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        for mut it in list.items {
            it.metadata =
                ObjectMeta { name: it.metadata.name, labels: it.metadata.labels, ..ObjectMeta::default() };
            let mut value = serde_json::to_value(it).map_err(kube::Error::SerdeError)?;
            if let Some(fields) = value.as_object_mut() {
                fields.remove("status");
            }
            values.push(value);
        }
        match list.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(next) if values.len() < MOST_OBJECTS => page = page.continue_token(&next),
            Some(_) => return Ok(None),
            None => return Ok(Some(values)),
        }
    }
}

/// What the server would make of the object, or its refusal.
async fn dry_run(
    client: &Client,
    namespace: &str,
    resource: &GroupVersionResource,
    object: Value,
) -> kube::Result<Result<Value, String>> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &api_resource(resource));
    let object: DynamicObject = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    match patiently(PATIENCE, || api.create(&dry, &object)).await {
        // Each dry run has a UID and a time of its own.
        Ok(made) => Ok(Ok(json!({ "spec": made.data["spec"] }))),
        // Only these are about the object; others are about us, or about the place where it was tried.
        Err(kube::Error::Api(status)) if matches!(status.code, 400 | 404 | 422) => {
            Ok(Err(status.message.clone()))
        }
        Err(error) => Err(error),
    }
}

/// Only the path matters to these requests.
fn api_resource(resource: &GroupVersionResource) -> ApiResource {
    ApiResource {
        group: resource.group.clone(),
        version: resource.version.clone(),
        api_version: format!("{}/{}", resource.group, resource.version),
        kind: String::new(),
        plural: resource.resource.clone(),
    }
}

fn is_forbidden(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
