//! What cannot be grouped is told, and is grouped when it can be.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use grove_apiserver::{Action, Fault};
use serde_json::json;

use crate::world::World;

fn thing(name: &str, owners: &serde_json::Value) -> serde_json::Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": name, "ownerReferences": owners } })
}

fn reference(kind: &str, name: &str, uid: &str) -> serde_json::Value {
    json!({ "apiVersion": "example.com/v1", "kind": kind, "name": name, "uid": uid })
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_is_not_there() {
    let world = World::started();
    world.pod("p", Some(reference("Thing", "t", "uid-1")));
    world.settle().await;
    let told = ["the owner Thing ns/t (example.com/v1) with UID uid-1 does not exist"];
    assert_eq!((world.told_of("p"), world.writes()), (told.map(str::to_owned).to_vec(), (0, 0)));
}

/// An owner that was deleted and made anew with the same name is another one.
#[tokio::test(start_paused = true)]
async fn an_owner_of_the_same_name() {
    let world = World::started();
    let old = world.owner("things.example.com", thing("t", &json!([])));
    world.pod("p", Some(old.clone()));
    world.settle().await;
    world.delete("things.example.com", "t");
    let new = world.owner("things.example.com", thing("t", &json!([])));
    world.pod("q", Some(old.clone()));
    world.pod("r", Some(new.clone()));
    world.settle().await;
    let uid = |it: &serde_json::Value| it["uid"].as_str().unwrap().to_owned();
    let (old, new) = (uid(&old), uid(&new));
    assert_eq!(
        world.told_of("q"),
        [format!(
            "the owner Thing ns/t (example.com/v1) with UID {old} is gone: the one of this name has UID {new}"
        )]
    );
    assert_eq!(world.group_of("p").0, Some(format!("pg-t-{old}")));
    assert_eq!(world.group_of("q").0, None);
    assert_eq!(world.group_of("r").0, Some(format!("pg-t-{new}")));
}

#[tokio::test(start_paused = true)]
async fn an_owner_that_may_not_be_read_is_not_the_top() {
    let world = World::started();
    world.gate.forbid("things");
    let top = world.owner("things.example.com", thing("t", &json!([])));
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "j", "ownerReferences": [top.clone()] } });
    let job = world.owner("jobs.batch", job);
    world.pod("p", Some(job.clone()));
    let uid = world.pod("q", Some(top));
    world.settle().await;
    assert_eq!(world.group_of("p").0, Some(format!("pg-j-{}", job["uid"].as_str().unwrap())));
    assert_eq!(world.group_of("q").0, Some(format!("pg-q-{uid}")));
    assert_eq!((world.told_of("p"), world.told_of("q")), (vec![], vec![]));
}

/// When it may be read after all, all of its pods move, and not only the new ones: a gang must not be in two groups.
#[tokio::test(start_paused = true)]
async fn an_owner_that_may_be_read_later() {
    let world = World::started();
    world.gate.forbid("things");
    let top = world.owner("things.example.com", thing("t", &json!([])));
    world.pod("p", Some(top.clone()));
    world.settle().await;
    let group = format!("pg-t-{}", top["uid"].as_str().unwrap());
    assert_ne!(world.group_of("p").0.as_ref(), Some(&group));
    world.gate.allow_all();
    world.pod("q", Some(top));
    world.settle().await;
    assert_eq!(world.group_of("q").0.as_ref(), Some(&group));
    assert_eq!(world.group_of("p").0.as_ref(), Some(&group));
}

#[tokio::test(start_paused = true)]
async fn owners_in_a_circle_and_owners_of_two() {
    let world = World::started();
    let a = world.owner("things.example.com", thing("a", &json!([])));
    let b = world.owner("things.example.com", thing("b", &json!([a.clone()])));
    world.patch("things.example.com", "a", json!({ "metadata": { "ownerReferences": [b.clone()] } }));
    let two = world.owner("things.example.com", thing("two", &json!([a.clone(), b])));
    world.pod("p", Some(a.clone()));
    world.pod("q", Some(two));
    world.settle().await;
    assert_eq!(
        world.told_of("p"),
        ["the owners of the pod go round in a circle: Thing ns/a (example.com/v1) owns itself"]
    );
    assert_eq!(
        world.told_of("q"),
        ["Thing ns/two (example.com/v1) has 2 owners, so its workload is ambiguous: keep one"]
    );
    // Mended, and nobody touches the pods.
    world.patch("things.example.com", "a", json!({ "metadata": { "ownerReferences": [] } }));
    world.settle().await;
    assert_eq!(world.group_of("p").0, Some(format!("pg-a-{}", a["uid"].as_str().unwrap())));
}

