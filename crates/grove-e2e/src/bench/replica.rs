//! The objects of one set replica, as the operator makes them for a set with one clique of two pods.

use std::collections::BTreeMap;

use grove_api::{
    constants::{components, environment, gates, labels, schedulers},
    names,
};
use serde_json::{Value, json};

/// Pods of one replica, which are one gang.
pub(super) const PODS: usize = 2;
/// Namespace of everything. Its service account is there before the cluster counts as up.
pub(super) const NAMESPACE: &str = "default";
/// Selects everything, to delete it.
pub(super) const SELECTOR: (&str, &str) = (labels::PART_OF, SET);

pub(super) const SET: &str = "bench";
const CLIQUE: &str = "worker";

/// The writes of so many replicas, by verb and resource.
///
/// The measured loop of the facts wrote 4,000 times for 1,000 pods: each pod is created and ungated (2,000); each gang
/// costs four: Service, PodGang with empty references, the references later, and the PodClique that owns the pods. The
/// last is what makes the garbage collector look at every pod, as it does under the operator.
pub(super) fn writes(replicas: usize) -> BTreeMap<String, usize> {
    let pods = replicas * PODS;
    let counts = [
        ("create podcliques", replicas),
        ("create services", replicas),
        ("create podgangs", replicas),
        ("create pods", pods),
        ("patch podgangs", replicas),
        ("patch pods", pods),
    ];
    counts.map(|(what, count)| (what.to_owned(), count)).into()
}

/// One replica of the set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replica(pub(super) u32);

impl Replica {
    fn clique_name(self) -> String {
        names::standalone_clique(SET, self.0, CLIQUE)
    }

    pub(super) fn gang_name(self) -> String {
        names::base_gang(SET, self.0)
    }

    /// Labels that every object of the replica has, and a few more.
    fn labels(self, name: &str, more: &[(&str, &str)]) -> Value {
        let mut all = json!({
            (labels::MANAGED_BY): labels::MANAGED_BY_VALUE,
            (labels::PART_OF): SET,
            (labels::NAME): name,
            (labels::SET_REPLICA_INDEX): self.0.to_string(),
        });
        for (key, value) in more {
            all[*key] = (*value).into();
        }
        all
    }

    pub(super) fn clique(self) -> Value {
        let (name, gang) = (self.clique_name(), self.gang_name());
        let more = [(labels::COMPONENT, components::SET_POD_CLIQUE), (labels::POD_GANG, &gang)];
        json!({
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodClique",
            "metadata": { "name": name, "labels": self.labels(&name, &more) },
            "spec": { "roleName": CLIQUE, "replicas": PODS, "minAvailable": PODS, "podSpec": self.pod_spec() },
        })
    }

