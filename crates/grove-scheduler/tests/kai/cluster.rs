//! KAI as different clusters have it.

use std::sync::Arc;

use grove_scheduler::{Gang, Object, Probed, Scheduler, SchedulerBackend, kai::KaiBackend};
use kube::core::GroupVersionResource;
use serde_json::{Value, json};

use crate::common::map;

/// Releases whose PodGroups differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kai {
    V12,
    V15,
    V17,
}

/// The CRD of a release, as far as it is looked at.
pub(crate) fn definition(release: Kai) -> Value {
    let mut sub_group = json!({ "name": {}, "minMember": {}, "parent": {}, "topologyConstraint": {} });
    let mut spec = json!({ "minMember": {}, "queue": {} });
    if release != Kai::V12 {
        (spec["minSubGroup"], sub_group["minSubGroup"]) = (json!({}), json!({}));
    }
    if release == Kai::V17 {
        (spec["preemptionDelay"], spec["stalenessGracePeriod"]) = (json!({}), json!({}));
    }
    spec["subGroups"] = json!({ "items": { "properties": sub_group } });
    let schema = json!({ "openAPIV3Schema": { "properties": { "spec": { "properties": spec } } } });
    json!({ "spec": { "versions": [{ "name": "v2alpha2", "served": true, "schema": schema }] } })
}

/// A cluster with that CRD and KAI's topologies.
pub(crate) fn cluster(release: Kai) -> Probed {
    without_topologies(release).with_served(&topologies(), true)
}

/// A cluster with that CRD alone.
pub(crate) fn without_topologies(release: Kai) -> Probed {
    Probed::default().with_definition("podgroups.scheduling.run.ai", definition(release))
}

pub(crate) fn topologies() -> GroupVersionResource {
    GroupVersionResource::gvr("kai.scheduler", "v1alpha1", "topologies")
}

/// The scheduler of a release.
pub(crate) fn kai(release: Kai) -> Arc<dyn Scheduler> {
    KaiBackend.init(&json!({}), &cluster(release)).unwrap()
}

/// The gang in the queue `team-a`.
pub(crate) fn queued(mut gang: Gang) -> Gang {
    gang.labels.extend(map(&[("kai.scheduler/queue", "team-a")]));
    gang
}

/// What is rendered for a gang, which is always one PodGroup.
pub(crate) fn rendered(release: Kai, gang: &Gang, existing: &[Value]) -> Object {
    let mut objects = kai(release).render(gang, existing).unwrap();
    assert_eq!(objects.len(), 1);
    objects.remove(0)
}

/// The PodGroup of `web-0` with this spec, on a KAI from 0.15 on.
pub(crate) fn pod_group(spec: Value) -> Value {
    json!({
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {
            "name": "pg-web-0-u1",
            "namespace": "ns",
            "labels": { "app.kubernetes.io/part-of": "web", "kai.scheduler/queue": "team-a" },
            "annotations": {
                "grove.io/topology-name": "dc",
                "kai.scheduler/top-owner-metadata":
                    "name: web-0\nuid: u1\ngroup: scheduler.grove.io\nversion: v1alpha1\nkind: PodGang\n",
            },
        },
        "spec": spec,
    })
}
