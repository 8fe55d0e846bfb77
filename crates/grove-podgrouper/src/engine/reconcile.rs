//! One pod: a look at it, and then its scheduler is told of its group, and the pod of its place in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_runtime::{Outcome, WriteError, object_name::is_dns_subdomain};
use grove_scheduler::workload::{Group, Grouped, Told};
use serde_json::Value;
use tokio::time::timeout;

use super::{
    Grouper,
    group_change::{self, GroupChange},
    look::{Look, Trouble, is_left_alone, kind_of},
    metrics::Wrote,
    object_key::PodKey,
    owners::value_of,
    pod_change,
    pod_view::PodView,
    schedulers::Ready,
};
use crate::settings::Settings;

/// When something is tried again that nobody tells of.
const LATER: Duration = Duration::from_mins(1);
/// How long all reads for one pod may hold a worker.
const LOOK_DEADLINE: Duration = Duration::from_secs(20);

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
        // Many owners above one another, each of them slow, are no reason to hold a worker either.
        let group = timeout(LOOK_DEADLINE, look.group(&pod)).await.unwrap_or_else(|_| Err(Trouble::slow()));
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
        // Labels of users may be a part of it, and it becomes a part of a path.
        if !is_dns_subdomain(&name) {
            return Ok(Err(Trouble::lasting(format!("{name:?} cannot be the name of a group"))));
        }
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
            if let Some(mark) = workloads.pod_marks().undeclared(&grouped) {
                let why = format!("the scheduler backend puts {mark} on pods and does not declare it");
                return Ok(Err(Trouble::lasting(why)));
            }
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
