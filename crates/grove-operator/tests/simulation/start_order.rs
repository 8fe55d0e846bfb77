//! Pods start in order: they are told when the cliques before theirs are ready, once, and not before.

use std::collections::{BTreeMap, BTreeSet};

use grove_apiserver::{Action, DeleteOptions};
use serde_json::{Value, json};

use crate::world::{NAMESPACE, World, example, is_told};

const SETS: &str = "podcliquesets.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";

/// The worked example, in order: the front end, prefill, decode.
fn ordered() -> Value {
    let mut set = example(1);
    set["spec"]["template"]["cliqueStartupType"] = json!("CliqueStartupTypeInOrder");
    set
}

/// Hosts of the pods of cliques that wait for others, and whether they were told.
fn told(world: &World) -> BTreeMap<String, bool> {
    let pods = world.list("pods");
    let ordered = pods.iter().filter(|it| it.field("/spec/initContainers").is_some());
    ordered
        .map(|it| (it.field("/spec/hostname").unwrap().as_str().unwrap().to_owned(), is_told(it)))
        .collect()
}

/// Hosts that were told.
fn told_hosts(world: &World) -> BTreeSet<String> {
    told(world).into_iter().filter(|it| it.1).map(|it| it.0).collect()
}

fn hosts(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(ToString::to_string).collect()
}

/// Requests of the operator about a pod.
fn writes(world: &World, pod: &str) -> Vec<&'static str> {
    let writes = world.server.store().writes();
    let of_pod = writes.iter().filter(|it| it.resource == "pods" && it.name == pod && it.manager != "world");
    of_pod.map(|it| it.verb).collect()
}

const OF_SCALED: [&str; 4] = ["inf-0-pd-1-dec-0", "inf-0-pd-1-dec-1", "inf-0-pd-2-dec-0", "inf-0-pd-2-dec-1"];

#[tokio::test(start_paused = true)]
async fn order_holds_in_the_base_gang_and_in_each_scaled_one() {
    let mut world = World::started(21);
    world.unready = vec!["inf-0-fe", "inf-0-pd-0-pre", "inf-0-pd-2-pre"];
    world.create(SETS, ordered());
    world.settle().await;
    assert!(
        world.list("pods").iter().all(|it| it.field("/spec/nodeName").is_some()),
        "order holds no node up"
    );
    // Of the scaled gangs, the one whose prefill is ready; the others wait, each for its own.
    assert_eq!(told_hosts(&world), hosts(&OF_SCALED[..2]));
    assert_eq!(told(&world).len(), 1 + 3 * 2, "the front end and prefill of scaled gangs wait for nobody");
    let gang = world.get(GANGS, "inf-0").value().to_string();
    assert!(gang.contains("inf-0-fe: 0 pods ready, at least 1 needed; 2 cliques start later"), "{gang}");

    world.unready = vec!["inf-0-fe-1", "inf-0-pd-0-pre"];
    world.settle().await;
    let mut want = hosts(&OF_SCALED);
    want.insert("inf-0-pd-0-pre-0".to_owned());
    assert_eq!(told_hosts(&world), want, "one of two pods of the front end is its minimum");

    world.unready.clear();
    world.settle().await;
    assert!(told(&world).into_values().all(|it| it));
    let set = world.get(SETS, "inf");
    assert_eq!(set.field("/status/availableReplicas"), Some(&json!(1)));
}

#[tokio::test(start_paused = true)]
async fn each_pod_in_order_costs_one_more_write() {
    let world = World::started(22);
    world.create(SETS, ordered());
    world.settle().await;
    for pod in world.list("pods") {
        let ordered = pod.field("/spec/initContainers").is_some();
        let want = if ordered { vec!["create", "patch", "patch"] } else { vec!["create", "patch"] };
        assert_eq!(writes(&world, pod.name()), want, "{}", pod.name());
    }
}

/// The cliques before it are ready already: the new pod is born with the word.
#[tokio::test(start_paused = true)]
async fn a_replacement_is_told_when_it_is_created() {
    let world = World::started(23);
    world.create(SETS, ordered());
    world.settle().await;
    let old = world.names("pods");
    let victim = old.iter().find(|it| it.starts_with("inf-0-pd-0-dec-")).unwrap();
    world.delete("pods", victim);
    world.settle().await;
    let new: Vec<String> = world.names("pods").into_iter().filter(|it| !old.contains(it)).collect();
    assert_eq!(new.len(), 1);
    assert!(is_told(&world.get("pods", &new[0])));
    assert_eq!(writes(&world, &new[0]), ["create", "patch"], "the patch lifts its gate");
}

/// What was told stays told: an init container that runs again has to pass. New pods wait.
#[tokio::test(start_paused = true)]
async fn nothing_is_taken_back() {
    let mut world = World::started(24);
    world.create(SETS, ordered());
    world.settle().await;
    world.unready = vec!["inf-0-fe"];
    for pod in world.names("pods").into_iter().filter(|it| it.starts_with("inf-0-fe-")) {
        let unready = json!({ "type": "Ready", "status": "False" });
        world.patch_status("pods", &pod, json!({ "conditions": [unready] }));
    }
    let victim = world.names("pods").into_iter().find(|it| it.starts_with("inf-0-pd-0-pre-")).unwrap();
    let before = told_hosts(&world);
    world.delete("pods", &victim);
    world.settle().await;
    let lost: Vec<String> = before.difference(&told_hosts(&world)).cloned().collect();
    assert_eq!(lost, ["inf-0-pd-0-pre-0"], "only the replacement waits");

    // Somebody removes what we said: it is said again.
    let pod = world.names("pods").into_iter().find(|it| it.starts_with("inf-0-pd-1-dec-")).unwrap();
    world.patch("pods", &pod, json!({ "metadata": { "annotations": { "grove.io/parents-ready": null } } }));
    world.settle().await;
    assert!(is_told(&world.get("pods", &pod)));
}

