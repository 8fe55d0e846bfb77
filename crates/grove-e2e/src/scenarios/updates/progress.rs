//! What a set says of its update, all along the way, held against what happened to its pods.

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{PodCliqueSet, PodCliqueSetUpdateProgress};
use kube::ResourceExt;

use super::picture::Picture;
use crate::{
    scenario::{Change, Watched},
    scenarios::operator::wanted::Wanted,
};

/// What a set says of its update.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::scenarios) struct SetState {
    name: String,
    /// Hash of the template that it works on.
    hash: Option<String>,
    pub(super) progress: Option<PodCliqueSetUpdateProgress>,
}

impl SetState {
    /// Whether an update is under way.
    pub(super) fn is_open(&self) -> bool {
        self.progress.as_ref().is_some_and(|it| it.update_ended_at.is_none())
    }

    /// Whether an update is over.
    pub(super) fn is_ended(&self) -> bool {
        self.progress.as_ref().is_some_and(|it| it.update_ended_at.is_some())
    }

    /// The replicas that have their turn; one at most.
    pub(super) fn turns(&self) -> Vec<i32> {
        let turns = self.progress.iter().flat_map(|it| &it.currently_updating);
        turns.map(|it| it.replica_index).collect()
    }
}

impl Watched for SetState {
    type Object = PodCliqueSet;

    fn of(set: &PodCliqueSet) -> Self {
        let status = set.status.clone().unwrap_or_default();
        Self { name: set.name_any(), hash: status.current_generation_hash, progress: status.update_progress }
    }

    fn summary(all: &[Self]) -> String {
        let lines: Vec<String> =
            all.iter().map(|it| format!("\n    {} {:?} {:?}", it.name, it.hash, it.progress)).collect();
        lines.concat()
    }
}

/// Holds an update that replaced pods against its set's words: a replica has its turn before it misses a pod, and the end comes
/// after everything else. Strictly, there is one end; where updates meet, one may be over before the next begins.
pub(super) fn check_rolling(
    before: &SetState,
    changes: &[Change<SetState>],
    picture: &Picture,
    is_strict: bool,
) -> Result<()> {
    check_turns(changes)?;
    for loss in picture.losses().iter().filter(|it| it.is_missed) {
        let said = changes.iter().take_while(|it| it.version < loss.version);
        let said = said.filter_map(|it| it.after.as_ref()).last().unwrap_or(before);
        let turn = i32::try_from(loss.set_replica)?;
        ensure!(
            said.is_open() && said.turns() == [turn],
            "{} was taken while the set said {:?}",
            loss.name,
            said.progress
        );
    }
    let under_way = changes.iter().skip_while(|it| !it.after.as_ref().is_some_and(SetState::is_open));
    let mut ends = under_way.filter(|it| it.after.as_ref().is_some_and(SetState::is_ended));
    let end = if is_strict { ends.next() } else { ends.last() };
    if end.is_none() && !is_strict && picture.losses().is_empty() {
        // It was set back before anybody saw it.
        return Ok(());
    }
    let end = end.context("the set never said that the update is over")?.version;
    let (complete, lacked) = picture.complete().context("pods of the old template are left")?;
    ensure!(
        end > complete,
        "the set said at {end} that the update is over, which it was at {complete}: until then {lacked}"
    );
    Ok(())
}

/// Holds an update that replaces nothing against its set's words: over as it begins, nobody has a turn.
pub(super) fn check_on_delete(before: &SetState, changes: &[Change<SetState>]) -> Result<()> {
    for state in changes.iter().filter_map(|it| it.after.as_ref()) {
        ensure!(state.turns().is_empty(), "a replica has its turn: {:?}", state.progress);
        ensure!(
            state.hash == before.hash || state.is_ended(),
            "an update that replaces nothing is under way: {:?}",
            state.progress
        );
    }
    Ok(())
}

fn check_turns(changes: &[Change<SetState>]) -> Result<()> {
    for state in changes.iter().filter_map(|it| it.after.as_ref()) {
        ensure!(state.turns().len() <= 1, "several replicas have their turn: {:?}", state.progress);
        ensure!(
            state.turns().is_empty() || state.is_open(),
            "a replica has its turn in an update that is over: {:?}",
            state.progress
        );
    }
    Ok(())
}

