//! What is kept of a PodGang.

use std::collections::BTreeMap;

use grove_api::{
    constants::{conditions::pod_gang, labels, phases},
    wire::{Condition, PodGang},
};
use kube::ResourceExt;

use crate::commands::status::screen::{awaited, condition};

/// A PodGang.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gang {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID: a gang that replaces another one has its name.
    pub uid: String,
    /// Name of its PodCliqueSet.
    pub set: String,
    /// How many pods of each PodClique have to be placed together.
    pub minimum: BTreeMap<String, usize>,
    /// Whether its phase is `Running` or `Succeeded`.
    pub running: bool,
    /// How many pods it lists.
    pub pods: usize,
    /// Whether it was running, now or in an earlier snapshot.
    pub has_run: bool,
    /// Whether its phase is `Failed`.
    pub failed: bool,
    /// Whether all pods exist: condition `Initialized`.
    pub initialized: bool,
    /// Whether the minimum of every PodClique is bound: condition `Scheduled`.
    pub scheduled: bool,
    /// Whether `Scheduled` is `False` because the scheduler has no place for it.
    pub unschedulable: bool,
    /// Message of the condition `Scheduled`; empty where it is `True`.
    pub scheduling: String,
    /// Message of the condition `Unhealthy`, where it is `True`: the gang fell below its minimum. A gang that never ran is not told
    /// from one that starts.
    pub unhealthy: Option<String>,
    /// What it waits for or lacks, as `grove status` says it; empty where there is nothing.
    pub awaited: String,
}

impl Gang {
    /// `before` is what was kept of the object of this name.
    pub(super) fn of(gang: &PodGang, before: Option<&Self>) -> Self {
        let uid = gang.uid().unwrap_or_default();
        let (phase, conditions) =
            gang.status.as_ref().map_or(("", &[][..]), |it| (it.phase.as_str(), &it.conditions));
        let running = [phases::RUNNING, phases::SUCCEEDED].contains(&phase);
        let has_run = running || before.is_some_and(|it| it.uid == uid && it.has_run);
        // Containers that run and are not ready yet count as unhealthy, which is nothing to worry about in a gang that starts.
        let told = conditions.iter().filter(|it| has_run || it.type_ != pod_gang::UNHEALTHY);
        let conditions: Vec<Condition> = told.cloned().collect();
        let is = |type_: &str, status: &str| condition(&conditions, type_).filter(|it| it.status == status);
        let unscheduled = is(pod_gang::SCHEDULED, "False");
        let message = |it: Option<&Condition>| it.map(|it| it.message.clone());
        let minimum = |it: &grove_api::wire::PodGroup| {
            (it.name.clone(), usize::try_from(it.min_replicas).unwrap_or_default())
        };
        Self {
            namespace: gang.namespace().unwrap_or_default(),
            name: gang.name_any(),
            uid,
            set: gang.labels().get(labels::PART_OF).cloned().unwrap_or_default(),
            minimum: gang.spec.pod_groups.iter().map(minimum).collect(),
            pods: gang.spec.pod_groups.iter().map(|it| it.pod_references.len()).sum(),
            running,
            has_run,
            failed: phase == phases::FAILED,
            initialized: is(pod_gang::INITIALIZED, "True").is_some(),
            scheduled: is(pod_gang::SCHEDULED, "True").is_some(),
            unschedulable: unscheduled.is_some_and(|it| it.reason == pod_gang::UNSCHEDULABLE),
            scheduling: message(unscheduled).unwrap_or_default(),
            unhealthy: message(is(pod_gang::UNHEALTHY, "True")),
            awaited: awaited(&conditions),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn gang(phase: &str, conditions: &[(&str, &str, &str, &str)]) -> Gang {
        Gang::of(&object(phase, conditions), None)
    }

    fn object(phase: &str, conditions: &[(&str, &str, &str, &str)]) -> PodGang {
        let conditions: Vec<_> = conditions
            .iter()
            .map(|(type_, status, reason, message)| {
                json!({ "type": type_, "status": status, "reason": reason, "message": message,
                        "lastTransitionTime": "2026-01-01T00:00:00Z" })
            })
            .collect();
        serde_json::from_value(json!({
            "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
            "metadata": { "namespace": "ml", "name": "s-0", "uid": "u",
                          "labels": { "app.kubernetes.io/part-of": "s" } },
            "spec": { "podgroups": [{ "name": "s-0-w", "podReferences": [{ "namespace": "ml", "name": "s-0-w-0" }], "minReplicas": 3 }] },
            "status": { "phase": phase, "conditions": conditions },
        }))
        .unwrap()
    }

    fn base() -> Gang {
        Gang {
            namespace: "ml".to_owned(),
            name: "s-0".to_owned(),
            uid: "u".to_owned(),
            set: "s".to_owned(),
            minimum: BTreeMap::from([("s-0-w".to_owned(), 3)]),
            pods: 1,
            ..Gang::default()
        }
    }

    #[test]
    fn from_creation_to_ready() {
        let initialized = ("Initialized", "True", "AllPodsCreated", "");
        let rows = [
            (gang("Pending", &[]), base()),
            (
                gang("Pending", &[("Initialized", "False", "PodsNotCreated", "1 of 3 pods exist")]),
                Gang { awaited: "1 of 3 pods exist".to_owned(), ..base() },
            ),
            (
                gang("Pending", &[initialized, ("Scheduled", "False", "WaitingForBaseGang", "s-0 is first")]),
                Gang {
                    initialized: true,
                    scheduling: "s-0 is first".to_owned(),
                    awaited: "s-0 is first".to_owned(),
                    ..base()
                },
            ),
            (
                gang("Pending", &[initialized, ("Scheduled", "False", "Unschedulable", "no room")]),
                Gang {
                    initialized: true,
                    unschedulable: true,
                    scheduling: "no room".to_owned(),
                    awaited: "the scheduler cannot place it: no room".to_owned(),
                    ..base()
                },
            ),
            (
                gang("Starting", &[initialized, ("Scheduled", "True", "MinimumBound", "bound")]),
                Gang { initialized: true, scheduled: true, ..base() },
            ),
            (
                gang(
                    "Running",
                    &[
                        initialized,
                        ("Scheduled", "True", "MinimumBound", ""),
                        ("Unhealthy", "True", "PodsLost", "1 lost"),
                    ],
                ),
                Gang {
                    initialized: true,
                    scheduled: true,
                    running: true,
                    has_run: true,
                    unhealthy: Some("1 lost".to_owned()),
                    awaited: "below minAvailable: 1 lost".to_owned(),
                    ..base()
                },
            ),
            (gang("Failed", &[]), Gang { failed: true, ..base() }),
        ];
        for (got, want) in rows {
            assert_eq!(got, want);
        }
    }
    #[test]
    fn only_a_gang_that_ran_falls_below_its_minimum() {
        let placed = ("Scheduled", "True", "MinimumBound", "");
        let below = [
            placed,
            ("Ready", "False", "PodsNotReady", "2 of 3"),
            ("Unhealthy", "True", "PodsFailing", "2 of 3 healthy"),
        ];
        let starting = gang("Starting", &below);
        assert_eq!((starting.unhealthy.as_deref(), starting.awaited.as_str()), (None, "2 of 3"));
        let before = gang("Running", &[placed]);
        let fallen = Gang::of(&object("Starting", &below), Some(&before));
        assert_eq!(fallen.unhealthy.as_deref(), Some("2 of 3 healthy"));
        let of_another = Gang { uid: "other".to_owned(), ..before };
        assert_eq!(Gang::of(&object("Starting", &below), Some(&of_another)).unhealthy, None);
    }
}
