use super::*;
use crate::{
    fixture::{Case, labelled, object, pod},
    workload::Owner,
};

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
        ("kubeflow.org/v1", "PyTorchJob", "PyTorchJob"),
        ("ray.io/v1", "RayCluster", "Ray"),
        ("ray.io/v1", "RayJob", "Ray"),
        ("ray.io/v1", "RayService", "Ray"),
        ("ray.io/v1alpha1", "RayCluster", "Ray"),
        ("ray.io/v1alpha1", "RayJob", "Ray"),
        ("ray.io/v1alpha1", "RayService", "Ray"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "LeaderWorkerSet"),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", "JobSet"),
        ("serving.knative.dev/v1", "Service", "Knative"),
        ("grove.io/v1alpha1", "PodCliqueSet", "Grove"),
        ("grove.io/v1alpha1", "PodGangSet", "Grove"),
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
    let (hub, settings) = (Hub::builtin(), Settings::default());
    for (api_version, kind, expected) in cases {
        let name = hub.plugin_name(&object(api_version, kind, "o", "1"), &settings);
        assert_eq!(name, expected, "{api_version} {kind}");
    }
    let rows: BTreeSet<Kind<'_>> = hub.kinds().collect();
    assert_eq!(rows.len(), hub.kinds().count());
    // Those above, but for other versions of kinds that have any, and the unknown ones.
    let unknown = cases.len() - 4;
    let any_version_twice = 2;
    assert_eq!(rows.len(), unknown - any_version_twice);
}

#[derive(Debug)]
struct Named(&'static str);

impl Plugin for Named {
    fn name(&self) -> &'static str {
        self.0
    }

    fn group(&self, _: Workload<'_>, _: &Found, _: &Settings) -> Result<Option<Group>, Refused> {
        Ok(None)
    }

    fn also_reads(&self) -> &'static [Reads] {
        const EXTRA: [Reads; 1] = [Reads {
            kind: Kind { group: "example.com", version: "v1", kind: "Extra" },
            spec: true,
            status: true,
        }];
        &EXTRA
    }
}

fn named(name: &'static str) -> Arc<dyn Plugin> {
    Arc::new(Named(name))
}

#[test]
fn a_plugin_is_added_or_replaced() {
    let custom = |version| Kind { group: "example.com", version, kind: "CustomJob" };
    let hub = Hub::builtin().with(custom("*"), named("any")).with(custom("v2"), named("two"));
    let job = Kind { group: "batch", version: "v1", kind: "Job" };
    let hub = hub.with(job, named("mine")).skipping(Kind { kind: "Around", ..custom("v1") });
    let cases = [
        ("example.com/v1", "CustomJob", "any"),
        ("example.com/v2", "CustomJob", "two"),
        ("example.com/v1", "Around", "skip top owner"),
        ("example.com/v2", "Around", "default"),
        ("batch/v1", "Job", "mine"),
    ];
    for (api_version, kind, expected) in cases {
        let top = object(api_version, kind, "o", "1");
        assert_eq!(hub.plugin_name(&top, &Settings::default()), expected, "{api_version} {kind}");
    }
    assert!(hub.kinds().any(|it| it == custom("*")));
    assert!(hub.reads_spec(custom("v3")) && !hub.reads_status(custom("v3")));
    let extra = Kind { kind: "Extra", ..custom("v1") };
    assert!(hub.reads_spec(extra) && hub.reads_status(extra));
}

/// What groups a pod below owners, the nearest first, all of which were read.
fn choice(hub: &Hub, owners: &[Value]) -> Choice {
    let pod = pod("p", "0");
    let known: Vec<Owner> = owners.iter().map(Owner::of).collect();
    let mut found = Found::default();
    for (owner, object) in known.iter().zip(owners) {
        found.put(need_of(&owner.object), vec![object.clone()]);
    }
    let workload = Workload { pod: &pod, top: owners.last().unwrap_or(&pod), owners: &known };
    hub.choice(workload, &found, &Settings::default()).unwrap()
}

/// Owners, plugin, reason, skipped, and for which of them it was chosen.
type Chosen<'a> = (&'a [&'a Value], &'a str, How, &'a [&'a str], &'a str);