    pub(super) fn service(self) -> Value {
        let name = names::headless_service(SET, self.0);
        json!({
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": name,
                "labels": self.labels(&name, &[(labels::COMPONENT, components::HEADLESS_SERVICE)]),
            },
            "spec": {
                "clusterIP": "None",
                "publishNotReadyAddresses": true,
                "selector": {
                    (labels::MANAGED_BY): labels::MANAGED_BY_VALUE,
                    (labels::PART_OF): SET,
                    (labels::SET_REPLICA_INDEX): self.0.to_string(),
                },
            },
        })
    }

    pub(super) fn gang(self) -> Value {
        let name = self.gang_name();
        let more = [(labels::COMPONENT, components::POD_GANG), (labels::SCHEDULER_NAME, schedulers::DEFAULT)];
        json!({
            "apiVersion": "scheduler.grove.io/v1alpha1",
            "kind": "PodGang",
            "metadata": { "name": name, "labels": self.labels(&name, &more) },
            "spec": self.gang_spec(&[]),
        })
    }

    /// A merge patch that fills in the pods of the gang.
    pub(super) fn references(self, pods: &[String]) -> Value {
        json!({ "spec": self.gang_spec(pods) })
    }

    fn gang_spec(self, pods: &[String]) -> Value {
        let references: Vec<Value> =
            pods.iter().map(|name| json!({ "namespace": NAMESPACE, "name": name })).collect();
        json!({
            "podgroups": [{ "name": self.clique_name(), "minReplicas": PODS, "podReferences": references }],
        })
    }

    /// A gated pod of the clique.
    pub(super) fn pod(self, index: usize, clique_uid: &str) -> Value {
        let (clique, gang, index) = (self.clique_name(), self.gang_name(), index.to_string());
        let more = [
            (labels::POD_CLIQUE, clique.as_str()),
            (labels::POD_GANG, gang.as_str()),
            (labels::POD_INDEX, index.as_str()),
            (labels::POD_TEMPLATE_HASH, "5d9c7b8f6d"),
        ];
        let mut spec = self.pod_spec();
        spec["schedulingGates"] = json!([{ "name": gates::POD_GANG_PENDING }]);
        spec["hostname"] = format!("{clique}-{index}").into();
        spec["subdomain"] = names::headless_service(SET, self.0).into();
        json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "generateName": names::pod_prefix(&clique),
                "labels": self.labels(&clique, &more),
                "ownerReferences": [{
                    "apiVersion": "grove.io/v1alpha1",
                    "kind": "PodClique",
                    "name": clique,
                    "uid": clique_uid,
                    "controller": true,
                    "blockOwnerDeletion": true,
                }],
            },
            "spec": spec,
        })
    }

    /// Asks for so little that all pods fit.
    fn pod_spec(self) -> Value {
        let index_label = format!("metadata.labels['{}']", labels::POD_INDEX);
        json!({
            "schedulerName": schedulers::DEFAULT,
            "containers": [{
                "name": "main",
                "image": "registry.k8s.io/pause:3.10",
                "resources": { "requests": { "cpu": "10m", "memory": "16Mi" } },
                "env": [
                    { "name": environment::SET_NAME, "value": SET },
                    { "name": environment::SET_INDEX, "value": self.0.to_string() },
                    { "name": environment::CLIQUE_NAME, "value": self.clique_name() },
                    {
                        "name": environment::HEADLESS_SERVICE,
                        "value": names::headless_service_address(SET, self.0, NAMESPACE),
                    },
                    {
                        "name": environment::POD_INDEX,
                        "valueFrom": { "fieldRef": { "fieldPath": index_label } },
                    },
                ],
            }],
        })
    }
}

/// The set of which [`Replica`] is one: what the operator is given.
pub(super) fn set(replicas: usize) -> Value {
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": SET },
        "spec": {
            "replicas": replicas,
            "template": { "cliques": [{ "name": CLIQUE, "spec": {
                "roleName": CLIQUE,
                "replicas": PODS,
                "minAvailable": PODS,
                "podSpec": { "containers": [{
                    "name": "main",
                    "image": "registry.k8s.io/pause:3.10",
                    "resources": { "requests": { "cpu": "10m", "memory": "16Mi" } },
                }] },
            } }] },
        },
    })
}

/// A merge patch that takes the gate off a pod.
pub(super) fn ungate() -> Value {
    json!({ "spec": { "schedulingGates": null } })
}

#[cfg(test)]
mod tests {
    use grove_api::wire::{PodClique, PodGang};
    use k8s_openapi::api::core::v1::{Pod, Service};

    use super::*;

    #[test]
    fn four_thousand_writes_for_a_thousand_pods() {
        assert_eq!(writes(500).values().sum::<usize>(), 4000);
    }

    #[test]
    fn objects_have_the_shape_of_their_kinds() {
        let replica = Replica(7);
        let clique: PodClique = serde_json::from_value(replica.clique()).unwrap();
        let service: Service = serde_json::from_value(replica.service()).unwrap();
        let gang: PodGang = serde_json::from_value(replica.gang()).unwrap();
        let pod: Pod = serde_json::from_value(replica.pod(1, "uid")).unwrap();

        assert_eq!(gang.spec.pod_groups[0].name, clique.metadata.name.clone().unwrap());
        assert!(gang.spec.pod_groups[0].pod_references.is_empty());
        let labels = pod.metadata.labels.unwrap();
        let selector = service.spec.unwrap().selector.unwrap();
        assert!(
            selector.iter().all(|(key, value)| labels.get(key) == Some(value)),
            "the Service finds its pods"
        );
        assert_eq!(labels.get(SELECTOR.0).map(String::as_str), Some(SELECTOR.1), "deleting finds the pod");
        let spec = pod.spec.unwrap();
        assert_eq!(spec.scheduling_gates.unwrap().len(), 1);
        assert_eq!(spec.subdomain, service.metadata.name);
    }
}
