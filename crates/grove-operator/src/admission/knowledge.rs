//! What admission knows of the cluster besides the object: the configuration, and the operator's caches.

use std::sync::Arc;

use grove_api::{
    config::Loaded,
    constants::{annotations, labels, webhooks},
    size::{CliqueBytes, clique_bytes},
    validation::{Environment, Scheduler, Schedulers},
    wire::{PodClique, PodCliqueSet},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    allotment::Wanted,
    facts::index_label,
    layout::{clique_replicas, count, group_minimum, group_named, place_of, set_name},
};
use kube::Client;
use serde_json::Value;

use super::{
    desk::SCALING,
    live::{self, Lookup},
    review::{Operation, Request},
    scaling::{Scaled, ScaledSet},
    scheduling::{Scheduling, named, scheduling},
};
use crate::{
    controllers::Grove,
    seen::{joined, label},
};

/// Everything that one decision may depend on besides the request.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// What the rules know.
    pub environment: Environment,
    /// The set that the object says it is part of.
    pub owner: Owner,
    /// The scheduler of the set that the request is about.
    pub scheduling: Scheduling,
    /// What is known of the set, clique or group that is scaled.
    pub scaled: Scaled,
}

/// The set that a managed object is part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// There is none of this name.
    #[default]
    Absent,
    /// It protects its children.
    Protects,
    /// It does not, by its annotation.
    LetsGo,
}

/// Where snapshots come from. One is taken for each request, without waiting.
pub trait Knowledge: Send + Sync {
    /// What is known now and concerns the request.
    fn snapshot(&self, path: &str, request: &Request) -> Snapshot;

    /// Asks the API server for the topology of this name. Only before a set is refused because nobody knows it.
    fn look_up<'a>(&'a self, _topology: &'a str) -> Lookup<'a> {
        Box::pin(std::future::ready(None))
    }
}

/// A fixed knowledge, for tests.
impl Knowledge for Snapshot {
    fn snapshot(&self, _: &str, _: &Request) -> Snapshot {
        self.clone()
    }
}

/// The operator's caches and configuration.
pub(crate) struct Cluster {
    grove: Arc<Grove>,
    client: Client,
    schedulers: Schedulers,
    topology_aware: bool,
    default_topology: Option<String>,
    mnnvl: bool,
}

impl Cluster {
    pub(crate) fn new(grove: Arc<Grove>, client: Client, loaded: &Loaded) -> Self {
        let active = loaded.profiles.active().iter();
        let active =
            active.map(|it| Scheduler { name: it.name.clone(), topology_aware: it.topology_aware }).collect();
        Self {
            grove,
            client,
            schedulers: Schedulers { default: loaded.profiles.default_name().to_owned(), active },
            topology_aware: loaded.config.topology_aware(),
            default_topology: loaded.config.default_topology().map(str::to_owned),
            mnnvl: loaded.config.network.auto_mnnvl_enabled,
        }
    }

    fn environment(&self) -> Environment {
        let topologies = &self.grove.seen.topologies;
        // Asked before the list: what comes between is then known, and no topology is denied that exists.
        let kueue = &self.grove.seen.kueue;
        let all_topologies_known = topologies.is_synced() && kueue.topologies.is_synced();
        let levels = |it: &grove_api::wire::ClusterTopologyBinding| {
            (it.metadata.name.clone().unwrap_or_default(), it.spec.levels.clone())
        };
        Environment {
            schedulers: Some(self.schedulers.clone()),
            topology_aware: Some(self.topology_aware),
            default_topology: self.default_topology.clone(),
            topologies: topologies.list().iter().map(|it| levels(it)).collect(),
            kueue_topologies: kueue
                .list()
                .into_iter()
                .map(|it| (it.metadata.name.unwrap_or_default(), it.spec.levels()))
                .collect(),
            all_topologies_known,
            mnnvl: Some(self.mnnvl),
        }
    }

    fn owner(&self, request: &Request) -> Owner {
        let Some(name) = part_of(request.subject()) else { return Owner::Absent };
        // Not known yet is not the same as absent.
        if !self.grove.seen.sets.is_synced() {
            return Owner::Protects;
        }
        let Some(set) = self.grove.seen.sets.get(&request.namespace, name) else { return Owner::Absent };
        let annotations = set.metadata.annotations.as_ref();
        let value = annotations.and_then(|it| it.get(annotations::DISABLE_PROTECTION));
        if value.is_some_and(|it| it == "true") { Owner::LetsGo } else { Owner::Protects }
    }

    /// The scheduler of the set, now and before.
    fn scheduling(&self, request: &Request) -> Scheduling {
        let backends = &self.grove.backends;
        let kept = match request.operation {
            Operation::Create => None,
            // Not known yet is not the same as none.
            Operation::Update if self.grove.seen.gangs.cache.is_synced() => self.scheduler_of_gangs(request),
            _ => return Scheduling::NotKnown,
        };
        let name_of =
            |set| named(set).or(kept.as_deref()).unwrap_or_else(|| backends.default_name()).to_owned();
        let name = name_of(&request.object);
        let before = (request.operation == Operation::Update).then(|| name_of(&request.old_object));
        scheduling(&name, before.as_deref(), &backends.readiness(&name))
    }

