//! `grove group --explain` as a user runs it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};

fn grove(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_grove"))
        .args(["group", "--explain", "-f", "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

/// The pods as JSON, and the exit code.
fn pods(arguments: &[&str], input: &str) -> (Vec<Value>, Option<i32>) {
    let output = grove(&[arguments, &["-o", "json"]].concat(), input);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (answer["pods"].as_array().unwrap().clone(), output.status.code())
}

const JOB: &str = "\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: { kai.scheduler/queue: research }
spec:
  template:
    spec: { containers: [{ name: a, image: b }], priorityClassName: high }
";

#[test]
fn a_job_is_explained_without_its_pods() {
    let output = grove(&[], JOB);
    let expected = "\
Pod default/train-<random> (derived: not in the input)
  owned by:   Job train
  plugin:     Job (built-in plugin for Job in batch/v1)
  group:      pg-train-<uid>, owned by Job train
  queue:      research (from label kai.scheduler/queue of Job train)
  priority:   train (from the default of plugin Job: no existing PriorityClass is named)
  minimum:    1 pod
  remark:     PriorityClass high is not known: pass --priority-class high if it exists in the cluster
";
    assert_eq!((stdout(&output), stderr(&output)), (expected, ""));
    assert_eq!(output.status.code(), Some(0));
}

/// In the documentation it stands as it is printed.
#[test]
fn the_documentation_shows_what_is_printed() {
    let page = include_str!("../../../docs/podgrouper/explain.md");
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0
    };
    let output = grove(&[], block("yaml"));
    assert_eq!(stdout(&output), block("text"));
}

#[test]
fn classes_and_labels_are_what_the_cluster_has() {
    let (pods, code) = pods(&["--priority-class", "high", "--queue-label-key", "team/queue"], JOB);
    let group = &pods[0]["group"];
    assert_eq!((pods.len(), code), (1, Some(0)));
    let from = json!({ "value": "high", "from": "spec.priorityClassName of Pod train-<random>" });
    assert_eq!(group["priorityClass"], from);
    assert_eq!(
        group["queue"],
        json!({ "value": "default-queue", "from": "the default: no queue label or project" })
    );
    assert_eq!(group["remarks"], json!([]));

    let class = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: { name: high }\n";
    let (pods, _) = self::pods(&[], &format!("{JOB}{class}"));
    assert_eq!(pods[0]["group"]["priorityClass"]["value"], "high");

    let project = JOB.replace("kai.scheduler/queue: research", "project: p");
    let project = project.replace("    spec: {", "    metadata: { labels: { pool: np } }\n    spec: {");
    let (pods, _) = self::pods(&["--nodepool-label-key", "pool"], &project);
    let from = json!({ "value": "p-np", "from": "label project of Job train" });
    assert_eq!(pods[0]["group"]["queue"], from);
}

/// API version, kind, spec, each imagined pod, and the minimum of the group.
type Row = (&'static str, &'static str, Value, &'static [Imagined], u64);
/// Name, plugin, group and part of a pod.
type Imagined = [&'static str; 4];

fn check(table: &[Row]) {
    for (api_version, kind, spec, expected, minimum) in table {
        let metadata = json!({ "name": "o" });
        let object = json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec });
        let (pods, code) = pods(&[], &object.to_string());
        assert_eq!((pods.len(), code), (expected.len(), Some(0)), "{kind}");
        for (pod, [name, plugin, group, part]) in pods.iter().zip(*expected) {
            assert_eq!((&pod["pod"], &pod["plugin"]), (&json!(name), &json!(plugin)), "{kind}");
            assert_eq!(pod["group"]["name"], *group, "{kind}");
            assert_eq!(pod["group"]["subGroup"].as_str().unwrap_or_default(), *part, "{kind}");
            assert_eq!(pod["group"]["minMembers"].as_u64().unwrap_or_default(), *minimum, "{kind}");
            assert_eq!(pod["imagined"], true);
        }
    }
}

fn template() -> Value {
    json!({ "spec": { "containers": [] } })
}

#[test]
fn kinds_with_one_sort_of_pods() {
    let plain = || json!({ "template": template() });
    let cron = json!({ "jobTemplate": { "spec": plain() } });
    let jobs = json!({ "replicatedJobs": [{ "name": "node", "template": { "spec": plain() } }] });
    check(&[
        (
            "apps/v1",
            "Deployment",
            plain(),
            &[["o-<hash>-<random>", "Deployment", "pg-o-<hash>-<random>-<uid>", ""]],
            1,
        ),
        ("apps/v1", "StatefulSet", plain(), &[["o-0", "default", "pg-o-<uid>", ""]], 1),
        ("batch/v1", "CronJob", cron, &[["o-<time>-<random>", "CronJob", "pg-o-<time>-<uid>", ""]], 1),
        ("example.com/v1", "Unknown", plain(), &[["o-<random>", "default", "pg-o-<uid>", ""]], 1),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            jobs,
            &[["o-node-0-0-<random>", "JobSet", "pg-o-<uid>", "node-replica-0"]],
            0,
        ),
        (
            "serving.knative.dev/v1",
            "Service",
            plain(),
            &[["o-00001-deployment-<random>", "Knative", "pg-o-00001-<uid>", ""]],
            1,
        ),
    ]);
}

#[test]
fn jobs_have_a_pod_for_each_role() {
    let role = |replicas: u32| json!({ "replicas": replicas, "template": template() });
    let torch = json!({ "pytorchReplicaSpecs": { "Master": role(1), "Worker": role(3) } });
    let mpi = json!({
        "launcherCreationPolicy": "WaitForWorkersReady",
        "mpiReplicaSpecs": { "Launcher": role(1), "Worker": role(3) },
    });
    let lws = json!({ "leaderWorkerTemplate": { "size": 3, "workerTemplate": template() } });
    check(&[
        (
            "kubeflow.org/v1",
            "PyTorchJob",
            torch,
            &[
                ["o-master-0", "PyTorchJob", "pg-o-<uid>", "master"],
                ["o-worker-0", "PyTorchJob", "pg-o-<uid>", "worker"],
            ],
            4,
        ),
        (
            "kubeflow.org/v1",
            "TFJob",
            json!({ "tfReplicaSpecs": { "Worker": role(3) } }),
            &[["o-worker-0", "TFJob", "pg-o-<uid>", ""]],
            3,
        ),
        (
            "kubeflow.org/v2beta1",
            "MPIJob",
            mpi,
            &[["o-launcher-0", "MPIJob", "pg-o-<uid>", ""], ["o-worker-0", "MPIJob", "pg-o-<uid>", ""]],
            4,
        ),
        (
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            lws,
            &[
                ["o-0", "LeaderWorkerSet", "pg-o-<uid>-group-0", "leader"],
                ["o-0-1", "LeaderWorkerSet", "pg-o-<uid>-group-0", "workers"],
            ],
            3,
        ),
    ]);
}

#[test]
fn ray_has_a_head_and_groups_of_workers() {
    const BELOW: &[Imagined] = &[
        ["o-<random>-headgroup-<random>", "Ray", "pg-o-<uid>", "headgroup"],
        ["o-<random>-gpu-<random>", "Ray", "pg-o-<uid>", "gpu"],
    ];
    let ray = json!({
        "headGroupSpec": { "template": template() },
        "workerGroupSpecs": [{ "groupName": "gpu", "replicas": 2, "template": template() }],
    });
    check(&[
        (
            "ray.io/v1",
            "RayCluster",
            ray.clone(),
            &[
                ["o-headgroup-<random>", "Ray", "pg-o-<uid>", "headgroup"],
                ["o-gpu-<random>", "Ray", "pg-o-<uid>", "gpu"],
            ],
            3,
        ),
        ("ray.io/v1", "RayJob", json!({ "rayClusterSpec": ray }), BELOW, 3),
        ("ray.io/v1alpha1", "RayService", json!({ "rayClusterConfig": ray }), BELOW, 3),
    ]);
}

const FLOW: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: { name: flow, uid: f, labels: { kai.scheduler/queue: research } }
---
apiVersion: kubeflow.org/v1
kind: TFJob
metadata:
  name: tf
  uid: t
  ownerReferences: [{ apiVersion: argoproj.io/v1alpha1, kind: Workflow, name: flow, uid: f }]
spec: { tfReplicaSpecs: { Worker: { replicas: 2 } } }
---
apiVersion: v1
kind: Pod
metadata:
  name: tf-worker-0
  ownerReferences: [{ apiVersion: kubeflow.org/v1, kind: TFJob, name: tf, uid: t }]
spec: { containers: [] }
";

#[test]
fn owners_are_found_in_the_input_and_skipped() {
    let output = grove(&[], FLOW);
    let expected = "\
Pod default/tf-worker-0
  owned by:   TFJob tf, owned by Workflow flow
  skipped:    Workflow flow: its child is grouped
  plugin:     TFJob (built-in plugin for TFJob in kubeflow.org/v1)
  group:      pg-tf-t, owned by TFJob tf
  queue:      research (from label kai.scheduler/queue of Workflow flow)
  priority:   train (from the default of plugin TFJob: no existing PriorityClass is named)
  minimum:    2 pods
";
    assert_eq!((stdout(&output), stderr(&output)), (expected, ""));
    let any = FLOW.replace("argoproj.io/v1alpha1", "run.ai/v7").replace("Workflow", "TrainingWorkload");
    assert!(stdout(&grove(&[], &any)).contains("skipped:    TrainingWorkload flow"), "{any}");
    let unknown = FLOW.replace("kubeflow.org/v1", "kubeflow.org/v9");
    let reason = "plugin:     default (no plugin or GroupingRule for TFJob in kubeflow.org/v9)";
    assert!(stdout(&grove(&[], &unknown)).contains(reason));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let broken = FLOW.replace("replicas: 2", "replicas: none");
    let output = grove(&[], &broken);
    let why =
        "spec.tfReplicaSpecs.Worker.replicas is \"none\": set it to a whole number from 1 to 2147483647";
    assert!(stdout(&output).contains(&format!("group:      none: {why}")), "{output:?}");
    assert!(stderr(&output).starts_with(&format!("<stdin>:11: {why}\n")), "{output:?}");
    assert_eq!(output.status.code(), Some(1));

    // The line of each, and what is said there.
    let cases = [
        (
            FLOW.replace("name: tf, uid: t }", "name: gone }"),
            "<stdin>:17: metadata.ownerReferences[0]: Not found: \
            \"TFJob gone\": it is not in the input",
        ),
        (
            FLOW.replace("name: tf, uid: t }", "name: tf, uid: x }"),
            "<stdin>:17: metadata.ownerReferences[0]: Not found: \
            \"TFJob tf\": the one in the input has another UID",
        ),
        (FLOW.replace("metadata: { name: flow,", "metadata: {"), "<stdin>:3: metadata.name: Required value"),
        (
            FLOW.replace(
                "labels: { kai.scheduler/queue: research }",
                "ownerReferences: [{ apiVersion: \
                kubeflow.org/v1, kind: TFJob, name: tf, uid: t }]",
            ),
            "<stdin>:3: metadata.ownerReferences[0]: Forbidden: objects own each other in a circle",
        ),
    ];
    for (input, expected) in cases {
        let output = grove(&[], &input);
        assert!(stderr(&output).contains(expected), "{expected}\n{}", stderr(&output));
        assert_eq!(output.status.code(), Some(1), "{expected}");
    }
}

#[test]
fn what_says_nothing_cannot_be_used() {
    let train = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: { name: t }\n";
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\n";
    let cases = [
        ("a: [", "<stdin>:1:"),
        ("", "no pods in the input"),
        (config, "no pods in the input"),
        (train, "<stdin>:2: warning: kind: what pods a TrainJob makes is not known: add one of them"),
    ];
    for (input, expected) in cases {
        let output = grove(&[], input);
        assert!(stderr(&output).contains(expected), "{expected}\n{}", stderr(&output));
        assert_eq!(output.status.code(), Some(2), "{input}");
    }
}

/// Whatever stands where something else is expected, it ends with a sentence.
#[test]
fn strange_objects_do_no_harm() {
    let strange =
        [json!(null), json!(7), json!("a"), json!([]), json!([1]), json!({}), json!({ "a": [null] })];
    let fields = [
        &["metadata"][..],
        &["metadata", "labels"],
        &["metadata", "annotations"],
        &["metadata", "ownerReferences"],
        &["metadata", "uid"],
        &["spec"],
        &["spec", "template"],
        &["spec", "replicatedJobs"],
        &["spec", "workerGroupSpecs"],
        &["status"],
    ];
    let kinds =
        [("v1", "Pod"), ("batch/v1", "Job"), ("ray.io/v1", "RayJob"), ("jobset.x-k8s.io/v1alpha2", "JobSet")];
    let mut documents = Vec::new();
    for (api_version, kind) in kinds {
        for field in fields {
            for value in &strange {
                let name = format!("o{}", documents.len());
                let metadata = json!({ "name": name });
                let spec = json!({ "template": template(), "rayClusterSpec": { "headGroupSpec": {} } });
                let mut object =
                    json!({ "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec });
                *field.iter().fold(&mut object, |at, key| &mut at[*key]) = value.clone();
                documents.push(object.to_string());
            }
        }
    }
    let output = grove(&[], &documents.join("\n---\n"));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}
