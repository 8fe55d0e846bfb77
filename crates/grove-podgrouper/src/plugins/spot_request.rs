//! SPOTRequests: they answer requests.

use crate::{
    default_group::{INFERENCE, default_group},
    group::Group,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// The plugin of SPOTRequests.
#[derive(Debug)]
pub(crate) struct SpotRequest;

impl Plugin for SpotRequest {
    fn name(&self) -> &'static str {
        "SPOTRequest"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        Ok(Some(default_group(workload, settings, INFERENCE)))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}
