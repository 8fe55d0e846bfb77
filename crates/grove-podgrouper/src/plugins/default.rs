//! Kinds of which nothing is known but that they own pods.

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
        Ok(Some(default_group(workload, settings, TRAIN)))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}
