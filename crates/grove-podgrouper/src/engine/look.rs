//! What is known of a pod: who owns it, what its plugin wants to know, and so which group it is in.

use std::{collections::BTreeSet, sync::Arc};

use grove_scheduler::workload::{Group, WorkloadGroups};
use kube::api::DynamicObject;
use serde_json::Value;

use super::{
    Grouper,
    object_key::{KindName, ObjectKey, PodKey},
    objects::NotRead,
    owners::{Chain, owners_of, value_of},
    pod_view::PodView,
    schedulers::{Ready, Served},
};
use crate::{
    names::group_name,
    plugin::{Found, Need},
    settings::Settings,
    workload::Workload,
};

/// Pods and owners with this are somebody else's business.
const SKIP: &str = "kai.scheduler/skip-podgrouper";
/// How often a plugin may ask for more.
const ROUNDS: usize = 8;

/// Why a pod is not grouped now.
pub(super) struct Trouble {
    pub(super) why: String,
    /// Whether only time can help.
    pub(super) needs_time: bool,
}

impl Trouble {
    /// It stays so until something changes that is watched.
    pub(super) fn lasting(why: String) -> Self {
        Self { why, needs_time: false }
    }

    /// What has to be known of it was not read in time.
    pub(super) fn slow() -> Self {
        let why = "the API server is too slow to tell which workload the pod is part of".to_owned();
        Self { why, needs_time: true }
    }
}

/// Pods that are on their way out need no place any more; some are none of our business.
pub(super) fn is_left_alone(pod: &PodView) -> bool {
    pod.is_going() || pod.annotation(SKIP) == Some("true")
}

/// Of which kind the groups of a scheduler are.
pub(super) fn kind_of(ready: &Ready) -> KindName {
    KindName { api_version: ready.resource.api_version.clone(), kind: ready.resource.kind.clone() }
}

impl Grouper {
    /// An owner. A pod may be one (the driver of a Spark application), and most are known.
    async fn owner(
        &self,
        key: &ObjectKey,
        uid: &str,
        settings: &Settings,
    ) -> Result<Arc<DynamicObject>, NotRead> {
        if key.kind.is_pod() {
            let pods = self.schedulers.iter().filter_map(|it| it.pods.get(&key.namespace, &key.name));
            if let Some(pod) = pods.into_iter().find(|it| it.uid() == uid) {
                return Ok(Arc::new(pod.to_object()));
            }
        }
        self.objects.read(key, Some(uid), &settings.rules).await
    }
}

/// One look at a pod: what is read for its sake is noted.
pub(super) struct Look<'a> {
    pub(super) grouper: &'a Arc<Grouper>,
    pub(super) key: &'a PodKey,
    pub(super) served: &'a Served,
    pub(super) ready: &'a Ready,
    pub(super) read: BTreeSet<ObjectKey>,
}

