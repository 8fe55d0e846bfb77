//! The active schedulers, and which of them a pod gets.

use serde_json::Value;

/// A scheduler that is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveProfile {
    /// What pods carry as `schedulerName`.
    pub name: String,
    /// What the backend is told: an object that the backend has checked, empty if the file says nothing.
    pub config: Value,
    /// Whether a ClusterTopologyBinding may bind a topology of this scheduler.
    pub topology_aware: bool,
}

/// The active schedulers. Listed ones come first, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerProfiles {
    pub(super) active: Vec<ActiveProfile>,
    pub(super) default: String,
}

impl SchedulerProfiles {
    /// The active schedulers.
    pub fn active(&self) -> &[ActiveProfile] {
        &self.active
    }

    /// Their names, as pods carry them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.active.iter().map(|profile| profile.name.as_str())
    }

    /// Name of the scheduler of pods that name none.
    pub fn default_name(&self) -> &str {
        &self.default
    }

    /// The scheduler of a pod with this `schedulerName`; empty means the default. Synonyms that only the
    /// configuration may use are not names here.
    pub fn get(&self, scheduler_name: &str) -> Option<&ActiveProfile> {
        let name = if scheduler_name.is_empty() { &self.default } else { scheduler_name };
        self.active.iter().find(|profile| profile.name == name)
    }

    /// Whether a pod with this `schedulerName` has an active scheduler; empty means the default.
    pub fn is_active(&self, scheduler_name: &str) -> bool {
        self.get(scheduler_name).is_some()
    }
}
