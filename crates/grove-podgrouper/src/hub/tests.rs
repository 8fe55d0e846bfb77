use super::*;
use crate::fixture::object;

#[test]
fn every_kind_has_its_plugin() {
    let cases = [
        ("v1", "Pod", "Pod"),
        ("apps/v1", "Deployment", "Deployment"),
        ("apps/v1", "ReplicaSet", "default"),
        ("apps/v1", "StatefulSet", "default"),
        ("batch/v1", "Job", "Job"),
        ("batch/v1", "CronJob", "CronJob"),
        ("machinelearning.seldon.io/v1alpha2", "SeldonDeployment", "default"),
        ("machinelearning.seldon.io/v1", "SeldonDeployment", "default"),
        ("kubevirt.io/v1", "VirtualMachineInstance", "default"),
        ("workspace.devfile.io/v1alpha2", "DevWorkspace", "default"),
        ("kubeflow.org/v1alpha1", "ScheduledWorkflow", "default"),
        ("tekton.dev/v1", "PipelineRun", "default"),
        ("tekton.dev/v1", "TaskRun", "default"),
        ("kubeflow.org/v1", "TFJob", "TFJob"),
        ("kubeflow.org/v1", "XGBoostJob", "XGBoostJob"),
        ("kubeflow.org/v1", "JAXJob", "JAXJob"),
        ("kubeflow.org/v1", "MPIJob", "MPIJob"),
        ("kubeflow.org/v2beta1", "MPIJob", "MPIJob"),
        ("kubeflow.org/v1beta1", "Notebook", "Notebook"),
        ("amlarc.azureml.com/v1alpha1", "AmlJob", "AmlJob"),
        ("egx.nvidia.io/v1", "SPOTRequest", "SPOTRequest"),
        ("run.ai/v1", "RunaiJob", "RunaiJob"),
        ("argoproj.io/v1alpha1", "Workflow", "skip top owner"),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob", "skip top owner"),
        // Any version.
        ("run.ai/v1", "TrainingWorkload", "skip top owner"),
        ("run.ai/v2alpha1", "TrainingWorkload", "skip top owner"),
        ("run.ai/v2alpha1", "InteractiveWorkload", "skip top owner"),
        ("run.ai/v2alpha1", "DistributedWorkload", "skip top owner"),
        ("run.ai/v2alpha1", "InferenceWorkload", "skip top owner"),
        ("run.ai/v2alpha1", "DistributedInferenceWorkload", "skip top owner"),
        ("nvidia.com/v1alpha1", "DynamoGraphDeployment", "skip top owner"),
        ("nvidia.com/v1beta1", "DynamoGraphDeployment", "skip top owner"),
        // Unknown: a kind, a version, a group.
        ("example.com/v1", "Whatever", "default"),
        ("kubeflow.org/v2", "MPIJob", "default"),
        ("example.com/v1", "Job", "default"),
        ("", "", "default"),
    ];
    for (api_version, kind, expected) in cases {
        let object = object(api_version, kind, "o", "1");
        assert_eq!(plugin_of(&object, &Settings::default()).name(), expected, "{api_version} {kind}");
    }
}

#[test]
fn below_a_skipped_owner_any_version_is_no_match() {
    let settings = Settings::default();
    let below =
        |api_version: &str, kind: &str| plugin_below(&object(api_version, kind, "o", "1"), &settings).name();
    assert_eq!(below("batch/v1", "Job"), "Job");
    assert_eq!(below("argoproj.io/v1alpha1", "Workflow"), "skip top owner");
    assert_eq!(below("run.ai/v1", "TrainingWorkload"), "default");
}

#[test]
fn no_kind_is_there_twice() {
    let mut kinds: Vec<_> = TABLE.iter().map(|it| it.0).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), TABLE.len());
}
