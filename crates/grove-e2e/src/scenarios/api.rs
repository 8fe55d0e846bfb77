//! Our CRDs on a real API server: they install, take what is right and refuse what is wrong.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{
    defaulting::default_pod_clique_set,
    manifest::Document,
    schema::{CRDS, Crd},
    wire::PodCliqueSet,
};
use http::Request;
use kube::{
    Api,
    api::{DynamicObject, PostParams},
    core::Status,
};
use serde_json::{Value, json};

use super::table::{self, Refused, Row};
use crate::{
    api_suite,
    cluster::{Cluster, Options, Simulated, repository},
    objects,
    scenario::{Context, DEADLINE},
};

/// Installs the CRDs; all of them become Established.
pub(super) async fn crds_install(context: &mut Context) -> Result<()> {
    objects::install_crds(&context.client()).await?;
    let served = context.client().list_api_group_resources("grove.io/v1alpha1").await?;
    for crd in CRDS.iter().filter(|it| it.group == "grove.io") {
        ensure!(served.resources.iter().any(|it| it.name == crd.plural), "{} is not served", crd.plural);
    }
    Ok(())
}

/// The API suite on the real server and on the embedded one, which answer alike.
pub(super) async fn suite(context: &mut Context) -> Result<()> {
    let options = Options {
        folder: context.cluster.options.folder.join("sandbox"),
        simulated: Simulated::All,
        ..context.cluster.options.clone()
    };
    let sandbox = Context::new(Cluster::start(options, context.cluster.programs.clone()).await?).await?;
    let namespace = &context.namespace;
    objects::apply(
        &sandbox.client(),
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } }),
        None,
    )
    .await?;
    let result = api_suite::compare(context.client(), sandbox.client(), namespace).await;
    sandbox.cluster.stop().await?;
    result
}

/// Every sample is accepted and reads back with the same meaning.
pub(super) async fn samples_round_trip(context: &mut Context) -> Result<()> {
    objects::install_crds(&context.client()).await?;
    round_trip(context, &repository().join("samples")).await
}

/// Likewise upstream's samples, where they are at hand.
pub(super) async fn corpus_samples_round_trip(context: &mut Context) -> Result<()> {
    let corpus = std::env::var("CORPUS").context("CORPUS is not set")?;
    objects::install_crds(&context.client()).await?;
    round_trip(context, &Path::new(&corpus).join("grove/samples")).await
}

async fn round_trip(context: &Context, folder: &Path) -> Result<()> {
    let mut count = 0;
    for file in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let file = file?.path();
        let text = std::fs::read_to_string(&file)?;
        for document in grove_api::manifest::parse(&text)?.into_iter().flat_map(Document::flatten) {
            if document.value["kind"] != "PodCliqueSet" {
                continue;
            }
            // What the defaulting webhook does, which does not run here.
            let mut set: PodCliqueSet = serde_json::from_value(document.value)?;
            set.metadata.namespace = Some(context.namespace.clone());
            default_pod_clique_set(&mut set, None);
            let sets: Api<PodCliqueSet> = Api::namespaced(context.client(), &context.namespace);
            let created = sets
                .create(&PostParams::default(), &set)
                .await
                .with_context(|| format!("{} is refused", file.display()))?;
            let read = sets.get(created.metadata.name.as_deref().unwrap_or_default()).await?;
            ensure!(read.spec == set.spec, "{}: reads back differently: {:?}", file.display(), read.spec);
            count += 1;
        }
    }
    ensure!(count > 0, "{} has no PodCliqueSet", folder.display());
    Ok(())
}

/// Every row of the tables of invalid and allowed manifests is sent as a dry run, and the server refuses what the
/// table says that schema or CEL refuses, and nothing else.
pub(super) async fn invalid_table(context: &mut Context) -> Result<()> {
    let rows: Vec<Row> = table::invalid().into_iter().chain(table::allowed()).collect();
    ensure!(rows.len() > 100, "only {} rows", rows.len());

    store_old_objects(context, &rows).await?;

    let messages = cel_messages();
    let mut wrong = Vec::new();
    for row in &rows {
        let answer = send(context, row).await.with_context(|| row.name.clone())?;
        let by = match &answer {
            None => Refused::Admission,
            Some(causes)
                if causes.iter().all(|cause| messages.iter().any(|it| cause.contains(it.as_str()))) =>
            {
                Refused::Cel
            }
            Some(_) => Refused::Schema,
        };
        if by != row.refused.unwrap_or(Refused::Admission) {
            wrong.push(format!(
                "{}: table says {:?}, the server says {by:?}: {answer:?}",
                row.name, row.refused
            ));
        }
    }
    ensure!(wrong.is_empty(), "{} of {} rows differ:\n    {}", wrong.len(), rows.len(), wrong.join("\n    "));
    Ok(())
}