/// Upstream takes a pod of `worker-a` for one of `worker`, because its name begins so.
#[tokio::test(start_paused = true)]
async fn parents_are_not_told_by_the_beginning_of_a_name() {
    let mut world = World::started(25);
    world.unready = vec!["inf-0-worker"];
    let clique = |name: &str, after: &[&str]| {
        let pod = json!({ "containers": [{ "name": "main", "image": "engine:1" }] });
        let spec = json!({ "roleName": name, "replicas": 1, "minAvailable": 1, "startsAfter": after, "podSpec": pod });
        json!({ "name": name, "spec": spec })
    };
    let mut set = example(1);
    set["spec"]["template"] = json!({
        "cliqueStartupType": "CliqueStartupTypeExplicit",
        "cliques": [
            clique("worker-a", &[]),
            clique("worker", &[]),
            clique("x", &["worker"]),
            clique("y", &["worker-a"]),
        ],
    });
    world.create(SETS, set);
    world.settle().await;
    assert_eq!(told_hosts(&world), hosts(&["inf-0-y-0"]));
    world.unready.clear();
    world.settle().await;
    assert_eq!(told_hosts(&world), hosts(&["inf-0-x-0", "inf-0-y-0"]));
}

/// Pods that only have the parent's labels, or a clique of that name that is not the set's, count for nothing.
#[tokio::test(start_paused = true)]
async fn strangers_are_no_parents() {
    let mut world = World::started(26);
    world.unready = vec!["inf-0-fe"];
    world.create(SETS, ordered());
    world.settle().await;
    let parent = world.list("pods").into_iter().find(|it| it.name().starts_with("inf-0-fe-")).unwrap();
    let mut stranger = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "inf-0-fe-zzzzz", "labels": parent.field("/metadata/labels") },
        "spec": parent.field("/spec"),
    });
    stranger["spec"].as_object_mut().unwrap().remove("schedulingGates");
    world.create("pods", stranger);
    let ready = json!({ "type": "Ready", "status": "True" });
    world.patch_status("pods", "inf-0-fe-zzzzz", json!({ "phase": "Running", "conditions": [ready] }));
    world.settle().await;
    assert_eq!(told(&world).get("inf-0-pd-0-pre-0"), Some(&false));
}

/// Whatever it was doing: who comes after it goes on, and nobody is told twice or too early.
#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_anew_goes_on() {
    let mut world = World::started(27);
    world.unready = vec!["inf-0-fe"];
    world.create(SETS, ordered());
    world.settle().await;
    world.kill();
    // The front end becomes ready while nobody looks.
    world.unready.clear();
    world.settle().await;
    assert_eq!(told_hosts(&world), hosts(&OF_SCALED));
    world.start();
    world.settle().await;
    assert!(told(&world).into_values().all(|it| it));
    let before = world.server.store().write_count();
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(world.server.store().write_count(), before, "what is done is done");
    for pod in world.list("pods").iter().filter(|it| it.field("/spec/initContainers").is_some()) {
        assert_eq!(writes(&world, pod.name()), ["create", "patch", "patch"], "{}", pod.name());
    }
}

/// Earlier versions named a user in the init container, which pods of this one do not: pods that have it are left as they are.
#[tokio::test(start_paused = true)]
async fn pods_with_another_init_container_are_left_alone() {
    let mut world = World::started(28);
    world.create(SETS, ordered());
    world.settle().await;
    world.kill();
    let ordered = world.list("pods").into_iter().filter(|it| it.field("/spec/initContainers").is_some());
    for pod in ordered.collect::<Vec<_>>() {
        let mut older = pod.value().clone();
        let metadata = older["metadata"].as_object_mut().unwrap();
        for of_server in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            metadata.remove(of_server);
        }
        let context = &mut older["spec"]["initContainers"][0]["securityContext"];
        assert_eq!(context["runAsNonRoot"], true);
        assert_eq!(context["runAsUser"], Value::Null);
        context["runAsUser"] = json!(65532);
        context["runAsGroup"] = json!(65532);
        let status = older["status"].clone();
        let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
        world.write("pods", NAMESPACE, pod.name(), None, Action::Delete(now)).unwrap();
        world.create("pods", older);
        world.patch_status("pods", pod.name(), status);
    }
    let before: Vec<_> = world.list("pods").iter().map(|it| it.field("/metadata/uid").cloned()).collect();
    let count = world.server.store().write_count();
    world.start();
    world.settle().await;
    let after: Vec<_> = world.list("pods").iter().map(|it| it.field("/metadata/uid").cloned()).collect();
    assert_eq!(after, before, "a pod was replaced");
    let writes = world.server.store().writes_since(count);
    let of_pods: Vec<_> = writes.iter().filter(|it| it.resource == "pods").collect();
    assert!(of_pods.is_empty(), "{of_pods:?}");
}
