//! From a gang to what a scheduler understands.
//!
//! * What has to be placed together: [`tree`], one model for gangs of every origin.
//! * What a scheduler can do about it: [`capability`], [`judge`].
//! * How a scheduler is told: [`backend`], the interface; `kube`, `kai` and `volcano` are the built-in ones.
//! * How it is told of pods that others made: [`workload`].
//! * Topology objects of a scheduler's own: [`topology`]; where nodes are in it: [`domains`].
//! * Which schedulers there are: [`registry`]; what the cluster has of them: [`probe`].
//! * Tests for whoever writes a backend: [`conformance`].
//!
//! Nothing here does I/O: what a backend wants to know of the cluster it asks as [`probe::Probe`]s, and what it wants
//! to be in the cluster it returns as [`backend::Object`]s.

mod affinity;
mod agreed;
pub mod backend;
pub mod builtin;
pub mod capability;
pub mod conformance;
pub mod domains;
pub mod judge;
pub mod kai;
pub mod kube;
pub mod probe;
pub mod queue;
pub mod registry;
pub mod topology;
pub mod tree;
pub mod volcano;
mod words;
pub mod workload;

pub use backend::{
    BACKEND_API_VERSION, Example, Object, PrepareError, RenderError, ResourceUse, Scheduler,
    SchedulerBackend, Uses,
};
pub use capability::{Answer, Capabilities, Feature};
pub use domains::Domains;
pub use probe::{Probe, Probed};
pub use registry::{Registry, RegistryError};
pub use topology::{TopologyPart, TopologyTree};
pub use tree::{Content, Gang, Node, Pack, Shape};
pub use workload::WorkloadGroups;
