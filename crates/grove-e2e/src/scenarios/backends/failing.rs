//! A backend whose objects are refused: the pods keep their gates, the user is told, and it ends when its cause does.

use anyhow::{Result, bail, ensure};
use grove_api::constants::{
    conditions::pod_gang::{BACKEND_FAILED, SCHEDULED},
    events::backend,
};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::{Value, json};

use super::stage::{self, Role};
use crate::{
    cluster::Scheduler,
    nodes::Hall,
    objects,
    scenario::{Context, DEADLINE, PodState, eventually},
};

const NAME: &str = "e2e-no-groups";
/// What the API server says.
const WORDS: &str = "groups called held are not wanted here";

pub(super) async fn keeps_gates(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(1).gpus(8)).await?;
    stage::start(context, stage::options(context)).await?;
    refuse(context).await?;
    let result = held(context).await;
    let allowed = allow(context).await;
    result?;
    allowed?;
    stage::ready(context, "held-", 4).await?;
    stage::gang_says(context, "held-0", SCHEDULED, |it| it.status == "True").await?;
    Ok(())
}

async fn held(context: &Context) -> Result<()> {
    let set = stage::set("held", &[Role::new("a", 2, 2), Role::new("b", 2, 2)]);
    context.apply(&set.to_string()).await?;
    let said = stage::gang_says(context, "held-0", SCHEDULED, |it| it.reason == BACKEND_FAILED).await?;
    ensure!(said.message.contains(WORDS), "not the server's words: {}", said.message);
    stage::told_by_event(context, &context.namespace, "held-0", backend::OPERATION_FAILED).await?;
    context.expect("all pods are there", |pods| gated(pods).len() == 4).await?;
    // Another set is not affected; when it runs, the operator has had time for this one too.
    context.apply(&stage::set("other", &[Role::new("a", 2, 2)]).to_string()).await?;
    stage::ready(context, "other-", 2).await?;
    let pods = context.log.now(&context.namespace);
    ensure!(gated(&pods).len() == 4, "pods were let go: {pods:?}");
    Ok(())
}

fn gated(pods: &[PodState]) -> Vec<&PodState> {
    pods.iter().filter(|it| it.name.starts_with("held-") && !it.gates.is_empty()).collect()
}

/// The API server refuses the scheduler's groups whose names have "held" in them.
async fn refuse(context: &Context) -> Result<()> {
    let (group, version) = match context.scheduler() {
        Scheduler::Kube => ("scheduling.k8s.io", "v1beta1"),
        Scheduler::Kai => ("scheduling.run.ai", "v2alpha2"),
        Scheduler::Volcano => ("scheduling.volcano.sh", "v1beta1"),
    };
    let policy = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": { "name": NAME },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{
                "apiGroups": [group],
                "apiVersions": ["*"],
                "operations": ["CREATE", "UPDATE"],
                "resources": ["podgroups"],
            }] },
            "validations": [{ "expression": "!object.metadata.name.contains('held')", "message": WORDS }],
        },
    });
    let binding = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": { "name": NAME },
        "spec": { "policyName": NAME, "validationActions": ["Deny"] },
    });
    objects::apply(&context.client(), policy, None).await?;
    objects::apply(&context.client(), binding, None).await?;
    let probe = json!({
        "apiVersion": format!("{group}/{version}"),
        "kind": "PodGroup",
        "metadata": { "name": "held-probe" },
        "spec": probe_spec(context.scheduler()),
    });
    eventually("the API server knows the policy", DEADLINE, || async {
        let mut probe = probe.clone();
        let api = objects::api_for(&context.client(), &mut probe, Some(&context.namespace)).await?;
        let dry = PostParams { dry_run: true, ..PostParams::default() };
        match api.create(&dry, &serde_json::from_value(probe)?).await {
            Err(kube::Error::Api(status)) if status.message.contains(WORDS) => Ok(()),
            other => bail!("a group is taken: {other:?}"),
        }
    })
    .await
}

fn probe_spec(scheduler: Scheduler) -> Value {
    match scheduler {
        Scheduler::Kube => json!({ "schedulingPolicy": { "gang": { "minCount": 1 } } }),
        Scheduler::Kai => json!({ "queue": "test", "minMember": 1 }),
        Scheduler::Volcano => json!({ "queue": "default", "minMember": 1 }),
    }
}

async fn allow(context: &Context) -> Result<()> {
    let at_once = DeleteParams::default();
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(context.client());
    bindings.delete(NAME, &at_once).await?;
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(context.client());
    policies.delete(NAME, &at_once).await?;
    Ok(())
}
