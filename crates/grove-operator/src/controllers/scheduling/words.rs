//! What a scheduler says of a gang that has no place.

use std::time::{Duration, Instant};

use grove_api::{constants::conditions::pod_gang as reasons, wire::PodGang};
use grove_ownership::OwnerKey;
use grove_plan::gang::{self, Seen as GangSeen};
use grove_scheduler::capability::Answer;

use crate::{
    backends::Operation,
    controllers::{Grove, uid},
    key::Key,
};

/// How long pods of a gang may be bound before all of its minimum is: longer than any scheduler takes that binds them
/// together.
const ONE_BY_ONE: Duration = Duration::from_mins(1);

/// Shortest time between two wordings of the same reason.
const REWORDED: Duration = Duration::from_mins(1);

impl Grove {
    /// Why a gang has no place, in its scheduler's words: a reason, and a sentence.
    pub(in crate::controllers) fn words_of(&self, seen: &GangSeen<'_>) -> Option<(&'static str, String)> {
        if !gang::is_initialized(seen.gang) || gang::is_scheduled(seen) {
            return None;
        }
        let (name, ready) = self.backend_of(seen.context.set, seen.gang);
        let ready = ready.ok()?;
        let knows_gangs = matches!(ready.scheduler.capabilities().single_group_gang, Answer::Native)
            && !ready.applier.of_owner(&OwnerKey::of(seen.gang)).is_empty();
        let one_by_one = gang::bound_one_by_one(seen).filter(|_| knows_gangs);
        let bound = one_by_one.as_ref().map(|it| it.0);
        let lasts = self.memory.is_split_for(uid(seen.gang), bound, ONE_BY_ONE);
        match (one_by_one, lasts) {
            (Some((_, words)), Ok(())) => return Some((reasons::NOT_HONOURED, words)),
            (Some(_), Err(rest)) => self.look_at_gang_after(Key::of(seen.gang), rest),
            (None, _) => {}
        }
        let started = Instant::now();
        let tree = self.tree(&ready, seen.context.set, seen.gang, seen.place);
        let objects = || ready.applier.values_of_owner(&OwnerKey::of(seen.gang));
        let words = tree.as_ref().ok().and_then(|tree| ready.scheduler.explain(tree, &objects()));
        self.metrics.backends.operated(&name, Operation::StatusUpdate, tree.is_ok(), started.elapsed());
        // Where it says nothing of the gang, it may of a pod.
        let of_pod =
            || gang::unschedulable(seen).map(|(pod, it)| format!("{pod}: {}", ready.scheduler.readable(it)));
        words.or_else(of_pod).map(|it| (reasons::UNSCHEDULABLE, it))
    }

    /// The words as they are written already, where they were written lately and only their wording differs: schedulers
    /// give the same cause another wording, or blame another pod, each time that they try.
    pub(in crate::controllers) fn steady(
        &self,
        gang: &PodGang,
        words: (&'static str, String),
    ) -> (&'static str, String) {
        let conditions = gang.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
        let written = conditions.iter().find(|it| it.type_ == reasons::SCHEDULED && it.reason == words.0);
        let Some(written) = written.filter(|it| it.status == "False" && it.message != words.1) else {
            return words;
        };
        match self.memory.reworded(uid(gang), REWORDED) {
            Ok(()) => words,
            Err(rest) => {
                self.look_at_gang_after(Key::of(gang), rest);
                (words.0, written.message.clone())
            }
        }
    }
}
