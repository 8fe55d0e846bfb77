//! ClusterTopologyBindings and KAI's own Topology objects.

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::conditions::scheduler_topology_drift as drift,
    wire::{ClusterTopologyBinding, Condition},
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::one_rack;
use crate::{
    nodes::{BLOCK, HOST, Hall, RACK, ZONE},
    objects,
    scenario::{Context, eventually},
    scenarios::backends::stage::{self, Role, SOON},
};

const KAI: &str = "kai-scheduler";

/// KAI is given the levels of a binding (upstream's TAS1), is given others when they change (TAS19), and what somebody
/// does to its object is undone.
pub(super) async fn is_mirrored(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    stage::start(context, stage::options(context)).await?;
    says(context, "floor", |it| it.reason == drift::IN_SYNC).await?;
    let topology = topologies(context).await?.get("floor").await?;
    ensure!(keys(&topology) == [ZONE, BLOCK, RACK, HOST], "{:?}", keys(&topology));
    stage::told_by_event(context, "default", "floor", "TopologyInSync").await?;

    let fewer = json!({ "spec": { "levels": [level("block", BLOCK), level("rack", RACK)] } });
    bindings(context).patch("floor", &PatchParams::default(), &Patch::Merge(&fewer)).await?;
    eventually("KAI has the new levels", SOON, || async {
        let now = topologies(context).await?.get("floor").await?;
        ensure!(keys(&now) == [BLOCK, RACK], "{:?}", keys(&now));
        ensure!(now.uid() != topology.uid(), "KAI's levels cannot be changed, and it is the same object");
        Ok(())
    })
    .await?;
    eventually("the change is observed", SOON, || async {
        let binding = bindings(context).get("floor").await?;
        let status = binding.status.unwrap_or_default();
        ensure!(status.observed_generation == binding.metadata.generation, "{status:?}");
        Ok(())
    })
    .await?;
    says(context, "floor", |it| it.reason == drift::IN_SYNC).await?;

    topologies(context).await?.delete("floor", &DeleteParams::default()).await?;
    eventually("it is made again", SOON, || async {
        let now = topologies(context).await?.get("floor").await?;
        ensure!(keys(&now) == [BLOCK, RACK], "{:?}", keys(&now));
        Ok(())
    })
    .await
}

/// A binding that names a Topology of somebody else: it is missing (TAS18), differs, and is the same; a gang is packed by
/// the name that KAI knows.
pub(super) async fn names_another(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    stage::start(context, stage::options(context)).await?;
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "bound" },
        "spec": {
            "levels": [level("block", BLOCK), level("rack", RACK)],
            "schedulerTopologyBindings": [{ "schedulerName": KAI, "topologyReference": "theirs" }],
        },
    });
    objects::apply(&context.client(), binding, None).await?;
    let said = says(context, "bound", |it| it.status == "True" && it.reason == drift::DRIFT).await?;
    ensure!(said.message.contains("no such object"), "{}", said.message);
    stage::told_by_event(context, "default", "bound", "TopologyDriftDetected").await?;

    let theirs = |keys: &[&str]| {
        let levels: Vec<Value> = keys.iter().map(|key| json!({ "nodeLabel": key })).collect();
        json!({
            "apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology", "metadata": { "name": "theirs" },
            "spec": { "levels": levels },
        })
    };
    objects::apply(&context.client(), theirs(&[RACK]), None).await?;
    let said = says(context, "bound", |it| it.message.contains("its levels are")).await?;
    ensure!(said.status == "True", "{said:?}");
    topologies(context).await?.delete("theirs", &DeleteParams::default()).await?;
    objects::apply(&context.client(), theirs(&[BLOCK, RACK]), None).await?;
    says(context, "bound", |it| it.reason == drift::IN_SYNC).await?;

    let mut set = stage::set("gang", &[Role::new("a", 4, 4)]);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "bound", "pack": { "required": "rack" } });
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 4).await?;
    one_rack(&pods)?;
    let group = stage::groups(context).await?.pop().context("no PodGroup")?;
    let named = &group.data["spec"]["topologyConstraint"]["topology"];
    ensure!(named == "theirs", "KAI was told of topology {named}");
    topologies(context).await?.delete("theirs", &DeleteParams::default()).await?;
    Ok(())
}

fn level(domain: &str, key: &str) -> Value {
    json!({ "domain": domain, "key": key })
}

pub(super) fn bindings(context: &Context) -> Api<ClusterTopologyBinding> {
    Api::all(context.client())
}

pub(super) async fn topologies(context: &Context) -> Result<Api<DynamicObject>> {
    let mut kind = json!({ "apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology" });
    objects::api_for(&context.client(), &mut kind, None).await
}

/// The node labels of a Topology's levels.
fn keys(topology: &DynamicObject) -> Vec<&str> {
    let levels = topology.data["spec"]["levels"].as_array();
    levels.into_iter().flatten().filter_map(|it| it["nodeLabel"].as_str()).collect()
}

/// Waits until a binding says what `wanted` wants.
pub(super) async fn says(
    context: &Context,
    name: &str,
    wanted: impl Fn(&Condition) -> bool,
) -> Result<Condition> {
    eventually(&format!("binding {name} says how KAI's object is"), SOON, || async {
        let status = bindings(context).get(name).await?.status.unwrap_or_default();
        let mut conditions = status.conditions.into_iter();
        let said = conditions.find(|it| it.type_ == drift::TYPE).context("there is no condition")?;
        ensure!(wanted(&said), "it is {} ({}: {})", said.status, said.reason, said.message);
        Ok(said)
    })
    .await
}
