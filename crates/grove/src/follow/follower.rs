//! Watches a cluster.

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use futures::StreamExt;
use grove_api::{constants::labels, wire::PodGang};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, Client, Resource,
    core::NamespaceResourceScope,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use serde::de::DeserializeOwned;
use tokio::{sync::watch, task::JoinSet};

use super::{
    cache::{Cache, Change},
    snapshot::Snapshot,
};
use crate::cluster::causes;

/// Follows a cluster until it and all its clones are dropped. Each clone has its own [`Follower::changed`].
#[derive(Clone)]
pub struct Follower {
    state: watch::Receiver<State>,
    _tasks: Arc<JoinSet<()>>,
}

#[derive(Debug, Default)]
struct State {
    cache: Cache,
    /// Why watches fail, by the kind that they watch.
    problems: BTreeMap<String, String>,
}

impl Follower {
    /// Watches all nodes, and pods and PodGangs of this namespace, or of all. To be called inside a tokio runtime.
    pub fn start(client: Client, namespace: Option<&str>) -> Self {
        let (sender, state) = watch::channel(State::default());
        let sender = Arc::new(sender);
        let all = watcher::Config::default();
        // The server leaves out the pods of others.
        let of_cliques = all.clone().labels(labels::POD_CLIQUE);
        let mut tasks = JoinSet::new();
        let nodes: Api<Node> = Api::all(client.clone());
        tasks.spawn(run(nodes, all.clone(), Change::Node, Arc::clone(&sender)));
        let pods: Api<Pod> = api(client.clone(), namespace);
        tasks.spawn(run(pods, of_cliques, Change::Pod, Arc::clone(&sender)));
        let gangs: Api<PodGang> = api(client, namespace);
        tasks.spawn(run(gangs, all, Change::Gang, sender));
        Self { state, _tasks: Arc::new(tasks) }
    }

    /// Resolves when something has changed since the last call; several changes count as one.
    pub async fn changed(&mut self) {
        // The tasks that send end only with the runtime.
        if self.state.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Resolves when nodes, pods and PodGangs were listed once.
    pub async fn synced(&mut self) {
        while !self.state.borrow_and_update().cache.is_synced() {
            self.changed().await;
        }
        self.state.mark_changed();
    }

    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        self.state.borrow().cache.snapshot()
    }

    /// Why the cluster cannot be watched, where that is so. It is tried again.
    pub fn problem(&self) -> Option<String> {
        let state = self.state.borrow();
        state.problems.iter().map(|(kind, why)| format!("{kind}: {why}")).next()
    }
}

impl Debug for Follower {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Follower").field("state", &*self.state.borrow()).finish_non_exhaustive()
    }
}

fn api<K>(client: Client, namespace: Option<&str>) -> Api<K>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    match namespace {
        Some(namespace) => Api::namespaced(client, namespace),
        None => Api::all(client),
    }
}

async fn run<K>(
    api: Api<K>,
    config: watcher::Config,
    wrap: fn(Event<K>) -> Change,
    state: Arc<watch::Sender<State>>,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let kind = K::kind(&()).into_owned();
    let mut events = watcher(api, config).default_backoff().boxed();
    while let Some(event) = events.next().await {
        state.send_if_modified(|state| match event {
            Ok(event) => {
                let had_problem = state.problems.remove(&kind).is_some();
                state.cache.apply(wrap(event)) || had_problem
            }
            Err(error) => {
                let why = causes(&error);
                let before = state.problems.insert(kind.clone(), why.clone());
                before != Some(why)
            }
        });
    }
}

#[cfg(test)]
mod tests;
