//! Kinds of which nothing is known but that they own pods. How many of them have to be placed together their user may
//! say as for Jobs.

use super::job::batch_min_member;
use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// The default.
#[derive(Debug)]
pub(crate) struct DefaultPlugin;

impl Plugin for DefaultPlugin {
    fn name(&self) -> &'static str {
        "default"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let min_members = batch_min_member(workload.top)?.unwrap_or(1);
        Ok(Some(Group { min_members, ..default_group(workload, settings, TRAIN) }))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}