impl Look<'_> {
    /// The group of the pod, and the rule that made it, if one did; `None` where the pod is to be left alone.
    pub(super) async fn group(&mut self, pod: &PodView) -> Result<Option<(Group, Option<String>)>, Trouble> {
        let value = pod.to_value();
        let group = self.ready.scheduler.workloads().and_then(|it| it.group_of(&value));
        // Its user made the group, unless it is called as only we would call it.
        let is_of_user = |it: &str| it != group_name(pod.name(), pod.uid());
        if pod.owners().is_empty() && group.is_some_and(is_of_user) {
            return Ok(None);
        }
        let settings = self.grouper.settings.now();
        let chain = self.owners(pod, &settings).await?;
        if chain.owners.iter().any(|it| it.annotations.get(SKIP).is_some_and(|it| it == "true")) {
            return Ok(None);
        }
        let workload =
            Workload { pod: &value, top: chain.top.as_ref().unwrap_or(&value), owners: &chain.owners };
        let found = self.answers(workload, &settings).await?;
        let hub = &self.grouper.hub;
        let group = hub.group(workload, &found, &settings).map_err(|it| Trouble::lasting(it.0))?;
        let rule = hub.rule_of(workload, &found, &settings);
        Ok(group.map(|group| (in_node_pool(group, &value, &settings), rule)))
    }

    async fn owners(&mut self, pod: &PodView, settings: &Settings) -> Result<Chain, Trouble> {
        let (grouper, key) = (self.grouper, self.key);
        let read = &mut self.read;
        let chain = owners_of(pod, |object, uid| {
            // Before it is read: what changes from now on is told.
            grouper.dependents.add(key, &object);
            read.insert(object.clone());
            async move { grouper.owner(&object, &uid, settings).await }
        });
        chain.await.map_err(|it| Trouble { why: it.why, needs_time: it.needs_time })
    }

    /// All that the plugin wants to know.
    async fn answers(&mut self, workload: Workload<'_>, settings: &Settings) -> Result<Found, Trouble> {
        let mut found = Found::default();
        for _ in 0..ROUNDS {
            let needs =
                self.grouper.hub.needs(workload, &found, settings).map_err(|it| Trouble::lasting(it.0))?;
            let open: Vec<Need> = needs.into_iter().filter(|it| found.get(it).is_none()).collect();
            if open.is_empty() {
                return Ok(found);
            }
            for need in open {
                let answer = self.answer(&need, settings).await?;
                found.put(need, answer);
            }
        }
        Err(Trouble::lasting(format!("the plugin of the workload asked for more than {ROUNDS} times")))
    }

    async fn answer(&mut self, need: &Need, settings: &Settings) -> Result<Vec<Value>, Trouble> {
        let namespace = &self.key.namespace;
        match need {
            Need::Object { api_version, kind, name } => {
                let key = ObjectKey::new(api_version, kind, namespace, name);
                self.grouper.dependents.add(self.key, &key);
                self.read.insert(key.clone());
                match self.grouper.objects.read(&key, None, &settings.rules).await {
                    Ok(object) => Ok(vec![value_of(&object, &key.kind)]),
                    Err(NotRead::Absent | NotRead::NoKind) => Ok(Vec::new()),
                    Err(NotRead::Invalid(why)) => Err(Trouble::lasting(format!(
                        "the workload names an object that cannot exist: {why}"
                    ))),
                    Err(NotRead::Forbidden | NotRead::ClusterScoped) => Err(Trouble {
                        why: format!("{key} may not be read: give the pod grouper the right to"),
                        needs_time: true,
                    }),
                    Err(NotRead::Failed(why)) => {
                        Err(Trouble { why: format!("{key} cannot be read: {why}"), needs_time: true })
                    }
                }
            }
            Need::Pods(labels) => {
                let there = self.served.in_namespace.get(namespace);
                let has = |pod: &Arc<PodView>| {
                    let own = pod.metadata.labels.as_ref();
                    labels.iter().all(|(key, value)| own.and_then(|it| it.get(key)) == Some(value))
                };
                Ok(there.into_iter().filter(has).map(|it| it.to_value()).collect())
            }
            Need::Group(_) | Need::Groups(_) if !self.knows_older_groups() => Ok(Vec::new()),
            Need::Group(name) => {
                let there = self.ready.groups.get(namespace, name);
                Ok(there.iter().map(|it| self.group_value(it)).collect())
            }
            Need::Groups(prefix) => {
                let there = self.ready.in_namespace.get(namespace);
                let is_called = |it: &Arc<DynamicObject>| {
                    it.metadata.name.as_ref().is_some_and(|it| it.starts_with(prefix))
                };
                Ok(there.iter().filter(|it| is_called(it)).map(|it| self.group_value(it)).collect())
            }
        }
    }

    fn knows_older_groups(&self) -> bool {
        self.ready.scheduler.workloads().is_some_and(WorkloadGroups::knows_older_groups)
    }

    fn group_value(&self, group: &DynamicObject) -> Value {
        value_of(group, &kind_of(self.ready))
    }
}

/// A group goes where its pods go, unless it says otherwise.
fn in_node_pool(mut group: Group, pod: &Value, settings: &Settings) -> Group {
    let key = &settings.node_pool_label;
    if let Some(pool) = pod["metadata"]["labels"][key].as_str().filter(|_| !key.is_empty()) {
        group.labels.entry(key.clone()).or_insert_with(|| pool.to_owned());
    }
    group
}
