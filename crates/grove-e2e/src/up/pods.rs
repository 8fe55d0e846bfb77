//! The pods of a namespace as they change.

use std::collections::BTreeMap;

use futures::{StreamExt, stream::BoxStream};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event},
    },
};

use super::view::PodView;

/// Pods, followed by a watch.
pub(super) struct Pods {
    events: BoxStream<'static, watcher::Result<Event<Pod>>>,
    now: BTreeMap<String, PodView>,
    coming: BTreeMap<String, PodView>,
}

impl Pods {
    pub(super) fn follow(client: Client, namespace: &str) -> Self {
        let api: Api<Pod> = Api::namespaced(client, namespace);
        let events = watcher::watcher(api, watcher::Config::default()).default_backoff().boxed();
        Self { events, now: BTreeMap::new(), coming: BTreeMap::new() }
    }

    /// All pods as they are after the next change. May be dropped while it waits.
    pub(super) async fn next(&mut self) -> Vec<PodView> {
        loop {
            // A watch that fails is tried again, and never ends.
            let Some(Ok(event)) = self.events.next().await else { continue };
            match event {
                Event::Init => self.coming.clear(),
                Event::InitApply(pod) => put(&mut self.coming, &pod),
                Event::InitDone => {
                    self.now = std::mem::take(&mut self.coming);
                    return self.now();
                }
                Event::Apply(pod) => {
                    put(&mut self.now, &pod);
                    return self.now();
                }
                Event::Delete(pod) => {
                    self.now.remove(&pod.name_any());
                    return self.now();
                }
            }
        }
    }

    /// All pods as they are.
    pub(super) fn now(&self) -> Vec<PodView> {
        self.now.values().cloned().collect()
    }
}

fn put(pods: &mut BTreeMap<String, PodView>, pod: &Pod) {
    match PodView::of(pod) {
        Some(view) => drop(pods.insert(pod.name_any(), view)),
        None => drop(pods.remove(&pod.name_any())),
    }
}
