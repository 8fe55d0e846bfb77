//! The steps of upstream's tests of updates: RU7 to RU21 replace pods, OD1 to OD7 and OD9 wait until somebody deletes them.

use super::workload::Workload;

/// One test.
pub(super) struct Case {
    pub(super) workload: Workload,
    /// How updates reach pods at first.
    pub(super) strategy: Strategy,
    /// Replicas of the set at first.
    pub(super) replicas: i32,
    /// Whether pods take a second to become ready, so that something can happen in the middle of an update.
    pub(super) is_slow: bool,
    /// What happens once all pods are ready.
    pub(super) steps: &'static [Step],
}

/// How updates reach pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    RollingRecreate,
    OnDelete,
}

/// A step of a test.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Roles get another image.
    Change(&'static [&'static str]),
    /// From the next change on.
    Switch(Strategy),
    /// A replica of the set has its turn and misses a pod.
    Turn(i32),
    /// The set gets so many replicas.
    Set(i32),
    /// The group of a replica of the set gets so many copies.
    Group(u32, i32),
    /// The first role of a replica of the set gets so many pods.
    Clique(u32, i32),
    /// As many pods are there as there should be.
    There,
    /// The scenario deletes a pod of a clique.
    Delete(&'static str, u32),
    /// All is as it should be, and all that happened was right.
    Rest,
    /// So many pods of a clique are of the newest template, of so many in all.
    New(&'static str, usize, usize),
}

use Step::{Change, Clique, Delete, Group, New, Rest, Set, Switch, There, Turn};
use Strategy::{OnDelete, RollingRecreate};

const ALL: &[&str] = &["a", "b", "c"];

const fn rolling(replicas: i32, steps: &'static [Step]) -> Case {
    Case { workload: Workload::Full, strategy: RollingRecreate, replicas, is_slow: false, steps }
}

/// Something happens in the middle.
const fn during(replicas: i32, steps: &'static [Step]) -> Case {
    Case { is_slow: true, ..rolling(replicas, steps) }
}

const fn on_delete(replicas: i32, steps: &'static [Step]) -> Case {
    Case { workload: Workload::WholeGroup, strategy: OnDelete, replicas, is_slow: false, steps }
}

/// A role of its own.
pub(super) const RU7: Case = rolling(2, &[Change(&["a"]), Rest, New("0-a", 2, 2), New("1-x-1-b", 0, 1)]);

/// A role of the group; what is not of a changed role stays.
pub(super) const RU8: Case = rolling(2, &[Change(&["b"]), Rest, New("1-x-1-b", 1, 1), New("1-x-1-c", 0, 3)]);

pub(super) const RU9: Case = rolling(2, &[Change(ALL), Rest, New("0-a", 2, 2), New("1-x-1-c", 3, 3)]);

/// Not upstream's: where not all pods are needed. A second update follows the first.
pub(super) const MINIMUM: Case = Case {
    workload: Workload::Minimum,
    ..rolling(2, &[Change(ALL), Rest, New("1-a", 2, 2), New("1-x-1-c", 3, 3), Change(&["c"]), Rest])
};

/// A replica of the set more, which is of the new template from the beginning.
pub(super) const RU11: Case = during(2, &[Change(ALL), Turn(0), Set(3), Rest, New("2-a", 2, 2)]);

/// A replica less while it has its turn.
pub(super) const RU12: Case = during(2, &[Change(ALL), Turn(1), Set(1), Rest]);

/// A replica less after it is done.
pub(super) const RU13: Case = rolling(2, &[Change(ALL), Rest, Set(1), Rest]);

/// A copy of the group more.
pub(super) const RU14: Case = during(1, &[Change(ALL), Turn(0), Group(0, 3), Rest, New("0-x-2-c", 3, 3)]);

/// A copy more just before.
pub(super) const RU15: Case =
    during(1, &[Group(0, 3), There, Change(ALL), Rest, New("0-x-2-b", 1, 1), New("0-x-2-c", 3, 3)]);

/// A copy of the group less.
pub(super) const RU16: Case = during(1, &[Group(0, 3), Rest, Change(ALL), Turn(0), Group(0, 2), Rest]);

/// A copy less just before.
pub(super) const RU17: Case = during(1, &[Group(0, 3), Rest, Group(0, 2), Change(ALL), Rest]);

/// A pod more.
pub(super) const RU18: Case = during(1, &[Change(ALL), Turn(0), Clique(0, 3), Rest, New("0-a", 3, 3)]);

/// A pod more just before.
pub(super) const RU19: Case = during(1, &[Clique(0, 3), There, Change(ALL), Rest, New("0-a", 3, 3)]);

/// A pod less.
pub(super) const RU20: Case =
    during(1, &[Clique(0, 3), Rest, Change(ALL), Turn(0), Clique(0, 2), Rest, New("0-a", 2, 2)]);

/// A pod less just before.
pub(super) const RU21: Case =
    during(1, &[Clique(0, 3), Rest, Clique(0, 2), Change(ALL), Rest, New("0-a", 2, 2)]);

/// Nothing goes.
pub(super) const OD1: Case = on_delete(1, &[Change(&["a"]), Rest, New("0-a", 0, 2)]);

/// What somebody deletes comes back new.
pub(super) const OD2: Case =
    on_delete(1, &[Change(&["a"]), Delete("0-a", 0), Rest, New("0-a", 1, 2), New("0-x-0-c", 0, 3)]);

/// Of two pods the old one goes.
pub(super) const OD3: Case =
    on_delete(1, &[Change(&["a"]), Delete("0-a", 0), New("0-a", 1, 2), Clique(0, 1), Rest, New("0-a", 1, 1)]);

pub(super) const OD4: Case =
    on_delete(1, &[Change(&["b", "c"]), Rest, New("0-x-0-b", 0, 1), New("0-x-1-c", 0, 3)]);

pub(super) const OD5: Case = on_delete(
    1,
    &[Change(&["b", "c"]), Delete("0-x-1-c", 2), Rest, New("0-x-1-c", 1, 3), New("0-x-0-c", 0, 3)],
);

/// Roles of both kinds.
pub(super) const OD6: Case = on_delete(
    1,
    &[
        Change(ALL),
        Delete("0-a", 1),
        Delete("0-x-0-b", 0),
        Rest,
        New("0-a", 1, 2),
        New("0-x-0-b", 1, 1),
        New("0-x-0-c", 0, 3),
        New("0-x-1-b", 0, 1),
    ],
);

/// Two replicas of the set.
pub(super) const OD7: Case = on_delete(
    2,
    &[Change(&["a"]), Delete("1-a", 0), Rest, New("0-a", 0, 2), New("1-a", 1, 2), New("1-x-0-b", 0, 1)],
);

/// The strategy can be changed at any time.
pub(super) const OD9: Case = on_delete(
    1,
    &[
        Change(&["a"]),
        Rest,
        New("0-a", 0, 2),
        Switch(RollingRecreate),
        Change(&["a"]),
        Rest,
        New("0-a", 2, 2),
        Switch(OnDelete),
        Change(&["a"]),
        Rest,
        New("0-a", 0, 2),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    /// A typing error in a table would be a scenario that proves nothing.
    #[test]
    fn steps_can_be_played() {
        let rolling = [
            &RU7, &RU8, &RU9, &MINIMUM, &RU11, &RU12, &RU13, &RU14, &RU15, &RU16, &RU17, &RU18, &RU19, &RU20,
            &RU21,
        ];
        let waiting = [&OD1, &OD2, &OD3, &OD4, &OD5, &OD6, &OD7, &OD9];
        for case in rolling.into_iter().chain(waiting) {
            let steps = case.steps;
            assert!(steps.iter().any(|it| matches!(it, Change(_))), "nothing is changed");
            let last = steps.iter().rposition(|it| matches!(it, Rest)).expect("nothing is looked at");
            assert!(steps[last..].iter().all(|it| matches!(it, Rest | New(..))), "the end is not looked at");
            let has_turn = steps.iter().any(|it| matches!(it, Turn(_)));
            assert!(
                !has_turn || case.is_slow,
                "the update may be over before something happens in its middle"
            );
            assert_eq!(case.strategy == OnDelete, case.workload == Workload::WholeGroup);
        }
    }
}