/// Stores the old objects of rows that are updates. Some are of a kind that may no longer be created: they are stored before
/// that rule is.
pub(super) async fn store_old_objects(context: &Context, rows: &[Row]) -> Result<()> {
    let client = context.client();
    for crd in &CRDS {
        objects::apply(&client, without_rules_for_new_objects(crd.to_value()), None).await?;
    }
    objects::until_crds_established(&client).await?;
    let probe = || Row::find(rows, "topology-pack-domain-on-set");
    until_refused(context, probe(), false).await?;
    for row in rows {
        if let Some(mut old) = row.stored() {
            let api = api(context, row, &mut old).await?;
            api.create(&PostParams::default(), &serde_json::from_value(old)?)
                .await
                .with_context(|| format!("{}: the old object is refused", row.name))?;
        }
    }
    objects::install_crds(&client).await?;
    until_refused(context, probe(), true).await
}

/// The messages of all our CEL rules.
pub(super) fn cel_messages() -> Vec<String> {
    fn collect(schema: &Value, out: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                let rules =
                    fields.get("x-kubernetes-validations").and_then(Value::as_array).into_iter().flatten();
                out.extend(rules.filter_map(|it| it["message"].as_str()).map(str::to_owned));
                fields.values().for_each(|it| collect(it, out));
            }
            Value::Array(items) => items.iter().for_each(|it| collect(it, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    CRDS.iter().map(Crd::schema).for_each(|it| collect(it, &mut out));
    out
}

fn without_rules_for_new_objects(mut crd: Value) -> Value {
    let rules = crd.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/x-kubernetes-validations");
    if let Some(Value::Array(rules)) = rules {
        rules.retain(|rule| rule.get("optionalOldSelf").is_none());
    }
    crd
}

/// Every row has a namespace of its own, so that equal names do not meet.
async fn api(context: &Context, row: &Row, object: &mut Value) -> Result<Api<DynamicObject>> {
    let namespace = format!("{}-{}", context.namespace, row.name);
    let namespace = &namespace[..namespace.len().min(63)];
    if row.stored().is_some() {
        objects::apply(
            &context.client(),
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } }),
            None,
        )
        .await?;
        object["metadata"]["namespace"] = namespace.into();
        return objects::api_for(&context.client(), object, None).await;
    }
    object["metadata"]["namespace"] = context.namespace.clone().into();
    objects::api_for(&context.client(), object, None).await
}

/// Sends a row as a dry run: `None` if it is taken, the server's reasons if not.
async fn send(context: &Context, row: &Row) -> Result<Option<Vec<String>>> {
    send_as(context, row, row.sent().unwrap_or_else(|| row.object())).await
}

/// Likewise, with this object.
pub(super) async fn send_as(context: &Context, row: &Row, object: Value) -> Result<Option<Vec<String>>> {
    Ok(refusal(context, row, object).await?.map(|status| {
        let causes: Vec<String> =
            status.details.iter().flat_map(|it| &it.causes).map(|it| it.message.clone()).collect();
        if causes.is_empty() { vec![status.message.clone()] } else { causes }
    }))
}

/// Likewise, with all that the server says.
pub(super) async fn refusal(context: &Context, row: &Row, mut object: Value) -> Result<Option<Status>> {
    let update = row.stored().is_some();
    let Ok(api) = api(context, row, &mut object).await else {
        return Ok(Some(Status::failure("the server has no such kind", "NotFound")));
    };
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let mut path = api.resource_url().to_owned();
    if update {
        let live = api.get(&name).await?;
        object["metadata"]["resourceVersion"] = live.metadata.resource_version.unwrap_or_default().into();
        path = format!("{path}/{name}");
    }
    let request = Request::builder()
        .method(if update { "PUT" } else { "POST" })
        .uri(format!("{path}?dryRun=All&fieldValidation=Strict"))
        .header("Content-Type", "application/json")
        .body(serde_json::to_vec(&object)?)?;
    match context.client().request::<Value>(request).await {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) if (400..500).contains(&status.code) => Ok(Some(*status)),
        Err(error) => Err(error.into()),
    }
}

/// Changes of a CRD take a moment: asks until the server treats `row` as wanted.
async fn until_refused(context: &Context, row: Result<&Row>, wanted: bool) -> Result<()> {
    let row = row?;
    let asking = async {
        while send(context, row).await?.is_some() != wanted {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    };
    match tokio::time::timeout(DEADLINE, asking).await {
        Ok(result) => result,
        Err(_) => bail!("the new rules of the CRD have no effect after {DEADLINE:?}"),
    }
}

impl Row {
    pub(super) fn find<'a>(rows: &'a [Self], name: &str) -> Result<&'a Self> {
        rows.iter().find(|it| it.name == name).with_context(|| format!("the table has no row {name:?}"))
    }
}
