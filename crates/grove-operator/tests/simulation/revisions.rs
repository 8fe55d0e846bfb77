//! Templates that were, and templates that only look new.

use grove_apiserver::{Fault, WriteRecord};
use serde_json::{Value, json};

use crate::world::{World, example};

const SETS: &str = "podcliquesets.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const REVISIONS: &str = "controllerrevisions.apps";

/// The example's template, with this image of the frontend.
fn template(image: &str) -> Value {
    let mut set = example(1);
    set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = json!(image);
    set["spec"]["template"].take()
}

fn change(world: &World, template: Value) {
    world.patch(SETS, "inf", json!({ "spec": { "template": template } }));
}

fn hash(world: &World) -> String {
    world.get(SETS, "inf").field("/status/currentGenerationHash").unwrap().as_str().unwrap().to_owned()
}

/// Number, and image of the frontend, of all that are kept; by number.
fn kept(world: &World) -> Vec<(i64, String)> {
    let image = "/cliques/0/spec/podSpec/containers/0/image";
    let template = |it: &str| serde_json::from_str::<Value>(it).unwrap();
    let mut kept: Vec<(i64, String)> = world
        .list(REVISIONS)
        .iter()
        .map(|it| {
            (
                it.field("/revision").unwrap().as_i64().unwrap(),
                template(it.field("/data/template").unwrap().as_str().unwrap())
                    .pointer(image)
                    .and_then(Value::as_str)
                    .unwrap()
                    .to_owned(),
            )
        })
        .collect();
    kept.sort();
    kept
}

fn rows(rows: &[(i64, &str)]) -> Vec<(i64, String)> {
    rows.iter().map(|(number, image)| (*number, (*image).to_owned())).collect()
}

