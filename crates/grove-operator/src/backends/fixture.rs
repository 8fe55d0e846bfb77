//! Schedulers as different clusters have them, for tests.

use std::sync::Arc;

use grove_api::constants::annotations;
use grove_runtime::{Applier, InformerMetrics, Writer};
use grove_scheduler::{
    Probe, Probed, Scheduler, SchedulerBackend, kai::KaiBackend, kube::KubeBackend, volcano::VolcanoBackend,
};
use kube::{Client, core::GroupVersionResource};
use serde_json::{Value, json};

use super::{Backends, Readiness, Ready};

/// What an API server has for the stock scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kube {
    /// CompositePodGroups.
    Tree,
    /// PodGroups with a level.
    FlatTopology,
    /// PodGroups.
    Flat,
    /// Nothing.
    Plain,
}

/// The stock scheduler.
pub(crate) fn kube(has: Kube) -> Arc<dyn Scheduler> {
    let answer = |probed: Probed, probe: Probe| match probe {
        Probe::Served(resource) => {
            let served =
                if resource.resource == "podgroups" { has != Kube::Plain } else { has == Kube::Tree };
            probed.with_served(&resource, served)
        }
        Probe::DryRun { name, mut object, .. } => {
            if has == Kube::Flat {
                object["spec"].as_object_mut().unwrap().remove("schedulingConstraints");
            }
            probed.with_dry_run(name, Ok(object))
        }
        other => panic!("not asked before: {other:?}"),
    };
    let probed = KubeBackend.probes(&json!({})).into_iter().fold(Probed::default(), answer);
    KubeBackend.init(&json!({}), &probed).unwrap()
}

/// KAI, without a queue for sets that name none.
pub(crate) fn kai() -> Arc<dyn Scheduler> {
    kai_with(true)
}

/// Likewise, with or without KAI's topologies.
pub(crate) fn kai_with(has_topologies: bool) -> Arc<dyn Scheduler> {
    let sub_groups = json!({ "items": { "properties": { "parent": {}, "topologyConstraint": {} } } });
    let crd = definition("v2alpha2", &json!({ "subGroups": sub_groups }));
    let topologies = GroupVersionResource::gvr("kai.scheduler", "v1alpha1", "topologies");
    let probed = Probed::default()
        .with_definition("podgroups.scheduling.run.ai", crd)
        .with_served(&topologies, has_topologies);
    KaiBackend.init(&json!({}), &probed).unwrap()
}

/// Volcano with HyperNodes of these tiers, the narrowest first.
pub(crate) fn volcano(tiers: &[&str]) -> Arc<dyn Scheduler> {
    let network = json!({ "properties": { "mode": {}, "highestTierName": {} } });
    let policy = json!({ "items": { "properties": { "minSubGroups": {} } } });
    let crd = definition("v1beta1", &json!({ "networkTopology": network, "subGroupPolicy": policy }));
    let resource = GroupVersionResource::gvr("topology.volcano.sh", "v1alpha1", "hypernodes");
    let node = |(tier, name): (usize, &&str)| json!({ "spec": { "tier": tier + 1, "tierName": name } });
    let probed = Probed::default()
        .with_definition("podgroups.scheduling.volcano.sh", crd)
        .with_served(&resource, true)
        .with_objects(&resource, tiers.iter().enumerate().map(node).collect());
    VolcanoBackend.init(&json!({}), &probed).unwrap()
}

/// A CRD whose spec has these fields.
fn definition(version: &str, spec: &Value) -> Value {
    let schema = json!({ "openAPIV3Schema": { "properties": { "spec": { "properties": spec } } } });
    json!({ "spec": { "versions": [{ "name": version, "served": true, "schema": schema }] } })
}

/// A scheduler that can be told of gangs, and has no objects.
pub(crate) fn ready(client: &Client, scheduler: Arc<dyn Scheduler>) -> Readiness {
    let writer = Writer::new(client.clone(), "test");
    let applier = Applier::new(writer, annotations::APPLIED, [], &InformerMetrics::default());
    Readiness::Ready(Ready { scheduler, applier: Arc::new(applier) })
}

/// Notes what became of a backend.
pub(crate) fn found(backends: &Backends, name: &'static str, readiness: Readiness) {
    backends.found(name, readiness);
}
