//! Holds what is there against what should be.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use grove_api::{
    constants::{
        conditions::{
            self,
            pod_gang::{INITIALIZED, READY, SCHEDULED, UNHEALTHY},
        },
        labels, phases,
    },
    names,
    wire::{Condition, PodClique},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Resource, ResourceExt};

use super::{
    wanted::{Wanted, WantedClique},
    world::{World, label},
};

/// How many differences are told.
const SHOWN: usize = 8;

/// Collects what differs.
struct Differences(Vec<String>);

impl Differences {
    #[expect(clippy::needless_pass_by_value, reason = "callers make both for this call")]
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, is: T, wanted: T) {
        if is != wanted {
            self.0.push(format!("{what} is {is:?}, not {wanted:?}"));
        }
    }

    fn condition(&mut self, of: &str, all: &[Condition], type_: &str, wanted: &str) {
        let found = all.iter().find(|it| it.type_ == type_);
        let is = found.map_or("absent", |it| it.status.as_str());
        if is != wanted {
            let words = found.map(|it| format!(" ({}: {})", it.reason, it.message)).unwrap_or_default();
            self.0.push(format!("condition {type_} of {of} is {is}{words}, not {wanted}"));
        }
    }
}

impl Wanted {
    /// Fails with what differs.
    pub(in crate::scenarios) fn check(&self, world: &World) -> Result<()> {
        let mut differences = Differences(Vec::new());
        self.check_children(world, &mut differences);
        self.check_pods(world, &mut differences);
        self.check_gangs(world, &mut differences);
        self.check_statuses(world, &mut differences);
        let found = differences.0;
        if !found.is_empty() {
            bail!("{} differences: {}", found.len(), found[..found.len().min(SHOWN)].join("; "));
        }
        Ok(())
    }

    fn ours<K: Resource>(&self, all: &[K]) -> BTreeSet<String> {
        let ours = all.iter().filter(|it| label(*it, labels::PART_OF) == self.set);
        ours.map(ResourceExt::name_any).collect()
    }

    fn check_children(&self, world: &World, differences: &mut Differences) {
        differences.equal("cliques", self.ours(&world.cliques), self.cliques.keys().cloned().collect());
        differences.equal("groups", self.ours(&world.groups), self.groups.keys().cloned().collect());
        differences.equal("gangs", self.ours(&world.gangs), self.gangs.keys().cloned().collect());
        differences.equal("services", self.ours(&world.services), self.services.clone());
        differences.equal("autoscalers", self.ours(&world.autoscalers), self.autoscalers.clone());
        for clique in world.cliques.iter().filter(|it| label(*it, labels::PART_OF) == self.set) {
            let name = clique.name_any();
            let Some(wanted) = self.cliques.get(&name) else { continue };
            differences.equal(&format!("replicas of {name}"), clique.spec.replicas, Some(wanted.replicas));
            check_labels(differences, &name, clique, wanted);
        }
        for group in world.groups.iter().filter(|it| label(*it, labels::PART_OF) == self.set) {
            let name = group.name_any();
            let wanted = self.groups.get(&name).copied().unwrap_or_default();
            differences.equal(&format!("replicas of {name}"), group.spec.replicas, wanted);
        }
    }

    fn check_pods(&self, world: &World, differences: &mut Differences) {
        let (mut live, mut lingering): (BTreeMap<&str, Vec<&Pod>>, usize) = (BTreeMap::new(), 0);
        for pod in world.pods.iter().filter(|it| label(*it, labels::PART_OF) == self.set) {
            if pod.metadata.deletion_timestamp.is_some() {
                lingering += 1;
            } else {
                live.entry(label(pod, labels::POD_CLIQUE)).or_default().push(pod);
            }
        }
        differences.equal("number of terminating pods", lingering, self.lingering);
        for clique in live.keys().filter(|it| !self.cliques.contains_key(**it)) {
            differences.0.push(format!("pods of {clique}, which should not be"));
        }
        for (name, wanted) in &self.cliques {
            let pods = live.remove(name.as_str()).unwrap_or_default();
            let count = i32::try_from(pods.len()).unwrap_or(i32::MAX);
            differences.equal(&format!("number of pods of {name}"), count, wanted.replicas);
            let indices: BTreeSet<&str> = pods.iter().map(|it| label(*it, labels::POD_INDEX)).collect();
            differences.equal(&format!("number of indices of {name}"), indices.len(), pods.len());
            let owner = world.clique(name).ok().and_then(ResourceExt::uid);
            for pod in pods {
                self.check_pod(differences, name, wanted, owner.as_deref(), pod);
            }
        }
    }

    fn check_pod(
        &self,
        differences: &mut Differences,
        clique: &str,
        wanted: &WantedClique,
        owner: Option<&str>,
        pod: &Pod,
    ) {
        let name = pod.name_any();
        check_labels(differences, &name, pod, wanted);
        let spec = pod.spec.clone().unwrap_or_default();
        let index = label(pod, labels::POD_INDEX);
        differences.equal(
            &format!("host name of {name}"),
            spec.hostname.unwrap_or_default(),
            format!("{clique}-{index}"),
        );
        differences.equal(
            &format!("subdomain of {name}"),
            spec.subdomain.unwrap_or_default(),
            names::headless_service(&self.set, wanted.set_replica),
        );
        let owners: Vec<String> = pod.owner_references().iter().map(|it| it.uid.clone()).collect();
        differences.equal(&format!("owner of {name}"), owners.first().map(String::as_str), owner);
        differences.equal(&format!("gates of {name}"), spec.scheduling_gates.unwrap_or_default().len(), 0);
        let conditions = pod.status.clone().and_then(|it| it.conditions).unwrap_or_default();
        let ready = conditions.iter().any(|it| it.type_ == "Ready" && it.status == "True");
        differences.equal(&format!("readiness of {name}"), ready, true);
    }

