//! PodGangs: what they list, when they are complete, when the gates of their pods are lifted.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::StreamExt;
use grove_api::{
    constants::{annotations, labels},
    wire::{PodClique, PodCliqueSet, PodGang},
};
use grove_plan::{
    facts::Refusal,
    gang::{self, CliqueSeen, Growth, Seen as GangSeen, Told, Ungate},
    layout::{self, Place},
    status::{self, status_patch},
    topology::{Placement, Places, Topology, common_domain, preferred_keys},
};
use grove_runtime::{Lane, Outcome, WriteError};
use serde_json::{Value, json};
use tracing::info;

use super::{Grove, clique::gang_place, uid, version};
use crate::{
    error::Error,
    key::Key,
    seen::{PodView, joined, label},
};

/// Gates that are lifted at a time. A gang goes in one burst: the scheduler should see all of it at once.
const BURST: usize = 256;
/// Steps of a gang in one reconcile: fill in, tell the scheduler (again, where what was written shows something new),
/// initialise, lift gates, and one to see that all is done.
const STEPS: usize = 8;

/// Everything of a gang, read from the caches once.
pub(super) struct GangRead {
    set: Arc<PodCliqueSet>,
    gang: Arc<PodGang>,
    topology: Option<Topology>,
    topology_missing: bool,
    scaled: Option<(String, u32)>,
    replica: u32,
    cliques: BTreeMap<String, Option<CliqueRead>>,
    places: Places,
    home: Option<(String, String)>,
    may_go: bool,
    /// What there was to tell when it was read.
    turn: u64,
    /// Whether the scheduler was told, and why it was not when it was tried last.
    telling: (bool, Option<(&'static str, String)>),
}

struct CliqueRead {
    clique: Arc<PodClique>,
    pods: Vec<Arc<PodView>>,
    refusal: Option<Refusal>,
}

impl GangRead {
    /// A view for planning.
    pub(super) fn seen<'a>(&'a self, grove: &'a Grove) -> GangSeen<'a> {
        let cliques = self.cliques.iter().map(|(name, read)| {
            let seen = read.as_ref().map_or_else(CliqueSeen::default, |read| CliqueSeen {
                clique: Some(&read.clique),
                pods: read.pods.iter().map(|it| &it.fact).collect(),
                refusal: read.refusal.as_ref(),
            });
            (name.clone(), seen)
        });
        GangSeen {
            context: grove.context(&self.set),
            place: self.place(),
            gang: &self.gang,
            cliques: cliques.collect(),
            topology: self.topology.as_ref(),
            topology_missing: self.topology_missing,
            places: self.places.clone(),
            home: self.home.clone(),
            may_go: self.may_go,
            told: match &self.telling {
                (false, _) => Told::No,
                (true, None) => Told::Yes,
                (true, Some((reason, words))) => Told::Failed(reason, words),
            },
            growth: Growth::Held,
            pod_group: None,
            words: None,
        }
    }

    /// Why the scheduler was not told, also where that is tried again.
    pub(super) fn told_in_words(&self) -> Told<'_> {
        self.telling.1.as_ref().map_or(Told::Yes, |(reason, words)| Told::Failed(reason, words))
    }

    fn place(&self) -> Place<'_> {
        let replica = self.replica;
        match &self.scaled {
            None => Place::Base { replica },
            Some((group, group_replica)) => Place::Scaled { replica, group, group_replica: *group_replica },
        }
    }
}

/// Nodes of the pods that are bound.
fn nodes_of(cliques: &BTreeMap<String, Option<CliqueRead>>) -> impl Iterator<Item = &str> {
    let pods = cliques.values().flatten().flat_map(|it| &it.pods).map(|it| &it.fact);
    pods.filter(|it| it.is_live() && it.bound).map(|it| it.node.as_str())
}

