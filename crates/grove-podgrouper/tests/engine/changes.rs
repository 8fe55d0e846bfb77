//! Changes take effect without an event of a pod, and nothing is written when nothing changed.

use serde_json::{Value, json};

use crate::world::{GROUPS, NS, World};

async fn with_job() -> (World, String) {
    let world = World::started();
    let job = world.job("train");
    world.pod("p", Some(job.clone()));
    world.pod("q", Some(job.clone()));
    world.settle().await;
    assert_eq!(world.writes(), (1, 2));
    (world, format!("pg-train-{}", job["uid"].as_str().unwrap()))
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_owner() {
    let (world, group) = with_job().await;
    world.patch(
        "jobs.batch",
        "train",
        json!({ "metadata": { "annotations": { "kai.scheduler/batch-min-member": "2" } } }),
    );
    world.settle().await;
    assert_eq!(world.group(&group)["spec"]["minMember"], 2);
    assert_eq!(world.writes(), (2, 2));
    // What no group depends on is no news.
    world.patch("jobs.batch", "train", json!({ "status": { "active": 2 } }));
    world.settle().await;
    assert_eq!(world.writes(), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn priority_classes_and_defaults_of_kinds() {
    let (world, group) = with_job().await;
    let class = |world: &World| world.group(&group)["spec"]["priorityClassName"].clone();
    world.patch("jobs.batch", "train", json!({ "metadata": { "labels": { "priorityClassName": "high" } } }));
    world.settle().await;
    assert_eq!(class(&world), "train");
    world.create("priorityclasses.scheduling.k8s.io", json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 1 }));
    world.settle().await;
    assert_eq!(class(&world), "high");
    world.patch("jobs.batch", "train", json!({ "metadata": { "labels": { "priorityClassName": null } } }));
    world.settle().await;
    assert_eq!(class(&world), "train");
    let types = r#"[{ "typeName": "Job", "group": "batch", "priorityName": "high", "preemptibility": "non-preemptible" }]"#;
    world.create("configmaps", json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "defaults", "namespace": NS }, "data": { "types": types } }));
    world.settle().await;
    assert_eq!(class(&world), "high");
    assert_eq!(world.group(&group)["spec"]["preemptibility"], "non-preemptible");
}

#[tokio::test(start_paused = true)]
async fn defaults_of_kinds_that_cannot_be_read_count_as_none() {
    let (world, group) = with_job().await;
    world.create("priorityclasses.scheduling.k8s.io", json!({ "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 1 }));
    world.create(
        "configmaps",
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "defaults", "namespace": NS } }),
    );
    let job = |class: &str, preemptibility: &str| {
        json!([{ "typeName": "Job", "group": "batch", "priorityName": class, "preemptibility": preemptibility }]).to_string()
    };
    let right = || json!({ "types": job("high", "Non-Preemptible") });
    let table = [
        (json!({ "types": "[" }), "train", Value::Null),
        (json!({ "types": "" }), "train", Value::Null),
        (json!({ "kinds": job("high", "preemptible") }), "train", Value::Null),
        (json!({ "types": job("nobody", "preemptible") }), "train", json!("preemptible")),
        (json!({ "types": job("high", "sometimes") }), "high", Value::Null),
    ];
    for (data, class, preemptibility) in table {
        // What was right before does not count any more.
        for (data, class, preemptibility) in
            [(right(), "high", json!("non-preemptible")), (data, class, preemptibility)]
        {
            world.patch("configmaps", "defaults", json!({ "data": null }));
            world.patch("configmaps", "defaults", json!({ "data": data }));
            world.settle().await;
            let spec = &world.group(&group)["spec"];
            let is = (&spec["priorityClassName"], &spec["preemptibility"]);
            assert_eq!(is, (&json!(class), &preemptibility), "{data}");
        }
    }
    world.delete("configmaps", "defaults");
    world.settle().await;
    assert_eq!(world.group(&group)["spec"]["priorityClassName"], "train");
}

