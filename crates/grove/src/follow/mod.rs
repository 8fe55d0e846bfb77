//! Follows a cluster: what its nodes, the pods of PodCliqueSets and the PodGangs are like now, and what happened to them.
//!
//! [`Follower`] watches and keeps a [`Snapshot`] of plain values; `cache` applies the events of the watches to it. All that is
//! made of a snapshot is pure: `scene` what [`crate::view`] draws, `watched` what [`crate::tour`] waits for, and [`Events`]
//! what happened since the snapshot before.
//!
//! ```no_run
//! use std::time::Instant;
//!
//! use grove::{follow::{Events, Follower}, view::Scene};
//!
//! # async fn example(client: kube::Client) {
//! let start = Instant::now();
//! let mut follower = Follower::start(client, Some("default"));
//! let mut events = Events::default();
//! let mut scene = Scene::default();
//! loop {
//!     follower.changed().await;
//!     let snapshot = follower.snapshot();
//!     events.update(&snapshot, start.elapsed());
//!     snapshot.fill(&mut scene);
//!     events.fill(&mut scene);
//! }
//! # }
//! ```

mod cache;
mod events;
#[cfg(test)]
mod fixture;
mod follower;
mod gang;
mod node;
mod pod;
mod scene;
mod snapshot;
mod watched;

pub use self::{events::Events, follower::Follower, gang::Gang, node::Node, pod::Pod, snapshot::Snapshot};
