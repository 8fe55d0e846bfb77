//! Jobs of Azure Machine Learning: one pod for each node that they ask for.

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    numbers::{count, refused},
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

const NODES: [&str; 5] = ["spec", "job", "options", "envs", "AZUREML_NODE_COUNT"];

/// The plugin of AmlJobs.
#[derive(Debug)]
pub(crate) struct Aml;

impl Plugin for Aml {
    fn name(&self) -> &'static str {
        "AmlJob"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let nodes = count(workload.top, &NODES)?.filter(|it| *it > 0);
        let min_members = nodes.ok_or_else(|| refused(&NODES, "must be at least 1"))?;
        Ok(Some(Group { min_members, ..default_group(workload, settings, TRAIN) }))
    }
}
