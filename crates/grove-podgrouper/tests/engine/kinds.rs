//! Which pods end up in which groups.

use serde_json::{Value, json};

use crate::world::{NS, VOLCANO_GROUPS, World};

#[tokio::test(start_paused = true)]
async fn pods_of_a_job_are_in_one_group() {
    let world = World::started();
    let job = world.job("train");
    let name = format!("pg-train-{}", job["uid"].as_str().unwrap());
    world.pod("train-0", Some(job.clone()));
    world.pod("train-1", Some(job.clone()));
    world.settle().await;
    assert_eq!(world.groups(), [name.as_str()]);
    assert_eq!(world.group_of("train-0"), (Some(name.clone()), None));
    assert_eq!(world.group_of("train-1"), (Some(name.clone()), None));
    let group = world.group(&name);
    assert_eq!(group["metadata"]["ownerReferences"], json!([job]));
    assert_eq!(
        group["spec"],
        json!({ "minMember": 1, "queue": "default-queue", "priorityClassName": "train", "topologyConstraint": {} })
    );
    assert_eq!(world.writes(), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_pod_alone_has_a_group_of_its_own() {
    let world = World::started();
    let uid = world.pod_with(
        "alone",
        None,
        json!({ "labels": { "kai.scheduler/queue": "mine", "kai.scheduler/node-pool": "p" } }),
    );
    world.settle().await;
    let name = format!("pg-alone-{uid}");
    assert_eq!(world.group_of("alone"), (Some(name.clone()), None));
    let group = world.group(&name);
    assert_eq!(group["spec"]["queue"], "mine");
    assert_eq!(group["metadata"]["labels"]["kai.scheduler/node-pool"], "p");
}

/// What is written into a pod is not copied to its group, where the pod is its own owner: that would be one more write.
#[tokio::test(start_paused = true)]
async fn a_group_is_written_once() {
    let world = World::started();
    world.gate.forbid("things");
    let thing = json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": "t" } });
    let thing = world.owner("things.example.com", thing);
    world.pod("p", Some(thing));
    world.settle().await;
    assert_eq!(world.writes(), (1, 1));
    assert_eq!(
        world.group(&world.group_of("p").0.unwrap())["metadata"]["annotations"].get("pod-group-name"),
        None
    );
}

#[tokio::test(start_paused = true)]
async fn each_pod_of_a_deployment_has_a_group_of_its_own() {
    let world = World::started();
    let deployment = world.owner(
        "deployments.apps",
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" } }),
    );
    let set = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "web-1", "ownerReferences": [deployment] } });
    let set = world.owner("replicasets.apps", set);
    let uids = ["a", "b"].map(|name| world.pod(name, Some(set.clone())));
    world.settle().await;
    for (name, uid) in ["a", "b"].iter().zip(uids) {
        let group = format!("pg-{name}-{uid}");
        assert_eq!(world.group_of(name), (Some(group.clone()), None));
        assert_eq!(world.group(&group)["spec"]["priorityClassName"], "inference");
    }
}

#[tokio::test(start_paused = true)]
async fn parts_of_a_workload_are_told_to_pods() {
    let world = World::started();
    let replicas = |count: u64| json!({ "replicas": count, "template": {} });
    let job = json!({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": { "name": "torch" },
        "spec": { "pytorchReplicaSpecs": { "Master": replicas(1), "Worker": replicas(2) } },
    });
    let job = world.owner("pytorchjobs.kubeflow.org", job);
    let role = |role: &str| json!({ "labels": { "training.kubeflow.org/replica-type": role } });
    world.pod_with("m", Some(job.clone()), role("master"));
    world.pod_with("w", Some(job.clone()), role("worker"));
    world.settle().await;
    let (group, part) = world.group_of("m");
    assert_eq!(part.as_deref(), Some("master"));
    assert_eq!(world.group_of("w"), (group.clone(), Some("worker".to_owned())));
    let parts = json!([{ "name": "master", "minMember": 1 }, { "name": "worker", "minMember": 2 }]);
    assert_eq!(world.group(&group.unwrap())["spec"]["subGroups"], parts);
}

#[tokio::test(start_paused = true)]
async fn some_pods_are_left_alone() {
    let world = World::started();
    let job = world.job("train");
    let skipped = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "skipped", "annotations": { "kai.scheduler/skip-podgrouper": "true" } } });
    let skipped = world.owner("jobs.batch", skipped);
    world.pod_with(
        "a",
        Some(job.clone()),
        json!({ "annotations": { "kai.scheduler/skip-podgrouper": "true" } }),
    );
    world.pod("b", Some(skipped));
    world.pod_with("c", None, json!({ "annotations": { "pod-group-name": "of-a-user" } }));
    let other = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "d", "namespace": NS },
        "spec": { "schedulerName": "default-scheduler", "containers": [] },
    });
    world.create("pods", other);
    world.settle().await;
    assert_eq!(world.writes(), (0, 0));
    assert_eq!(world.told_of("a"), Vec::<String>::new());
    // What is nearly so is not so: the owner counts, and only "true" does.
    world.pod_with(
        "e",
        Some(job),
        json!({ "annotations": { "kai.scheduler/skip-podgrouper": "yes", "pod-group-name": "of-a-user" } }),
    );
    world.settle().await;
    assert_eq!(world.writes(), (1, 1));
    assert_ne!(world.group_of("e").0.as_deref(), Some("of-a-user"));
}

