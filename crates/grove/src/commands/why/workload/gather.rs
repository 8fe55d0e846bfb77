//! From the objects of a cluster to facts, with the eyes of the schedulers' backends.

use std::collections::{BTreeMap, BTreeSet};

use grove_scheduler::{Registry, SchedulerBackend, workload::GroupReader};
use k8s_openapi::api::core::v1::Pod;
use kube::core::ApiResource;
use serde_json::Value;

use super::{
    super::{facts::refusal, nodes::Node},
    facts::{Asked, Facts, Found, Group, GroupKey, Member},
    kind::full_name,
};

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) namespace: String,
    pub(super) asked: Asked,
    /// Each with whether it belongs to what was asked about.
    pub(super) pods: Vec<(Pod, bool)>,
    /// By the name of the backend that reads them.
    pub(super) groups: BTreeMap<String, Listed>,
    /// What the pod grouper warned of last, by the UID of the pod.
    pub(super) warnings: BTreeMap<String, String>,
    pub(super) nodes: Option<Vec<Node>>,
    pub(super) notes: Vec<String>,
}

/// The groups of one kind that matter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Listed {
    Objects(Vec<Value>),
    /// They may not be read: why.
    Refused(String),
}

impl Listed {
    /// By the scheduler and their names.
    pub(super) fn by_name<'a>(
        &'a self,
        scheduler: &'a str,
    ) -> impl Iterator<Item = ((&'a str, &'a str), &'a Value)> + use<'a> {
        let list = match self {
            Self::Objects(list) => list.as_slice(),
            Self::Refused(_) => &[],
        };
        list.iter().map(move |it| ((scheduler, name(it)), it))
    }
}

/// Who reads the group of a pod.
#[derive(Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) scheduler: &'a str,
    pub(super) reader: &'a dyn GroupReader,
}

/// All backends that can read groups.
pub(super) fn readers(registry: &Registry) -> impl Iterator<Item = Reading<'_>> {
    let all = registry.all().iter();
    all.filter_map(|it| Some(Reading { scheduler: it.name(), reader: SchedulerBackend::groups(&**it)? }))
}

/// The backend of the pod's scheduler; of one that goes by another name, the one whose group the pod names.
pub(super) fn reading<'a>(registry: &'a Registry, pod: &Pod) -> Option<Reading<'a>> {
    let name = scheduler(pod);
    readers(registry)
        .find(|it| it.scheduler == name)
        .or_else(|| readers(registry).find(|it| it.reader.group_of(pod).is_some()))
}

/// The group that a pod names.
pub(super) fn key(registry: &Registry, pod: &Pod) -> Option<GroupKey> {
    let Reading { scheduler, reader } = reading(registry, pod)?;
    let name = reader.group_of(pod)?.to_owned();
    Some(GroupKey { scheduler: scheduler.to_owned(), name })
}

fn scheduler(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|it| it.scheduler_name.as_deref()).unwrap_or_default()
}

impl Facts {
    pub(super) fn of(objects: Objects, registry: &Registry) -> Self {
        let Objects { namespace, asked, pods, groups, warnings, nodes, notes } = objects;
        let mut facts = Self { namespace, asked, nodes, notes, ..Self::default() };
        for Reading { scheduler, reader } in readers(registry) {
            let Some(Listed::Objects(list)) = groups.get(scheduler) else { continue };
            facts.groups.extend(list.iter().map(|object| {
                let found = Found::Seen(Box::new(reader.read(object)));
                group(scheduler, reader, name(object), found)
            }));
        }
        let mut known: BTreeSet<GroupKey> = facts.groups.iter().map(|it| it.key.clone()).collect();
        let seen: BTreeMap<(&str, &str), &Value> =
            groups.iter().flat_map(|(of, it)| it.by_name(of)).collect();
        for (pod, is_asked) in pods {
            let own = reading(registry, &pod);
            let key = key(registry, &pod);
            if let (Some(own), Some(key)) = (own, &key)
                && known.insert(key.clone())
            {
                let found = match groups.get(own.scheduler) {
                    Some(Listed::Refused(why)) => Found::Unread(why.clone()),
                    _ => Found::Gone,
                };
                facts.groups.push(group(own.scheduler, own.reader, &key.name, found));
            }
            let object = key.as_ref().and_then(|it| seen.get(&(it.scheduler.as_str(), it.name.as_str())));
            let part = own.zip(object).and_then(|(own, object)| own.reader.part_of(object, &pod));
            facts.members.push(Member {
                is_asked,
                scheduler: scheduler(&pod).to_owned(),
                placed_alone: own.map(|it| it.reader.places_alone()),
                words: refusal(&pod)
                    .map(|words| own.map_or_else(|| words.to_owned(), |it| it.reader.readable(words))),
                warning: pod.metadata.uid.as_ref().and_then(|it| warnings.get(it)).cloned(),
                group: key,
                part,
                pod,
            });
        }
        facts
    }
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

fn group(scheduler: &str, reader: &dyn GroupReader, name: &str, found: Found) -> Group {
    let resource: ApiResource = reader.resource();
    Group {
        key: GroupKey { scheduler: scheduler.to_owned(), name: name.to_owned() },
        resource: full_name(&resource),
        waits_for_gated: reader.waits_for_gated(),
        found,
    }
}
