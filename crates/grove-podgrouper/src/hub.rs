//! Which plugin groups which kind.

use serde_json::Value;

use crate::{
    plugin::Plugin,
    plugins::{
        Aml, BatchJob, CronJob, DefaultPlugin, Deployment, JAX, Mpi, Notebook, PodPlugin, RunaiJob,
        SpotRequest, TENSORFLOW, XGBOOST,
    },
    settings::Settings,
    skip_owner::SkipOwner,
    workload::Kind,
};

/// A kind, and how it is grouped.
type Row = (Kind<'static>, &'static dyn Plugin);

const ANY: &str = "*";

const fn row(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plugin: &'static dyn Plugin,
) -> Row {
    (Kind { group, version, kind }, plugin)
}

static TABLE: &[Row] = &[
    row("", "v1", "Pod", &PodPlugin),
    row("amlarc.azureml.com", "v1alpha1", "AmlJob", &Aml),
    row("apps", "v1", "Deployment", &Deployment),
    row("apps", "v1", "ReplicaSet", &DefaultPlugin),
    row("apps", "v1", "StatefulSet", &DefaultPlugin),
    row("argoproj.io", "v1alpha1", "Workflow", &SkipOwner),
    row("batch", "v1", "CronJob", &CronJob),
    row("batch", "v1", "Job", &BatchJob),
    row("egx.nvidia.io", "v1", "SPOTRequest", &SpotRequest),
    row("kubeflow.org", "v1", "JAXJob", &JAX),
    row("kubeflow.org", "v1", "MPIJob", &Mpi),
    row("kubeflow.org", "v1", "TFJob", &TENSORFLOW),
    row("kubeflow.org", "v1", "XGBoostJob", &XGBOOST),
    row("kubeflow.org", "v1alpha1", "ScheduledWorkflow", &DefaultPlugin),
    row("kubeflow.org", "v1beta1", "Notebook", &Notebook),
    row("kubeflow.org", "v2beta1", "MPIJob", &Mpi),
    row("kubevirt.io", "v1", "VirtualMachineInstance", &DefaultPlugin),
    row("machinelearning.seldon.io", "v1", "SeldonDeployment", &DefaultPlugin),
    row("machinelearning.seldon.io", "v1alpha2", "SeldonDeployment", &DefaultPlugin),
    row("nvidia.com", ANY, "DynamoGraphDeployment", &SkipOwner),
    row("run.ai", "v1", "RunaiJob", &RunaiJob),
    row("run.ai", ANY, "DistributedInferenceWorkload", &SkipOwner),
    row("run.ai", ANY, "DistributedWorkload", &SkipOwner),
    row("run.ai", ANY, "InferenceWorkload", &SkipOwner),
    row("run.ai", ANY, "InteractiveWorkload", &SkipOwner),
    row("run.ai", ANY, "TrainingWorkload", &SkipOwner),
    row("tekton.dev", "v1", "PipelineRun", &DefaultPlugin),
    row("tekton.dev", "v1", "TaskRun", &DefaultPlugin),
    row("trainer.kubeflow.org", "v1alpha1", "TrainJob", &SkipOwner),
    row("workspace.devfile.io", "v1alpha2", "DevWorkspace", &DefaultPlugin),
];

/// The plugin for the owner at the top: that of its version, else that of any, else the rule for its kind, else the default.
pub fn plugin_of<'a>(top: &Value, settings: &'a Settings) -> &'a dyn Plugin {
    let kind = Kind::of(top);
    native(kind).or_else(|| rule(kind, settings)).unwrap_or(&DefaultPlugin)
}

/// The plugin below an owner that is skipped: that of its version, else the rule for its kind, else the default.
pub(crate) fn plugin_below<'a>(top: &Value, settings: &'a Settings) -> &'a dyn Plugin {
    let kind = Kind::of(top);
    exact(kind).or_else(|| rule(kind, settings)).unwrap_or(&DefaultPlugin)
}

/// Name of what groups this owner, for people.
pub fn plugin_name(top: &Value, settings: &Settings) -> String {
    let kind = Kind::of(top);
    match (native(kind), settings.rules.find(kind)) {
        (None, Some(rule)) => format!("rule {}", rule.rule_name()),
        (native, _) => native.unwrap_or(&DefaultPlugin).name().to_owned(),
    }
}

/// All kinds that have plugins of their own.
pub fn native_kinds() -> Vec<Kind<'static>> {
    TABLE.iter().map(|(kind, _)| *kind).collect()
}

fn native(kind: Kind<'_>) -> Option<&'static dyn Plugin> {
    exact(kind).or_else(|| exact(Kind { version: ANY, ..kind }))
}

fn rule<'a>(kind: Kind<'_>, settings: &'a Settings) -> Option<&'a dyn Plugin> {
    settings.rules.find(kind).map(|it| it as &dyn Plugin)
}

fn exact(kind: Kind<'_>) -> Option<&'static dyn Plugin> {
    TABLE.iter().find(|(known, _)| *known == kind).map(|(_, plugin)| *plugin)
}

#[cfg(test)]
mod tests;
