//! Why pods of a part of a set are restarted together. Ours.

/// It stayed below its minimum for the termination delay.
pub const GANG_TERMINATION: &str = "GangTermination";
/// A pod failed, and the restart policy asks for it.
pub const RESTART_POLICY: &str = "RestartPolicy";
/// A node is lost.
pub const NODE_LOST: &str = "NodeLost";
