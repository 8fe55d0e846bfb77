//! The gangs of a set, in a list that fits into its status.

use grove_api::{
    constants::{conditions as names, phases},
    wire::{Condition, PodGang, PodGangPhase, PodGangStatusSummary},
};

use super::conditions::is_true;

/// Bytes of a condition's message in the list.
const MAX_MESSAGE: usize = 256;

/// Likewise, of the reason that a condition of the set repeats.
const MAX_OBSTACLE: usize = 512;

/// A gang in the list.
pub(super) struct Summary<'a> {
    gang: &'a PodGang,
    phase: PodGangPhase,
    unhealthy: bool,
}

impl<'a> Summary<'a> {
    pub(super) fn of(gang: &'a PodGang) -> Self {
        let status = gang.status.as_ref();
        let phase = match status.map(|it| it.phase.as_str()) {
            Some(phases::RUNNING) => PodGangPhase::Running,
            Some(phases::STARTING) => PodGangPhase::Starting,
            Some(phases::FAILED) => PodGangPhase::Failed,
            Some(phases::SUCCEEDED) => PodGangPhase::Succeeded,
            _ => PodGangPhase::Pending,
        };
        let unhealthy = status.is_some_and(|it| is_true(&it.conditions, names::pod_gang::UNHEALTHY));
        Self { gang, phase, unhealthy }
    }

    /// Most in need of attention first; by name, so that an unchanged state is an unchanged list.
    pub(super) fn rank(&self) -> (u8, &'a str) {
        let rank = match (self.unhealthy, self.phase) {
            (true, _) => 0,
            (false, PodGangPhase::Failed) => 1,
            (false, PodGangPhase::Pending) => 2,
            (false, PodGangPhase::Starting) => 3,
            (false, PodGangPhase::Running | PodGangPhase::Succeeded) => 4,
        };
        (rank, self.gang.metadata.name.as_deref().unwrap_or_default())
    }

    /// Why the gang has no place, where somebody said so: its name, and the words.
    pub(super) fn obstacle(&self) -> Option<String> {
        use names::pod_gang as reasons;
        const TOLD: [&str; 4] = [
            reasons::UNSCHEDULABLE,
            reasons::BACKEND_NOT_READY,
            reasons::BACKEND_FAILED,
            reasons::NOT_HONOURED,
        ];
        let conditions = self.gang.status.as_ref()?.conditions.iter();
        let says_why = |it: &&Condition| {
            it.type_ == reasons::SCHEDULED && it.status == "False" && TOLD.contains(&it.reason.as_str())
        };
        let told = conditions.into_iter().find(says_why)?;
        let message = &told.message[..told.message.floor_char_boundary(MAX_OBSTACLE)];
        Some(format!("{}: {message}", self.gang.metadata.name.as_deref().unwrap_or_default()))
    }

    /// Conditions only where something is amiss: they are a lot of text, and all is said by `Running`.
    pub(super) fn into_wire(self) -> PodGangStatusSummary {
        let wanted = self.unhealthy || self.phase != PodGangPhase::Running;
        let mut conditions: Vec<Condition> =
            self.gang.status.iter().filter(|_| wanted).flat_map(|it| it.conditions.clone()).collect();
        // The gang itself has the whole text; a hundred of them must not make the set too large to be stored.
        for condition in &mut conditions {
            condition.message.truncate(condition.message.floor_char_boundary(MAX_MESSAGE));
        }
        PodGangStatusSummary {
            name: self.gang.metadata.name.clone().unwrap_or_default(),
            phase: self.phase,
            conditions,
        }
    }
}

/// Gangs, counted.
#[derive(Default)]
pub(super) struct Counts {
    pending: usize,
    starting: usize,
    running: usize,
    unhealthy: usize,
    /// Why the first that has no place has none.
    obstacle: Option<String>,
}

impl Counts {
    pub(super) fn of(gangs: &[Summary<'_>]) -> Self {
        let mut counts = Self::default();
        for gang in gangs {
            // Each gang is counted once: one that fell below its minimum may still be in the phase Running.
            match gang.phase {
                _ if gang.unhealthy => counts.unhealthy += 1,
                PodGangPhase::Starting => counts.starting += 1,
                PodGangPhase::Running => counts.running += 1,
                _ => counts.pending += 1,
            }
            counts.obstacle = counts.obstacle.take().or_else(|| gang.obstacle());
        }
        counts
    }

    pub(super) fn words(&self) -> String {
        let counts = format!(
            "{} running, {} starting, {} pending, {} unhealthy",
            self.running, self.starting, self.pending, self.unhealthy
        );
        match &self.obstacle {
            None => counts,
            Some(obstacle) => format!("{counts}; {obstacle}"),
        }
    }
}
