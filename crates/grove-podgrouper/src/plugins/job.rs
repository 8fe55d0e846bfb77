//! Jobs: one group for each. How many pods have to be placed together only its user knows: `parallelism` is how many may
//! run, not how many have to.

use serde_json::Value;

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    metadata::{annotation, name, uid},
    names::group_name,
    plugin::{Found, Need, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// Annotation with the number of pods that have to be placed together.
const BATCH_MIN_MEMBER: &str = "kai.scheduler/batch-min-member";

/// The plugin of Jobs.
#[derive(Debug)]
pub(crate) struct BatchJob;

impl Plugin for BatchJob {
    fn name(&self) -> &'static str {
        "Job"
    }

    fn needs(&self, workload: Workload<'_>, _: &Found, settings: &Settings) -> Result<Vec<Need>, Refused> {
        Ok(legacy_name(workload, settings).map(Need::Group).into_iter().collect())
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let group = default_group(workload, settings, TRAIN);
        let is_there = |name: &String| found.object(&Need::Group(name.clone())).is_some();
        if let Some(name) = legacy_name(workload, settings).filter(is_there) {
            return Ok(Some(Group { name, ..group }));
        }
        let min_members = batch_min_member(workload.top)?.unwrap_or(1);
        Ok(Some(Group { min_members, ..group }))
    }

    fn reads_spec(&self) -> bool {
        false
    }
}

/// Before KAI 0.15 each pod was a group of its own. A pod that has such a group keeps it.
fn legacy_name(workload: Workload<'_>, settings: &Settings) -> Option<String> {
    let Workload { pod, top, .. } = workload;
    (settings.searches_legacy && name(pod) != name(top)).then(|| group_name(name(pod), uid(top)))
}

/// The number that annotation `kai.scheduler/batch-min-member` of an owner says.
pub(super) fn batch_min_member(top: &Value) -> Result<Option<u32>, Refused> {
    let Some(text) = annotation(top, BATCH_MIN_MEMBER) else { return Ok(None) };
    match text.parse::<i32>().ok().and_then(|it| u32::try_from(it).ok()).filter(|it| *it > 0) {
        Some(number) => Ok(Some(number)),
        None => Err(Refused(format!(
            "annotation {BATCH_MIN_MEMBER}: must be a whole number from 1 to 2147483647, such as \"4\""
        ))),
    }
}
