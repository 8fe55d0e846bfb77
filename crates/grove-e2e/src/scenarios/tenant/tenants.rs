//! The parties: a victim with a set that runs in the scenario's namespace, and a tenant with a namespace beside it.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{AutoScalingConfig, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang};
use k8s_openapi::api::{
    apps::v1::{ControllerRevision, ReplicaSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::Job,
    core::v1::{Namespace, Pod, Service, ServiceAccount},
    rbac::v1::RoleBinding,
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
    core::GroupVersionKind,
    discovery,
};
use serde_json::{Value, json};

use super::{
    act::Who,
    trespass::{EDITOR, OWNER},
};
use crate::{
    cluster::{Tail, client_as},
    nodes::Hall,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually},
    scenarios::{
        backends::stage::kinds,
        operator::{
            stage::{self, WEB},
            wanted::Wanted,
            world::World,
        },
    },
};

/// How long the operator may take for the victim, whatever the tenant does. It takes two seconds where nothing else runs.
pub(super) const BOUND: Duration = Duration::from_mins(1);

/// An operator whose lease outlasts a machine that is busy with an attack: how leadership is lost is shown elsewhere.
pub(super) fn options() -> OperatorOptions {
    OperatorOptions { lease: ["60s", "40s", "5s"], ..OperatorOptions::default() }
}

/// The tenant, and what its victim has.
pub(super) struct Tenants {
    /// The tenant's own namespace.
    pub(super) home: String,
    pub(super) tail: Tail,
    /// The victim's set.
    pub(super) set: PodCliqueSet,
    pub(super) wanted: Wanted,
    editor: Client,
    owner: Client,
    /// What the API server says of kinds, asked for once.
    kinds: Mutex<BTreeMap<String, (ApiResource, bool)>>,
}

impl Tenants {
    /// Starts an operator; the victim's set runs, and the tenant has its rights.
    pub(super) async fn begin(context: &mut Context, options: OperatorOptions) -> Result<Self> {
        let asked = options.webhooks;
        context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
        context.start_operator(options).await?;
        if asked {
            crate::scenarios::backends::stage::until_answered(context).await?;
        }
        let mut set = stage::set(WEB)?;
        let config = AutoScalingConfig { min_replicas: Some(2), max_replicas: 4, metrics: Vec::new() };
        set.spec.template.cliques[0].spec.auto_scaling_config = Some(config);
        let tenants = Self::without_set(context, set).await?;
        stage::create_and_settle(context, &tenants.set).await?;
        Ok(tenants)
    }

    /// The tenant has its rights; the victim has nothing yet.
    pub(super) async fn without_set(context: &Context, set: PodCliqueSet) -> Result<Self> {
        let home = format!("{}-tenant", context.namespace);
        let kubeconfig = &context.cluster.kubeconfig;
        let (editor, owner) = (client_as(kubeconfig, EDITOR).await?, client_as(kubeconfig, OWNER).await?);
        let namespace: Namespace = serde_json::from_value(json!({ "metadata": { "name": home } }))?;
        Api::all(context.client()).create(&PostParams::default(), &namespace).await?;
        let bindings: Api<RoleBinding> = Api::namespaced(context.client(), &home);
        for (user, role) in [(EDITOR, "edit"), (OWNER, "cluster-admin")] {
            let binding = json!({
                "metadata": { "name": user },
                "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
                "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
            });
            bindings.create(&PostParams::default(), &serde_json::from_value(binding)?).await?;
        }
        let wanted = Wanted::of(&set);
        let tenants =
            Self { home, tail: context.cluster.tail()?, set, wanted, editor, owner, kinds: Mutex::default() };
        tenants.until_granted(context).await?;
        Ok(tenants)
    }

    /// Waits until the roles hold: the server reads them by watching, and adds our rules to its own roles.
    async fn until_granted(&self, context: &Context) -> Result<()> {
        let accounts: Api<ServiceAccount> = Api::namespaced(context.client(), &self.home);
        let sets: Api<PodCliqueSet> = Api::namespaced(self.editor.clone(), &self.home);
        let gangs: Api<PodGang> = Api::namespaced(self.owner.clone(), &self.home);
        eventually("the tenant has its rights", DEADLINE, || async {
            ensure!(accounts.get_opt("default").await?.is_some(), "no service account");
            sets.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
            gangs.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
            Ok(())
        })
        .await
    }

    pub(super) fn client(&self, who: Who) -> Client {
        match who {
            Who::Editor => self.editor.clone(),
            Who::Owner => self.owner.clone(),
        }
    }

    /// A tenant's view of the API of an object's kind, in the namespace that the object says.
    pub(super) async fn api(
        &self,
        context: &Context,
        who: Who,
        object: &Value,
    ) -> Result<Api<DynamicObject>> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (group, version) = text("apiVersion").split_once('/').unwrap_or(("", text("apiVersion")));
        let gvk = GroupVersionKind::gvk(group, version, text("kind"));
        let key = format!("{} {}", text("apiVersion"), text("kind"));
        let known = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let (resource, is_namespaced) = if let Some(known) = known {
            known
        } else {
            let (resource, capabilities) = discovery::pinned_kind(&context.client(), &gvk).await?;
            let known = (resource, capabilities.scope == discovery::Scope::Namespaced);
            self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(key, known.clone());
            known
        };
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or(&self.home);
        Ok(if is_namespaced {
            Api::namespaced_with(self.client(who), namespace, &resource)
        } else {
            Api::all_with(self.client(who), &resource)
        })
    }

    /// Waits until everything of the victim is as it should be.
    pub(super) async fn victim_is_well(&self, context: &Context) -> Result<World> {
        eventually("the victim's set is as it should be", BOUND, || async {
            let world = World::read(context).await?;
            self.wanted.check(&world)?;
            Ok(world)
        })
        .await
    }

    /// Takes away all that the tenant made, so that the next attack starts from nothing.
    pub(super) async fn clear(&self, context: &Context) -> Result<()> {
        let client = context.client();
        let namespaced = |api_version: &str, kind: &str| json!({ "apiVersion": api_version, "kind": kind });
        let mut apis: Vec<Api<DynamicObject>> = Vec::new();
        for (api_version, kind) in kinds(context.scheduler(), context.gates()) {
            let mut object = namespaced(api_version, kind);
            apis.push(crate::objects::api_for(&client, &mut object, Some(&self.home)).await?);
        }
        eventually("the tenant's namespace is empty", DEADLINE, || async {
            let mut left = remove(Api::<PodCliqueSet>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<PodCliqueScalingGroup>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<PodClique>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<PodGang>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<Service>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<HorizontalPodAutoscaler>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<ControllerRevision>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<ReplicaSet>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<Job>::namespaced(client.clone(), &self.home)).await?;
            left += remove(Api::<Pod>::namespaced(client.clone(), &self.home)).await?;
            for api in &apis {
                left += remove(api.clone()).await?;
            }
            ensure!(left == 0, "{left} objects are left");
            Ok(())
        })
        .await
    }
}

/// Deletes all objects of a kind, and takes off what holds them; how many there were.
async fn remove<K>(api: Api<K>) -> Result<usize>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let at_once = DeleteParams::default().grace_period(0);
    api.delete_collection(&at_once, &ListParams::default()).await.context("delete")?;
    let left = api.list_metadata(&ListParams::default()).await?.items;
    for object in left.iter().filter(|it| it.metadata.finalizers.is_some()) {
        let name = object.metadata.name.clone().unwrap_or_default();
        let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
        match api.patch_metadata(&name, &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            answer => drop(answer?),
        }
    }
    Ok(left.len())
}
