//! The end of sets: what is written while they go, whose children go, and what cannot be decoded.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use grove_api::constants::finalizers;
use grove_apiserver::{Action, Fault, Object, PatchBody};
use http::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    herds::{HERDS, TOY, Toy},
    world::{NAMESPACE, World, example},
};

const SETS: &str = "podcliquesets.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";
const EVENTS: &str = "events.events.k8s.io";

/// The worked example, for the toy scheduler.
fn for_toy() -> Value {
    let mut set = example(1);
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["schedulerName"] = TOY.into();
    }
    set
}

fn assert_all_gone(world: &World) {
    for kind in [SETS, GROUPS, CLIQUES, GANGS, HERDS, "pods", "services"] {
        if world.server.resources().by_id(kind).is_some() {
            assert_eq!(world.names(kind), Vec::<String>::new(), "{kind}");
        }
    }
}

/// What the scheduler is told of a gang is under way when the set is deleted: it arrives while the gang is there, and goes
/// with it, instead of being left to the garbage collector.
#[tokio::test(start_paused = true)]
async fn no_scheduler_object_arrives_after_its_gang_is_deleted() {
    let mut world = World::with_toy(1, &Toy::default());
    world.delay = |method, path| {
        let tells = method == Method::PATCH && path.contains("/herds/");
        if tells { Duration::from_secs(3) } else { Duration::ZERO }
    };
    world.start();
    let (arrived, ownerless) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (server, counted, late) = (world.server.clone(), Arc::clone(&arrived), Arc::clone(&ownerless));
    world.server.before_write(move |write| {
        if write.resource.id() == HERDS && write.verb() == "patch" {
            counted.fetch_add(1, Ordering::SeqCst);
            if server.store().get(GANGS, NAMESPACE, &write.name).is_none() {
                late.fetch_add(1, Ordering::SeqCst);
            }
        }
        Fault::None
    });
    world.create(SETS, for_toy());
    sleep(Duration::from_secs(1)).await;
    assert_eq!(world.names("pods").len(), 11);
    assert_eq!(world.names(HERDS), Vec::<String>::new());
    world.delete(SETS, "inf");
    world.settle().await;
    // Those that were under way, and no other.
    assert_eq!((arrived.load(Ordering::SeqCst), ownerless.load(Ordering::SeqCst)), (3, 0));
    assert_all_gone(&world);
}

/// The operator's caches show a set that is being deleted; meanwhile another one of the same name took its place. What that
/// one has is not deleted.
#[tokio::test(start_paused = true)]
async fn children_of_the_next_set_of_the_same_name_stay() {
    let world = next_life(2, false).await;
    // When the watches come, the next set is seen to.
    sleep(Duration::from_mins(5)).await;
    world.settle().await;
    assert_eq!(world.names("pods").len(), 11);
}

/// Likewise where the next one, too, is being deleted, but what it has is to stay.
#[tokio::test(start_paused = true)]
async fn orphans_of_the_next_set_of_the_same_name_stay() {
    let world = next_life(3, true).await;
    sleep(Duration::from_mins(5)).await;
    world.settle().await;
    assert_eq!(
        (world.names(SETS).len(), world.names(GANGS).as_slice()),
        (0, ["inf-next".to_owned()].as_slice())
    );
}

/// An operator that works on the deletion of a set, and a minute in which there is another one of that name already, with a gang. That
/// one stays, whether the next set is there to stay, or `orphans` what it has.
async fn next_life(seed: u64, orphans: bool) -> World {
    let mut world = World::started(seed);
    world.create(SETS, example(1));
    world.settle().await;
    world.kill();
    world.delete(SETS, "inf");
    // From now on operators see what is there when they start, and then nothing for a long time.
    world.delay = |method, path| {
        let watches = path.contains("watch=");
        let asks =
            method == Method::GET && path.contains("/podcliquesets?") && path.contains("metadata.name");
        if watches {
            Duration::from_mins(2)
        } else if asks || method == Method::DELETE {
            Duration::from_secs(2)
        } else {
            Duration::ZERO
        }
    };
    world.start();
    sleep(Duration::from_secs(1)).await;

    let old = world.get(GANGS, "inf-0");
    let free = Action::Patch(PatchBody::Merge(json!({ "metadata": { "finalizers": null } })));
    world.write(SETS, NAMESPACE, "inf", None, free).unwrap();
    world.create(SETS, example(1));
    let next = world.get(SETS, "inf").uid().to_owned();
    let mut gang = old.value().clone();
    gang["metadata"] = json!({
        "name": "inf-next", "namespace": NAMESPACE, "labels": old.field("/metadata/labels"),
        "ownerReferences": old.field("/metadata/ownerReferences"),
    });
    gang["metadata"]["ownerReferences"][0]["uid"] = next.into();
    world.create(GANGS, gang);
    let uid = world.get(GANGS, "inf-next").uid().to_owned();
    if orphans {
        let held = json!({ "metadata": { "finalizers": ["orphan", finalizers::POD_CLIQUE_SET] } });
        world.patch(SETS, "inf", held);
        world.delete(SETS, "inf");
    }

    sleep(Duration::from_mins(1)).await;
    assert_eq!(world.get(GANGS, "inf-next").uid(), uid);
    world
}

