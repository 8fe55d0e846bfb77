//! Deployments: each pod answers for itself, and is a group of its own.

use crate::{
    default_group::{INFERENCE, default_group},
    group::Group,
    metadata::{name, uid},
    names::group_name,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::{Owner, Workload},
};

/// The plugin of Deployments.
#[derive(Debug)]
pub(crate) struct Deployment;

impl Plugin for Deployment {
    fn name(&self) -> &'static str {
        "Deployment"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let pod = workload.pod;
        Ok(Some(Group {
            name: group_name(name(pod), uid(pod)),
            owner: Owner::of(pod).object,
            ..default_group(workload, settings, INFERENCE)
        }))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}
