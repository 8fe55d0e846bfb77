//! Where a gang fits on the nodes of a cluster, and if it does not, why.
//!
//! * What there is: [`cluster`]; made from one line or a file: [`topology`].
//! * What is asked for: [`pod`], and [`gang`], a tree of groups with minima and topology levels.
//! * [`place`] looks for nodes: all minima or nothing, with every possibility considered within a budget.
//! * [`Reason`] says in a sentence what is lacking where a gang does not fit.
//!
//! Nothing here does I/O or reads a clock, and equal input gives equal output.

pub mod cluster;
pub mod gang;
pub mod natural;
pub mod pod;
mod reason;
pub mod resources;
mod search;
pub mod topology;

pub use cluster::{Cluster, Level, Node};
pub use gang::{GangPod, Group, Members};
pub use pod::PodRequirements;
pub use reason::Reason;
pub use search::{Assignment, DEFAULT_BUDGET, GroupDomain, Outcome, Placement, place, place_within};
