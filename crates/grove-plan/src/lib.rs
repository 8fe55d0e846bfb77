//! Grove's decisions: which objects there are, which pods make a gang, what the status says.
//!
//! Pure: no I/O, no clock, no async. What was observed comes in as plain values, `now` among them; what should
//! happen goes out as plain values. Modules read in the order of data:
//! [`facts`], [`nodes`] → [`layout`], [`gang_names`], [`topology`] → [`allotment`], [`objects`] → [`budget`], [`rollout`] → [`children`], [`pods`], [`quota`], [`gang`], [`start_order`],
//! [`revisions`] → [`node_loss`], [`status`] → [`termination`], [`restart_policy`] → [`restart`] → [`recovery`].

pub mod allotment;
pub mod budget;
pub mod children;
pub mod facts;
#[cfg(test)]
mod fixture;
pub mod gang;
pub mod gang_names;
pub mod hash;
pub mod layout;
pub mod node_loss;
pub mod nodes;
pub mod objects;
mod patch;
pub mod pods;
pub mod protection;
pub mod quota;
pub mod recovery;
pub mod restart;
pub mod restart_policy;
pub mod revisions;
pub mod rollout;
pub mod start_order;
pub mod status;
pub mod termination;
pub mod topology;
