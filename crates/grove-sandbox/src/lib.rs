//! A simulated cluster: nodes, kubelets, cluster controllers and a reference gang scheduler.
//!
//! Every part is a client of a Kubernetes API and knows nothing of who serves it; only [`SandboxCluster`] and [`ControlPlane`] know an API server.
//!
//! * [`SandboxCluster`] is all of it in one process: a [`ControlPlane`], which serves the API on the network, a sandbox and a scheduler.
//! * [`Sandbox`] starts nodes, kubelets and controllers on a client, restarts those that fail, and stops them.
//! * What a pod does on its node is a pure function of the pod, its [`annotations`] and the time: [`lifecycle`]. The `kubelet` calls
//!   it for all nodes in one event loop and writes the result; `grove-simulation` calls it in virtual time.
//! * `controllers` do what kube-controller-manager does, each in its own file.
//! * [`scheduler`] places whole gangs, with the search engine of `grove-placement`.
//! * [`Faults`] loses and drains nodes, and fails pods. It only writes annotations and fields that `kubectl` can write, too.

pub mod annotations;
mod caches;
mod clock;
mod cluster;
mod control_plane;
mod controllers;
mod event_recorder;
mod faults;
mod kubelet;
pub mod lifecycle;
mod nodes;
mod part;
mod pod_key;
mod sandbox;
pub mod scheduler;
mod status_patch;

pub use clock::Clock;
pub use cluster::{ClusterOptions, SandboxCluster};
pub use control_plane::{Certificate, ControlPlane, ControlPlaneOptions};
pub use controllers::ControllerOptions;
pub use faults::{Drained, Faults};
pub use kubelet::{KubeletOptions, WorkCount};
pub use part::Parts;
pub use sandbox::{Sandbox, SandboxOptions};
pub use status_patch::status_patch;
