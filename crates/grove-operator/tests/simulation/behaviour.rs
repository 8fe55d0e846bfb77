//! What happens to a set, from its creation to its end.

use grove_apiserver::{Action, DeleteOptions, Fault, Object, Policy};
use serde_json::{Value, json};

use crate::{
    quotas,
    world::{NAMESPACE, World, example},
};

const SETS: &str = "podcliquesets.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";

/// Reason of a condition that is True, or `None`.
fn holds(object: &Object, type_: &str) -> Option<String> {
    let mut conditions = object.field("/status/conditions")?.as_array()?.iter();
    let found = conditions.find(|it| it["type"] == type_ && it["status"] == "True")?;
    Some(found["reason"].as_str()?.to_owned())
}

/// UIDs of pods, which say whether a pod is still the same.
fn pods(world: &World) -> Vec<String> {
    world.list("pods").iter().map(|it| it.uid().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_set_runs_to_ready() {
    let world = World::started(1);
    world.create("podcliquesets.grove.io", example(1));
    world.settle().await;

    assert_eq!(world.names("podgangs.scheduler.grove.io"), ["inf-0", "inf-0-pd-0", "inf-0-pd-1"]);
    assert_eq!(world.names("services"), ["inf-0"]);
    assert_eq!(world.names("podcliquescalinggroups.grove.io"), ["inf-0-pd"]);
    assert_eq!(
        world.names("podcliques.grove.io"),
        [
            "inf-0-fe",
            "inf-0-pd-0-dec",
            "inf-0-pd-0-pre",
            "inf-0-pd-1-dec",
            "inf-0-pd-1-pre",
            "inf-0-pd-2-dec",
            "inf-0-pd-2-pre"
        ]
    );
    assert_eq!(world.list("pods").len(), 2 + 3 * 3);
    for pod in world.list("pods") {
        assert_eq!(pod.field("/spec/nodeName"), Some(&json!("node")), "{}", pod.name());
    }
    let set = world.get("podcliquesets.grove.io", "inf");
    let status = set.field("/status").unwrap();
    assert_eq!(status["availableReplicas"], 1);
    assert_eq!(status["updatedReplicas"], 1);
    assert_eq!(status["observedGeneration"], 1);
    for gang in world.list("podgangs.scheduler.grove.io") {
        assert_eq!(gang.field("/status/phase"), Some(&json!("Running")), "{}", gang.name());
    }
}

#[tokio::test(start_paused = true)]
async fn deletion_leaves_nothing_behind() {
    let world = World::started(2);
    world.create("podcliquesets.grove.io", example(2));
    world.settle().await;
    world.delete("podcliquesets.grove.io", "inf");
    world.settle().await;
    for kind in
        ["podcliquesets.grove.io", "podcliques.grove.io", "pods", "services", "podgangs.scheduler.grove.io"]
    {
        assert_eq!(world.names(kind), Vec::<String>::new(), "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_settled_cluster_sees_no_writes() {
    let world = World::started(3);
    world.create(SETS, example(2));
    world.settle().await;
    let before = world.server.store().write_count();
    // A relist shows everything again, and a cut watch begins anew.
    world.server.compact();
    world.server.cut_watches();
    world.settle().await;
    assert_eq!(world.server.store().write_count(), before);
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_anew_writes_nothing() {
    let mut world = World::started(4);
    world.create(SETS, example(2));
    world.settle().await;
    let before = world.server.store().write_count();
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(world.server.store().write_count(), before);
}

/// A quota that admits so many pods.
fn quota(world: &World, pods: usize) {
    let mut left = pods;
    world.server.before_write(move |write| {
        if write.verb() != "create" || write.resource.id() != "pods" {
            return Fault::None;
        }
        if left == 0 {
            return Fault::refuse(403, "Forbidden", "exceeded quota: small");
        }
        left -= 1;
        Fault::None
    });
}

#[tokio::test(start_paused = true)]
async fn refused_pods_are_told_and_tried_again() {
    let world = World::started(5);
    quotas::limit(&world, 3);
    world.create(SETS, example(1));
    world.settle().await;
    assert_eq!(world.list("pods").len(), 3);
    let words = |kind: &str| {
        world.list(kind).iter().find_map(|it| holds(it, "ReplicaFailure").map(|_| it.value().to_string()))
    };
    for kind in [SETS, CLIQUES, GANGS] {
        assert!(words(kind).is_some_and(|it| it.contains("exceeded quota: pods")), "{kind}");
    }
    assert!(
        holds(&world.get(GANGS, "inf-0"), "Initialized").is_none(),
        "a gang without its minimum does not go"
    );

    quotas::limit(&world, 1000);
    world.settle().await;
    assert_eq!(world.list("pods").len(), 11);
    for kind in [SETS, CLIQUES, GANGS] {
        assert_eq!(words(kind), None, "{kind}");
    }
    assert!(holds(&world.get(SETS, "inf"), "Available").is_some());
}

/// Every clique of the base gang has its minimum (1 + 1 + 2) before any has more.
#[tokio::test(start_paused = true)]
async fn a_gang_goes_with_its_minimum() {
    let world = World::started(6);
    let mut set = example(1);
    set["spec"]["template"]["podCliqueScalingGroups"][0]["replicas"] = json!(1);
    quota(&world, 4);
    world.create(SETS, set);
    world.settle().await;
    let gang = world.get(GANGS, "inf-0");
    assert!(holds(&gang, "Initialized").is_some() && holds(&gang, "Ready").is_some(), "{}", gang.value());
    assert!(holds(&gang, "ReplicaFailure").is_some(), "the fifth pod is missing, and that is told");
}

#[tokio::test(start_paused = true)]
async fn scaled_gangs_wait_for_their_base() {
    let mut world = World::started(7);
    world.nodes = false;
    world.create(SETS, example(1));
    world.settle().await;
    for pod in world.list("pods") {
        let scaled = pod.field("/metadata/labels").unwrap().get("grove.io/base-podgang").is_some();
        let gated = pod.field("/spec/schedulingGates").is_some();
        assert_eq!(gated, scaled, "{}", pod.name());
    }
    let waiting = world.get(GANGS, "inf-0-pd-0");
    let reasons: Vec<&Value> = waiting
        .field("/status/conditions")
        .unwrap()
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["reason"])
        .collect();
    assert!(reasons.contains(&&json!("WaitingForBaseGang")), "{reasons:?}");
    world.nodes = true;
    world.settle().await;
    assert!(world.list("pods").iter().all(|it| it.field("/spec/schedulingGates").is_none()));
}

/// By then its pods have their place: none of them says so once more.
#[tokio::test(start_paused = true)]
async fn scaled_gangs_go_when_their_base_comes_again() {
    let mut world = World::started(19);
    world.nodes = false;
    world.create(SETS, example(1));
    world.settle().await;
    world.server.before_write(|write| match (write.verb(), write.resource.id()) {
        ("create", GANGS) => Fault::refuse(403, "Forbidden", "not now"),
        _ => Fault::None,
    });
    world.delete(GANGS, "inf-0");
    world.nodes = true;
    world.settle().await;
    let gated = |world: &World| {
        world.list("pods").iter().filter(|it| it.field("/spec/schedulingGates").is_some()).count()
    };
    assert_eq!(gated(&world), 6, "without a base gang nothing follows it");
    world.server.before_write(|_| Fault::None);
    for _ in 0..3 {
        world.settle().await;
    }
    assert_eq!(gated(&world), 0);
}

#[tokio::test(start_paused = true)]
async fn children_are_put_back_and_strangers_stay() {
    let world = World::started(8);
    world.create(SETS, example(1));
    world.settle().await;
    let count = |kind| world.names(kind);
    let before = [CLIQUES, GROUPS, GANGS, "services"].map(count);
    world.patch(GANGS, "inf-0", json!({ "metadata": { "annotations": { "stranger": "stays" } } }));
    world.patch("services", "inf-0", json!({ "spec": { "publishNotReadyAddresses": false } }));
    world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "podSpec": { "hostNetwork": true } } }));
    world.settle().await;
    assert_eq!(world.get("services", "inf-0").field("/spec/publishNotReadyAddresses"), Some(&json!(true)));
    assert_eq!(world.get(CLIQUES, "inf-0-fe").field("/spec/podSpec/hostNetwork"), None);
    assert_eq!(world.get(GANGS, "inf-0").field("/metadata/annotations/stranger"), Some(&json!("stays")));
    for (kind, name) in [
        (CLIQUES, "inf-0-fe"),
        (CLIQUES, "inf-0-pd-1-dec"),
        (GROUPS, "inf-0-pd"),
        (GANGS, "inf-0"),
        ("services", "inf-0"),
    ] {
        world.delete(kind, name);
        world.settle().await;
        assert_eq!([CLIQUES, GROUPS, GANGS, "services"].map(count), before, "after {kind} {name}");
        assert_eq!(world.list("pods").len(), 11, "after {kind} {name}");
        assert!(
            world.list("pods").iter().all(|it| it.field("/spec/nodeName").is_some()),
            "after {kind} {name}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn failed_pods_are_replaced_at_their_index() {
    let world = World::started(9);
    world.create(SETS, example(1));
    world.settle().await;
    let victim =
        world.list("pods").iter().find(|it| it.name().starts_with("inf-0-fe-")).unwrap().name().to_owned();
    world.patch_status("pods", &victim, json!({ "phase": "Failed", "reason": "Evicted" }));
    world.settle().await;
    assert!(!world.names("pods").contains(&victim));
    let indices: Vec<String> = world
        .list("pods")
        .iter()
        .filter(|it| it.name().starts_with("inf-0-fe-"))
        .map(|it| it.field("/metadata/labels").unwrap()["grove.io/podclique-pod-index"].to_string())
        .collect();
    assert_eq!(indices.len(), 2);
    assert!(indices.contains(&"\"0\"".to_owned()) && indices.contains(&"\"1\"".to_owned()), "{indices:?}");
}

#[tokio::test(start_paused = true)]
async fn replicas_belong_to_whoever_scales() {
    let mut world = World::started(10);
    world.create(SETS, example(1));
    world.settle().await;
    world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "replicas": 4 } }));
    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 2 } }));
    world.settle().await;
    assert_eq!(world.list("pods").len(), 4 + 2 * 3);
    let kept = pods(&world);
    world.kill();
    world.start();
    let template = |image: &str| {
        let mut set = example(1);
        for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
            clique["spec"]["podSpec"]["containers"][0]["image"] = json!(image);
        }
        set["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
        json!({ "spec": set["spec"] })
    };
    world.patch(SETS, "inf", template("engine:2"));
    world.settle().await;
    assert_eq!(pods(&world), kept, "no pod is restarted");
    assert_eq!(world.get(CLIQUES, "inf-0-fe").field("/spec/replicas"), Some(&json!(4)));
    assert_eq!(world.get(GROUPS, "inf-0-pd").field("/spec/replicas"), Some(&json!(2)));
    let set = world.get(SETS, "inf");
    assert_eq!(holds(&set, "UpdatePending").as_deref(), Some("OldPodsKept"));
    assert_eq!(set.field("/status/updatedReplicas"), Some(&json!(0)));

    let victim = world.names("pods").remove(0);
    world.delete("pods", &victim);
    world.settle().await;
    let images: Vec<String> = world
        .list("pods")
        .iter()
        .map(|it| it.field("/spec/containers/0/image").unwrap().as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        images.iter().filter(|it| *it == "engine:2").count(),
        1,
        "what is made now is of the new template"
    );
}

