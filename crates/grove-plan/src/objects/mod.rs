//! The objects that Grove makes, one module for each kind.

mod autoscaler;
mod clique;
mod gang;
mod group;
mod init_container;
mod labels;
mod mirrored;
mod pod;
mod revision;
mod service;

pub use self::{
    autoscaler::{clique_autoscaler, group_autoscaler},
    clique::{CliqueDraft, SharedTemplates, clique, same_meaning, same_pod_template, template_of},
    gang::{gang, scheduler_of},
    group::group,
    init_container::Start,
    labels::{clique_selector, group_selector, set_selector},
    mirrored::{ADOPTED, MIRRORED, Mirrored},
    pod::pod,
    revision::{kept_template, revision},
    service::service,
};

use grove_api::wire::PodCliqueSet;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::Resource;

use crate::gang_names::GangNames;

/// A reference to the object that controls another one.
///
/// `None` where the owner has no UID, which is an object that no server has seen.
pub fn owner<K: Resource<DynamicType = ()>>(owner: &K) -> Option<OwnerReference> {
    // kube fills apiVersion, kind, name, uid and `controller`; with blockOwnerDeletion a foreground deletion of the
    // owner waits for what it owns.
    let reference = owner.controller_owner_ref(&())?;
    Some(OwnerReference { block_owner_deletion: Some(true), ..reference })
}

/// What children of a set have in common.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The set, with every default filled in.
    pub set: &'a PodCliqueSet,
    /// Its scheduler by configuration, where the template names none.
    pub default_scheduler: &'a str,
    /// How the scheduler's backend makes new gangs, which is noted on them; empty where it has but one way.
    pub form: &'a str,
    /// What gangs are called that exist already.
    pub gang_names: &'a dyn GangNames,
}
