//! Kueue's Topologies: watched where the cluster has them, in the newest version that it serves. Kueue may be installed
//! and removed while the operator runs.

use std::{sync::Arc, time::Duration};

use grove_api::wire::KueueTopology;
use grove_runtime::{Cache, inform};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
    core::GroupVersionKind,
    runtime::watcher,
};
use parking_lot::RwLock;
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use grove_probe::is_served;

use crate::seen::prune;

/// After a change of the definition: discovery follows it with a delay.
const LOOKS: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(10)];
/// Pause before the API server is asked again when it did not answer.
const RETRY: Duration = Duration::from_secs(5);

/// What the cluster has of Kueue's Topologies.
#[derive(Clone)]
pub(crate) struct Kueue {
    pub(crate) topologies: Cache<DynamicObject>,
    /// The version that is served.
    resource: Arc<RwLock<Option<ApiResource>>>,
    /// Raised when the definition comes, goes or changes.
    pub(crate) doubt: Arc<Notify>,
}

impl Kueue {
    pub(crate) fn new(topologies: Cache<DynamicObject>) -> Self {
        Self { topologies, resource: Arc::default(), doubt: Arc::default() }
    }

    /// Name of the CustomResourceDefinition.
    pub(crate) fn definition() -> String {
        format!("{}.{}", KueueTopology::PLURAL, KueueTopology::GROUP)
    }

    /// The kind as it is served; `None` where it is not.
    pub(crate) fn resource(&self) -> Option<ApiResource> {
        self.resource.read().clone()
    }

    /// The Topology of this name.
    pub(crate) fn get(&self, name: &str) -> Option<KueueTopology> {
        self.topologies.get("", name).map(|it| decoded(&it))
    }

    /// All that there are.
    pub(crate) fn list(&self) -> Vec<KueueTopology> {
        self.topologies.list().iter().map(|it| decoded(it)).collect()
    }

    /// Keeps the cache equal to the server until `stop`; empty where there is no Kueue.
    pub(crate) async fn watch(&self, client: Client, stop: CancellationToken) {
        stop.run_until_cancelled(Box::pin(self.follow(&client))).await;
    }

    async fn follow(&self, client: &Client) {
        loop {
            let found = self.look(client).await;
            (*self.resource.write()).clone_from(&found);
            match &found {
                None => {
                    // All that was known is gone; and that there is nothing is known, too.
                    self.topologies.relist_started();
                    self.topologies.relist_ended();
                    self.changed(client, None).await;
                }
                Some(resource) => {
                    info!(version = resource.version, "Kueue's Topologies are watched");
                    let api: Api<DynamicObject> = Api::all_with(client.clone(), resource);
                    let (cache, ended) = (self.topologies.clone(), CancellationToken::new());
                    let watching = inform(api, watcher::Config::default(), cache, prune, ended);
                    // In a fixed order, so that a simulation can be repeated.
                    tokio::select! {
                        biased;
                        () = self.changed(client, found.as_ref()) => {}
                        () = watching => {}
                    }
                }
            }
        }
    }

    /// Ends when something else is served than `known`.
    async fn changed(&self, client: &Client, known: Option<&ApiResource>) {
        loop {
            self.doubt.notified().await;
            for pause in LOOKS {
                sleep(pause).await;
                if self.look(client).await.as_ref() != known {
                    return;
                }
            }
        }
    }

    /// The newest version that is served.
    async fn look(&self, client: &Client) -> Option<ApiResource> {
        loop {
            match newest(client).await {
                Ok(found) => return found,
                Err(error) => {
                    warn!(%error, "cannot find out whether there is a Kueue, will be retried");
                    sleep(RETRY).await;
                }
            }
        }
    }
}

/// What Grove reads of a Topology. One whose levels cannot be read has none: no set can be placed by it.
pub(crate) fn decoded(topology: &DynamicObject) -> KueueTopology {
    let spec = serde_json::from_value(topology.data["spec"].clone()).unwrap_or_default();
    KueueTopology { metadata: topology.metadata.clone(), spec }
}

async fn newest(client: &Client) -> kube::Result<Option<ApiResource>> {
    for version in KueueTopology::VERSIONS {
        let kind = GroupVersionKind::gvk(KueueTopology::GROUP, version, KueueTopology::KIND);
        let resource = ApiResource::from_gvk_with_plural(&kind, KueueTopology::PLURAL);
        if is_served(client, &resource).await? {
            return Ok(Some(resource));
        }
    }
    Ok(None)
}
