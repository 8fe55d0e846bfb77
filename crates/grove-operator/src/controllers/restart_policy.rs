//! Restart policies of single pods: which of those that failed a clique replaces. Larger units are restarted by `recovery`.

use std::time::Duration;

use grove_api::{
    constants::events::restart_policy as reasons,
    wire::{PodClique, PodCliqueSet, PodCliqueStatus, RestartCount},
};
use grove_plan::{
    facts::PodFact,
    pods::Ended,
    restart_policy::{self, FailedPods, Rules},
    status::status_patch,
};
use grove_runtime::EventKind;

use super::{Grove, uid, version};
use crate::{error::Error, key::Key};

/// What happens to the pods of a clique that ended.
pub(super) struct EndedPods {
    pub(super) ended: Ended,
    /// When to look again.
    pub(super) wait: Option<Duration>,
}

impl Grove {
    /// Decides on the pods of a clique that ended. What is counted is noted before any of them goes: who dies in between
    /// counts one that did not happen, and never forgets one.
    pub(super) async fn ended_pods(
        &self,
        set: &PodCliqueSet,
        clique: &PodClique,
        facts: &[&PodFact],
    ) -> Result<EndedPods, Error> {
        let now = self.now();
        let has_policy = set.spec.template.restart_policy.is_some();
        let hash = if has_policy { self.noted_hash(set) } else { String::new() };
        let name = clique.metadata.name.as_deref().unwrap_or_default();
        match restart_policy::failed_pods(set, &hash, clique, facts, now) {
            FailedPods::Free => {
                let wait = self.memory.failed_for(uid(clique));
                Ok(EndedPods { ended: if wait.is_some() { Ended::Stay } else { Ended::Replaced }, wait })
            }
            FailedPods::Stay(until) => {
                Ok(EndedPods { ended: Ended::FailedStay, wait: until.map(|it| self.until(it)) })
            }
            FailedPods::Replaced(count) => {
                let words = Rules::of(set, &hash).map(|it| it.words(&count)).unwrap_or_default();
                self.note_count(clique, count).await?;
                let note = format!("pods of clique {name} are replaced (RestartPolicy): {words}");
                self.tell(set, EventKind::Normal, reasons::RESTARTED, "Restart", note);
                Ok(EndedPods { ended: Ended::Replaced, wait: None })
            }
            FailedPods::Exhausted(count) => {
                let what = format!("clique {name}");
                let words = Rules::of(set, &hash).map(|it| it.exhausted_words(what, &count));
                self.note_count(clique, count).await?;
                let note = words.unwrap_or_default();
                self.tell(set, EventKind::Warning, reasons::EXHAUSTED, "Restart", note);
                Ok(EndedPods { ended: Ended::FailedStay, wait: None })
            }
        }
    }

    async fn note_count(&self, clique: &PodClique, count: RestartCount) -> Result<(), Error> {
        let old = clique.status.as_ref();
        let new = PodCliqueStatus { restarts: Some(count), ..old.cloned().unwrap_or_default() };
        let (key, patch) = (Key::of(clique), status_patch(old, &new, version(clique)));
        self.patch_status(&self.seen.cliques.cache, None, key, patch).await?;
        Ok(())
    }
}
