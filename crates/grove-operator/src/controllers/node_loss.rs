//! Node loss: what the planner is shown of a clique's nodes; pods that hang on a lost one. Units that move as a whole are restarted
//! by `recovery`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_api::{
    constants::{
        conditions::node_lost,
        events::pod_clique::{POD_DELETE_FAILED, POD_REMOVED},
    },
    wire::{PodClique, PodCliqueStatus},
};
use grove_plan::{node_loss::Seen, nodes::NodeKnowledge};
use grove_runtime::{Delete, EventKind};
use tracing::warn;

use super::Grove;
use crate::{
    error::Error,
    key::Key,
    memory::Purpose,
    seen::{NodeView, PodView},
};

/// As if the kubelet had said that the pod has ended.
const BY_FORCE: Delete = Delete { grace: Some(0), propagation: None, version: None };

impl Grove {
    /// Reads what is known of the nodes of a clique's pods; `None` where node loss is off. Nodes that a current cache does
    /// not have are read from the API server, and unknown until that is done.
    pub(super) fn with_losses<R>(
        &self,
        clique: &PodClique,
        pods: &[Arc<PodView>],
        read: impl FnOnce(Seen<'_>) -> R,
    ) -> Option<R> {
        let patience = self.node_loss?;
        let (now, is_current) = (self.now(), self.node_cache_is_current());
        let names = pods.iter().map(|it| it.fact.node.as_str()).filter(|it| is_current && !it.is_empty());
        let cached: BTreeMap<&str, Option<Arc<NodeView>>> =
            names.map(|it| (it, self.seen.nodes.get("", it))).collect();
        let (mut nodes, mut confirmed) = (BTreeMap::new(), BTreeSet::new());
        for (&name, view) in &cached {
            let fact = view.as_deref().map(|it| &it.fact);
            let (knowledge, is_confirmed) = self.memory.nodes.knowledge(name, fact, now);
            if knowledge == NodeKnowledge::Unknown {
                self.read_nodes([&name.to_owned()], Purpose::Exists);
            }
            nodes.insert(name, knowledge);
            if is_confirmed {
                confirmed.insert(name);
            }
        }
        Some(read(Seen {
            pods: pods.iter().map(|it| &it.fact).collect(),
            nodes,
            confirmed,
            noted: clique.status.as_ref().map(|it| it.lost_nodes.as_slice()).unwrap_or_default(),
            after: patience.after,
            now,
        }))
    }

    /// Removes pods that nobody else can remove. When to look again, where nothing changes.
    pub(super) async fn remove_stuck(&self, clique: &PodClique) -> Result<Option<Duration>, Error> {
        let pods = self.seen.pods_of(clique);
        let stuck = self.with_losses(clique, &pods, |it| it.stuck()).unwrap_or_default();
        self.read_nodes(&stuck.unconfirmed, Purpose::Lost);
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        for pod in &stuck.pods {
            if self.is_stopping() {
                return Err(Error::Stopping);
            }
            warn!(clique = ?Key::of(clique), pod = pod.name, "removing a pod that hangs on a lost node");
            let cache = &self.seen.pods;
            if let Err(error) = self.delete_as(cache, namespace, &pod.name, &pod.uid, BY_FORCE).await {
                let note = error.to_string();
                self.tell(clique, EventKind::Warning, POD_DELETE_FAILED, "RemovePod", note);
                return Err(error.into());
            }
            self.metrics.pods.forced();
            let note = format!("force-deleted {}: its node is lost", pod.name);
            self.tell(clique, EventKind::Warning, POD_REMOVED, "RemovePod", note);
        }
        Ok(stuck.next.map(|it| self.until(it)))
    }
}

/// What a new status says of lost nodes that the old one did not.
pub(super) fn news(old: Option<&PodCliqueStatus>, new: &PodCliqueStatus) -> Option<String> {
    let lost = |status: &PodCliqueStatus| -> Vec<String> {
        let lost = status.lost_nodes.iter().filter(|it| it.lost_at.is_some());
        lost.map(|it| it.name.clone()).collect()
    };
    let known = old.map(lost).unwrap_or_default();
    let is_news = lost(new).iter().any(|it| !known.contains(it));
    let said = new.conditions.iter().find(|it| it.type_ == node_lost::TYPE);
    said.filter(|_| is_news).map(|it| it.message.clone())
}
