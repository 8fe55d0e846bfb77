//! One module for each command.

pub(crate) mod backends;
pub(crate) mod bundle;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod crds;
#[cfg(feature = "sandbox")]
pub(crate) mod down;
pub(crate) mod group;
pub(crate) mod grouping_rules;
pub(crate) mod kinds;
pub(crate) mod manifests;
pub(crate) mod operator;
pub(crate) mod plan;
pub(crate) mod pod_grouper;
pub(crate) mod preemptions;
pub(crate) mod rollout;
#[cfg(feature = "sandbox")]
pub(crate) mod sandbox;
pub(crate) mod status;
pub(crate) mod topology;
#[cfg(feature = "sandbox")]
pub(crate) mod tour;
#[cfg(feature = "sandbox")]
pub(crate) mod up;
pub(crate) mod validate;
pub(crate) mod why;
