//! Which pods belong together: for each pod its workload, and for each workload the group that its pods are placed in.
//!
//! Read in the order of the data: a pod and its owners are a [`Workload`]; the [`Plugin`] of its kind asks for what it
//! [`Need`]s besides, and makes a [`Group`] of it. Nothing here reads or writes: what was read is handed in.

mod default_group;
mod durations;
pub mod engine;
mod existing_groups;
mod fields;
#[cfg(test)]
mod fixture;
mod hub;
mod integers;
mod metadata;
mod names;
mod owner_object;
mod plugin;
mod plugins;
mod preemptibility;
mod priority;
pub mod process;
mod queue;
pub mod rights;
pub mod rule;
mod segments;
mod settings;
mod skip_owner;
mod sub_groups;
mod top_owner;
mod topology_annotations;
mod workload;

// What the modules here make; it is part of the interface of schedulers.
use grove_scheduler::workload as group;
pub use grove_scheduler::workload::{Group, GroupOwner, Preemptibility, SubGroup, Topology};

pub use self::{
    default_group::{BUILD, INFERENCE, TRAIN, default_group},
    hub::{Choice, How, Hub},
    integers::count,
    plugin::{Found, Need, Plugin, Reads, Refused},
    settings::{KindDefault, Settings},
    workload::{Kind, Owner, Workload},
};
