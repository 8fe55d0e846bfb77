//! The admission policies of the accounts, as a real API server reads them.

use anyhow::{Context as _, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::users::as_user;
use crate::{
    grouper, objects,
    operator::{
        account::{self, USER},
        program,
    },
    scenario::{Context, DEADLINE, eventually},
    scenarios::operator::{
        stage::{self, WEB, settled},
        wanted::Wanted,
    },
};

const GATE: &str = "grove.io/podgang-pending-creation";
/// Whose pods the pod grouper marks here. Nothing schedules them.
const SCHEDULER: &str = "kai-scheduler";

/// The operator makes a set, scales and deletes it under its policy; with its token, nothing else can be done to pods. The same of
/// the pod grouper.
pub(super) async fn pod_changes(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let admin = context.client();
    let operator = as_user(context, USER).await?;
    let ours: Api<Pod> = Api::namespaced(operator.clone(), &context.namespace);
    until_policy_holds(&ours).await?;

    let mut set = stage::set(WEB)?;
    set.metadata.namespace = Some(context.namespace.clone());
    let sets = Api::namespaced(admin.clone(), &context.namespace);
    sets.create(&PostParams::default(), &set).await?;
    settled(context, &Wanted::of(&set)).await?;

    of_operator(context, &operator).await?;
    of_grouper(context).await
}

/// The API server reads policies as everybody does, by watching.
async fn until_policy_holds(pods: &Api<Pod>) -> Result<()> {
    eventually("the policy holds", DEADLINE, || async {
        refused(pods.create(&dry(), &decoded(&pod("probe"))?).await, "labelled as its own")
    })
    .await
}

async fn of_operator(context: &Context, client: &Client) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), &context.namespace);
    let theirs: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let mut good = pod("good");
    good["metadata"]["labels"] = json!({ "app.kubernetes.io/managed-by": "grove-operator" });
    good["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "gone", "uid": "gone", "controller": true,
    }]);
    good["spec"]["schedulingGates"] = json!([{ "name": GATE }]);
    pods.create(&dry(), &decoded(&good)?).await.context("a pod as the operator makes it")?;
    let mut bad = good.clone();
    bad["metadata"]["ownerReferences"] = Value::Null;
    refused(pods.create(&dry(), &decoded(&bad)?).await, "that a PodClique owns")?;
    let mut bad = good.clone();
    bad["spec"]["schedulingGates"] = Value::Null;
    refused(pods.create(&dry(), &decoded(&bad)?).await, "that its gate holds back")?;

    // One with our label and another gate, so that the operator does not touch it.
    let mut own = good;
    own["metadata"]["name"] = "own".into();
    own["metadata"]["ownerReferences"] = Value::Null;
    own["spec"]["schedulingGates"] = json!([{ "name": GATE }, { "name": "example.com/mine" }]);
    theirs.create(&PostParams::default(), &decoded(&own)?).await?;
    theirs.create(&PostParams::default(), &decoded(&pod("foreign"))?).await?;
    let patch = async |name: &str, patch: &Value| pods.patch(name, &dry_patch(), &Patch::Merge(patch)).await;
    let told = json!({ "metadata": { "annotations": { "grove.io/parents-ready": "true" } } });
    for allowed in [
        told.clone(),
        json!({ "metadata": { "annotations": { "pod-group-name": "pg-a-0-uid" } } }),
        json!({ "spec": { "schedulingGates": [{ "name": "example.com/mine" }] } }),
        json!({ "spec": { "schedulingGates": [{ "name": "example.com/mine" }], "nodeSelector": { "zone": "a" } } }),
    ] {
        patch("own", &allowed).await.with_context(|| allowed.to_string())?;
    }
    let image = other_image(&theirs, "own").await?;
    for (change, words) in [
        (json!({ "spec": { "containers": image } }), "changes nothing in the spec"),
        (json!({ "spec": { "activeDeadlineSeconds": 1 } }), "changes nothing in the spec"),
        (json!({ "spec": { "schedulingGates": [{ "name": GATE }] } }), "removes its own gate"),
        (json!({ "spec": { "nodeSelector": { "a": "1", "b": "2" } } }), "adds one label"),
        (json!({ "metadata": { "labels": { "app": "x" } } }), "changes nothing in the metadata"),
        (json!({ "metadata": { "finalizers": ["example.com/x"] } }), "changes nothing in the metadata"),
        (json!({ "metadata": { "annotations": { "user": "x" } } }), "changes no annotation"),
    ] {
        refused(patch("own", &change).await, words).with_context(|| change.to_string())?;
    }
    refused(patch("foreign", &told).await, "changes only its own pods")?;
    let dry = DeleteParams { dry_run: true, ..DeleteParams::default() };
    pods.delete("own", &dry).await.context("delete one of its own")?;
    refused(pods.delete("foreign", &dry).await, "deletes only its own pods")
}

