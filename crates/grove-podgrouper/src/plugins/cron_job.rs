//! CronJobs: each of their Jobs is a group.

use serde_json::Value;

use crate::{
    default_group::{TRAIN, default_group},
    group::{Group, GroupOwner},
    owner_object::{need_of, not_read, object_of},
    plugin::{Found, Need, Plugin, Reads, Refused},
    settings::Settings,
    workload::{Kind, Workload},
};

/// The plugin of CronJobs.
#[derive(Debug)]
pub(crate) struct CronJob;

const JOB: [Reads; 1] =
    [Reads { kind: Kind { group: "batch", version: "v1", kind: "Job" }, spec: false, status: false }];

impl Plugin for CronJob {
    fn name(&self) -> &'static str {
        "CronJob"
    }

    fn needs(&self, workload: Workload<'_>, found: &Found, _: &Settings) -> Result<Vec<Need>, Refused> {
        let job = job_of(workload.pod)?;
        Ok(match object_of(&job, found)? {
            Some(_) => Vec::new(),
            None => vec![need_of(&job)],
        })
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let owner = job_of(workload.pod)?;
        let job = object_of(&owner, found)?.ok_or_else(|| not_read(&owner))?;
        // What the CronJob says of queue and priority does not count: the Job has what its template says.
        let workload = Workload { pod: workload.pod, top: job, owners: &[] };
        Ok(Some(default_group(workload, settings, TRAIN)))
    }

    fn reads_spec(&self) -> bool {
        false
    }

    fn also_reads(&self) -> &'static [Reads] {
        &JOB
    }
}

/// The Job that owns a pod.
fn job_of(pod: &Value) -> Result<GroupOwner, Refused> {
    let owners = pod["metadata"]["ownerReferences"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let job = owners.into_iter().find(|it| it["kind"] == "Job").map(|it| GroupOwner {
        api_version: text(&it["apiVersion"]),
        kind: text(&it["kind"]),
        name: text(&it["name"]),
        uid: text(&it["uid"]),
    });
    job.ok_or_else(|| Refused("the pod of a CronJob has no owner reference of type 'Job'".to_owned()))
}
