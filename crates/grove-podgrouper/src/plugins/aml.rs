//! Jobs of Azure Machine Learning: one pod for each node that they ask for.

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    integers::required,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

const NODES: &str = "spec.job.options.envs.AZUREML_NODE_COUNT";

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
        let nodes = &workload.top["spec"]["job"]["options"]["envs"]["AZUREML_NODE_COUNT"];
        let min_members = required(nodes, format_args!("{NODES}"), 1)?;
        Ok(Some(Group { min_members, ..default_group(workload, settings, TRAIN) }))
    }
}
