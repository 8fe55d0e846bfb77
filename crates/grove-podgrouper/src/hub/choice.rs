//! What was chosen, and why, for people.

use crate::group::GroupOwner;

/// What groups a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Name of the plugin.
    pub plugin: String,
    /// Why it is that one.
    pub how: How,
    /// Owners that are skipped, the one at the top first.
    pub skipped: Vec<GroupOwner>,
    /// The owner that the plugin was chosen for; the pod where no other is left.
    pub owner: GroupOwner,
}

/// Why a plugin was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is that of the kind, with its version.
    Kind,
    /// It is that of the kind in any version.
    AnyVersion,
    /// A GroupingRule is for the kind.
    Rule,
    /// Nothing is known of the kind.
    Default,
}
