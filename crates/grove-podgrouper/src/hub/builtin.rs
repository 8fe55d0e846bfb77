//! The kinds that are known without anybody's help.

use std::sync::Arc;

use super::{ANY, Hub};
use crate::{
    plugin::Plugin,
    plugins::{
        Aml, BatchJob, CronJob, DefaultPlugin, Deployment, Grove, JAX, JobSet, Knative, LeaderWorkerSet, Mpi,
        Notebook, PodPlugin, PyTorchJob, Ray, RunaiJob, SpotRequest, TENSORFLOW, XGBOOST,
    },
    workload::Kind,
};

/// Group, version and kind.
type Name = (&'static str, &'static str, &'static str);

/// Kinds of which only their name is known. What is not here at all is grouped alike, but nobody may read it.
const DEFAULT: [Name; 9] = [
    ("apps", "v1", "ReplicaSet"),
    ("apps", "v1", "StatefulSet"),
    ("kubeflow.org", "v1alpha1", "ScheduledWorkflow"),
    ("kubevirt.io", "v1", "VirtualMachineInstance"),
    ("machinelearning.seldon.io", "v1", "SeldonDeployment"),
    ("machinelearning.seldon.io", "v1alpha2", "SeldonDeployment"),
    ("tekton.dev", "v1", "PipelineRun"),
    ("tekton.dev", "v1", "TaskRun"),
    ("workspace.devfile.io", "v1alpha2", "DevWorkspace"),
];

const RAY: [Name; 6] = [
    ("ray.io", "v1", "RayCluster"),
    ("ray.io", "v1", "RayJob"),
    ("ray.io", "v1", "RayService"),
    ("ray.io", "v1alpha1", "RayCluster"),
    ("ray.io", "v1alpha1", "RayJob"),
    ("ray.io", "v1alpha1", "RayService"),
];

const SKIPPED: [Name; 8] = [
    ("argoproj.io", "v1alpha1", "Workflow"),
    ("nvidia.com", ANY, "DynamoGraphDeployment"),
    ("run.ai", ANY, "DistributedInferenceWorkload"),
    ("run.ai", ANY, "DistributedWorkload"),
    ("run.ai", ANY, "InferenceWorkload"),
    ("run.ai", ANY, "InteractiveWorkload"),
    ("run.ai", ANY, "TrainingWorkload"),
    ("trainer.kubeflow.org", "v1alpha1", "TrainJob"),
];

pub(super) fn hub() -> Hub {
    let hub = own(Hub::default());
    let hub = all(hub, &DEFAULT, &(Arc::new(DefaultPlugin) as _));
    let hub = all(hub, &RAY, &(Arc::new(Ray) as _));
    SKIPPED.into_iter().fold(hub, |hub, name| hub.skipping(kind(name)))
}

/// Kinds with a plugin of their own.
fn own(hub: Hub) -> Hub {
    let one = |hub: Hub, name: Name, plugin: Arc<dyn Plugin>| hub.with(kind(name), plugin);
    let hub = one(hub, ("", "v1", "Pod"), Arc::new(PodPlugin));
    let hub = one(hub, ("amlarc.azureml.com", "v1alpha1", "AmlJob"), Arc::new(Aml));
    let hub = one(hub, ("apps", "v1", "Deployment"), Arc::new(Deployment));
    let hub = one(hub, ("batch", "v1", "CronJob"), Arc::new(CronJob));
    let hub = one(hub, ("batch", "v1", "Job"), Arc::new(BatchJob));
    let hub = one(hub, ("egx.nvidia.io", "v1", "SPOTRequest"), Arc::new(SpotRequest));
    let hub = one(hub, ("grove.io", "v1alpha1", "PodCliqueSet"), Arc::new(Grove));
    let hub = one(hub, ("grove.io", "v1alpha1", "PodGangSet"), Arc::new(Grove));
    let hub = one(hub, ("jobset.x-k8s.io", "v1alpha2", "JobSet"), Arc::new(JobSet));
    let hub = one(hub, ("kubeflow.org", "v1", "JAXJob"), Arc::new(JAX));
    let hub = one(hub, ("kubeflow.org", "v1", "MPIJob"), Arc::new(Mpi));
    let hub = one(hub, ("kubeflow.org", "v1", "PyTorchJob"), Arc::new(PyTorchJob));
    let hub = one(hub, ("kubeflow.org", "v1", "TFJob"), Arc::new(TENSORFLOW));
    let hub = one(hub, ("kubeflow.org", "v1", "XGBoostJob"), Arc::new(XGBOOST));
    let hub = one(hub, ("kubeflow.org", "v1beta1", "Notebook"), Arc::new(Notebook));
    let hub = one(hub, ("kubeflow.org", "v2beta1", "MPIJob"), Arc::new(Mpi));
    let hub = one(hub, ("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"), Arc::new(LeaderWorkerSet));
    let hub = one(hub, ("run.ai", "v1", "RunaiJob"), Arc::new(RunaiJob));
    one(hub, ("serving.knative.dev", "v1", "Service"), Arc::new(Knative))
}

fn all(hub: Hub, names: &[Name], plugin: &Arc<dyn Plugin>) -> Hub {
    names.iter().fold(hub, |hub, name| hub.with(kind(*name), plugin.clone()))
}

fn kind((group, version, kind): Name) -> Kind<'static> {
    Kind { group, version, kind }
}
