//! Namespaces in which a ResourceQuota is exhausted: which gang creates pods, and which deletes those that it cannot use.

use std::{cmp::Reverse, sync::Arc};

use futures::{StreamExt, stream};
use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    wire::{PodClique, PodGang},
};
use grove_plan::{
    facts::{Phase, PodFact},
    gang::is_initialized,
    layout::{count, spec_minimum},
    quota::{self, Claim, Share},
};
use grove_runtime::{Delete, EventKind, Outcome};
use tracing::info;

use super::{Grove, IN_FLIGHT, clique::words, uid, update::AwaitedTemplate, version};
use crate::{
    error::Error,
    key::Key,
    seen::{joined, label},
};

/// A gang, its cliques, and what it claims.
struct GangClaim {
    claim: Claim,
    cliques: Vec<Arc<PodClique>>,
}

impl Grove {
    pub(crate) async fn reconcile_quota(&self, namespace: String) -> Result<Outcome, Error> {
        let gangs = self.claims(&namespace);
        let claims: Vec<Claim> = gangs.iter().map(|it| it.claim.clone()).collect();
        let now = self.now();
        let decided = self.memory.quotas.plan(&namespace, |ledger| quota::plan(ledger, &claims, now));
        let Some(decided) = decided else { return Ok(Outcome::Done) };
        let plan = &decided.plan;
        for gang in &gangs {
            let id = gang.claim.uid.as_str();
            let share = plan.shares.get(id);
            self.say_share(gang, share);
            let may_create = share.is_none_or(|it| !matches!(it, Share::Nothing(_)));
            let retries = (plan.is_new_head && plan.head.as_deref() == Some(id))
                || (decided.has_more_room && may_create && gang.claim.lacking > 0);
            if retries || share != decided.before.get(id) {
                self.wake_cliques(gang, retries);
            }
        }
        if let Some(head) =
            gangs.iter().find(|it| plan.is_new_head && Some(&it.claim.uid) == plan.head.as_ref())
        {
            info!(namespace, gang = head.claim.name, "a quota is exhausted: this gang creates pods");
        }
        for gang in gangs.iter().filter(|it| plan.release.contains(&it.claim.uid)) {
            self.release_gated(gang, |_| 0, "the quota is exhausted and an older gang needs it").await?;
        }
        for gang in gangs.iter().filter(|it| plan.trim.as_ref() == Some(&it.claim.uid)) {
            let why = "the quota is exhausted and the gang needs it for pods of other PodCliques below minAvailable";
            self.release_gated(gang, |it| spec_minimum(&it.spec), why).await?;
        }
        Ok(plan.next.map_or(Outcome::Done, |it| Outcome::After(self.until(it))))
    }

    /// How many pods of a clique there may be, of those that are `allowed` without a quota.
    pub(super) fn quota_limit(&self, clique: &PodClique, allowed: u32) -> u32 {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        if !self.memory.quotas.is_exhausted(namespace) {
            // Its gang may not have been there when the quota sufficed again.
            if self.memory.hold(uid(clique), None, self.now()) {
                self.wake_reports_of_clique(clique);
                self.wake_gang_of(clique);
            }
            return allowed;
        }
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let Some(gang) = self.seen.gangs.cache.get(namespace, gang) else { return allowed };
        let share = self.memory.quotas.share(namespace, uid(gang.as_ref()));
        share.limit(allowed, spec_minimum(&clique.spec))
    }

    /// A pod of a clique was refused because a quota is exceeded.
    pub(super) fn quota_exceeded(&self, clique: &PodClique) {
        let namespace = clique.metadata.namespace.clone().unwrap_or_default();
        self.memory.quotas.refused(&namespace);
        self.queues.quotas.add(namespace);
    }

    /// Every gang of a namespace.
    fn claims(&self, namespace: &str) -> Vec<GangClaim> {
        let gangs = self.seen.gangs_by_namespace.get(namespace);
        gangs.iter().filter_map(|gang| self.claim(namespace, gang)).collect()
    }

