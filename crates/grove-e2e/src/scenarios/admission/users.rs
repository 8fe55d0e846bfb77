//! What a user sees: defaults, warnings, words; and that nothing old is in the way.

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{defaulting::default_pod_clique_set, wire::PodCliqueSet};
use http::Request;
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    client::Body,
};
use serde_json::{Value, json};

use super::{asked, keep_from_leading, let_lead, prepare, until_answered};
use crate::{objects, scenario::Context};

const WEB: &str = r"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: web }
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec: { roleName: front, replicas: 3, podSpec: { containers: [{ name: main, image: none }] } }
";

/// A scheduler that is not there: only admission knows.
const GONE: &str = "gone-scheduler";

fn set(name: &str, scheduler: Option<&str>) -> Result<PodCliqueSet> {
    let mut value = objects::parse(WEB)?.remove(0);
    value["metadata"]["name"] = name.into();
    let clique = &mut value["spec"]["template"]["cliques"][0]["spec"];
    clique["podSpec"]["schedulerName"] = scheduler.map_or(Value::Null, Value::from);
    Ok(serde_json::from_value(value)?)
}

/// One walk through what admission does for users.
pub(super) async fn what_they_see(context: &mut Context) -> Result<()> {
    prepare(context).await?;
    // Before there was admission: a set that it would refuse, and one that is held by a finalizer.
    let sets: Api<PodCliqueSet> = Api::namespaced(context.client(), &context.namespace);
    let mut old = set("old", Some(GONE))?;
    default_pod_clique_set(&mut old, None);
    old.metadata.namespace = Some(context.namespace.clone());
    sets.create(&PostParams::default(), &old).await?;
    old.metadata.name = Some("leaving".to_owned());
    old.metadata.finalizers = Some(vec!["e2e.grove.io/hold".to_owned()]);
    sets.create(&PostParams::default(), &old).await?;
    keep_from_leading(context).await?;
    let result = walk(context, &sets).await;
    let_lead(context).await?;
    result
}

async fn walk(context: &mut Context, sets: &Api<PodCliqueSet>) -> Result<()> {
    context.start_operator(asked()).await?;

    until_answered(context).await?;
    let made = sets.create(&PostParams::default(), &set("web", None)?).await?;
    let clique = &made.spec.template.cliques[0].spec;
    ensure!(clique.min_available == Some(3), "minAvailable is not filled in: {clique:?}");
    ensure!(made.spec.template.termination_delay.is_some(), "terminationDelay is not filled in");

    denied(sets.create(&PostParams::default(), &set("wrong", Some(GONE))?).await)?;
    old_faults_may_stay(sets).await?;
    warnings_are_seen(context).await
}

fn denied<T: std::fmt::Debug>(answer: kube::Result<T>) -> Result<()> {
    match answer {
        Err(kube::Error::Api(status)) => {
            let start = "admission webhook \"pcs.validating.webhooks.grove.io\" denied the request: \
                         spec.template.cliques[0].spec.podSpec.";
            ensure!(status.message.starts_with(start) && status.code == 403, "{}", status.message);
            let causes = status.details.as_ref().map(|it| it.causes.len());
            ensure!(causes == Some(1), "no machine can read it: {:?}", status.details);
            Ok(())
        }
        other => bail!("not refused: {other:?}"),
    }
}

async fn old_faults_may_stay(sets: &Api<PodCliqueSet>) -> Result<()> {
    let patched = async |name: &str, patch: Value| {
        sets.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await
    };
    let more = json!({ "metadata": { "annotations": { "edited": "yes" } }, "spec": { "replicas": 2 } });
    patched("old", more).await.context("an old fault is in the way of another change")?;

    // A fault that only admission knows, in a set that stays and in one that goes.
    let env = json!([{ "name": "A=B", "value": "1" }]);
    let mut value = serde_json::to_value(sets.get("old").await?)?;
    value["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["env"] = env;
    let cliques = json!({ "spec": { "template": { "cliques": value["spec"]["template"]["cliques"] } } });
    denied(patched("old", cliques.clone()).await)?;
    sets.delete("leaving", &DeleteParams::default()).await?;
    patched("leaving", cliques).await.context("a set that is being deleted")?;
    patched("leaving", json!({ "metadata": { "finalizers": null } })).await.context("its finalizer")?;
    Ok(())
}

async fn warnings_are_seen(context: &Context) -> Result<()> {
    let mut value = serde_json::to_value(set("warned", None)?)?;
    value["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "racks", "pack": { "required": "rack", "preferred": "zone" } });
    let request = Request::post(format!(
        "/apis/grove.io/v1alpha1/namespaces/{}/podcliquesets?dryRun=All",
        context.namespace
    ))
    .header("Content-Type", "application/json")
    .body(Body::from(serde_json::to_vec(&value)?))?;
    let answer = context.client().send(request).await?;
    let warnings: Vec<String> = answer
        .headers()
        .get_all("Warning")
        .iter()
        .map(|it| String::from_utf8_lossy(it.as_bytes()).into())
        .collect();
    ensure!(answer.status() == 201, "it is refused: {}", answer.status());
    let told = warnings.iter().any(|it| it.contains("pack.preferred: has no effect"));
    ensure!(told, "no warning: {warnings:?}");
    Ok(())
}
