//! What the scheduler writes: bindings, conditions, deletions of victims, and Events. It decides nothing.

pub(super) mod binder;
pub(super) mod evictor;
pub(super) mod notices;
pub(super) mod reports;

/// In whose name the scheduler writes.
pub(super) const FIELD_MANAGER: &str = "grove-sandbox-scheduler";