    fn claim(&self, namespace: &str, gang: &PodGang) -> Option<GangClaim> {
        let set = self.seen.set_of(&gang.metadata)?;
        if gang.metadata.deletion_timestamp.is_some() || set.metadata.deletion_timestamp.is_some() {
            return None;
        }
        let name = gang.metadata.name.clone().unwrap_or_default();
        let mut cliques = self.seen.cliques_by_gang.get(&joined(namespace, &name));
        cliques.retain(|it| {
            let owner = self.seen.set_of(&it.metadata);
            it.metadata.deletion_timestamp.is_none()
                && owner.is_some_and(|it| it.metadata.uid == set.metadata.uid)
        });
        let mut claim = Claim {
            uid: uid(gang).to_owned(),
            created: gang.metadata.creation_timestamp.as_ref().map_or_else(|| self.now(), |it| it.0),
            base: cliques.iter().find_map(|it| label(&it.metadata, labels::BASE_POD_GANG)).map(str::to_owned),
            initialized: is_initialized(gang),
            running: false,
            missing: 0,
            lacking: 0,
            gated: 0,
            surplus: 0,
            refused_at: None,
            name,
        };
        let can_be_made = self.can_be_made(&set, &claim.name);
        for clique in &cliques {
            let id = uid(clique.as_ref());
            let pods = self.seen.pods_of(clique);
            let there = pods.iter().filter(|it| !it.fact.terminating);
            let number = u32::try_from(there.clone().count()).unwrap_or(u32::MAX);
            claim.running |= there.clone().any(|it| it.fact.is_live() && !it.fact.is_gated());
            let gated = u32::try_from(there.filter(|it| never_ran(&it.fact)).count()).unwrap_or(u32::MAX);
            let minimum = spec_minimum(&clique.spec);
            claim.gated += gated;
            claim.surplus += gated.min(number.saturating_sub(minimum));
            claim.missing += minimum.saturating_sub(number);
            // Who is held up by something else holds up nobody.
            let waits = || matches!(self.awaited_template(&set, clique), AwaitedTemplate::Coming(_));
            if can_be_made && !self.memory.is_refused_otherwise(id) && !waits() {
                claim.lacking += lacking(clique, number);
            }
            claim.refused_at = claim.refused_at.max(self.memory.quota_refused_at(id));
        }
        Some(GangClaim { claim, cliques })
    }

    /// Notes in whose place the cliques of a gang wait, for their conditions.
    fn say_share(&self, gang: &GangClaim, share: Option<&Share>) {
        for clique in &gang.cliques {
            let id = uid(clique.as_ref());
            let there = self.seen.pods_of(clique).iter().filter(|it| !it.fact.terminating).count();
            let there = u32::try_from(there).unwrap_or(u32::MAX);
            let replicas = clique.spec.replicas.map_or(0, count);
            let waits =
                |it: &&Share| there < replicas && it.limit(replicas, spec_minimum(&clique.spec)) <= there;
            let reason = share.filter(waits).and_then(Share::reason);
            if self.memory.hold(id, reason, self.now()) {
                self.wake_reports_of_clique(clique);
                self.wake_gang_of(clique);
            }
        }
    }

    fn wake_cliques(&self, gang: &GangClaim, retries: bool) {
        for clique in &gang.cliques {
            let pause = if retries { self.memory.retry_soon(uid(clique.as_ref())) } else { None };
            match pause {
                Some(pause) => self.queues.cliques.add_after(Key::of(clique.as_ref()), pause),
                None => self.queues.cliques.add(Key::of(clique.as_ref())),
            }
        }
    }

    /// Deletes the pods of a gang that never ran, down to `keep` pods of each clique. Each only if it is still as it was
    /// seen: its gate may have been removed.
    async fn release_gated(
        &self,
        gang: &GangClaim,
        keep: impl Fn(&PodClique) -> u32,
        why: &str,
    ) -> Result<(), Error> {
        for clique in &gang.cliques {
            let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
            let mut pods = self.seen.pods_of(clique);
            pods.retain(|it| !it.fact.terminating);
            let excess = pods.len().saturating_sub(keep(clique) as usize);
            pods.retain(|it| never_ran(&it.fact));
            // The scheduler counts those with the lowest indices for the minimum.
            pods.sort_by_key(|it| Reverse(it.fact.index));
            pods.truncate(excess);
            let mut deletions = stream::iter(pods)
                .map(|pod| async move {
                    let how = Delete { version: Some(version(pod.as_ref()).to_owned()), ..Delete::default() };
                    let fact = &pod.fact;
                    let result = self.delete_as(&self.seen.pods, namespace, &fact.name, &fact.uid, how).await;
                    (fact.name.clone(), result)
                })
                .buffer_unordered(IN_FLIGHT);
            let (mut names, mut failed) = (Vec::new(), None);
            while let Some((name, result)) = deletions.next().await {
                match result {
                    Ok(()) => {
                        self.metrics.pods.released();
                        names.push(name);
                    }
                    // It has changed: the next plan sees as what.
                    Err(error) if error.is_conflict() => {}
                    Err(error) => {
                        failed.get_or_insert(error);
                    }
                }
            }
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if let Some(words) = words("deleted", &names) {
                let note = format!("{words}: {why}");
                self.tell(clique.as_ref(), EventKind::Normal, reasons::POD_DELETED, "DeletePod", note);
            }
            if let Some(error) = failed {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Whether a change of a quota of this namespace would be seen.
    pub(crate) fn sees_quota(&self, namespace: &str) -> bool {
        self.seen.quotas_by_namespace.count(namespace) > 0
    }
}

fn lacking(clique: &PodClique, there: u32) -> u32 {
    clique.spec.replicas.map_or(0, count).saturating_sub(there)
}

/// Whether a pod was never let go.
fn never_ran(pod: &PodFact) -> bool {
    pod.is_gated() && !pod.bound && pod.phase == Phase::Pending
}
