//! What scenarios of the backends have in common: an operator that knows the cluster's schedulers, sets to work with, and
//! what the operator and the backend made of them.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{Condition, PodCliqueSet, PodGang, SchedulerBackend};
use k8s_openapi::api::core::v1::Event;
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, ListParams},
    client::Body,
    core::Status,
};
use serde_json::{Value, json};

use crate::{
    cluster::{Gates, Scheduler},
    objects,
    operator::OperatorOptions,
    scenario::{Context, PodState, eventually},
    scenarios::{
        admission,
        operator::stage::{Child, api},
    },
};

/// What most things may take at most; longer only shows that something hangs.
pub(in crate::scenarios) const SOON: Duration = Duration::from_mins(3);

/// The levels of the simulated nodes.
pub(in crate::scenarios) const FLOOR: &str = "
apiVersion: grove.io/v1alpha1
kind: ClusterTopologyBinding
metadata: { name: floor }
spec:
  levels:
    - { domain: zone, key: topology.kubernetes.io/zone }
    - { domain: block, key: topology.kubernetes.io/block }
    - { domain: rack, key: topology.kubernetes.io/rack }
    - { domain: host, key: kubernetes.io/hostname }
";

/// An operator whose default is the scheduler under test.
pub(in crate::scenarios) fn options(context: &Context) -> OperatorOptions {
    OperatorOptions::on(context.scheduler())
}

/// One that the API server asks about sets.
pub(in crate::scenarios) fn asked(context: &Context) -> OperatorOptions {
    OperatorOptions { webhooks: true, ..options(context) }
}

/// Kinds and topology, then the operator, which knows the topology from its start.
pub(in crate::scenarios) async fn start(context: &mut Context, options: OperatorOptions) -> Result<()> {
    objects::install_crds(&context.client()).await?;
    objects::apply_text(&context.client(), FLOOR, None).await?;
    context.start_operator(options).await
}

/// Ends the operator, and starts one with other options.
pub(super) async fn restart(context: &mut Context, options: OperatorOptions) -> Result<()> {
    context.end_operator().await?;
    context.start_operator(options).await
}

/// A role of a set: each pod asks for a GPU.
#[derive(Clone, Copy)]
pub(in crate::scenarios) struct Role {
    name: &'static str,
    replicas: i32,
    minimum: i32,
}

impl Role {
    pub(in crate::scenarios) const fn new(name: &'static str, replicas: i32, minimum: i32) -> Self {
        Self { name, replicas, minimum }
    }
}

/// A set of roles.
pub(in crate::scenarios) fn set(name: &str, roles: &[Role]) -> Value {
    let role = |it: &Role| {
        json!({
            "name": it.name,
            "spec": {
                "roleName": it.name,
                "replicas": it.replicas,
                "minAvailable": it.minimum,
                "podSpec": {
                    "terminationGracePeriodSeconds": 0,
                    "containers": [{
                        "name": "main",
                        "image": "registry.example.com/app:1.0",
                        "resources": { "limits": { "nvidia.com/gpu": 1 } },
                    }],
                },
            },
        })
    };
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": name },
        "spec": { "replicas": 1, "template": {
            // Said, because not every scenario has an admission that fills it in.
            "terminationDelay": "4h",
            "cliques": roles.iter().map(role).collect::<Vec<_>>(),
        } },
    })
}

/// Gives a set a scaling group.
pub(in crate::scenarios) fn group(set: &mut Value, name: &str, roles: &[&str], replicas: i32, minimum: i32) {
    let group = json!({ "name": name, "cliqueNames": roles, "replicas": replicas, "minAvailable": minimum });
    match &mut set["spec"]["template"]["podCliqueScalingGroups"] {
        Value::Array(groups) => groups.push(group),
        none => *none = json!([group]),
    }
}

/// Lets all pods of a set name a scheduler.
pub(super) fn on(set: &mut Value, scheduler: &str) {
    for clique in set["spec"]["template"]["cliques"].as_array_mut().into_iter().flatten() {
        clique["spec"]["podSpec"]["schedulerName"] = scheduler.into();
    }
}

/// Waits until an object is there.
pub(super) async fn until_there<K: Child>(context: &Context, name: &str) -> Result<K> {
    let what = format!("{} {name} is there", K::kind(&()));
    eventually(&what, SOON, || async { Ok(api::<K>(context).get(name).await?) }).await
}

/// Waits until a condition of a gang is as `wanted` says.
pub(in crate::scenarios) async fn gang_says(
    context: &Context,
    gang: &str,
    type_: &str,
    wanted: impl Fn(&Condition) -> bool,
) -> Result<Condition> {
    eventually(&format!("{type_} of gang {gang}"), SOON, || async {
        let gang = api::<PodGang>(context).get(gang).await?;
        find(gang.status.unwrap_or_default().conditions, type_, &wanted)
    })
    .await
}

