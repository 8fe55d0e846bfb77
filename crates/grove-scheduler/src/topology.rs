//! The part of a backend whose scheduler has topology objects of its own.
//!
//! A ClusterTopologyBinding says what the levels are called on nodes. A scheduler that wants to be told so has an object for
//! it: Grove makes that object, or, where the binding names one that somebody else manages, only compares.
//!
//! Some have one object that lists the levels ([`TopologyPart`]), others one for each domain ([`TopologyTree`]).

use std::fmt::Debug;

use grove_api::wire::ClusterTopologyBinding;
use kube::core::ApiResource;
use serde_json::Value;

use crate::{backend::Object, domains::Domains};

/// The topology objects of a scheduler. They have no namespace.
pub trait TopologyPart: Send + Sync + Debug {
    /// Their kind.
    fn resource(&self) -> ApiResource;

    /// The name of the object that Grove makes for a binding.
    fn name_of(&self, binding: &ClusterTopologyBinding) -> String {
        binding.metadata.name.clone().unwrap_or_default()
    }

    /// The object that Grove makes for a binding; the owner is added by the framework.
    fn render(&self, binding: &ClusterTopologyBinding) -> Object;

    /// How an object that is there differs from what the binding says, in a sentence; `None` where it does not.
    fn drift(&self, binding: &ClusterTopologyBinding, there: &Value) -> Option<String>;
}

/// The topology objects of a scheduler that wants one for each domain. They have no namespace.
///
/// There is one tree in a cluster: while there are objects of somebody else, none are made beside them.
pub trait TopologyTree: Send + Sync + Debug {
    /// Their kind.
    fn resource(&self) -> ApiResource;

    /// All objects for a binding, or why they cannot be made, in which case those that are there stay. The same domains
    /// give the same objects; the owner is added by the framework.
    fn render(&self, binding: &ClusterTopologyBinding, domains: &Domains) -> Result<Vec<Object>, String>;

    /// How all objects that are there differ from what the binding says, in a sentence; `None` where they do not.
    fn drift(&self, binding: &ClusterTopologyBinding, there: &[Value]) -> Option<String>;
}