    fn check_gangs(&self, world: &World, differences: &mut Differences) {
        for (name, groups) in &self.gangs {
            let Ok(gang) = world.gang(name) else { continue };
            let minima = gang.spec.pod_groups.iter().map(|it| (it.name.clone(), it.min_replicas)).collect();
            differences.equal(&format!("groups of gang {name}"), &minima, groups);
            for group in &gang.spec.pod_groups {
                let listed: BTreeSet<String> =
                    group.pod_references.iter().map(|it| it.name.clone()).collect();
                let of_clique = |it: &&Pod| {
                    label(*it, labels::POD_CLIQUE) == group.name && it.metadata.deletion_timestamp.is_none()
                };
                let pods = world.pods.iter().filter(of_clique).map(ResourceExt::name_any).collect();
                differences.equal(&format!("pods listed for {}", group.name), listed, pods);
            }
            let status = gang.status.clone().unwrap_or_default();
            for (type_, wanted) in
                [(INITIALIZED, "True"), (SCHEDULED, "True"), (READY, "True"), (UNHEALTHY, "False")]
            {
                differences.condition(&format!("gang {name}"), &status.conditions, type_, wanted);
            }
            differences.equal(&format!("phase of gang {name}"), status.phase.as_str(), phases::RUNNING);
        }
    }
}

fn check_labels<K: Resource>(differences: &mut Differences, name: &str, object: &K, wanted: &WantedClique) {
    let (group, group_replica) = match &wanted.group {
        Some((group, replica)) => (group.as_str(), replica.to_string()),
        None => ("", String::new()),
    };
    for (key, wanted) in [
        (labels::MANAGED_BY, labels::MANAGED_BY_VALUE),
        (labels::POD_GANG, wanted.gang.as_str()),
        (labels::BASE_POD_GANG, wanted.base.as_deref().unwrap_or_default()),
        (labels::SET_REPLICA_INDEX, wanted.set_replica.to_string().as_str()),
        (labels::SCALING_GROUP, group),
        (labels::SCALING_GROUP_REPLICA_INDEX, group_replica.as_str()),
    ] {
        differences.equal(&format!("label {key} of {name}"), label(object, key), wanted);
    }
}

impl Wanted {
    fn check_statuses(&self, world: &World, differences: &mut Differences) {
        for (name, wanted) in &self.cliques {
            if let Ok(clique) = world.clique(name) {
                self.check_clique_status(differences, clique, wanted);
            }
        }
        for (name, wanted) in &self.groups {
            let Ok(group) = world.group(name) else { continue };
            let status = group.status.clone().unwrap_or_default();
            let is = [status.replicas, status.scheduled_replicas, status.available_replicas];
            differences.equal(&format!("replicas, scheduled, available of {name}"), is, [*wanted; 3]);
            if self.is_current {
                differences.equal(&format!("updated of {name}"), status.updated_replicas, *wanted);
            }
            let generation = group.metadata.generation;
            differences.equal(&format!("generation of {name}"), status.observed_generation, generation);
            let type_ = conditions::min_available_breached::TYPE;
            differences.condition(name, &status.conditions, type_, "False");
        }
        let Ok(set) = world.set(&self.set) else {
            differences.0.push(format!("there is no set {}", self.set));
            return;
        };
        let status = set.status.clone().unwrap_or_default();
        let counts = [status.replicas, status.available_replicas];
        differences.equal("replicas, available of the set", counts, [self.replicas; 2]);
        if self.is_current {
            differences.equal("updated of the set", status.updated_replicas, self.replicas);
        }
        differences.equal("generation of the set", status.observed_generation, set.metadata.generation);
        differences.equal("errors of the set", status.last_errors.len(), 0);
        let all = &status.conditions;
        differences.condition("the set", all, conditions::available::TYPE, "True");
        differences.condition("the set", all, conditions::progressing::TYPE, "False");
        differences.condition("the set", all, conditions::REPLICA_FAILURE, "absent");
    }

    fn check_clique_status(&self, differences: &mut Differences, clique: &PodClique, wanted: &WantedClique) {
        let name = clique.name_any();
        let status = clique.status.clone().unwrap_or_default();
        let is = [
            status.replicas,
            status.scheduled_replicas,
            status.ready_replicas,
            status.schedule_gated_replicas,
        ];
        let replicas = wanted.replicas;
        let what = format!("replicas, scheduled, ready, gated of {name}");
        differences.equal(&what, is, [replicas, replicas, replicas, 0]);
        if self.is_current {
            differences.equal(&format!("updated of {name}"), status.updated_replicas, replicas);
        }
        differences.equal(
            &format!("generation of {name}"),
            status.observed_generation,
            clique.metadata.generation,
        );
        let all = &status.conditions;
        differences.condition(&name, all, conditions::pod_clique_scheduled::TYPE, "True");
        differences.condition(&name, all, conditions::min_available_breached::TYPE, "False");
        differences.condition(&name, all, conditions::REPLICA_FAILURE, "absent");
    }
}
