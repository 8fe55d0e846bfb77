//! Jobs of Kubeflow's training operator: all of their pods are placed together.

use serde_json::Value;

use crate::{
    default_group::{TRAIN, default_group},
    fields,
    group::Group,
    integers::{add, count, required},
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
        let said = &job["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"];
        let field = format_args!("spec.runPolicy.schedulingPolicy.minAvailable");
        if let Some(said) = count(said, field, 0)? {
            return Ok(said);
        }
        let field = format!("spec.{}", self.roles);
        let roles = fields::map(&job["spec"][self.roles], format_args!("{field}"))?.ok_or_else(|| {
            Refused(format!("{field} is missing: say there how many replicas each role has"))
        })?;
        if let Some(missing) = self.mandatory.iter().find(|it| !roles.contains_key(**it)) {
            return Err(Refused(format!("{field}.{missing} is missing: the job cannot do without it")));
        }
        let mut replicas = roles.keys().map(|role| self.replicas(job, role));
        replicas.try_fold(0, |total, it| add(total, it?, format_args!("the replicas of {field}")))
    }

    /// Replicas of a role: at least one.
    pub(crate) fn replicas(&self, job: &Value, role: &str) -> Result<u32, Refused> {
        let field = format_args!("spec.{}.{}.replicas", self.roles, fields::cut(role));
        required(&job["spec"][self.roles][role]["replicas"], field, 1)
    }
}