/// Waits until a condition of a set is as `wanted` says.
pub(in crate::scenarios) async fn set_says(
    context: &Context,
    set: &str,
    type_: &str,
    wanted: impl Fn(&Condition) -> bool,
) -> Result<Condition> {
    eventually(&format!("{type_} of set {set}"), SOON, || async {
        let set = api::<PodCliqueSet>(context).get(set).await?;
        find(set.status.unwrap_or_default().conditions, type_, &wanted)
    })
    .await
}

/// Waits until the backend of a scheduler says of itself what `wanted` wants.
pub(super) async fn backend_says(
    context: &Context,
    scheduler: Scheduler,
    wanted: impl Fn(&Condition) -> bool,
) -> Result<Condition> {
    let name = scheduler.pod_name();
    let backends: Api<SchedulerBackend> = Api::all(context.client());
    eventually(&format!("backend {name} says whether it is ready"), SOON, || async {
        let backend = backends.get(name).await?;
        find(backend.status.unwrap_or_default().conditions, "SchedulerBackendReady", &wanted)
    })
    .await
}

fn find(all: Vec<Condition>, type_: &str, wanted: impl Fn(&Condition) -> bool) -> Result<Condition> {
    let found = all.into_iter().find(|it| it.type_ == type_).context("there is no such condition")?;
    ensure!(wanted(&found), "it is {} ({}: {})", found.status, found.reason, found.message);
    Ok(found)
}

/// Waits for an event with this reason on an object; events of objects without a namespace are in `default`.
pub(in crate::scenarios) async fn told_by_event(
    context: &Context,
    namespace: &str,
    object: &str,
    reason: &str,
) -> Result<Event> {
    let events: Api<Event> = Api::namespaced(context.client(), namespace);
    eventually(&format!("event {reason} on {object}"), SOON, || async {
        let all = events.list(&ListParams::default()).await?.items;
        let mut of_object = all.into_iter().filter(|it| it.involved_object.name.as_deref() == Some(object));
        of_object.find(|it| it.reason.as_deref() == Some(reason)).context("no such event")
    })
    .await
}

/// The objects that the scheduler under test reads, in the scenario's namespace.
pub(in crate::scenarios) async fn groups(context: &Context) -> Result<Vec<DynamicObject>> {
    let mut all = Vec::new();
    for (api_version, kind) in kinds(context.scheduler(), context.gates()) {
        let mut value = json!({ "apiVersion": api_version, "kind": kind });
        let api = objects::api_for(&context.client(), &mut value, Some(&context.namespace)).await?;
        all.extend(api.list(&ListParams::default()).await?.items);
    }
    // Canaries have groups of their own.
    all.retain(|it| !it.name_any().starts_with("canary-"));
    Ok(all)
}

/// Their kinds.
pub(in crate::scenarios) fn kinds(
    scheduler: Scheduler,
    gates: Gates,
) -> &'static [(&'static str, &'static str)] {
    match (scheduler, gates) {
        (Scheduler::Kube, Gates::None) => &[],
        (Scheduler::Kube, Gates::Workload | Gates::Levels) => &[("scheduling.k8s.io/v1beta1", "PodGroup")],
        (Scheduler::Kube, _) => {
            &[("scheduling.k8s.io/v1alpha3", "CompositePodGroup"), ("scheduling.k8s.io/v1beta1", "PodGroup")]
        }
        (Scheduler::Kai, _) => &[("scheduling.run.ai/v2alpha2", "PodGroup")],
        (Scheduler::Volcano, _) => &[("scheduling.volcano.sh/v1beta1", "PodGroup")],
    }
}

/// Waits until so many pods whose names begin with `prefix` are ready.
pub(in crate::scenarios) async fn ready(
    context: &Context,
    prefix: &str,
    count: usize,
) -> Result<Vec<PodState>> {
    let of = |pods: &[PodState]| -> Vec<PodState> {
        pods.iter().filter(|it| it.name.starts_with(prefix) && it.ready).cloned().collect()
    };
    let what = format!("{count} pods {prefix}* are ready");
    Ok(of(&context.expect(&what, |pods| of(pods).len() == count).await?))
}

/// Waits until the API server asks the operator about sets.
pub(in crate::scenarios) async fn until_answered(context: &Context) -> Result<()> {
    admission::until_answered(context).await
}

/// A set as a user creates it: the API server's answer, and its warnings.
pub(in crate::scenarios) async fn send(
    context: &Context,
    set: &Value,
) -> Result<(Option<Status>, Vec<String>)> {
    let path = format!("/apis/grove.io/v1alpha1/namespaces/{}/podcliquesets", context.namespace);
    let request = http::Request::post(path)
        .header("Content-Type", "application/json")
        .body(Body::from(serde_json::to_vec(set)?))?;
    let answer = context.client().send(request).await?;
    let (head, body) = answer.into_parts();
    let warnings = head.headers.get_all("Warning").iter();
    let warnings = warnings.map(|it| String::from_utf8_lossy(it.as_bytes()).into()).collect();
    if head.status.is_success() {
        return Ok((None, warnings));
    }
    let body = body.collect_bytes().await?;
    Ok((Some(serde_json::from_slice(&body)?), warnings))
}
