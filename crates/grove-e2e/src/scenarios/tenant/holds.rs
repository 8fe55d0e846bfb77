//! What must still hold for the victim: each is something that its user asks for, which has to happen as if it were alone.

use anyhow::{Context as _, Result, ensure};
use grove_api::{constants::labels, wire::PodCliqueSet};
use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod};
use kube::{
    ResourceExt,
    api::{DeleteParams, ListParams},
};
use serde_json::json;

use super::{
    tenants::{BOUND, Tenants},
    trespass::Permit,
    victim::Victim,
};
use crate::{
    objects,
    scenario::{Context, DEADLINE, eventually},
    scenarios::operator::{
        stage::{self, api},
        world::{World, label},
    },
};

/// What is asked for after an attack. That statuses are true and all else is as it should be is checked with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// The first pod of a clique is deleted, and comes back; no other pod is touched.
    PodReturns(&'static str),
    /// A Service, an autoscaler or a PodGang is deleted, and comes back; no pod is touched. Resource, kind, name.
    Returns(&'static str, &'static str, &'static str),
    /// The whole set is deleted, leaves nothing, and is created again.
    SetIsRecreated,
    /// A ReplicaSet of two pods is created; the pod grouper makes their groups, and they run. Then it is deleted.
    IsGrouped,
}

impl Holds {
    /// What the operator may do for it.
    pub(super) fn permit(self) -> Permit {
        match self {
            Self::PodReturns(_) => Permit { pods: 1, ..Permit::default() },
            Self::Returns(remade, ..) => Permit { remade, ..Permit::default() },
            // The two pods are made by Kubernetes, and at most noted on by the pod grouper.
            Self::IsGrouped => Permit { pods: 2, ..Permit::default() },
            Self::SetIsRecreated => Permit { anything: true, ..Permit::default() },
        }
    }

    pub(super) async fn check(self, context: &Context, tenants: &Tenants) -> Result<()> {
        match self {
            Self::PodReturns(clique) => pod_returns(context, tenants, clique).await,
            Self::Returns(_, kind, name) => returns(context, tenants, kind, name).await,
            Self::SetIsRecreated => recreated(context, tenants).await,
            Self::IsGrouped => is_grouped(context, tenants).await,
        }
        .with_context(|| format!("{self:?} does not hold"))
    }
}

async fn pod_returns(context: &Context, tenants: &Tenants, clique: &str) -> Result<()> {
    let before = World::read(context).await?;
    let of_clique =
        |it: &&Pod| label(*it, labels::POD_CLIQUE) == clique && it.metadata.deletion_timestamp.is_none();
    let pod = before.pods.iter().find(of_clique).with_context(|| format!("{clique} has no pod"))?;
    api::<Pod>(context).delete(&pod.name_any(), &DeleteParams::default()).await?;
    let gone = pod.uid().unwrap_or_default();
    eventually(&format!("{} is replaced", pod.name_any()), BOUND, || async {
        let world = World::read(context).await?;
        ensure!(!world.uids().contains_key(&gone), "it is still there");
        tenants.wanted.check(&world)?;
        let touched = before.uids().into_iter().filter(|(uid, _)| !world.uids().contains_key(uid)).count();
        ensure!(touched == 1, "{touched} pods were replaced");
        Ok(())
    })
    .await
}

async fn returns(context: &Context, tenants: &Tenants, kind: &str, name: &str) -> Result<()> {
    let before = World::read(context).await?;
    let victim = Victim::read(context).await?;
    let mut object = victim.object(kind, name)?.clone();
    let uid = victim.uid(kind, name)?;
    let api = objects::api_for(&context.client(), &mut object, Some(&context.namespace)).await?;
    api.delete(name, &DeleteParams::default()).await?;
    eventually(&format!("{kind} {name} is made again"), BOUND, || async {
        let again = api.get(name).await?;
        ensure!(again.uid().as_deref() != Some(uid), "it is still there");
        let world = World::read(context).await?;
        tenants.wanted.check(&world)?;
        ensure!(world.uids() == before.uids(), "pods were replaced");
        Ok(())
    })
    .await
}

async fn recreated(context: &Context, tenants: &Tenants) -> Result<()> {
    let name = tenants.set.name_any();
    api::<PodCliqueSet>(context).delete(&name, &DeleteParams::default()).await?;
    eventually("everything of the set is gone", BOUND, || async {
        let left = World::read(context).await?.leftovers();
        ensure!(left.is_empty(), "left: {}", left.join(", "));
        Ok(())
    })
    .await?;
    stage::create(context, &tenants.set).await?;
    tenants.victim_is_well(context).await.map(drop)
}

async fn is_grouped(context: &Context, tenants: &Tenants) -> Result<()> {
    let app = json!({ "app": "honest", "grove.io/pod-grouper": "enabled" });
    let template = json!({ "metadata": { "labels": app }, "spec": {
        "terminationGracePeriodSeconds": 0, "containers": [{ "name": "main", "image": "none" }],
    } });
    let honest = json!({
        "metadata": { "name": "honest" },
        "spec": { "replicas": 2, "selector": { "matchLabels": { "app": "honest" } }, "template": template },
    });
    stage::create::<ReplicaSet>(context, &serde_json::from_value(honest)?).await?;
    let pods = ListParams::default().labels("app=honest");
    let result = eventually("the honest pods are grouped and run", BOUND, || async {
        let all = api::<Pod>(context).list(&pods).await?.items;
        let runs = |it: &&Pod| it.spec.as_ref().is_some_and(|it| it.node_name.is_some());
        let group = |it: &Pod| it.spec.as_ref()?.scheduling_group.as_ref()?.pod_group_name.clone();
        let groups: Vec<String> = all.iter().filter(runs).filter_map(group).collect();
        ensure!(
            groups.len() == 2 && groups.iter().all(|it| it.starts_with("pg-")),
            "the groups are {groups:?}"
        );
        tenants.wanted.check(&World::read(context).await?)
    })
    .await;
    api::<ReplicaSet>(context).delete("honest", &DeleteParams::foreground()).await?;
    eventually("the honest pods are gone", DEADLINE, || async {
        let left = api::<Pod>(context).list(&pods).await?.items.len();
        ensure!(
            left == 0 && api::<ReplicaSet>(context).get_opt("honest").await?.is_none(),
            "{left} are left"
        );
        Ok(())
    })
    .await?;
    result
}