#[tokio::test(start_paused = true)]
async fn a_group_that_somebody_changed_or_deleted() {
    let (world, group) = with_job().await;
    let status = json!({ "status": { "resourcesStatus": {} }, "metadata": { "annotations": { "kai.scheduler/last-start-timestamp": "t" } } });
    world.patch(GROUPS, &group, status);
    world.settle().await;
    assert_eq!(world.writes(), (1, 2));
    world.patch(
        GROUPS,
        &group,
        json!({ "spec": { "minMember": 7, "queue": "theirs", "markUnschedulable": false } }),
    );
    world.settle().await;
    let spec = &world.group(&group)["spec"];
    assert_eq!(
        (&spec["minMember"], &spec["queue"], &spec["markUnschedulable"]),
        (&json!(1), &json!("theirs"), &json!(false))
    );
    assert_eq!(world.group(&group)["metadata"]["annotations"]["kai.scheduler/last-start-timestamp"], "t");
    assert_eq!(world.writes(), (2, 2));
    world.delete(GROUPS, &group);
    world.settle().await;
    assert_eq!(world.group(&group)["spec"]["queue"], "default-queue");
    assert_eq!(world.writes(), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn a_stale_part_is_taken_away() {
    let world = World::started();
    let replicas = |count: u64| json!({ "replicas": count, "template": {} });
    let job = json!({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": { "name": "torch" },
        "spec": { "pytorchReplicaSpecs": { "Worker": replicas(1) } },
    });
    let job = world.owner("pytorchjobs.kubeflow.org", job);
    world.pod_with("w", Some(job), json!({ "labels": { "training.kubeflow.org/replica-type": "worker" } }));
    world.settle().await;
    assert_eq!(world.group_of("w").1.as_deref(), Some("worker"));
    world.patch(
        "pods",
        "w",
        json!({ "metadata": { "labels": { "training.kubeflow.org/replica-type": null } } }),
    );
    world.settle().await;
    assert_eq!(world.group_of("w").1, None);
}

/// A RayJob says later which cluster is its own.
#[tokio::test(start_paused = true)]
async fn what_comes_later_is_waited_for() {
    let world = World::started();
    let job = world.owner(
        "rayjobs.ray.io",
        json!({ "apiVersion": "ray.io/v1", "kind": "RayJob", "metadata": { "name": "ray" } }),
    );
    world.pod_with("head", Some(job), json!({ "labels": { "ray.io/group": "headgroup" } }));
    world.settle().await;
    assert_eq!(world.writes(), (0, 0));
    assert_eq!(world.told_of("head").len(), 1, "{:?}", world.told_of("head"));
    world.patch("rayjobs.ray.io", "ray", json!({ "status": { "rayClusterName": "c" } }));
    world.settle().await;
    let cluster = json!({
        "apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": { "name": "c", "namespace": NS },
        "spec": { "workerGroupSpecs": [{ "groupName": "w", "replicas": 2, "minReplicas": 1 }] },
    });
    world.create("rayclusters.ray.io", cluster);
    world.settle().await;
    let (group, part) = world.group_of("head");
    assert_eq!(part.as_deref(), Some("headgroup"));
    let names: Vec<Value> = world.group(&group.unwrap())["spec"]["subGroups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    // The last one is for the pod that submits the job.
    assert_eq!(names, ["headgroup", "w", "default"]);
}

#[tokio::test(start_paused = true)]
async fn a_new_grouper_writes_nothing() {
    let (mut world, _) = with_job().await;
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(world.writes(), (1, 2));
}

/// A pod without owners names its group itself, as one whose user made it does; by the name it is known that it is ours.
#[tokio::test(start_paused = true)]
async fn the_group_of_a_pod_alone_is_made_anew() {
    let world = World::started();
    let uid = world.pod("alone", None);
    world.settle().await;
    let group = format!("pg-alone-{uid}");
    world.delete(GROUPS, &group);
    world.settle().await;
    assert_eq!(world.groups(), [group]);
    assert_eq!(world.writes(), (2, 1));
}

/// Of a group that is gone all pods are looked at: their place in it may be another one now.
#[tokio::test(start_paused = true)]
async fn all_pods_of_a_group_that_is_gone_find_their_places() {
    let world = World::started();
    let cluster = json!({
        "apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": { "name": "ray" },
        "spec": { "workerGroupSpecs": [{ "groupName": "w", "replicas": 1 }] },
    });
    let cluster = world.owner("rayclusters.ray.io", cluster);
    // An older grouper made it, without parts.
    let group = format!("pg-ray-{}", cluster["uid"].as_str().unwrap());
    let flat = json!({
        "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup", "metadata": { "name": group, "namespace": NS },
        "spec": { "minMember": 2, "queue": "q" },
    });
    world.create(GROUPS, flat);
    for (pod, part) in [("h", "headgroup"), ("w", "w")] {
        world.pod_with(pod, Some(cluster.clone()), json!({ "labels": { "ray.io/group": part } }));
    }
    world.settle().await;
    assert_eq!((world.group_of("h").1, world.group_of("w").1), (None, None));
    world.delete(GROUPS, &group);
    world.settle().await;
    assert_eq!(world.group_of("h").1.as_deref(), Some("headgroup"));
    assert_eq!(world.group_of("w").1.as_deref(), Some("w"));
}
