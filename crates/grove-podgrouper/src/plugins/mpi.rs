//! MPIJobs: as other jobs of Kubeflow, but the launcher may be made only when the workers run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    metadata::{is_terminating, label, name},
    plugin::{Found, Need, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

use super::kubeflow::Kubeflow;

const MPI: Kubeflow = Kubeflow { name: "MPIJob", roles: "mpiReplicaSpecs", mandatory: &[LAUNCHER, "Worker"] };
const LAUNCHER: &str = "Launcher";

/// The plugin of MPIJobs.
#[derive(Debug)]
pub(crate) struct Mpi;

impl Plugin for Mpi {
    fn name(&self) -> &'static str {
        MPI.name
    }

    fn needs(&self, workload: Workload<'_>, _: &Found, _: &Settings) -> Result<Vec<Need>, Refused> {
        let job = workload.top;
        Ok(if waits_for_workers(job) { vec![Need::Pods(launcher_labels(job))] } else { Vec::new() })
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let job = workload.top;
        let mut min_members = MPI.min_members(job)?;
        if waits_for_workers(job) && !has_launcher(workload, found) {
            // Waiting for a pod that waits for the others would never end. One pod at least has to be placed.
            min_members = min_members.saturating_sub(MPI.replicas(job, LAUNCHER)?).max(1);
        }
        Ok(Some(Group { min_members, ..default_group(workload, settings, TRAIN) }))
    }
}

fn waits_for_workers(job: &Value) -> bool {
    job["spec"]["launcherCreationPolicy"] == "WaitForWorkersReady"
}

fn launcher_labels(job: &Value) -> BTreeMap<String, String> {
    BTreeMap::from([
        ("training.kubeflow.org/job-name".to_owned(), name(job).to_owned()),
        ("training.kubeflow.org/job-role".to_owned(), "launcher".to_owned()),
    ])
}

/// Whether there is a launcher that stays. What was read may be older than the pod at hand.
fn has_launcher(workload: Workload<'_>, found: &Found) -> bool {
    let labels = launcher_labels(workload.top);
    let at_hand = labels.iter().all(|(key, value)| label(workload.pod, key) == Some(value));
    let known = found.get(&Need::Pods(labels)).unwrap_or_default();
    known.iter().chain(at_hand.then_some(workload.pod)).any(|it| !is_terminating(it))
}