/// Fails with what a set says wrong of an update that is over.
pub(super) fn check_end(set: &PodCliqueSet, wanted: &Wanted) -> Result<()> {
    let status = set.status.clone().unwrap_or_default();
    let progress = status.update_progress.context("it says nothing of an update")?;
    let started = progress.update_started_at.as_ref().context("it never began")?;
    let ended = progress.update_ended_at.as_ref().context("it is not over")?;
    ensure!(started.0 <= ended.0, "it was over at {ended:?} and began at {started:?}");
    ensure!(progress.currently_updating.is_empty(), "turns: {:?}", progress.currently_updating);
    let cliques = i32::try_from(wanted.cliques.values().filter(|it| it.group.is_none()).count())?;
    let is = (progress.updated_pod_cliques_count, progress.total_pod_cliques_count);
    ensure!(is == (cliques, cliques), "{is:?} standalone cliques, not all of {cliques}");
    let groups = i32::try_from(wanted.groups.len())?;
    let is =
        (progress.updated_pod_clique_scaling_groups_count, progress.total_pod_clique_scaling_groups_count);
    ensure!(is == (groups, groups), "{is:?} groups, not all of {groups}");
    let updated = status.updated_replicas;
    ensure!(updated == wanted.replicas, "{updated} replicas are updated, not {}", wanted.replicas);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    /// `hash`, then `-` for none, `e` for an update that is over, or the turns of one that is not.
    fn state(text: &str) -> SetState {
        let (hash, progress) = text.split_once(' ').unwrap();
        let turns: Vec<_> = progress.chars().filter_map(|it| it.to_digit(10)).collect();
        let turns: Vec<_> = turns.iter().map(|it| json!({ "replicaIndex": it })).collect();
        let mut told = json!({ "updateStartedAt": "2026-01-01T00:00:00Z", "currentlyUpdating": turns });
        if progress.contains('e') {
            told["updateEndedAt"] = json!("2026-01-01T00:00:09Z");
        }
        let progress = (progress != "-").then(|| serde_json::from_value(told).unwrap());
        SetState { name: "s".to_owned(), hash: Some(hash.to_owned()), progress }
    }

    fn history(text: &str) -> Vec<Change<SetState>> {
        let change = |(version, it): (u64, &str)| Change {
            at: Duration::ZERO,
            version,
            name: "s".to_owned(),
            namespace: String::new(),
            uid: String::new(),
            after: Some(state(it.trim())),
        };
        (1..).map(|it| it * 10).zip(text.split(',')).map(change).collect()
    }

    #[test]
    fn turns() {
        assert!(check_turns(&history("1 -,2 o,2 0,2 1,2 e")).is_ok());
        assert!(check_turns(&history("2 01")).is_err());
        assert!(check_turns(&history("2 e0")).is_err());
    }

    #[test]
    fn nobody_has_a_turn_on_delete() {
        let told = |text: &str| check_on_delete(&state("1 -"), &history(text)).is_ok();
        assert!(told("1 -,2 e"));
        assert!(!told("2 o"));
        assert!(!told("2 e0"));
    }

    #[test]
    fn the_end_comes_last() {
        let told = |text: &str, complete: u64| {
            let picture = Picture::taken("s-0-a", complete);
            check_rolling(&state("1 e"), &history(text), &picture, true)
                .map_or_else(|it| it.to_string(), |()| "fine".to_owned())
        };
        // The pod of replica 0 goes at 25.
        assert_eq!(told("2 o,2 0,2 0,2 e", 35), "fine");
        assert!(told("2 o,2 1,2 0,2 e", 35).contains("was taken while"), "another has its turn");
        assert!(told("2 o,2 o,2 0,2 e", 35).contains("was taken while"), "it gets its turn later");
        assert!(told("2 o,2 0,2 e", 35).contains("is over"), "too early");
        assert!(told("2 o,2 0,2 e,2 0,2 e", 35).contains("is over"), "and not only in the end");
        assert!(told("1 e,2 0", 35).contains("never said"));
    }
}
