//! Which pods are looked at, and what of them reaches their group.

use serde_json::{Value, json};

use crate::world::{GROUPS, NS, World};

const POOL: &str = "kai.scheduler/node-pool";
const QUEUE: &str = "kai.scheduler/queue";
const SKIP: &str = "kai.scheduler/skip-podgrouper";

fn job(world: &World, name: &str, labels: Value) -> Value {
    let metadata = json!({ "name": name, "labels": labels });
    world.owner("jobs.batch", json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata }))
}

/// Labels of the group that a pod is in.
fn labels_of_group(world: &World, pod: &str) -> Value {
    world.group(&world.group_of(pod).0.unwrap())["metadata"]["labels"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_group_goes_to_the_pool_of_its_pod() {
    // Label of pools, labels of the owner, of the pod, of the group.
    let table = [
        (POOL, json!({}), json!({ POOL: "a", "app": "x" }), json!({ POOL: "a" })),
        (POOL, json!({}), json!({}), Value::Null),
        (POOL, json!({}), Value::Null, Value::Null),
        (POOL, json!({ POOL: "of-owner" }), json!({ POOL: "a" }), json!({ POOL: "of-owner" })),
        ("pool", json!({}), json!({ POOL: "a", "pool": "b" }), json!({ "pool": "b" })),
        ("", json!({}), json!({ POOL: "a", "": "b" }), Value::Null),
    ];
    for (key, of_owner, of_pod, expected) in table {
        let world = World::with(|options| key.clone_into(&mut options.settings.node_pool_label));
        let job = job(&world, "j", of_owner.clone());
        world.pod_with("p", Some(job), json!({ "labels": of_pod }));
        world.settle().await;
        assert_eq!(labels_of_group(&world, "p"), expected, "{key} {of_owner} {of_pod}");
    }
}

/// Whatever the labels are called.
#[tokio::test(start_paused = true)]
async fn pool_and_queue_of_a_group_never_change() {
    for (pool, queue) in [(POOL, QUEUE), ("pool", "team")] {
        let world = World::with(|options| {
            pool.clone_into(&mut options.settings.node_pool_label);
            queue.clone_into(&mut options.settings.queue_label);
        });
        let placed = job(&world, "placed", json!({ queue: "one" }));
        let free = job(&world, "free", json!({}));
        world.pod_with("p", Some(placed.clone()), json!({ "labels": { pool: "a" } }));
        world.pod("q", Some(free.clone()));
        world.settle().await;
        world.patch("jobs.batch", "placed", json!({ "metadata": { "labels": { queue: "two" } } }));
        world.pod_with("r", Some(placed), json!({ "labels": { pool: "b" } }));
        world.pod_with("s", Some(free), json!({ "labels": { pool: "b" } }));
        world.settle().await;
        assert_eq!(labels_of_group(&world, "r"), json!({ pool: "a", queue: "one" }));
        assert_eq!(world.group(&world.group_of("r").0.unwrap())["spec"]["queue"], "one");
        assert_eq!(labels_of_group(&world, "s"), Value::Null);
        assert_eq!(world.writes(), (2, 4), "{pool} {queue}");
    }
}

/// An owner at the top that says nonsense tells whether anybody asked it.
#[tokio::test(start_paused = true)]
async fn pod_and_owners_may_ask_to_be_left_alone() {
    // What the pod, its owner, the one above and the one at the top say, and whether the pod is looked at.
    let table = [
        ([None, None, None, None], true),
        ([Some("false"), None, None, None], true),
        ([Some("True"), None, None, None], true),
        ([None, Some("false"), Some("false"), Some("")], true),
        ([Some("true"), None, None, None], false),
        ([None, Some("true"), None, None], false),
        ([None, None, Some("true"), None], false),
        ([None, None, None, Some("true")], false),
    ];
    for (said, is_looked_at) in table {
        let world = World::started();
        let metadata = |name: &str, said: Option<&str>, owner: Option<&Value>| {
            let mut metadata =
                json!({ "name": name, "ownerReferences": owner.into_iter().collect::<Vec<_>>() });
            if let Some(text) = said {
                metadata["annotations"][SKIP] = text.into();
            }
            metadata
        };
        let thing = |metadata: Value| json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": metadata });
        let mut top = thing(metadata("top", said[3], None));
        top["metadata"]["annotations"]["kai.scheduler/batch-min-member"] = "many".into();
        let top = world.owner("things.example.com", top);
        let middle = world.owner("things.example.com", thing(metadata("middle", said[2], Some(&top))));
        let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata("j", said[1], Some(&middle)) });
        let job = world.owner("jobs.batch", job);
        world.pod_with("p", None, metadata("p", said[0], Some(&job)));
        world.settle().await;
        assert_eq!(world.told_of("p").len(), usize::from(is_looked_at), "{said:?}");
        assert_eq!(world.writes(), (0, 0), "{said:?}");
        if said[0] == Some("true") {
            assert_eq!((world.gate.reads("jobs"), world.gate.reads("things")), ((0, 0), (0, 0)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_owners_keeps_the_group_that_its_user_gave_it() {
    let world = World::started();
    let job = world.job("j");
    let named =
        |owners: Value| json!({ "annotations": { "pod-group-name": "mine" }, "ownerReferences": owners });
    world.pod_with("none", None, named(Value::Null));
    world.pod_with("empty", None, named(json!([])));
    world.pod_with("owned", None, named(json!([job])));
    world.settle().await;
    let group = format!("pg-j-{}", job["uid"].as_str().unwrap());
    assert_eq!(world.groups(), [group.as_str()]);
    let expected = [("none", "mine"), ("empty", "mine"), ("owned", group.as_str())];
    for (pod, group) in expected {
        assert_eq!(world.group_of(pod).0.as_deref(), Some(group), "{pod}");
    }
    assert_eq!(world.writes(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_gone_is_no_trouble() {
    let world = World::started();
    world.settle().await;
    let job = world.job("j");
    world.pod("p", Some(job));
    world.delete("pods", "p");
    world.settle().await;
    assert_eq!((world.groups(), world.told_of("p"), world.writes()), (vec![], vec![], (0, 0)));
}

/// A PodGang lists all of its pods; only the one that is looked at is written.
#[tokio::test(start_paused = true)]
async fn pods_that_a_group_lists_are_not_touched() {
    let world = World::started();
    let set =
        json!({ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "set" } });
    let set = world.owner("podcliquesets.grove.io", set);
    let references = ["p", "other"].map(|it| json!({ "namespace": NS, "name": it }));
    let gang = json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "metadata": { "name": "g", "namespace": NS },
        "spec": { "podgroups": [{ "name": "c", "minReplicas": 2, "podReferences": references }] },
    });
    world.create("podgangs.scheduler.grove.io", gang);
    let other = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "other", "namespace": NS, "ownerReferences": [set] },
        "spec": { "schedulerName": "default-scheduler", "containers": [] },
    });
    world.create("pods", other);
    world.pod_with("p", Some(set), json!({ "labels": { "grove.io/podgang": "g" } }));
    world.settle().await;
    assert_eq!(world.group_of("p").1.as_deref(), Some("c"));
    assert_eq!(world.group_of("other"), (None, None));
    assert_eq!(world.writes(), (1, 1));
}

/// All that is written of a pod alone, and of one below an owner that is skipped.
#[tokio::test(start_paused = true)]
async fn the_whole_group_of_a_pod() {
    let world = World::started();
    let flow = json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow",
        "metadata": { "name": "flow", "labels": { QUEUE: "test" } },
    });
    let flow = world.owner("workflows.argoproj.io", flow);
    for (name, owner, labels, queue) in [
        ("pod-job", None, Value::Null, "default-queue"),
        ("argo-pod", Some(flow), json!({ QUEUE: "test" }), "test"),
    ] {
        let uid = world.pod(name, owner);
        world.settle().await;
        let group = world.get(GROUPS, &format!("pg-{name}-{uid}")).unwrap();
        let metadata = &group["metadata"];
        let top = format!("name: {name}\nuid: {uid}\ngroup: \"\"\nversion: v1\nkind: Pod\n");
        assert_eq!(metadata["annotations"], json!({ "kai.scheduler/top-owner-metadata": top }));
        assert_eq!(metadata["labels"], labels);
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid });
        assert_eq!(metadata["ownerReferences"], json!([pod]));
        let spec =
            json!({ "minMember": 1, "queue": queue, "priorityClassName": "train", "topologyConstraint": {} });
        assert_eq!(group["spec"], spec);
    }
}