#[tokio::test(start_paused = true)]
async fn orphans_are_left_alone() {
    let world = World::started(11);
    world.create(SETS, example(1));
    world.settle().await;
    let kept = pods(&world);
    let orphan = DeleteOptions { policy: Some(Policy::Orphan), ..DeleteOptions::default() };
    world.write(SETS, NAMESPACE, "inf", None, Action::Delete(orphan)).unwrap();
    world.settle().await;
    assert_eq!(world.names(SETS), Vec::<String>::new());
    assert_eq!(pods(&world), kept);
    assert_eq!(world.names(GANGS).len(), 3);
    // Whoever wants them gone deletes them, and what they own goes with them.
    for clique in world.names(CLIQUES) {
        world.delete(CLIQUES, &clique);
    }
    world.settle().await;
    assert_eq!(world.names(CLIQUES), Vec::<String>::new());
    assert_eq!(pods(&world), Vec::<String>::new());
}

/// What upstream Grove made carries hashes that we cannot compute.
#[tokio::test(start_paused = true)]
async fn hashes_of_others_are_kept() {
    let mut world = World::started(12);
    world.create(SETS, example(1));
    world.settle().await;
    world.kill();
    let label = json!({ "metadata": { "labels": { "grove.io/pod-template-hash": "upstream" } } });
    for clique in world.names(CLIQUES) {
        world.patch(CLIQUES, &clique, label.clone());
        let hashes = json!({
            "currentPodTemplateHash": "upstream",
            "currentPodCliqueSetGenerationHash": "theirs",
        });
        world.patch_status(CLIQUES, &clique, hashes);
    }
    for pod in world.names("pods") {
        world.patch("pods", &pod, label.clone());
    }
    world.patch_status(GROUPS, "inf-0-pd", json!({ "currentPodCliqueSetGenerationHash": "theirs" }));
    world.patch_status(SETS, "inf", json!({ "currentGenerationHash": "theirs" }));
    let kept = pods(&world);
    world.start();
    world.settle().await;
    assert_eq!(pods(&world), kept);
    assert_eq!(world.get(SETS, "inf").field("/status/currentGenerationHash"), Some(&json!("theirs")));
    assert_eq!(world.get(SETS, "inf").field("/status/updatedReplicas"), Some(&json!(1)));
    let clique = world.get(CLIQUES, "inf-0-fe");
    assert_eq!(clique.field("/metadata/labels").unwrap()["grove.io/pod-template-hash"], "upstream");
    // And a real change is a change.
    let mut set = example(1);
    set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = json!("engine:2");
    set["spec"]["updateStrategy"] = json!({ "type": "OnDelete" });
    world.patch(SETS, "inf", json!({ "spec": set["spec"] }));
    world.settle().await;
    assert_ne!(world.get(SETS, "inf").field("/status/currentGenerationHash"), Some(&json!("theirs")));
    let hash = |name: &str| {
        world.get(CLIQUES, name).field("/metadata/labels").unwrap()["grove.io/pod-template-hash"].clone()
    };
    assert_ne!(hash("inf-0-fe"), "upstream");
    assert_eq!(hash("inf-0-pd-0-dec"), "upstream", "only what changed gets a new hash");
    assert_eq!(pods(&world), kept);
}

/// One more group replica: its cliques and gang, its pods, and the reports on them; nothing else.
#[tokio::test(start_paused = true)]
async fn scaling_by_one_touches_only_what_it_must() {
    let world = World::started(13);
    world.create(SETS, example(2));
    world.settle().await;
    let before = world.server.store().write_count();
    world.patch(GROUPS, "inf-1-pd", json!({ "spec": { "replicas": 4 } }));
    world.settle().await;
    let writes = world.server.store().writes();
    let since = writes.len() - usize::try_from(world.server.store().write_count() - before).unwrap();
    let foreign = |name: &str| !(name.starts_with("inf-1-pd") || name == "inf");
    let strangers: Vec<_> = writes[since..].iter().filter(|it| foreign(&it.name)).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    let ours = writes[since..].iter().filter(|it| it.manager != "world").count();
    // 2 writes for each of 3 pods; 10 for the gang, 3 for the second clique, 3 for the group, 4 for the set.
    assert!(ours <= 3 * 2 + 10 + 3 + 3 + 4, "{ours}: {:?}", &writes[since..]);
}
