//! Jobs of Kubeflow's training operator: all of their pods are placed together.

use serde_json::Value;

use crate::{
    default_group::{TRAIN, default_group},
    group::Group,
    numbers::{count, field, refused},
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// A kind of jobs.
#[derive(Debug)]
pub(crate) struct Kubeflow {
    /// Its name.
    pub(crate) name: &'static str,
    /// The field of its spec with the replicas of each role.
    pub(crate) roles: &'static str,
    /// Roles that it cannot do without.
    pub(crate) mandatory: &'static [&'static str],
}

/// TFJob.
pub(crate) const TENSORFLOW: Kubeflow = Kubeflow { name: "TFJob", roles: "tfReplicaSpecs", mandatory: &[] };
/// XGBoostJob.
pub(crate) const XGBOOST: Kubeflow =
    Kubeflow { name: "XGBoostJob", roles: "xgbReplicaSpecs", mandatory: &["Master", "Worker"] };
/// JAXJob.
pub(crate) const JAX: Kubeflow =
    Kubeflow { name: "JAXJob", roles: "jaxReplicaSpecs", mandatory: &["Worker"] };

impl Plugin for Kubeflow {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let min_members = self.min_members(workload.top)?;
        Ok(Some(Group { min_members, ..default_group(workload, settings, TRAIN) }))
    }
}

impl Kubeflow {
    /// Pods that have to be placed together: what the user says, else all of them.
    pub(crate) fn min_members(&self, job: &Value) -> Result<u32, Refused> {
        if let Some(said) = count(job, &["spec", "runPolicy", "schedulingPolicy", "minAvailable"])? {
            return Ok(said);
        }
        let path = ["spec", self.roles];
        let roles = field(job, &path)?.ok_or_else(|| refused(&path, "must be there"))?;
        let roles = roles.as_object().ok_or_else(|| refused(&path, "must be an object"))?;
        if let Some(missing) = self.mandatory.iter().find(|it| !roles.contains_key(**it)) {
            return Err(refused(&["spec", self.roles, missing], "must be there"));
        }
        let mut total: u32 = 0;
        for role in roles.keys() {
            total = total
                .checked_add(self.replicas(job, role)?)
                .filter(|it| i32::try_from(*it).is_ok())
                .ok_or_else(|| refused(&path, "the sum of replicas must be at most 2147483647"))?;
        }
        Ok(total)
    }

    /// Replicas of a role: at least one.
    pub(crate) fn replicas(&self, job: &Value, role: &str) -> Result<u32, Refused> {
        let path = ["spec", self.roles, role, "replicas"];
        count(job, &path)?.filter(|it| *it > 0).ok_or_else(|| refused(&path, "must be at least 1"))
    }
}
