//! KAI's own pod grouper and ours, one after the other on the same pods: the groups are equal, but for what is known.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::workloads::{self, Workload};
use crate::{
    cluster::Scheduler,
    grouper, objects,
    scenario::{Context, eventually},
    scenarios::backends::stage::SOON,
};

const POD_GROUP: &str = "pod-group-name";
const SUB_GROUP: &str = "kai.scheduler/subgroup-name";

/// What an admin gives for a kind that no plugin knows. KAI's pod grouper runs as an admin here.
const MORE_RIGHTS: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: e2e-things }
rules:
- { apiGroups: [example.com], resources: [things], verbs: [get, list, watch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: e2e-things }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-things }
subjects: [{ kind: ServiceAccount, name: grove-podgrouper, namespace: grove-system }]
";

/// By pod: its group as it is, and the part that it is in.
type Groups = BTreeMap<String, (Value, Option<String>)>;

/// Both groupers on all workloads.
pub(super) async fn side_by_side(context: &mut Context) -> Result<()> {
    let all = workloads::all()?;
    workloads::define(context, &all).await?;
    for workload in &all {
        workload.create(context, &json!({})).await?;
    }
    context.cluster.run_companion("kai-podgrouper").await?;
    let theirs = grouped(context, &all).await?;
    context.cluster.stop_program("kai-podgrouper").await?;
    take_away(context).await?;

    context.apply(MORE_RIGHTS).await?;
    grouper::start(&mut context.cluster, &[Scheduler::Kai.pod_name()]).await?;
    let ours = grouped(context, &all).await?;
    let mut wrong = Vec::new();
    for workload in &all {
        let mut differs: BTreeSet<String> = BTreeSet::new();
        for pod in &workload.pods {
            let (theirs, ours) = (&theirs[&pod.name], &ours[&pod.name]);
            differs.extend(differences(theirs, ours));
        }
        if differs != workload.differs {
            let of = |groups: &Groups| {
                workload.pods.iter().map(|it| format!("{:?}", groups[&it.name])).collect::<Vec<_>>()
            };
            wrong.push(format!(
                "{} differs in {differs:?}, not in {:?} ({})\n  theirs {}\n  ours   {}",
                workload.name,
                workload.differs,
                workload.why,
                of(&theirs).join("\n         "),
                of(&ours).join("\n         "),
            ));
        }
    }
    no_refusals(context)?;
    workloads::undefine(context).await?;
    ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Waits until all pods have a group.
async fn grouped(context: &Context, all: &[Workload]) -> Result<Groups> {
    let mut any = json!({ "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup" });
    let api = objects::api_for(&context.client(), &mut any, Some(&context.namespace)).await?;
    let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let mut groups = Groups::new();
    for name in all.iter().flat_map(|it| &it.pods).map(|it| it.name.as_str()) {
        let what = format!("pod {name} has a group");
        let of_pod = eventually(&what, SOON, || async {
            let pod = pods.get(name).await?;
            let group = pod.annotations().get(POD_GROUP).context("it has none")?;
            let group = api.get(group).await?;
            Ok((without_times(&group), pod.labels().get(SUB_GROUP).cloned()))
        });
        groups.insert(name.to_owned(), of_pod.await?);
    }
    Ok(groups)
}

/// What a grouper wrote.
fn without_times(group: &DynamicObject) -> Value {
    // Where a pod is its own owner, KAI's pod grouper copies what it wrote itself when it comes by a second time.
    let without = |all: &BTreeMap<String, String>, key: &str| -> BTreeMap<String, String> {
        all.iter().filter(|it| it.0 != key).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    json!({
        "name": group.name_any(),
        "labels": without(group.labels(), SUB_GROUP),
        "annotations": without(group.annotations(), POD_GROUP),
        "ownerReferences": group.metadata.owner_references,
        "spec": group.data["spec"],
    })
}

/// Fields in which two groups differ. What is empty is as good as absent.
fn differences(theirs: &(Value, Option<String>), ours: &(Value, Option<String>)) -> BTreeSet<String> {
    let mut differs = BTreeSet::new();
    let is_empty = |it: &Value| *it == json!(null) || *it == json!({}) || *it == json!([]);
    for field in ["name", "labels", "annotations", "ownerReferences"] {
        if theirs.0[field] != ours.0[field] {
            differs.insert(field.to_owned());
        }
    }
    let fields = |it: &Value| -> BTreeSet<String> {
        it["spec"].as_object().map(|it| it.keys().cloned().collect()).unwrap_or_default()
    };
    for field in fields(&theirs.0).union(&fields(&ours.0)) {
        let (a, b) = (&theirs.0["spec"][field], &ours.0["spec"][field]);
        if a != b && !(is_empty(a) && is_empty(b)) {
            differs.insert(format!("spec.{field}"));
        }
    }
    if theirs.1 != ours.1 {
        differs.insert("pod's sub-group".to_owned());
    }
    differs
}

/// As if there had been no grouper.
pub(super) async fn take_away(context: &Context) -> Result<()> {
    let mut any = json!({ "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup" });
    let api = objects::api_for(&context.client(), &mut any, Some(&context.namespace)).await?;
    let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let patch = Patch::Merge(
        json!({ "metadata": { "annotations": { POD_GROUP: null }, "labels": { SUB_GROUP: null } } }),
    );
    for pod in pods.list_metadata(&ListParams::default()).await?.items {
        pods.patch(&pod.name_any(), &PatchParams::default(), &patch).await?;
    }
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    Ok(())
}

/// Its rights were enough.
pub(super) fn no_refusals(context: &Context) -> Result<()> {
    let requests = context.cluster.requests_of(grouper::USER)?;
    ensure!(requests.iter().any(|it| it.verb == "list"), "what it reads is not known");
    let refused: Vec<_> = requests.iter().filter(|it| it.refused).collect();
    ensure!(refused.is_empty(), "the pod grouper asked for what it may not have: {refused:?}");
    Ok(())
}
