//! GroupingRules: watched where the cluster has them, compiled, and told how they are used.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_api::wire::{GroupingRule, Time};
use grove_probe::is_served;
use grove_runtime::{Cache, InformerMetrics, Writer, inform_guarded};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client, api::ApiResource, runtime::watcher};
use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use crate::{
    hub::Hub,
    rule::{self, Outcome, Rules},
    workload::Kind,
};

/// When the kind is looked for again that nobody has installed.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// Statuses are written at most so often: groups come in bursts.
const GATHER: Duration = Duration::from_secs(1);

/// A group, by scheduler, namespace and name.
type GroupKey = (usize, String, String);

/// The rules of the cluster.
pub(crate) struct RulesWatch {
    cache: Cache<GroupingRule>,
    hub: Arc<Hub>,
    /// By rule: groups that were made by it.
    uses: Mutex<BTreeMap<String, BTreeSet<GroupKey>>>,
    /// Something is to be said.
    news: Notify,
    /// The cluster does not have the kind.
    is_absent: watch::Sender<bool>,
}

impl RulesWatch {
    pub(crate) fn new(hub: Arc<Hub>, metrics: &InformerMetrics) -> Self {
        Self {
            cache: Cache::with_metrics(metrics),
            hub,
            uses: Mutex::default(),
            news: Notify::new(),
            is_absent: watch::Sender::new(false),
        }
    }

    /// Calls `changed` with what is in force, when that may differ from before.
    pub(crate) fn listen(self: &Arc<Self>, changed: impl Fn(Rules) + Send + Sync + 'static) {
        let weak = Arc::downgrade(self);
        self.cache.listen(move |change| {
            let same = change
                .old
                .zip(change.new)
                .is_some_and(|(old, new)| (&old.metadata.uid, &old.spec) == (&new.metadata.uid, &new.spec));
            if let Some(this) = weak.upgrade().filter(|_| !same) {
                changed(this.compile().0);
                this.news.notify_one();
            }
        });
    }

    fn compile(&self) -> (Rules, Vec<(Arc<GroupingRule>, Outcome)>) {
        let all = self.cache.list();
        let rules: Vec<GroupingRule> = all.iter().map(|it| GroupingRule::clone(it)).collect();
        let native: Vec<Kind<'_>> = self.hub.kinds().collect();
        let (compiled, outcomes) = Rules::compile(&rules, &native);
        (compiled, all.into_iter().zip(outcomes).collect())
    }

    /// A group was made by a rule, or by none.
    pub(crate) fn used(&self, group: GroupKey, rule: Option<&str>) {
        let mut uses = self.uses.lock();
        let mut is_news = false;
        uses.retain(|name, groups| {
            if Some(name.as_str()) != rule {
                is_news |= groups.remove(&group);
            }
            !groups.is_empty()
        });
        if let Some(rule) = rule {
            is_news |= uses.entry(rule.to_owned()).or_default().insert(group);
        }
        if is_news {
            self.news.notify_one();
        }
    }

    /// Keeps them known until `stop`.
    pub(crate) async fn watch(&self, client: Client, stop: CancellationToken) {
        let looking = async {
            loop {
                match is_served(&client, &ApiResource::erase::<GroupingRule>(&())).await {
                    Ok(true) => return,
                    Ok(false) => {
                        self.is_absent.send_replace(true);
                        sleep(LOOK_AGAIN).await;
                    }
                    Err(_) => sleep(GATHER).await,
                }
            }
        };
        if stop.run_until_cancelled(looking).await.is_some() {
            let api: Api<GroupingRule> = Api::all(client);
            Box::pin(inform_guarded(api, watcher::Config::default(), self.cache.clone(), prune, stop)).await;
        }
    }

    /// Waits until all rules are known, or that there can be none: a gang that a rule made must not fall apart meanwhile.
    pub(crate) async fn synced(&self) {
        let mut absent = self.is_absent.subscribe();
        tokio::select! {
            () = self.cache.synced() => {}
            // The sender lives in `self`, so waiting cannot fail.
            _ = absent.wait_for(|it| *it) => {}
        }
    }

    /// Writes statuses until `stop`.
    pub(crate) async fn report(&self, writer: &Writer) {
        loop {
            self.news.notified().await;
            sleep(GATHER).await;
            if !self.report_once(writer).await {
                // Nothing tells when it would be taken.
                sleep(LOOK_AGAIN).await;
                self.news.notify_one();
            }
        }
    }

    /// Whether nothing was refused.
    async fn report_once(&self, writer: &Writer) -> bool {
        let mut is_said = true;
        for (rule, outcome) in self.compile().1 {
            let name = rule.metadata.name.clone().unwrap_or_default();
            let groups = self.uses.lock().get(&name).map_or(0, BTreeSet::len);
            let status = rule::status(&rule, &outcome, groups, &Time::from(Timestamp::now()));
            if rule.status.as_ref() == Some(&status) {
                continue;
            }
            let version = &rule.metadata.resource_version;
            let patch = json!({ "metadata": { "resourceVersion": version }, "status": status });
            match writer.patch_status::<GroupingRule>("", &name, &patch).await {
                Ok(rule) => drop(self.cache.written(rule)),
                // The watch brings it, and that is news.
                Err(error) if error.is_conflict() || error.is_not_found() => {
                    debug!(rule = name, %error, "the status was not written");
                    self.news.notify_one();
                }
                Err(error) => {
                    warn!(rule = name, %error, "the status cannot be written, will be retried");
                    is_said = false;
                }
            }
        }
        is_said
    }
}

fn prune(rule: &mut GroupingRule) {
    rule.metadata.managed_fields = None;
}