impl Grove {
    pub(crate) async fn reconcile_gang(&self, key: Key) -> Result<Outcome, Error> {
        for _ in 0..STEPS {
            let Some(read) = self.read_gang(&key, true) else { return Ok(Outcome::Done) };
            // Everything is looked at when the backend was.
            if self.is_backend_unknown(&read.set, &read.gang) {
                return Ok(Outcome::Done);
            }
            let seen = read.seen(self);
            let pod_group = self.pod_group_name(&read.set, &read.gang, read.place());
            let seen = GangSeen { growth: self.growth(&seen), pod_group: pod_group.clone(), ..seen };
            let plan = gang::plan(&seen);
            let (namespace, name) = (&key.namespace, &key.name);
            if let Some(patch) = &plan.patch {
                self.patch(&self.seen.gangs.cache, namespace, name, patch).await?;
                // A patch without effect would lead here for ever.
                if self
                    .seen
                    .gangs
                    .cache
                    .get(namespace, name)
                    .is_none_or(|it| version(it.as_ref()) == version(read.gang.as_ref()))
                {
                    return Ok(Outcome::Done);
                }
                // Listeners may hear of it later than we look again.
                self.memory.untell(uid(read.gang.as_ref()));
            } else if plan.tell {
                self.tell_scheduler(&read.set, &read.gang, read.place(), read.turn).await?;
            } else if !plan.regroup.is_empty() {
                info!(gang = ?key, pods = plan.regroup.len(), "pods are given the group of the new PodGang");
                let patch =
                    json!({ "metadata": { "annotations": { annotations::POD_GROUP_NAME: pod_group } } });
                let patches = plan.regroup.into_iter().map(|pod| (pod, patch.clone())).collect();
                self.patch_pods(namespace, patches, BURST).await?;
            } else if plan.initialize {
                let status = status::gang(&seen, true, self.now());
                let patch = status_patch(read.gang.status.as_ref(), &status, version(read.gang.as_ref()));
                // Pods wait for this one; other statuses can wait for it.
                self.patch_status(&self.seen.gangs.cache, Some(Lane::Change), key.clone(), patch).await?;
                self.memory.status_written(uid(read.gang.as_ref()));
                self.count_stages(&read.set, &read.gang, &status);
                info!(gang = ?key, "all pods exist");
            } else if plan.ungate.is_empty() {
                return Ok(Outcome::Done);
            } else {
                info!(gang = ?key, pods = plan.ungate.len(), "lifting gates");
                self.ungate(namespace, &plan.ungate).await?;
            }
        }
        Ok(Outcome::Again)
    }

    /// `None` where there is nothing to decide: the gang is gone or going, or no clique of it exists yet.
    pub(super) fn read_gang(&self, key: &Key, with_base: bool) -> Option<GangRead> {
        let gang = self.seen.gangs.cache.get(&key.namespace, &key.name)?;
        // Before anything is read: what changes from now on has to be told again.
        let turn = self.memory.turn(uid(gang.as_ref()));
        let gang = self.seen.gangs.cache.get(&key.namespace, &key.name)?;
        let set = self.seen.set_of(&gang.metadata)?;
        if gang.metadata.deletion_timestamp.is_some() || set.metadata.deletion_timestamp.is_some() {
            return None;
        }
        let present = self.seen.cliques_by_gang.get(&joined(&key.namespace, &key.name));
        let first = present.iter().find(|it| self.seen.set_of(&it.metadata).is_some())?;
        let place = gang_place(&set, first)?;
        let zero = self.scaled_to_zero(&set, place);
        let wanted = layout::cliques_of(&set, place)?.into_iter().filter(|it| !zero.contains(&it.name));
        let cliques = wanted.map(|it| {
            let read = self.read_clique(&key.namespace, &it.name);
            (it.name, read)
        });
        let cliques: BTreeMap<String, Option<CliqueRead>> = cliques.collect();
        // All of it is scaled to zero: the gang is about to be deleted.
        if cliques.is_empty() {
            return None;
        }
        let (replica, scaled) = match place {
            Place::Base { replica } => (replica, None),
            Place::Scaled { replica, group, group_replica } => {
                (replica, Some((group.to_owned(), group_replica)))
            }
        };
        let base = label(&first.metadata, labels::BASE_POD_GANG);
        // Its group is about to write which base gang it follows; that wakes us.
        if scaled.is_some() && base.is_none() {
            return None;
        }
        let base = base.filter(|_| with_base && scaled.is_some());
        let base = base.map(|it| self.read_gang(&Key::new(key.namespace.clone(), it), false));
        // What was scaled out follows when the minima of the base gang are bound.
        let may_go = base
            .as_ref()
            .is_none_or(|it| it.as_ref().is_some_and(|base| gang::is_scheduled(&base.seen(self))));
        let topology = self.topology(&set);
        let topology_missing = topology.is_none() && self.names_topology(&set);
        let home = base.flatten().and_then(|base| self.home(&set, topology.as_ref(), &base));
        let places = self.places(nodes_of(&cliques), &preferred_keys(&gang));
        let telling = self.memory.telling(uid(gang.as_ref()));
        Some(GangRead {
            set,
            gang,
            topology,
            topology_missing,
            scaled,
            replica,
            cliques,
            places,
            home,
            may_go,
            turn,
            telling,
        })
    }