    /// The set, clique or group that is scaled, as far as it is known.
    fn scaled(&self, path: &str, request: &Request) -> Scaled {
        let (seen, namespace, name) = (&self.grove.seen, &request.namespace, &request.name);
        if path == webhooks::SET_SCALE.path {
            let set = seen.sets.get(namespace, name);
            let replica_bytes = set.map(|it| clique_bytes(&it.spec.template));
            return Scaled { replica_bytes, ..Scaled::default() };
        }
        let autoscaler = seen.autoscalers.cache.get(namespace, name);
        let autoscaler = autoscaler.map(|it| (it.spec.min_replicas.unwrap_or(1), it.spec.max_replicas));
        let clique = seen.cliques.cache.get(namespace, name);
        let Some(clique) = clique.filter(|_| path == webhooks::CLIQUE_VALIDATING.path) else {
            let set = self.scaled_set(namespace, name).filter(|_| path == webhooks::GROUP_VALIDATING.path);
            return Scaled { autoscaler, set, ..Scaled::default() };
        };
        let group = label(&clique.metadata, labels::SCALING_GROUP).map(str::to_owned);
        let of_group = group.as_ref().map(|it| seen.cliques_by_group.get(&joined(namespace, it)));
        let is_sibling = |it: &&Arc<PodClique>| {
            it.spec.role_name == clique.spec.role_name && it.metadata.uid != clique.metadata.uid
        };
        let sized = |it: &Arc<PodClique>| {
            (it.metadata.name.clone().unwrap_or_default(), it.spec.replicas.unwrap_or_default())
        };
        let siblings = of_group.iter().flatten().filter(is_sibling).map(sized).collect();
        let template = seen.set_of(&clique.metadata).and_then(|set| {
            let place = place_of(&set, &clique)?;
            i32::try_from(clique_replicas(place.template)).ok()
        });
        Scaled {
            template: template.filter(|_| group.is_some()),
            group,
            siblings,
            autoscaler,
            ..Scaled::default()
        }
    }

    /// The set of a scaling group.
    fn scaled_set(&self, namespace: &str, name: &str) -> Option<ScaledSet> {
        let seen = &self.grove.seen;
        let group = seen.groups.cache.get(namespace, name)?;
        let set = seen.set_of(&group.metadata)?;
        let replica = index_label(group.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX)?;
        let config = group_named(&set, replica, name)?;
        let groups = seen.groups.of_owner(&OwnerKey::of(set.as_ref()));
        let groups = groups.iter().map(|it| (it.metadata.name.as_deref().unwrap_or_default(), it.as_ref()));
        let (minimum, members) = (group_minimum(config), config.clique_names.len() as u64);
        let further = u64::from(count(group.spec.replicas).saturating_sub(minimum));
        let all = Wanted::of(&set, &groups.collect());
        let at = set.spec.template.scaling_groups.iter().position(|it| it.name == config.name);
        let bytes = CliqueBytes::of(&set.spec.template).members;
        let member_bytes = at.and_then(|at| bytes.get(at)).copied().unwrap_or_default();
        let others = |all: u64, each: u64| all.saturating_sub(further.saturating_mul(each));
        Some(ScaledSet {
            name: set_name(&set).to_owned(),
            others: others(all.cliques, members),
            other_bytes: others(all.bytes, member_bytes),
            minimum,
            members,
            member_bytes,
        })
    }

    /// A set that names no scheduler stays with the one that its gangs have, whatever the default is now.
    fn scheduler_of_gangs(&self, request: &Request) -> Option<String> {
        let uid = request.old_object.pointer("/metadata/uid")?.as_str()?;
        let set = OwnerKey::of_kind::<PodCliqueSet>(&request.namespace, uid);
        let gangs = self.grove.seen.gangs.of_owner(&set);
        gangs.iter().find_map(|it| label(&it.metadata, labels::SCHEDULER_NAME)).map(str::to_owned)
    }
}

impl Knowledge for Cluster {
    fn snapshot(&self, path: &str, request: &Request) -> Snapshot {
        match path {
            _ if path == webhooks::AUTHORIZER.path => {
                Snapshot { owner: self.owner(request), ..Snapshot::default() }
            }
            _ if path == webhooks::SET_VALIDATING.path => Snapshot {
                environment: self.environment(),
                scheduling: self.scheduling(request),
                ..Snapshot::default()
            },
            _ if SCALING.contains(&path) => {
                Snapshot { scaled: self.scaled(path, request), ..Snapshot::default() }
            }
            _ => Snapshot { environment: self.environment(), ..Snapshot::default() },
        }
    }

    fn look_up<'a>(&'a self, topology: &'a str) -> Lookup<'a> {
        Box::pin(live::read(self.client.clone(), self.grove.seen.kueue.resource(), topology))
    }
}

/// The set that an object says it is part of.
pub(super) fn part_of(object: &Value) -> Option<&str> {
    object.get("metadata")?.get("labels")?.get(labels::PART_OF)?.as_str()
}
