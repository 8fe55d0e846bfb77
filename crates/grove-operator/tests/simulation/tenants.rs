//! Another tenant copies objects of a set into its own namespace, with their labels and with owner references that name the
//! set's objects by UID. References are free text, and the garbage collector keeps what names a kind that nobody serves. None
//! of this concerns the set.

use std::{collections::BTreeSet, sync::Arc};

use grove_apiserver::{Action, Object, PatchBody, Subresource};
use serde_json::{Value, json};

use crate::{
    herds::{HERDS, TOY, Toy},
    world::{DEFAULT, World, example},
};

const EVIL: &str = "evil";
const SETS: &str = "podcliquesets.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";
const SERVICES: &str = "services";
const AUTOSCALERS: &str = "horizontalpodautoscalers.autoscaling";
const REVISIONS: &str = "controllerrevisions.apps";

/// What the copies say of their owner.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Claim {
    /// The UID of the set's object, as that of a kind that nobody serves.
    UnknownKind,
    /// The owner exactly as the original has it. The finalizer of the copy outlasts the garbage collector.
    SameOwner,
    /// None: only the labels are those of the original.
    Labels,
}

const CLAIMS: [Claim; 3] = [Claim::UnknownKind, Claim::SameOwner, Claim::Labels];

/// The worked example with an autoscaler, so that there is an object of every kind.
fn set() -> Value {
    let mut set = example(1);
    set["spec"]["template"]["cliques"][0]["spec"]["autoScalingConfig"] =
        json!({ "minReplicas": 1, "maxReplicas": 4, "metrics": [] });
    set
}

fn for_scheduler(mut set: Value, name: &str) -> Value {
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["schedulerName"] = name.into();
    }
    set
}

fn enter(world: &World) {
    let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": EVIL } });
    world.write("namespaces", "", "", None, Action::Create(namespace)).unwrap();
}

async fn running() -> World {
    let world = World::started(1);
    enter(&world);
    world.create(SETS, set());
    world.settle().await;
    assert_runs(&world);
    world
}

/// A copy in the other namespace.
fn forge(world: &World, kind: &str, original: &Value, claim: Claim, change: impl FnOnce(&mut Value)) {
    let mut copy = original.clone();
    let mut references = copy["metadata"]["ownerReferences"].clone();
    match claim {
        Claim::UnknownKind => {
            references[0]["apiVersion"] = "nowhere.io/v1".into();
            references[0]["kind"] = "X".into();
        }
        Claim::SameOwner => {}
        Claim::Labels => references = Value::Null,
    }
    copy["metadata"] = json!({
        "name": original["metadata"]["name"], "namespace": EVIL,
        "labels": original["metadata"]["labels"], "annotations": original["metadata"]["annotations"],
        "ownerReferences": references, "finalizers": ["evil.io/stays"],
    });
    change(&mut copy);
    let (name, status) = (copy["metadata"]["name"].as_str().unwrap().to_owned(), copy["status"].clone());
    world.write(kind, EVIL, "", None, Action::Create(copy)).unwrap();
    if status.is_object() && ["pods", CLIQUES, GROUPS, GANGS].contains(&kind) {
        let patch = Action::Patch(PatchBody::Merge(json!({ "status": status })));
        world.write(kind, EVIL, &name, Some(Subresource::Status), patch).unwrap();
    }
}

fn forge_all(world: &World, kinds: &[&str], claim: Claim) {
    for kind in kinds {
        for original in world.list(kind) {
            forge(world, kind, original.value(), claim, |_| {});
        }
    }
}

fn forged(world: &World, kind: &str) -> Vec<Arc<Object>> {
    world.server.store().list(kind, Some(EVIL))
}

