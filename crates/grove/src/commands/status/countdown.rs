//! When a gang that is below its minimum is restarted: from what the conditions say and the set's delay.

use grove_api::{
    constants::{
        conditions::{self as names, pod_gang},
        labels,
    },
    wire::{Condition, GangTermination, PodClique, PodCliqueSet, PodGang, Time},
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::ResourceExt;
use serde::Serialize;

use super::{screen::condition, seen::label};

/// A restart that is to come.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::commands) struct Restart {
    /// When.
    pub(in crate::commands) at: Time,
    /// The PodCliques that are below their minimum: nothing happens if they become ready before.
    pub(in crate::commands) unless_ready: Vec<String>,
}

impl Restart {
    /// Of a gang that had its place. One that never had is not restarted: new pods would not get a place either.
    pub(super) fn of<'a>(
        set: &PodCliqueSet,
        gang: &PodGang,
        cliques: impl Iterator<Item = &'a PodClique>,
    ) -> Option<Self> {
        let template = &set.spec.template;
        if template.gang_termination == Some(GangTermination::Disabled) || !had_place(gang) {
            return None;
        }
        let delay = SignedDuration::try_from(template.termination_delay.as_ref()?.to_std().ok()?).ok()?;
        let own = gang.name_any();
        let breached = cliques.filter(|it| label(*it, labels::POD_GANG) == own);
        let breached = breached.filter_map(|it| Some((breached_since(it)?, it.name_any())));
        let (since, mut names): (Vec<Timestamp>, Vec<String>) = breached.unzip();
        names.sort_by(|one, other| grove_placement::natural::compare(one, other));
        let at = since.into_iter().min()?.checked_add(delay).ok()?;
        Some(Self { at: Time(at), unless_ready: names })
    }

    /// `restarts in 12 s unless chat-0-decode becomes ready`
    pub(super) fn text(&self, now: Timestamp) -> String {
        let who = match self.unless_ready.as_slice() {
            [one] => format!("{one} becomes"),
            many => format!("{} become", many.join(", ")),
        };
        let left = self.at.0.duration_since(now).as_secs();
        if left <= 0 {
            return format!("restart due now unless {who} ready");
        }
        format!("restarts in {} unless {who} ready", duration(left))
    }
}

fn had_place(gang: &PodGang) -> bool {
    let Some(status) = &gang.status else { return false };
    let is = |type_: &str| condition(&status.conditions, type_).is_some_and(|it| it.status == "True");
    status.last_scheduled.is_some() || is(pod_gang::SCHEDULED) || is(pod_gang::UNHEALTHY)
}

/// Since when a clique is below its minimum. One that got its place later has the whole delay to come up.
fn breached_since(clique: &PodClique) -> Option<Timestamp> {
    let conditions = &clique.status.as_ref()?.conditions;
    let is = |type_: &str| condition(conditions, type_).filter(|it| it.status == "True");
    let since = |it: &Condition| it.last_transition_time.0;
    let breached = since(is(names::min_available_breached::TYPE)?);
    Some(is(names::pod_clique_scheduled::TYPE).map_or(breached, |it| breached.max(since(it))))
}

/// `12 s`, `3 min 20 s`, `3 h 59 min`
fn duration(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::status::fixture::{clique, condition as said, gang, set};

    fn time(second: i64) -> Timestamp {
        // 2027-01-01T00:00:00Z, which conditions of tests have.
        Timestamp::from_second(1_798_761_600 + second).unwrap()
    }

    fn restart(change: impl FnOnce(&mut PodCliqueSet, &mut PodGang, &mut Vec<PodClique>)) -> Option<Restart> {
        let mut set = set(1, json!({}));
        set.spec.template.termination_delay = serde_json::from_value(json!("1m")).unwrap();
        let mut cliques: Vec<PodClique> = ["a-10", "a-9"].map(|it| clique(it, "chat-0", 1, 1)).into();
        for it in &mut cliques {
            it.status.as_mut().unwrap().conditions = vec![said("MinAvailableBreached", "True", "", "")];
        }
        let mut gang = gang("chat-0", "Running", &[("Unhealthy", "True", "", "")]);
        change(&mut set, &mut gang, &mut cliques);
        Restart::of(&set, &gang, cliques.iter())
    }

    #[test]
    fn a_gang_below_its_minimum_is_restarted_after_the_delay() {
        let restart = restart(|_, _, _| {}).unwrap();
        assert_eq!(restart.at.0, time(60));
        assert_eq!(restart.text(time(48)), "restarts in 12 s unless a-9, a-10 become ready");
        assert_eq!(restart.text(time(60)), "restart due now unless a-9, a-10 become ready");
    }

    #[test]
    fn a_clique_that_got_its_place_later_has_the_whole_delay() {
        let later = restart(|_, _, cliques| {
            cliques.truncate(1);
            let mut scheduled = said("PodCliqueScheduled", "True", "", "");
            scheduled.last_transition_time = Time(time(30));
            cliques[0].status.as_mut().unwrap().conditions.push(scheduled);
        });
        assert_eq!(later.unwrap().text(time(0)), "restarts in 1 min 30 s unless a-10 becomes ready");
    }

    #[test]
    fn what_is_not_restarted_has_no_countdown() {
        assert_eq!(
            restart(|set, _, _| set.spec.template.gang_termination = Some(GangTermination::Disabled)),
            None
        );
        assert_eq!(restart(|set, _, _| set.spec.template.termination_delay = None), None);
        assert_eq!(
            restart(|_, gang, _| gang.status.as_mut().unwrap().conditions.clear()),
            None,
            "never placed"
        );
        assert_eq!(restart(|_, _, cliques| cliques.clear()), None);
        // While an update replaces it.
        let updating = restart(|_, _, cliques| {
            for it in cliques {
                it.status.as_mut().unwrap().conditions[0].status = "Unknown".to_owned();
            }
        });
        assert_eq!(updating, None);
    }

    #[test]
    fn durations_for_people() {
        let rows = [(59, "59 s"), (60, "1 min 0 s"), (3_599, "59 min 59 s"), (14_400, "4 h 0 min")];
        for (seconds, want) in rows {
            assert_eq!(duration(seconds), want);
        }
    }
}