#[test]
fn a_choice_has_its_reason() {
    let hub = Hub::builtin().with(Kind { group: "example.com", version: "*", kind: "Any" }, named("any"));
    let job = object("batch/v1", "Job", "job", "1");
    let flow = object("argoproj.io/v1alpha1", "Workflow", "flow", "2");
    let training = object("run.ai/v1", "TrainingWorkload", "training", "3");
    let any = object("example.com/v7", "Any", "any", "4");
    let unknown = object("example.com/v1", "Unknown", "unknown", "5");
    let cases: [Chosen<'_>; 8] = [
        (&[], "Pod", How::Kind, &[], "p"),
        (&[&job], "Job", How::Kind, &[], "job"),
        (&[&any], "any", How::AnyVersion, &[], "any"),
        (&[&unknown], "default", How::Default, &[], "unknown"),
        (&[&flow], "Pod", How::Kind, &["flow"], "p"),
        (&[&job, &flow], "Job", How::Kind, &["flow"], "job"),
        // Any version counts below a skipped owner too, and so does another one to be skipped.
        (&[&any, &training, &flow], "any", How::AnyVersion, &["flow", "training"], "any"),
        (&[&unknown, &flow], "default", How::Default, &["flow"], "unknown"),
    ];
    for (owners, plugin, how, skipped, owner) in cases {
        let owners: Vec<Value> = owners.iter().copied().cloned().collect();
        let choice = choice(&hub, &owners);
        let names: Vec<&str> = choice.skipped.iter().map(|it| it.name.as_str()).collect();
        let is = (choice.plugin.as_str(), choice.how, names.as_slice(), choice.owner.name.as_str());
        assert_eq!(is, (plugin, how, skipped, owner), "{owners:?}");
    }
}

/// A pod that says it is of a kind that is skipped: there is nothing below it.
#[test]
fn skipping_has_an_end() {
    let flow = object("argoproj.io/v1alpha1", "Workflow", "flow", "2");
    let group = Case::new(labelled(flow.clone(), &[("kai.scheduler/queue", "q")]), vec![]).group().unwrap();
    assert_eq!((group.name.as_str(), group.queue.as_str()), ("pg-flow-2", "q"));
    let group = Case::new(flow.clone(), vec![flow.clone(), flow]).group().unwrap();
    assert_eq!(group.name, "pg-flow-2");
}

#[test]
fn only_what_is_read_is_kept() {
    let hub = Hub::builtin();
    // Whether spec and status are read.
    let cases = [
        ("apps/v1", "Deployment", false, false),
        ("apps/v1", "StatefulSet", false, false),
        ("batch/v1", "Job", false, false),
        ("batch/v1", "CronJob", false, false),
        ("kubeflow.org/v1beta1", "Notebook", false, false),
        ("argoproj.io/v1alpha1", "Workflow", false, false),
        ("run.ai/v2", "TrainingWorkload", false, false),
        ("example.com/v1", "Unknown", false, false),
        ("grove.io/v1alpha1", "PodCliqueSet", false, false),
        ("serving.knative.dev/v1", "Service", false, false),
        ("serving.knative.dev/v1", "Revision", false, false),
        ("run.ai/v1", "RunaiJob", true, false),
        ("kubeflow.org/v1", "MPIJob", true, false),
        ("kubeflow.org/v1", "PyTorchJob", true, false),
        ("jobset.x-k8s.io/v1alpha2", "JobSet", true, false),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", true, false),
        ("ray.io/v1", "RayJob", true, true),
        ("ray.io/v1alpha1", "RayCluster", true, true),
        ("scheduler.grove.io/v1alpha1", "PodGang", true, true),
    ];
    for (api_version, kind, spec, status) in cases {
        let of = Kind::parse(api_version, kind);
        assert_eq!((hub.reads_spec(of), hub.reads_status(of)), (spec, status), "{api_version} {kind}");
    }
    let also: Vec<&str> = hub.also_read().map(|it| it.kind).collect();
    assert_eq!(also, ["Job", "RayCluster", "RayCluster", "PodGang", "Revision"]);
}
