//! One pod: who owns it, which group it is in, and what is missing for its scheduler to know.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_runtime::{Outcome, WriteError};
use grove_scheduler::workload::{Group, Grouped, Told, WorkloadGroups};
use kube::api::DynamicObject;
use serde_json::Value;

use super::{
    Grouper,
    group_change::{self, GroupChange},
    metrics::Wrote,
    object_key::{KindName, ObjectKey, PodKey},
    objects::NotRead,
    owners::{Chain, owners_of, value_of},
    pod_change,
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
/// When something is tried again that nobody tells of.
const LATER: Duration = Duration::from_mins(1);
/// How often a plugin may ask for more.
const ROUNDS: usize = 8;

/// Why a pod is not grouped now.
struct Trouble {
    why: String,
    /// Whether only time can help.
    needs_time: bool,
}

impl Trouble {
    /// It stays so until something changes that is watched.
    fn lasting(why: String) -> Self {
        Self { why, needs_time: false }
    }
}

impl Grouper {
    /// Looks at a pod.
    pub(super) async fn reconcile(self: Arc<Self>, key: PodKey) -> Result<Outcome, WriteError> {
        let served = &self.schedulers[key.scheduler];
        let pod = served.pods.get(&key.namespace, &key.name);
        let pod = pod.filter(|it| !is_left_alone(it) && self.namespaces.has(&key.namespace));
        let (Some(pod), Some(ready)) = (pod, served.ready()) else {
            self.dependents.keep(&key, &BTreeSet::new());
            return Ok(Outcome::Done);
        };
        let mut look = Look { grouper: &self, key: &key, served, ready: &ready, read: BTreeSet::new() };
        let group = look.group(&pod).await;
        self.dependents.keep(&key, &look.read);
        let told = match group {
            Ok(Some((group, rule))) => {
                let of_group = (key.scheduler, key.namespace.clone(), group.name.clone());
                let told = self.tell(&key, &pod, &ready, group).await?;
                if told.is_ok() {
                    self.rules.used(of_group, rule.as_deref());
                }
                told
            }
            Ok(None) => return Ok(Outcome::Done),
            Err(trouble) => Err(trouble),
        };
        match told {
            Ok(outcome) => Ok(outcome),
            Err(trouble) => {
                self.metrics.warned(&served.name);
                self.warnings.of_pod(&pod, &trouble.why);
                Ok(if trouble.needs_time { Outcome::After(LATER) } else { Outcome::Done })
            }
        }
    }

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

    /// Tells the scheduler of the group, and the pod of the scheduler's group.
    async fn tell(
        &self,
        key: &PodKey,
        pod: &PodView,
        ready: &Ready,
        mut group: Group,
    ) -> Result<Result<Outcome, Trouble>, WriteError> {
        let Some(workloads) = ready.scheduler.workloads() else { return Ok(Ok(Outcome::Done)) };
        let value = pod.to_value();
        let name = workloads.object_name(&group, &value).to_owned();
        let (grouped, is_written) = {
            // Pods of one group are looked at at the same time: one of them writes it.
            let _turn = self.turns.of(&key.namespace, &name).lock().await;
            let existing = ready.groups.get(&key.namespace, &name);
            let existing = existing.map(|it| value_of(&it, &kind_of(ready)));
            if let Some(existing) = &existing {
                keep_place(&mut group.labels, existing, &self.settings.now());
            }
            let grouped = match workloads.render(&group, &value, existing.as_ref()) {
                Ok(Told::Grouped(grouped)) => without_marks(*grouped),
                Ok(Told::LeftAlone) => return Ok(Ok(Outcome::Done)),
                Err(error) => return Ok(Err(Trouble::lasting(error.0))),
            };
            let of_group = (key.scheduler, key.namespace.clone(), name.clone());
            if let Some(why) = self.refusals.of(&of_group, &grouped.object) {
                return Ok(Err(Trouble { why, needs_time: true }));
            }
            match self.write_group(key, ready, &grouped, existing.as_ref()).await {
                Ok(Some(is_written)) => (grouped, is_written),
                Ok(None) => return Ok(Ok(Outcome::Again)),
                Err(error) if error.is_refusal() => {
                    let why = error.to_string();
                    self.refusals.note(of_group, &grouped.object, &why);
                    return Ok(Err(Trouble { why, needs_time: true }));
                }
                Err(error) => return Err(error),
            }
        };
        let scheduler = &self.schedulers[key.scheduler].name;
        let mut remarks = group.remarks;
        remarks.extend(grouped.remarks.iter().cloned());
        self.warnings.of_group(scheduler, &key.namespace, &name, &group.owner, is_written, &remarks);
        if !grouped.pod_remarks.is_empty() {
            self.warnings.of_pod(pod, &grouped.pod_remarks.join("; "));
        }
        self.write_pod(key, pod, &grouped).await.map(Ok)
    }

    /// Makes the group's object what it should be, and says whether that took a write; `None` where somebody else was
    /// faster.
    async fn write_group(
        &self,
        key: &PodKey,
        ready: &Ready,
        grouped: &Grouped,
        existing: Option<&Value>,
    ) -> Result<Option<bool>, WriteError> {
        let (scheduler, namespace) = (&self.schedulers[key.scheduler].name, &key.namespace);
        let name = grouped.object["metadata"]["name"].as_str().unwrap_or_default();
        let (written, what) = match group_change::change(&grouped.object, existing) {
            None => return Ok(Some(false)),
            Some(GroupChange::Create(object)) => {
                (self.writer.create_kind(&ready.resource, namespace, &object).await, Wrote::NewGroup)
            }
            Some(GroupChange::Patch(patch)) => {
                (self.writer.patch_kind(&ready.resource, namespace, name, &patch).await, Wrote::Group)
            }
        };
        match written {
            Ok(object) => {
                self.metrics.wrote(scheduler, what);
                ready.groups.written(object);
                Ok(Some(true))
            }
            Err(error) if error.is_conflict() || error.is_already_exists() || error.is_not_found() => {
                match self.writer.get_kind(&ready.resource, namespace, name).await? {
                    Some(object) => drop(ready.groups.written(object)),
                    None if existing.is_none() => return Err(error),
                    None => {
                        let uid = existing.and_then(|it| it["metadata"]["uid"].as_str()).unwrap_or_default();
                        ready.groups.gone(namespace, name, uid);
                    }
                }
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    async fn write_pod(&self, key: &PodKey, pod: &PodView, grouped: &Grouped) -> Result<Outcome, WriteError> {
        let served = &self.schedulers[key.scheduler];
        let Some(patch) = pod_change::change(pod, grouped) else { return Ok(Outcome::Done) };
        match self.writer.patch::<PodView>(&key.namespace, &key.name, &patch).await {
            Ok(pod) => {
                self.metrics.wrote(&served.name, Wrote::Pod);
                served.pods.written(pod);
                Ok(Outcome::Done)
            }
            // It is gone, or another one has its name.
            Err(error) if error.is_not_found() => Ok(Outcome::Done),
            Err(error) if error.is_conflict() => Ok(Outcome::Again),
            Err(error) if error.is_refusal() => {
                self.warnings.of_pod(pod, &error.to_string());
                Ok(Outcome::After(LATER))
            }
            Err(error) => Err(error),
        }
    }
}

/// Pool and queue are those of the first day, whatever their labels are called: a group does not move.
fn keep_place(labels: &mut BTreeMap<String, String>, existing: &Value, settings: &Settings) {
    let Settings { node_pool_label: pool, queue_label: queue, .. } = settings;
    labels.remove(pool);
    for key in [pool, queue] {
        let before = existing["metadata"]["labels"].get(key).and_then(Value::as_str);
        labels.extend(before.map(|it| (key.clone(), it.to_owned())));
    }
}

/// Where a pod is its own owner, what it carries for its group's sake would be copied to the group, which would be written
/// a second time for it.
fn without_marks(mut grouped: Grouped) -> Grouped {
    if grouped.object["metadata"]["ownerReferences"][0]["kind"] != "Pod" {
        return grouped;
    }
    let Grouped { object, labels, annotations, .. } = &mut grouped;
    for (field, marks) in [("labels", labels), ("annotations", annotations)] {
        if let Some(copied) = object["metadata"][field].as_object_mut() {
            copied.retain(|key, _| !marks.contains_key(key));
        }
    }
    grouped
}

fn kind_of(ready: &Ready) -> KindName {
    KindName { api_version: ready.resource.api_version.clone(), kind: ready.resource.kind.clone() }
}

/// Pods that are on their way out need no place any more; some are none of our business.
fn is_left_alone(pod: &PodView) -> bool {
    pod.is_going() || pod.annotation(SKIP) == Some("true")
}

/// One look at a pod: what is read for its sake is noted.
struct Look<'a> {
    grouper: &'a Arc<Grouper>,
    key: &'a PodKey,
    served: &'a Served,
    ready: &'a Ready,
    read: BTreeSet<ObjectKey>,
}

impl Look<'_> {
    /// The group of the pod, and the rule that made it, if one did; `None` where the pod is to be left alone.
    async fn group(&mut self, pod: &PodView) -> Result<Option<(Group, Option<String>)>, Trouble> {
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
                    Err(NotRead::Forbidden) => Err(Trouble {
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