/// The pods of a clique are to be deleted, and the request is slow. Meanwhile another operator leads, somebody lets the clique
/// go, and the next one of that name gets its first pods, which have the same labels. Those stay.
#[tokio::test(start_paused = true)]
async fn a_deletion_that_arrives_late_leaves_the_pods_of_the_next_clique() {
    let mut world = World::new(4);
    world.delay = |method, path| {
        let collection = method == Method::DELETE && path.contains("/pods?");
        Duration::from_secs(if collection { 5 } else { 0 })
    };
    world.start();
    world.create(SETS, example(1));
    world.settle().await;
    let (clique, old) = (world.get(CLIQUES, "inf-0-fe"), world.names("pods"));
    let is_of_clique = |pod: &Arc<Object>| {
        pod.field("/metadata/labels/grove.io~1podclique").is_some_and(|it| it == "inf-0-fe")
    };
    world.delete(CLIQUES, "inf-0-fe");
    sleep(Duration::from_secs(1)).await;

    // The request is under way. It arrives, whatever becomes of who sent it.
    world.kill();
    world.delay = |_, _| Duration::ZERO;
    let free = Action::Patch(PatchBody::Merge(json!({ "metadata": { "finalizers": null } })));
    world.write(CLIQUES, NAMESPACE, "inf-0-fe", None, free).unwrap();
    world.start();
    sleep(Duration::from_secs(2)).await;
    let next = world.get(CLIQUES, "inf-0-fe");
    assert_ne!(next.uid(), clique.uid(), "the set has it again");
    let first: Vec<String> = world
        .list("pods")
        .iter()
        .filter(|it| is_of_clique(it) && !old.contains(&it.name().to_owned()))
        .map(|it| it.name().to_owned())
        .collect();
    assert_eq!(first.len(), 2, "the next clique has pods before the request arrives");

    world.settle().await;
    let names = world.names("pods");
    assert!(first.iter().all(|it| names.contains(it)), "{first:?} should be among {names:?}");
    assert_eq!(names.len(), 11);
}

/// A set, a scaling group and a clique that cannot be decoded go when they are deleted, with all that they have.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_decoded_can_be_deleted() {
    let mut world = World::new(3);
    world.tells = true;
    world.start();
    world.create(SETS, example(1));
    world.settle().await;
    let before = world.server.store().write_count();
    let (wrong, wrong_names) =
        (json!({ "spec": { "replicas": "three" } }), json!({ "spec": { "cliqueNames": 7 } }));
    for (kind, name, patch) in
        [(SETS, "inf", &wrong), (GROUPS, "inf-0-pd", &wrong_names), (CLIQUES, "inf-0-fe", &wrong)]
    {
        world.patch(kind, name, patch.clone());
    }
    world.settle().await;
    // Nothing is done for them, and what they have stays.
    assert_eq!(world.names("pods").len(), 11);
    assert!(world.server.store().write_count() <= before + 3);

    world.delete(SETS, "inf");
    world.settle().await;
    assert_all_gone(&world);
    let events = world.server.store().list(EVENTS, None);
    let text = |it: &Arc<Object>, field: &str| {
        it.field(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut told: Vec<(String, String)> = events
        .iter()
        .filter(|it| text(it, "/reason") == "UndecodableObjectReleased")
        .map(|it| (text(it, "/regarding/kind"), text(it, "/regarding/name")))
        .collect();
    told.sort();
    let expected =
        [("PodClique", "inf-0-fe"), ("PodCliqueScalingGroup", "inf-0-pd"), ("PodCliqueSet", "inf")];
    assert_eq!(told, expected.map(|(kind, name)| (kind.to_owned(), name.to_owned())));
    let notes = events.iter().map(|it| text(it, "/note"));
    assert_eq!(notes.filter(|it| it.contains("cannot be decoded: invalid type")).count(), 3);
}