#[tokio::test(start_paused = true)]
async fn namespaces_and_pods_are_chosen_by_label() {
    let world = World::with(|options| {
        options.namespace_labels = [("team".to_owned(), "a".to_owned())].into();
        options.pod_labels = "grouped=yes".to_owned();
    });
    world.pod_with("in", None, json!({ "labels": { "grouped": "yes" } }));
    world.pod("out", None);
    world.settle().await;
    assert_eq!(world.writes(), (0, 0));
    world.patch("namespaces", NS, json!({ "metadata": { "labels": { "team": "a" } } }));
    world.settle().await;
    assert_eq!(world.writes(), (1, 1));
    assert_eq!(world.group_of("out"), (None, None));
}

/// A PodGroup of Volcano has no sub-groups as KAI's has, and is not taken for one of an older grouper because of that.
#[tokio::test(start_paused = true)]
async fn a_group_of_another_scheduler_stays_what_it_is() {
    let world = World::with(|options| options.schedulers = vec!["volcano".to_owned()]);
    let set = json!({
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": { "name": "js" },
        "spec": { "replicatedJobs": [{ "name": "w", "replicas": 2, "template": { "spec": { "parallelism": 2 } } }] },
    });
    let set = world.owner("jobsets.jobset.x-k8s.io", set);
    let labels = |index: &str| json!({ "jobset.sigs.k8s.io/replicatedjob-name": "w", "jobset.sigs.k8s.io/job-index": index });
    for (pod, index) in [("a", "0"), ("b", "0"), ("c", "1"), ("d", "1")] {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": pod, "namespace": NS, "labels": labels(index), "ownerReferences": [set] },
            "spec": { "schedulerName": "volcano", "containers": [] },
        });
        world.create("pods", pod);
    }
    world.settle().await;
    let group = format!("pg-js-{}", set["uid"].as_str().unwrap());
    assert_eq!(world.get(VOLCANO_GROUPS, &group).unwrap()["spec"]["minMember"], 4);
    let pod = world.get("pods", "c").unwrap();
    assert_eq!(pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"], group);
    // And again, when the owner changes.
    world.patch("jobsets.jobset.x-k8s.io", "js", json!({ "metadata": { "labels": { "a": "b" } } }));
    world.settle().await;
    assert_eq!(world.get(VOLCANO_GROUPS, &group).unwrap()["spec"]["minMember"], 4);
}

/// Two names of one scheduler: the pods of both are in one group, and nobody writes it for ever.
#[tokio::test(start_paused = true)]
async fn two_names_of_one_scheduler() {
    let world = World::with(|options| options.schedulers.push("other=kai-scheduler".to_owned()));
    let job = world.job("j");
    world.pod("a", Some(job.clone()));
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "b", "namespace": NS, "labels": { "user": "bob" }, "ownerReferences": [job] },
        "spec": { "schedulerName": "other", "containers": [] },
    });
    world.create("pods", pod);
    world.settle().await;
    assert_eq!(world.group_of("a"), world.group_of("b"));
    let before = world.writes();
    world.settle().await;
    assert_eq!(world.writes(), before);
}

/// The driver of a Spark application owns the executors: all of them are in its group, and nobody reads it for that.
#[tokio::test(start_paused = true)]
async fn a_pod_may_own_others() {
    let world = World::started();
    let spark = json!({ "labels": { "spark-app-name": "count", "spark-app-selector": "spark-1" } });
    let uid = world.pod_with("driver", None, spark.clone());
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "driver", "uid": uid });
    world.pod_with("executor", Some(owner), spark);
    world.settle().await;
    assert_eq!(world.groups(), ["spark-1"]);
    assert_eq!(world.group_of("driver"), (Some("spark-1".to_owned()), None));
    assert_eq!(world.group_of("executor"), world.group_of("driver"));
    assert_eq!((world.writes(), world.gate.reads("pods").0), ((1, 2), 0));
    // What the driver says counts for all, from now on.
    world.patch("pods", "driver", json!({ "metadata": { "labels": { "team": "a" } } }));
    world.settle().await;
    assert_eq!(world.group("spark-1")["metadata"]["labels"]["team"], "a");
}

/// The pods of our own operator are none of the grouper's business, and neither is what is not ready yet.
#[tokio::test(start_paused = true)]
async fn pod_gangs_that_are_not_ready_or_ours_wait_in_silence() {
    let world = World::started();
    let set = world.owner(
        "podcliquesets.grove.io",
        json!({ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "set" } }),
    );
    let gang = |name: &str, annotations: Value, pods: &[&str]| {
        let references: Vec<Value> = pods.iter().map(|it| json!({ "namespace": NS, "name": it })).collect();
        json!({
            "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
            "metadata": { "name": name, "namespace": NS, "annotations": annotations },
            "spec": { "podgroups": [{ "name": "c", "minReplicas": 1, "podReferences": references }] },
        })
    };
    world.create(
        "podgangs.scheduler.grove.io",
        gang("ours", json!({ "grove.io/scheduler-form": "" }), &["a"]),
    );
    world.create("podgangs.scheduler.grove.io", gang("theirs", json!({}), &[]));
    world.pod_with("a", Some(set.clone()), json!({ "labels": { "grove.io/podgang": "ours" } }));
    world.pod_with("b", Some(set), json!({ "labels": { "grove.io/podgang": "theirs" } }));
    world.settle().await;
    assert_eq!((world.writes(), world.told_of("a"), world.told_of("b")), ((0, 0), vec![], vec![]));
    // No event of the pod is needed.
    world.patch(
        "podgangs.scheduler.grove.io",
        "theirs",
        json!({ "spec": gang("theirs", json!({}), &["b"])["spec"] }),
    );
    world.settle().await;
    assert_eq!(world.writes(), (1, 1));
    assert_eq!(world.group_of("b").1.as_deref(), Some("c"));
}
