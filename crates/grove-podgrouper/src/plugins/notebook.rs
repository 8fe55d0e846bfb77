//! Kubeflow's notebooks: somebody sits in front of them.

use crate::{
    default_group::{BUILD, default_group},
    group::Group,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// The plugin of notebooks.
#[derive(Debug)]
pub(crate) struct Notebook;

impl Plugin for Notebook {
    fn name(&self) -> &'static str {
        "Notebook"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        Ok(Some(default_group(workload, settings, BUILD)))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}
