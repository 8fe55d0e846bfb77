//! The operator is down, and the API server asks in vain.

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::wire::PodCliqueSet;
use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::json;

use super::{asked, prepare, until_answered};
use crate::{
    objects,
    scenario::{Context, DEADLINE, eventually},
    scenarios::{
        api::{cel_messages, send_as},
        table::{self, Refused, Row},
    },
};

const SMALL: &str = r"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: small }
spec:
  replicas: 1
  template:
    cliques:
      - name: one
        spec: { roleName: one, replicas: 1, podSpec: { containers: [{ name: main, image: none }] } }
";

/// Sets are refused because nobody can judge them; nobody else notices, and what CEL can say is still said.
pub(super) async fn nobody_answers(context: &mut Context) -> Result<()> {
    prepare(context).await?;
    context.start_operator(asked()).await?;
    until_answered(context).await?;
    context.apply(SMALL).await?;
    context.operator()?.stop().await?;

    let sets: Api<PodCliqueSet> = Api::namespaced(context.client(), &context.namespace);
    let mut another: PodCliqueSet = sets.get("small").await?;
    another.metadata = serde_json::from_value(json!({ "name": "another" }))?;
    match sets.create(&PostParams::default(), &another).await {
        Err(kube::Error::Api(status)) if status.message.contains("failed calling webhook") => {}
        other => bail!("a set that nobody judged: {other:?}"),
    }

    // Unrelated kinds.
    let maps: Api<ConfigMap> = Api::namespaced(context.client(), &context.namespace);
    let map = serde_json::from_value(json!({ "metadata": { "name": "map" } }))?;
    maps.create(&PostParams::default(), &map).await.context("a ConfigMap")?;
    let deployments: Api<Deployment> = Api::namespaced(context.client(), &context.namespace);
    let labels = json!({ "app": "d" });
    let deployment = serde_json::from_value(json!({
        "metadata": { "name": "d" },
        "spec": { "selector": { "matchLabels": labels }, "template": {
            "metadata": { "labels": labels }, "spec": { "containers": [{ "name": "c", "image": "none" }] },
        } },
    }))?;
    deployments.create(&PostParams::default(), &deployment).await.context("a Deployment")?;
    deployments.delete("d", &DeleteParams::background()).await?;
    context.pod("pod", 0, json!({})).await.context("a pod")?;

    // A set can go.
    sets.delete("small", &DeleteParams::default()).await.context("deleting a set")?;

    // Our other kinds have no webhook: CEL judges them as ever.
    let rows = table::invalid();
    let by_cel = |row: &&Row| row.refused == Some(Refused::Cel) && row.old().is_none();
    let judged: Vec<&Row> = rows.iter().filter(by_cel).collect();
    let has_webhook = |row: &Row| {
        let kind = row.object()["kind"].clone();
        kind == "PodCliqueSet" || kind == "ClusterTopologyBinding"
    };
    let others: Vec<&&Row> = judged.iter().filter(|it| !has_webhook(it)).collect();
    ensure!(!others.is_empty(), "the table has no such row");
    for row in others {
        refused_by_cel(context, row).await?;
    }
    // And sets too, once somebody takes the webhooks away so that work can go on.
    crate::operator::account::remove_webhooks(&context.client()).await?;
    eventually("sets are taken again", DEADLINE, || async {
        let object = objects::parse(SMALL)?.remove(0);
        let row = Row::find(&rows, "minimum-above-replicas")?;
        let valid = send_as(context, row, grown(object)).await?;
        ensure!(valid.is_none(), "{valid:?}");
        Ok(())
    })
    .await?;
    for row in judged.iter().filter(|it| has_webhook(it)) {
        refused_by_cel(context, row).await?;
    }
    Ok(())
}

/// With what the defaulting webhook would have filled in.
fn grown(mut object: serde_json::Value) -> serde_json::Value {
    object["metadata"]["name"] = "grown".into();
    object["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 1.into();
    object
}

async fn refused_by_cel(context: &Context, row: &Row) -> Result<()> {
    let messages = cel_messages();
    let object = row.sent().unwrap_or_else(|| row.object());
    let answer = send_as(context, row, object).await.with_context(|| row.name.clone())?;
    let causes = answer.with_context(|| format!("{} is taken", row.name))?;
    let known = causes.iter().all(|cause| messages.iter().any(|it| cause.contains(it.as_str())));
    ensure!(known, "{} is not refused by CEL: {causes:?}", row.name);
    Ok(())
}