    fn read_clique(&self, namespace: &str, name: &str) -> Option<CliqueRead> {
        let clique = self.seen.cliques.cache.get(namespace, name)?;
        let pods = self.seen.pods_of(&clique);
        let refusal = self.memory.refusal(uid(clique.as_ref()));
        Some(CliqueRead { clique, pods, refusal })
    }

    /// Where a base gang is, if all of its set replica has to be in one domain. Where the topology does not exist any more,
    /// the base gang has noted by which node label.
    fn home(
        &self,
        set: &PodCliqueSet,
        topology: Option<&Topology>,
        base: &GangRead,
    ) -> Option<(String, String)> {
        let placement = topology.and_then(|it| Placement::of(set, it));
        let noted = base.gang.spec.topology_constraint.as_ref().filter(|_| base.topology_missing);
        let noted = noted.and_then(|it| it.pack_constraint.as_ref()?.required.as_deref());
        let key = placement.as_ref().and_then(Placement::of_replica).or(noted)?;
        let places = self.places(nodes_of(&base.cliques), &BTreeSet::from([key]));
        let domain = common_domain(nodes_of(&base.cliques), key, &places)?;
        Some((key.to_owned(), domain.to_owned()))
    }

    /// These labels of these nodes.
    fn places<'a>(&self, nodes: impl Iterator<Item = &'a str>, keys: &BTreeSet<&str>) -> Places {
        let mut places = Places::new();
        for node in nodes.filter(|_| !keys.is_empty()) {
            if !places.contains_key(node)
                && let Some(view) = self.seen.nodes.get("", node)
            {
                places.insert(node.to_owned(), view.labels_of(keys));
            }
        }
        places
    }

    async fn ungate(&self, namespace: &str, pods: &[Ungate]) -> Result<(), WriteError> {
        let patches = pods.iter().map(|pod| {
            let gates: Vec<_> = pod.remaining.iter().map(|name| json!({ "name": name })).collect();
            let gates = if gates.is_empty() { json!(null) } else { json!(gates) };
            let mut patch = json!({ "spec": { "schedulingGates": gates } });
            if let Some((key, value)) = &pod.node_selector {
                patch["spec"]["nodeSelector"] = json!({ key: value });
            }
            (pod.name.clone(), patch)
        });
        self.patch_pods(namespace, patches.collect(), BURST).await
    }

    /// Changes many pods, so many at a time. Those that are gone do not matter: whoever takes their place is made anew.
    pub(super) async fn patch_pods(
        &self,
        namespace: &str,
        patches: Vec<(String, Value)>,
        at_a_time: usize,
    ) -> Result<(), WriteError> {
        let mut answers = self
            .unless_stopping(patches)
            .map(|(name, patch)| {
                let namespace = namespace.to_owned();
                self.show(&self.seen.pods, move |writer| async move {
                    writer.patch::<PodView>(&namespace, &name, &patch).await
                })
            })
            .buffer_unordered(at_a_time);
        let mut failed = None;
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}