/// All pods of the set exist once, are ready, and that is what its status says.
fn assert_runs(world: &World) {
    let pods = world.list("pods");
    let place = |it: &Arc<Object>| {
        let label = |key: &str| it.field(&format!("/metadata/labels/grove.io~1{key}")).cloned();
        (label("podclique").map(|it| it.to_string()), label("podclique-pod-index").map(|it| it.to_string()))
    };
    assert_eq!(pods.iter().map(place).collect::<BTreeSet<_>>().len(), 11, "{:?}", world.names("pods"));
    assert_eq!(pods.len(), 11);
    assert!(pods.iter().all(|it| it.field("/status/conditions/0/status") == Some(&json!("True"))));
    for clique in world.list(CLIQUES) {
        let wanted = clique.field("/spec/replicas");
        assert_eq!(clique.field("/status/readyReplicas"), wanted, "{}", clique.value());
        assert_eq!(clique.field("/status/replicas"), wanted, "{}", clique.value());
    }
    assert_eq!(world.get(SETS, "inf").field("/status/availableReplicas"), Some(&json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_forged_pod_takes_no_index_and_counts_nowhere() {
    for claim in CLAIMS {
        let world = running().await;
        let victim = world.list("pods")[0].clone();
        forge_all(&world, &["pods"], claim);
        world.settle().await;
        assert_runs(&world);
        world.delete("pods", victim.name());
        world.settle().await;
        assert_runs(&world);
        assert!(world.list("pods").iter().all(|it| it.uid() != victim.uid()), "{claim:?}");
        assert_eq!(forged(&world, "pods").len(), 11, "{claim:?}");
    }
}

/// Scale-in and an update take pods of the set, not of others, and as many as they should.
#[tokio::test(start_paused = true)]
async fn forged_pods_do_not_change_how_many_are_deleted() {
    let world = running().await;
    forge_all(&world, &["pods"], Claim::UnknownKind);
    world.patch(CLIQUES, "inf-0-fe", json!({ "spec": { "replicas": 1 } }));
    world.settle().await;
    assert_eq!(world.list("pods").len(), 10);
    assert_eq!(forged(&world, "pods").len(), 11);
}

/// What the set lost comes back, although the copy of it is there.
#[tokio::test(start_paused = true)]
async fn a_forged_child_does_not_stand_in_for_the_original() {
    for (kind, name) in [
        (SERVICES, "inf-0"),
        (AUTOSCALERS, "inf-0-fe"),
        (CLIQUES, "inf-0-fe"),
        (CLIQUES, "inf-0-pd-1-dec"),
        (GROUPS, "inf-0-pd"),
        (GANGS, "inf-0"),
    ] {
        for claim in CLAIMS {
            let world = running().await;
            let original = world.get(kind, name);
            forge(&world, kind, original.value(), claim, |_| {});
            world.delete(kind, name);
            world.settle().await;
            assert_ne!(world.get(kind, name).uid(), original.uid(), "{kind} {claim:?}");
            assert_runs(&world);
        }
    }
}

/// A set waits for its own children, and for no others; and it deletes only those.
#[tokio::test(start_paused = true)]
async fn forged_children_neither_hold_up_a_deletion_nor_go_with_it() {
    let kinds = [SERVICES, AUTOSCALERS, CLIQUES, GROUPS, GANGS, REVISIONS, "pods"];
    for claim in CLAIMS {
        let world = running().await;
        forge_all(&world, &kinds, claim);
        world.delete(SETS, "inf");
        world.settle().await;
        for kind in kinds.into_iter().chain([SETS]) {
            assert_eq!(world.names(kind), Vec::<String>::new(), "{kind} {claim:?}");
        }
        for kind in kinds {
            let copies = forged(&world, kind);
            assert!(!copies.is_empty(), "{kind}");
            // The garbage collector deletes what names an owner in another namespace.
            let is_deleted = |it: &Arc<Object>| it.field("/metadata/deletionTimestamp").is_some();
            assert_eq!(copies.iter().any(is_deleted), claim == Claim::SameOwner, "{kind} {claim:?}");
        }
    }
}

/// A group waits for its own members only.
#[tokio::test(start_paused = true)]
async fn forged_members_do_not_hold_up_a_group() {
    let world = running().await;
    for original in world.list(CLIQUES) {
        forge(&world, CLIQUES, original.value(), Claim::UnknownKind, |_| {});
    }
    let group = world.get(GROUPS, "inf-0-pd");
    world.delete(GROUPS, "inf-0-pd");
    world.settle().await;
    assert_ne!(world.get(GROUPS, "inf-0-pd").uid(), group.uid());
    assert_runs(&world);
}

/// A set stays with the scheduler that its gangs name: its own gangs.
#[tokio::test(start_paused = true)]
async fn a_forged_gang_does_not_choose_the_scheduler() {
    for claim in [Claim::UnknownKind, Claim::SameOwner] {
        let mut world = World::with_toy(1, &Toy::default());
        enter(&world);
        world.start();
        world.create(SETS, set());
        world.settle().await;
        let gang = world.get(GANGS, "inf-0");
        world.kill();
        forge(&world, GANGS, gang.value(), claim, |copy| {
            copy["metadata"]["labels"]["grove.io/scheduler-name"] = TOY.into();
            copy["metadata"]["name"] = "a-first".into();
        });
        // The next operator asks the gangs, and finds none of its own.
        for name in world.names(GANGS) {
            world.delete(GANGS, &name);
        }
        for pod in world.names("pods") {
            world.delete("pods", &pod);
        }
        world.start();
        world.settle().await;
        assert_runs(&world);
        let schedulers: BTreeSet<String> = world
            .list("pods")
            .iter()
            .map(|it| it.field("/spec/schedulerName").unwrap().to_string())
            .collect();
        assert_eq!(schedulers, BTreeSet::from([format!("{DEFAULT:?}")]), "{claim:?}");
    }
}

/// What a scheduler is told of a gang is in the gang's namespace; copies elsewhere are neither taken for it nor deleted.
#[tokio::test(start_paused = true)]
async fn forged_backend_objects_keep_no_gate_closed() {
    for claim in CLAIMS {
        let toy = Toy::default();
        let mut world = World::with_toy(1, &toy);
        enter(&world);
        world.start();
        toy.order(|it| it.no_render = Some("not yet"));
        world.create(SETS, for_scheduler(set(), TOY));
        world.settle().await;
        let is_gated = |it: &Arc<Object>| it.field("/spec/schedulingGates").is_some();
        assert!(world.list("pods").iter().all(is_gated));
        for gang in world.list(GANGS) {
            let herd = |name: &str| {
                let owner = json!({
                    "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "controller": true,
                    "name": gang.name(), "uid": gang.uid(),
                });
                json!({
                    "apiVersion": "toy.example.com/v1", "kind": "Herd", "spec": {},
                    "metadata": { "name": name, "ownerReferences": [owner] },
                })
            };
            // One by the name that is wanted, and one that would be too much.
            forge(&world, HERDS, &herd(gang.name()), claim, |_| {});
            forge(&world, HERDS, &herd(&format!("{}-more", gang.name())), claim, |_| {});
        }
        let copies = forged(&world, HERDS).len();
        toy.order(|it| it.no_render = None);
        world.kill();
        world.start();
        world.settle().await;
        assert_eq!(world.names(HERDS), world.names(GANGS), "{claim:?}");
        assert_runs(&world);
        assert_eq!(forged(&world, HERDS).len(), copies, "{claim:?}");
    }
}

/// The history of a set is what it keeps itself: copies with higher numbers take no place in it.
#[tokio::test(start_paused = true)]
async fn forged_revisions_do_not_push_out_the_history() {
    let world = running().await;
    let first = world.list(REVISIONS)[0].clone();
    for number in 0..20 {
        forge(&world, REVISIONS, first.value(), Claim::UnknownKind, |copy| {
            copy["metadata"]["name"] = format!("inf-{number}").into();
            copy["revision"] = json!(1_000 + number);
        });
    }
    let cliques = |image: &str| {
        let mut cliques = set()["spec"]["template"]["cliques"].clone();
        cliques[0]["spec"]["podSpec"]["containers"][0]["image"] = image.into();
        json!({ "spec": { "template": { "cliques": cliques } } })
    };
    world.patch(SETS, "inf", cliques("engine:2"));
    world.settle().await;
    let mut numbers: Vec<i64> =
        world.list(REVISIONS).iter().map(|it| it.field("/revision").unwrap().as_i64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2]);
}