#[tokio::test(start_paused = true)]
async fn an_owner_of_a_kind_that_is_not_served() {
    let world = World::started();
    world.pod("p", Some(reference("Nothing", "t", "uid-1")));
    world.settle().await;
    let told = "the API server does not serve the kind of the owner Nothing ns/t (example.com/v1), UID uid-1";
    assert_eq!(world.told_of("p"), [told]);
}

/// A kind that may not be read, or is not there, is not asked for once for each pod.
#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_not_asked_for_again_and_again() {
    let world = World::started();
    world.gate.forbid("things");
    let top = world.owner("things.example.com", thing("t", &json!([])));
    for number in 0..50 {
        world.pod(&format!("p{number}"), Some(top.clone()));
        world.pod(&format!("q{number}"), Some(reference("Nothing", "t", "uid-1")));
    }
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
    let (objects, lists) = world.gate.reads("things");
    // Those that were under way at the same time aside.
    assert!(objects <= 10 && lists <= 1, "{objects} things were asked for, and all of them {lists} times");
    assert_eq!(world.writes(), (50, 50));
}

/// The API server takes no object whose annotations have more than 256 KiB; the group goes without the largest.
#[tokio::test(start_paused = true)]
async fn annotations_of_a_megabyte() {
    let world = World::started();
    let mut job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "j", "annotations": { "small": "x" } } });
    job["metadata"]["annotations"]["large"] = "y".repeat(1 << 20).into();
    let job = world.owner("jobs.batch", job);
    world.pod("p", Some(job));
    world.settle().await;
    let annotations = &world.group(&world.group_of("p").0.unwrap())["metadata"]["annotations"];
    assert_eq!((&annotations["small"], annotations.get("large")), (&json!("x"), None));
    let told = world.told_of("j");
    assert!(told.len() == 1 && told[0].starts_with("large is not copied"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_workload_that_says_nonsense_is_told_once_and_can_be_mended() {
    let world = World::started();
    let job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "j", "annotations": { "kai.scheduler/batch-min-member": "many" } } });
    let job = world.owner("jobs.batch", job);
    world.pod("p", Some(job));
    world.settle().await;
    let told = world.told_of("p");
    assert!(told.len() == 1 && told[0].contains("kai.scheduler/batch-min-member"), "{told:?}");
    world.patch(
        "jobs.batch",
        "j",
        json!({ "metadata": { "annotations": { "kai.scheduler/batch-min-member": "3" } } }),
    );
    world.settle().await;
    assert_eq!(world.group(&world.group_of("p").0.unwrap())["spec"]["minMember"], 3);
}

/// The API server gives way again, and nothing is lost.
#[tokio::test(start_paused = true)]
async fn a_scheduler_that_is_not_there_yet() {
    let mut world = World::new();
    world.gate.forbid("podgroups");
    world.start();
    let job = world.job("j");
    world.pod("p", Some(job));
    world.settle().await;
    assert_eq!(world.writes(), (0, 0));
    world.gate.allow_all();
    world.settle().await;
    assert_eq!(world.writes(), (1, 1));
}

/// A group that the API server refuses is not tried for each of its pods, and at once when it is another one.
#[tokio::test(start_paused = true)]
async fn a_group_that_is_refused() {
    let world = World::started();
    let tried = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tried);
    world.server.before_write(move |request| {
        let refused = request.resource.plural == "podgroups"
            && matches!(&request.action, Action::Create(it) if it["spec"]["minMember"] == 1);
        if !refused {
            return Fault::None;
        }
        counted.fetch_add(1, Ordering::SeqCst);
        Fault::refuse(403, "Forbidden", "no room")
    });
    let job = world.job("j");
    for number in 0..20 {
        world.pod(&format!("p{number}"), Some(job.clone()));
    }
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
    assert_eq!((tried.load(Ordering::SeqCst), world.writes().1), (1, 0));
    assert!(world.told_of("p7")[0].contains("no room"), "{:?}", world.told_of("p7"));
    let patch = json!({ "metadata": { "annotations": { "kai.scheduler/batch-min-member": "2" } } });
    world.patch("jobs.batch", "j", patch);
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    assert_eq!(world.writes().1, 20);
}
