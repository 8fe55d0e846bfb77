//! What `grove-initc` decides: its arguments, and when a pod may start.
//!
//! The program waits in a container. The simulated kubelets of the sandbox ask [`wait::may_start`] in process, so that both hold
//! a pod for the same reason.

pub mod arguments;
pub mod wait;
