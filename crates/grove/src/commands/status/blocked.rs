//! What keeps a set from going on by itself.

use grove_api::{
    constants::conditions::{self as names, update_in_progress},
    wire::PodCliqueSet,
};
use serde::{Serialize, Serializer};

use super::screen::condition;

/// Why nothing more is to come by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Blocked {
    /// The API server, or the scheduler's backend, rejects pods.
    PodsRefused,
    /// The API server rejects pods of the new template.
    UpdateRefused,
    /// No pod of the new template got ready within the deadline.
    UpdateStuck,
}

/// For machines, that it is so.
impl Serialize for Blocked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(true)
    }
}

impl Blocked {
    pub(in crate::commands) fn of(set: &PodCliqueSet) -> Option<Self> {
        let conditions = &set.status.as_ref()?.conditions;
        let is_true = |type_: &str| condition(conditions, type_).filter(|it| it.status == "True");
        if is_true(names::REPLICA_FAILURE).is_some() {
            return Some(Self::PodsRefused);
        }
        match is_true(update_in_progress::TYPE)?.reason.as_str() {
            update_in_progress::TEMPLATE_REFUSED => Some(Self::UpdateRefused),
            update_in_progress::DEADLINE_EXCEEDED => Some(Self::UpdateStuck),
            _ => None,
        }
    }

    /// The condition that says more.
    pub(in crate::commands) fn condition(self) -> &'static str {
        match self {
            Self::PodsRefused => names::REPLICA_FAILURE,
            Self::UpdateRefused | Self::UpdateStuck => update_in_progress::TYPE,
        }
    }

    pub(super) fn words(self, is_available: bool) -> &'static str {
        match (self, is_available) {
            (Self::PodsRefused, true) => "available, but more pods cannot be created",
            (Self::PodsRefused, false) => "blocked: pods cannot be created",
            (Self::UpdateRefused, true) => "available, but its update is refused",
            (Self::UpdateRefused, false) => "blocked: its update is refused",
            (Self::UpdateStuck, true) => "available, but its update makes no progress",
            (Self::UpdateStuck, false) => "blocked: its update makes no progress",
        }
    }
}