async fn of_grouper(context: &Context) -> Result<()> {
    let arguments = ["--pod-grouper", "--scheduler-name", SCHEDULER];
    let all = objects::parse(&account::manifests(&program()?, &arguments).await?)?;
    for object in all.iter().filter(|it| it["kind"] != "Deployment") {
        objects::apply(&context.client(), object.clone(), None).await?;
    }
    let client = as_user(context, grouper::USER).await?;
    let pods: Api<Pod> = Api::namespaced(client, &context.namespace);
    let mut marked = pod("marked");
    marked["spec"]["schedulerName"] = SCHEDULER.into();
    let theirs: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    theirs.create(&PostParams::default(), &decoded(&marked)?).await?;
    let patch = async |name: &str, patch: &Value| pods.patch(name, &dry_patch(), &Patch::Merge(patch)).await;
    let mark = json!({ "metadata": { "annotations": { "pod-group-name": "g" }, "labels": { "kai.scheduler/subgroup-name": "a" } } });
    eventually("the policy of the pod grouper holds", DEADLINE, || async {
        refused(patch("foreign", &mark).await, "pods of the schedulers that it works for")
    })
    .await?;
    patch("marked", &mark).await.context("mark a pod")?;
    let image = other_image(&theirs, "marked").await?;
    for (change, words) in [
        (json!({ "spec": { "containers": image } }), "changes nothing in the spec"),
        (json!({ "metadata": { "labels": { "app": "x" } } }), "changes no labels"),
        (json!({ "metadata": { "annotations": { "user": "x" } } }), "changes no annotations"),
        (json!({ "metadata": { "finalizers": ["example.com/x"] } }), "but labels and annotations"),
    ] {
        refused(patch("marked", &change).await, words).with_context(|| change.to_string())?;
    }
    Ok(())
}

/// The containers of a pod, which the API server has completed, with another image.
async fn other_image(pods: &Api<Pod>, name: &str) -> Result<Value> {
    let spec = pods.get(name).await?.spec.context("no spec")?;
    let mut containers = serde_json::to_value(spec.containers)?;
    containers[0]["image"] = "registry.example.com/evil:1.0".into();
    Ok(containers)
}

/// One that a user made, and that is never scheduled.
fn pod(name: &str) -> Value {
    json!({
        "metadata": { "name": name },
        "spec": {
            "schedulingGates": [{ "name": "example.com/mine" }],
            "containers": [{ "name": "main", "image": "registry.example.com/app:1.0" }],
        },
    })
}

fn decoded(pod: &Value) -> Result<Pod> {
    Ok(serde_json::from_value(pod.clone())?)
}

fn dry() -> PostParams {
    PostParams { dry_run: true, ..PostParams::default() }
}

fn dry_patch() -> PatchParams {
    PatchParams { dry_run: true, ..PatchParams::default() }
}

/// By the policy, with these words, and by nothing else.
fn refused<T: std::fmt::Debug>(answer: kube::Result<T>, words: &str) -> Result<()> {
    match answer {
        Err(kube::Error::Api(status))
            if status.code == 403
                && status.message.contains("ValidatingAdmissionPolicy")
                && status.message.contains(words) =>
        {
            Ok(())
        }
        other => bail!("expected a refusal by the policy ({words}): {other:?}"),
    }
}
