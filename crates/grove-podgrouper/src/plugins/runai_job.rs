//! RunaiJobs: pods whose names differ only in what is after the last dash are one group.

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    integers::count,
    metadata::{name, uid},
    names::group_name,
    plugin::{Found, Need, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// The plugin of RunaiJobs.
#[derive(Debug)]
pub(crate) struct RunaiJob;

impl Plugin for RunaiJob {
    fn name(&self) -> &'static str {
        "RunaiJob"
    }

    fn needs(&self, workload: Workload<'_>, _: &Found, settings: &Settings) -> Result<Vec<Need>, Refused> {
        Ok(legacy_name(workload, settings)?.map(Need::Group).into_iter().collect())
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let is_there = |name: &String| found.object(&Need::Group(name.clone())).is_some();
        let legacy = legacy_name(workload, settings)?.filter(is_there);
        let pod = name(workload.pod);
        let prefix = pod.rsplit_once('-').map_or(pod, |it| it.0);
        let name = legacy.unwrap_or_else(|| group_name(prefix, uid(workload.top)));
        Ok(Some(Group { name, ..default_group(workload, settings, TRAIN) }))
    }
}

/// Older groups are called for the pod where there are several at a time, else for the job.
fn legacy_name(workload: Workload<'_>, settings: &Settings) -> Result<Option<String>, Refused> {
    if !settings.searches_legacy {
        return Ok(None);
    }
    let Workload { pod, top, .. } = workload;
    let parallelism = count(&top["spec"]["parallelism"], format_args!("spec.parallelism"), 0)?;
    let is_parallel = parallelism.is_some_and(|it| it > 1);
    Ok(Some(group_name(name(if is_parallel { pod } else { top }), uid(top))))
}