/// What the operator has written since there were `before` writes.
fn since(world: &World, before: u64) -> Vec<WriteRecord> {
    let writes = world.server.store().writes();
    let news = usize::try_from(world.server.store().write_count() - before).unwrap();
    writes[writes.len() - news..].iter().filter(|it| it.manager != "world").cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn every_template_is_kept_once_and_the_one_in_use_has_the_highest_number() {
    let world = World::started(61);
    world.create(SETS, example(1));
    world.settle().await;
    assert_eq!(kept(&world), rows(&[(1, "engine:1")]));
    assert_eq!(world.names(REVISIONS), [format!("inf-{}", hash(&world))]);
    let first = hash(&world);

    change(&world, template("engine:2"));
    world.settle().await;
    assert_eq!(kept(&world), rows(&[(1, "engine:1"), (2, "engine:2")]));

    change(&world, template("engine:1"));
    world.settle().await;
    assert_eq!(hash(&world), first);
    assert_eq!(kept(&world), rows(&[(2, "engine:2"), (3, "engine:1")]));

    let writes = world.server.store().writes();
    let of_history = writes.iter().filter(|it| it.resource == REVISIONS).count();
    assert_eq!(of_history, 3, "one write for each change");
    world.delete(SETS, "inf");
    world.settle().await;
    assert_eq!(world.names(REVISIONS), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn ten_are_kept() {
    let world = World::started(62);
    world.create(SETS, example(1));
    world.settle().await;
    for image in 2..=12 {
        change(&world, template(&format!("engine:{image}")));
        world.settle().await;
    }
    let want: Vec<(i64, String)> = (3..=12).map(|it| (it, format!("engine:{it}"))).collect();
    assert_eq!(kept(&world), want);
}

/// A revision that somebody deletes is made again, and one that lost its labels gets them back.
#[tokio::test(start_paused = true)]
async fn the_one_in_use_is_mended() {
    let world = World::started(63);
    world.create(SETS, example(1));
    world.settle().await;
    let name = format!("inf-{}", hash(&world));
    world.delete(REVISIONS, &name);
    world.settle().await;
    assert_eq!(kept(&world), rows(&[(1, "engine:1")]));
    world.patch(REVISIONS, &name, json!({ "metadata": { "labels": null } }));
    world.settle().await;
    let part_of =
        world.get(REVISIONS, &name).field("/metadata/labels").unwrap()["app.kubernetes.io/part-of"].clone();
    assert_eq!(part_of, "inf");
}

#[tokio::test(start_paused = true)]
async fn a_set_runs_without_a_history() {
    let world = World::started(64);
    world.server.before_write(|write| {
        if write.resource.id() == REVISIONS {
            return Fault::refuse(413, "RequestEntityTooLarge", "the revision is too large");
        }
        Fault::None
    });
    world.create(SETS, example(1));
    world.settle().await;
    assert_eq!(world.get(SETS, "inf").field("/status/availableReplicas"), Some(&json!(1)));
    assert_eq!(world.get(SETS, "inf").field("/status/observedGeneration"), Some(&json!(1)));
    change(&world, template("engine:2"));
    world.settle().await;
    let image = "/spec/podSpec/containers/0/image";
    assert_eq!(world.get(CLIQUES, "inf-0-fe").field(image), Some(&json!("engine:2")));
}

/// The example with variables and volumes in this order, and its cliques too.
fn listed(order: [usize; 2]) -> Value {
    let mut template = template("engine:1");
    let env = [json!({ "name": "A", "value": "1" }), json!({ "name": "B", "value": "2" })];
    let volumes =
        [json!({ "name": "v", "emptyDir": {} }), json!({ "name": "w", "configMap": { "name": "c" } })];
    for clique in template["cliques"].as_array_mut().unwrap() {
        let pod = &mut clique["spec"]["podSpec"];
        pod["containers"][0]["env"] = json!(order.map(|it| env[it].clone()));
        pod["volumes"] = json!(order.map(|it| volumes[it].clone()));
    }
    template["cliques"].as_array_mut().unwrap().swap(order[0], order[1]);
    template
}

/// Other orders of lists that have none: only that the set was seen is written. So it is for hashes of this version of
/// the operator, of an earlier one, and of upstream Grove.
#[tokio::test(start_paused = true)]
async fn lists_in_another_order_change_nothing() {
    for foreign in [None, Some("upstream")] {
        let mut world = World::started(65);
        let mut set = example(1);
        set["spec"]["template"] = listed([0, 1]);
        world.create(SETS, set);
        world.settle().await;
        world.kill();
        if let Some(hash) = foreign {
            let label = json!({ "metadata": { "labels": { "grove.io/pod-template-hash": hash } } });
            for kind in [CLIQUES, "pods"] {
                world.names(kind).iter().for_each(|name| world.patch(kind, name, label.clone()));
            }
            let hashes =
                json!({ "currentPodTemplateHash": hash, "currentPodCliqueSetGenerationHash": "theirs" });
            world.names(CLIQUES).iter().for_each(|name| world.patch_status(CLIQUES, name, hashes.clone()));
            let theirs = json!({ "currentPodCliqueSetGenerationHash": "theirs" });
            world.patch_status("podcliquescalinggroups.grove.io", "inf-0-pd", theirs);
            world.patch_status(SETS, "inf", json!({ "currentGenerationHash": "theirs" }));
        }
        let (before, kept) = (world.server.store().write_count(), hash(&world));
        change(&world, listed([1, 0]));
        world.start();
        world.settle().await;
        let written: Vec<WriteRecord> =
            since(&world, before).into_iter().filter(|it| it.resource != REVISIONS).collect();
        assert_eq!(hash(&world), kept, "{foreign:?}");
        assert_eq!(world.get(SETS, "inf").field("/status/observedGeneration"), Some(&json!(2)));
        let told: Vec<_> = written.iter().map(|it| (it.resource.as_str(), it.subresource)).collect();
        assert!(
            told.len() <= 2 && told.iter().all(|it| *it == (SETS, Some("status"))),
            "{foreign:?}: {told:?}"
        );
    }
}
