//! Asks a cluster about a workload. Only by lists of one namespace, page by page: who may only read may do that.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use grove_scheduler::Registry;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::{
    Api,
    api::ListParams,
    core::{ApiResource, DynamicObject},
};

use super::{
    super::{
        facts::{node, refusal},
        nodes,
    },
    belonging::{self, KindName, MAX_DEPTH, Owners},
    discover,
    facts::{Asked, Facts, GroupKey},
    gather::{Listed, Objects, key, readers, reading},
    kind::{Served, full_name},
    pages::{cut_short, pages, slim},
};
use crate::{
    cluster::{Cluster, causes},
    commands::kinds::closest_to,
};

/// Kinds of owners that are asked for.
const MAX_KINDS: usize = 32;
/// The event of a pod grouper, KAI's or Grove's, that cannot group a pod.
const WARNING: &str = "PodGrouperWarning";

/// Who is asked, and about which namespace.
pub(super) struct Place<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) namespace: &'a str,
}

impl Place<'_> {
    /// The object that was asked about; `None` where there is none.
    pub(super) async fn asked(&self, kind: &str, name: &str) -> io::Result<Option<Asked>> {
        let Served { resource, namespaced } = discover::meant(self.cluster, kind).await?;
        let full = full_name(&resource);
        if !namespaced {
            return Err(io::Error::other(format!(
                "{full} have no namespace: they are no workload with pods"
            )));
        }
        let params = ListParams::default().fields(&format!("metadata.name={name}"));
        let list = self.dynamic(&resource).list(&params).await.map_err(|it| self.failure(&full, &it))?;
        Ok(list.items.into_iter().next().map(|it| Asked::of(&resource, &it)))
    }

    /// The name of an object of a kind that is most like `name`.
    pub(super) async fn similar(&self, kind: &str, name: &str) -> Option<String> {
        let served = discover::meant(self.cluster, kind).await.ok()?;
        closest_to(&self.dynamic(&served.resource), name).await
    }

    /// All that is known of it.
    pub(super) async fn facts(&self, asked: Asked, registry: &Registry) -> io::Result<Facts> {
        let mut objects = Objects { namespace: self.namespace.to_owned(), ..Objects::default() };
        let pods = self.pods(&mut objects.notes).await?;
        let owners =
            if asked.is_pod() { Owners::new() } else { self.owners(&pods, &asked, &mut objects.notes).await };
        let is_mine = |pod: &Pod| {
            let is_group = reading(registry, pod).is_some_and(|it| is_called(&asked, &it.reader.resource()))
                && key(registry, pod).is_some_and(|it| it.name == asked.name);
            is_group || belonging::belongs(pod, &asked.uid, &owners)
        };
        objects.pods = pods
            .into_iter()
            .map(|it| {
                let mine = is_mine(&it);
                (it, mine)
            })
            .collect();
        self.groups(&asked, registry, &mut objects).await?;
        // The others of these groups are members too; the rest is nobody's business.
        let groups = &objects.groups;
        let known: BTreeSet<(&str, &str)> =
            groups.iter().flat_map(|(of, it)| it.by_name(of)).map(|it| it.0).collect();
        objects.pods.retain(|(pod, is_mine)| {
            let is_known = |it: GroupKey| known.contains(&(it.scheduler.as_str(), it.name.as_str()));
            *is_mine || key(registry, pod).is_some_and(is_known)
        });
        objects.asked = asked;
        let is_lost = |pod: &Pod| node(pod).is_none() && key(registry, pod).is_none();
        if objects.pods.iter().any(|(pod, _)| is_lost(pod)) {
            objects.warnings = self.warnings(&mut objects.notes).await?;
        }
        if objects.pods.iter().any(|(pod, _)| node(pod).is_none() && refusal(pod).is_some()) {
            objects.nodes = nodes::read(self.cluster).await?;
        }
        Ok(Facts::of(objects, registry))
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = kube::core::NamespaceResourceScope>,
    {
        Api::namespaced(self.cluster.client.clone(), self.namespace)
    }

    fn dynamic(&self, resource: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.cluster.client.clone(), self.namespace, resource)
    }

    async fn pods(&self, notes: &mut Vec<String>) -> io::Result<Vec<Pod>> {
        let mut pods = Vec::new();
        let api = self.api::<Pod>();
        let keep = |it| pods.push(slim(it));
        let all = pages(ListParams::default(), async |it| api.list(&it).await, keep).await;
        if !all.map_err(|it| self.failure("pods", &it))? {
            notes.push(cut_short("pods"));
        }
        Ok(pods)
    }

    /// Owners of pods, level by level. One list for each kind, however many objects there are; a kind that may not be
    /// read leads nowhere.
    async fn owners(&self, pods: &[Pod], asked: &Asked, notes: &mut Vec<String>) -> Owners {
        let mut owners = Owners::new();
        let mut tried: BTreeSet<KindName> = BTreeSet::new();
        for _ in 0..MAX_DEPTH {
            let kinds: Vec<KindName> =
                belonging::unknown(pods, &asked.uid, &owners).difference(&tried).cloned().collect();
            if kinds.is_empty() {
                break;
            }
            for kind in kinds {
                if tried.len() >= MAX_KINDS {
                    notes.push(format!(
                        "pods have owners of more than {MAX_KINDS} kinds: not all were looked at"
                    ));
                    return owners;
                }
                if let Some(Served { resource, namespaced: true }) =
                    discover::named(&self.cluster.client, &kind.0, &kind.1).await
                {
                    self.owners_of(&resource, &mut owners, notes).await;
                }
                tried.insert(kind);
            }
        }
        owners
    }

    async fn owners_of(&self, resource: &ApiResource, owners: &mut Owners, notes: &mut Vec<String>) {
        let api = self.dynamic(resource);
        let keep = |it: kube::core::PartialObjectMeta<DynamicObject>| {
            let references = it.metadata.owner_references.unwrap_or_default();
            owners.insert(it.metadata.uid.unwrap_or_default(), references);
        };
        let name = full_name(resource);
        match pages(ListParams::default(), async |it| api.list_metadata(&it).await, keep).await {
            Ok(true) => {}
            Ok(false) => notes.push(cut_short(&name)),
            Err(error) => notes.push(format!(
                "{name} could not be read, so that pods behind them are not counted: {}",
                said(&error)
            )),
        }
    }

    /// Groups that the pods name, or that belong to what was asked about. What is not served is nobody's.
    async fn groups(&self, asked: &Asked, registry: &Registry, objects: &mut Objects) -> io::Result<()> {
        let mine = objects.pods.iter().filter(|it| it.1).filter_map(|it| key(registry, &it.0));
        let wanted: BTreeSet<(String, String)> = mine.map(|it| (it.scheduler, it.name)).collect();
        for it in readers(registry) {
            let resource = it.reader.resource();
            let own: Vec<&str> =
                wanted.iter().filter(|key| key.0 == it.scheduler).map(|key| key.1.as_str()).collect();
            let mut params = ListParams::default();
            if asked.is_pod() {
                let [only] = own.as_slice() else { continue };
                params = params.fields(&format!("metadata.name={only}"));
            }
            let mut kept = Vec::new();
            let keep = |group: DynamicObject| {
                let name = group.metadata.name.as_deref().unwrap_or_default();
                let mut owners = group.metadata.owner_references.iter().flatten();
                let is_of_asked = owners.any(|it| it.uid == asked.uid)
                    || group.metadata.uid.as_deref() == Some(asked.uid.as_str());
                if (is_of_asked || own.binary_search(&name).is_ok())
                    && let Ok(value) = serde_json::to_value(&group)
                {
                    kept.push(value);
                }
            };
            let api = self.dynamic(&resource);
            let name = full_name(&resource);
            let listed = match pages(params, async |it| api.list(&it).await, keep).await {
                Ok(is_all) => {
                    if !is_all {
                        objects.notes.push(cut_short(&name));
                    }
                    Listed::Objects(kept)
                }
                Err(kube::Error::Api(status)) if status.code == 404 => {
                    Listed::Refused(format!("the cluster does not serve {name}"))
                }
                Err(kube::Error::Api(status)) if status.code == 403 => {
                    Listed::Refused(status.message.clone())
                }
                Err(error) => return Err(self.failure(&name, &error)),
            };
            objects.groups.insert(it.scheduler.to_owned(), listed);
        }
        Ok(())
    }

    /// The last warning about each pod.
    async fn warnings(&self, notes: &mut Vec<String>) -> io::Result<BTreeMap<String, String>> {
        let mut newest: BTreeMap<String, (String, String)> = BTreeMap::new();
        let keep = |event: Event| {
            let last = event.last_timestamp.map(|it| it.0.to_string());
            let time = last.or_else(|| event.event_time.map(|it| it.0.to_string())).unwrap_or_default();
            let uid = event.involved_object.uid.unwrap_or_default();
            let entry = newest.entry(uid).or_default();
            if entry.0 <= time {
                *entry = (time, event.message.unwrap_or_default());
            }
        };
        let api = self.api::<Event>();
        let params = ListParams::default().fields(&format!("reason={WARNING}"));
        match pages(params, async |it| api.list(&it).await, keep).await {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.code == 403 => {
                notes.push(format!("the pod grouper's warnings could not be read: {}", status.message));
            }
            Err(error) => return Err(self.failure("events", &error)),
        }
        Ok(newest.into_iter().map(|(uid, (_, message))| (uid, message)).collect())
    }

    fn failure(&self, what: &str, error: &kube::Error) -> io::Error {
        let server = &self.cluster.server;
        io::Error::other(match error {
            kube::Error::Api(status) => format!("{server}: {what}: {}", status.message),
            other => format!("cannot reach {server}: {}", causes(other)),
        })
    }
}

fn said(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => causes(other),
    }
}

fn is_called(asked: &Asked, resource: &ApiResource) -> bool {
    asked.kind == resource.kind && asked.api_version.split_once('/').is_some_and(|it| it.0 == resource.group)
}

#[cfg(test)]
mod tests;
