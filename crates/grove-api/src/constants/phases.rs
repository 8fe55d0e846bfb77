//! Phases of a PodGang.

/// Not all pods are bound yet.
pub const PENDING: &str = "Pending";
/// Bound, not all ready yet.
pub const STARTING: &str = "Starting";
/// At least the minimum of every group is ready.
pub const RUNNING: &str = "Running";
/// Ended with failure.
pub const FAILED: &str = "Failed";
/// Ended with success.
pub const SUCCEEDED: &str = "Succeeded";
