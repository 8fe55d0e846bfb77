//! Changed templates: who is replaced, in which order, and what is said of it.

use std::{cell::RefCell, collections::BTreeMap};

use serde_json::{Value, json};

use crate::world::{World, example};

/// Pods by clique: those that are ready, with their images.
pub(crate) fn serving(world: &World) -> BTreeMap<String, Vec<String>> {
    let mut cliques: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for clique in world.list("podcliques.grove.io") {
        cliques.insert(clique.name().to_owned(), Vec::new());
    }
    for pod in world.list("pods") {
        let ready = pod.field("/status/conditions/0/type").is_some_and(|it| it == "Ready");
        if ready && pod.field("/metadata/deletionTimestamp").is_none() {
            let text = |path: &str| pod.field(path).and_then(Value::as_str).unwrap_or_default().to_owned();
            let image = text("/spec/containers/0/image");
            cliques.entry(text("/metadata/labels/grove.io~1podclique")).or_default().push(image);
        }
    }
    cliques
}

/// Gives roles of the set another image.
pub(crate) fn image(world: &World, roles: &[usize], image: &str) {
    let mut set = world.get("podcliquesets.grove.io", "inf").value().clone();
    for role in roles {
        set["spec"]["template"]["cliques"][role]["spec"]["podSpec"]["containers"][0]["image"] = image.into();
    }
    world.patch(
        "podcliquesets.grove.io",
        "inf",
        json!({ "spec": { "template": { "cliques": set["spec"]["template"]["cliques"] } } }),
    );
}

fn strategy(world: &World, strategy: &Value) {
    world.patch("podcliquesets.grove.io", "inf", json!({ "spec": { "updateStrategy": strategy } }));
}

/// Lets everybody work, and looks at every step at what is missing of `before`: the cliques that serve less.
async fn missing(world: &World, before: &BTreeMap<String, Vec<String>>) -> Vec<BTreeMap<String, usize>> {
    let seen = RefCell::new(Vec::new());
    world
        .settle_unless(|| {
            let now = serving(world);
            let less = before.iter().filter_map(|(clique, pods)| {
                let lost = pods.len().saturating_sub(now.get(clique).map_or(0, Vec::len));
                (lost > 0).then(|| (clique.clone(), lost))
            });
            let less: BTreeMap<String, usize> = less.collect();
            let mut seen = seen.borrow_mut();
            if seen.last() != Some(&less) {
                seen.push(less);
            }
            false
        })
        .await;
    let seen = seen.into_inner();
    assert_eq!(seen.last(), Some(&BTreeMap::new()), "all serve in the end");
    seen
}

fn uids(world: &World, role: &str) -> Vec<String> {
    let is_of = |name: &str| name.ends_with(&format!("-{role}"));
    let pods = world.list("pods").into_iter().filter(|pod| {
        pod.field("/metadata/labels/grove.io~1podclique").and_then(Value::as_str).is_some_and(is_of)
    });
    pods.map(|it| it.field("/metadata/uid").and_then(Value::as_str).unwrap_or_default().to_owned()).collect()
}

pub(crate) fn status(world: &World, path: &str) -> Value {
    world.get("podcliquesets.grove.io", "inf").field(&format!("/status{path}")).cloned().unwrap_or_default()
}

/// `Type=Status/Reason` of a condition of the set.
pub(crate) fn condition(world: &World, type_: &str) -> String {
    let all = status(world, "/conditions");
    let found = all.as_array().into_iter().flatten().find(|it| it["type"] == type_);
    found.map_or(String::new(), |it| {
        format!("{}/{}", it["status"].as_str().unwrap(), it["reason"].as_str().unwrap())
    })
}

pub(crate) async fn ready(seed: u64, replicas: u32) -> World {
    let world = World::started(seed);
    world.create("podcliquesets.grove.io", example(replicas));
    world.settle().await;
    world
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_clique_are_replaced_one_by_one_and_replica_by_replica() {
    let world = ready(1, 2).await;
    let (before, others) = (serving(&world), uids(&world, "dec"));
    image(&world, &[0], "engine:2");
    let steps = missing(&world, &before).await;
    for step in &steps {
        assert!(step.values().sum::<usize>() <= 1, "more than one is missing: {step:?}");
    }
    let now = serving(&world);
    assert_eq!(
        (now["inf-0-fe"].as_slice(), now["inf-1-fe"].len()),
        (["engine:2", "engine:2"].map(str::to_owned).as_slice(), 2)
    );
    assert_eq!(uids(&world, "dec"), others, "pods of another role were replaced");
    assert!(status(&world, "/updateProgress/updateEndedAt").is_string());
    assert_eq!(status(&world, "/updateProgress/currentlyUpdating"), Value::Null);
    assert_eq!(status(&world, "/updatedReplicas"), 2);
    assert_eq!(status(&world, "/updateProgress/updatedPodCliquesCount"), 2);
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
    let clique = world.get("podcliques.grove.io", "inf-1-fe");
    assert_eq!(clique.field("/status/updatedReplicas").unwrap(), 2);
    assert!(clique.field("/status/updateProgress/updateEndedAt").is_some());
}

#[tokio::test(start_paused = true)]
async fn replicas_of_a_group_are_replaced_as_a_whole_and_one_by_one() {
    let world = ready(2, 2).await;
    let (before, cliques) = (serving(&world), world.names("podcliques.grove.io"));
    let others = uids(&world, "fe");
    image(&world, &[1, 2], "engine:2");
    let steps = missing(&world, &before).await;
    for step in &steps {
        let units: Vec<&str> = step.keys().map(|it| it.rsplit_once('-').unwrap().0).collect();
        assert!(units.windows(2).all(|it| it[0] == it[1]), "more than one unit is missing: {step:?}");
    }
    assert!(steps.iter().any(|it| it.get("inf-1-pd-2-dec") == Some(&2)), "not as a whole: {steps:?}");
    let now = serving(&world);
    assert!(now.iter().filter(|it| !it.0.ends_with("fe")).all(|it| it.1.iter().all(|it| it == "engine:2")));
    assert_eq!(uids(&world, "fe"), others);
    assert_eq!(world.names("podcliques.grove.io"), cliques);
    assert_eq!(status(&world, "/updateProgress/updatedPodCliqueScalingGroupsCount"), 2);
    let group = world.get("podcliquescalinggroups.grove.io", "inf-0-pd");
    assert_eq!(group.field("/status/updatedReplicas").unwrap(), 3);
    assert_eq!(group.field("/status/updateProgress/updatedPodCliquesCount").unwrap(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_broken_template_stops_at_the_first_pod_and_can_be_taken_back() {
    let mut world = ready(3, 2).await;
    let (before, all) = (serving(&world), uids(&world, "fe"));
    world.unready = vec!["inf-0-fe"];
    strategy(&world, &json!({ "progressDeadline": "10s" }));
    image(&world, &[0], "broken");
    world.settle().await;
    let stuck: usize = serving(&world).iter().map(|(clique, it)| before[clique].len() - it.len()).sum();
    assert_eq!(stuck, 1);
    assert_eq!(uids(&world, "fe").iter().filter(|it| all.contains(it)).count(), 3);
    assert!(condition(&world, "UpdateInProgress").starts_with("True/"));

    // Another change in the middle goes on where the first was.
    image(&world, &[0], "broken, too");
    world.settle().await;
    assert_eq!(uids(&world, "fe").iter().filter(|it| all.contains(it)).count(), 3);

    world.unready.clear();
    image(&world, &[0], "engine:1");
    world.settle().await;
    assert_eq!(serving(&world), before);
    assert_eq!(
        uids(&world, "fe").iter().filter(|it| all.contains(it)).count(),
        3,
        "only the broken one was replaced"
    );
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
    assert_eq!(status(&world, "/updatedReplicas"), 2);
}

/// Gives cliques and pods the hashes of upstream Grove, or of an earlier operator.
async fn adopted(world: &mut World) {
    world.kill();
    let label = json!({ "metadata": { "labels": { "grove.io/pod-template-hash": "upstream" } } });
    for kind in ["podcliques.grove.io", "pods"] {
        world.names(kind).iter().for_each(|name| world.patch(kind, name, label.clone()));
    }
    let theirs = json!({ "currentPodCliqueSetGenerationHash": "theirs" });
    for (kind, own) in [("podcliques.grove.io", true), ("podcliquescalinggroups.grove.io", false)] {
        let mut hashes = theirs.clone();
        if own {
            hashes["currentPodTemplateHash"] = "upstream".into();
        }
        world.names(kind).iter().for_each(|name| world.patch_status(kind, name, hashes.clone()));
    }
    world.patch_status("podcliquesets.grove.io", "inf", json!({ "currentGenerationHash": "theirs" }));
    world.start();
    world.settle().await;
}

/// The hashes that pods were adopted with come back with their template.
#[tokio::test(start_paused = true)]
async fn what_another_operator_made_stays_when_its_template_is_set_back() {
    let mut world = ready(9, 2).await;
    adopted(&mut world).await;
    let (before, all) = (serving(&world), uids(&world, "fe"));
    let others = (uids(&world, "pre"), uids(&world, "dec"));
    world.unready = vec!["inf-0-fe"];
    for broken in ["broken", "broken, too"] {
        image(&world, &[0, 1, 2], broken);
        world.settle().await;
    }
    world.unready.clear();
    image(&world, &[0, 1, 2], "engine:1");
    world.settle().await;
    assert_eq!(serving(&world), before);
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
    let kept = uids(&world, "fe").iter().filter(|it| all.contains(it)).count();
    assert_eq!(kept, 3, "only the broken one was replaced");
    // The turn of the second replica never came.
    let now = (uids(&world, "pre"), uids(&world, "dec"));
    let of_last = |uids: &[String]| uids[uids.len() / 2..].to_vec();
    assert_eq!((of_last(&now.0), of_last(&now.1)), (of_last(&others.0), of_last(&others.1)));
}

#[tokio::test(start_paused = true)]
async fn a_paused_update_waits_and_goes_on() {
    let world = ready(4, 2).await;
    let all = uids(&world, "fe");
    strategy(&world, &json!({ "paused": true }));
    image(&world, &[0, 1, 2], "engine:2");
    world.settle().await;
    assert_eq!(uids(&world, "fe"), all);
    assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");
    // Whoever dies meanwhile comes back as it was.
    let pod = world.list("pods").into_iter().find(|it| it.name().starts_with("inf-0-fe")).unwrap();
    world.delete("pods", pod.name());
    world.settle().await;
    assert!(serving(&world).values().flatten().all(|it| it == "engine:1"));
    // So is what is made meanwhile.
    world.patch("podcliquescalinggroups.grove.io", "inf-0-pd", json!({ "spec": { "replicas": 4 } }));
    world.patch("podcliquesets.grove.io", "inf", json!({ "spec": { "replicas": 3 } }));
    world.delete("podcliques.grove.io", "inf-1-fe");
    world.settle().await;
    let now = serving(&world);
    assert_eq!((now["inf-0-pd-3-dec"].len(), now["inf-2-pd-2-dec"].len(), now["inf-1-fe"].len()), (2, 2, 2));
    assert!(now.values().flatten().all(|it| it == "engine:1"), "{now:?}");
    assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");

    strategy(&world, &json!({ "paused": false }));
    world.settle().await;
    assert!(serving(&world).values().flatten().all(|it| it == "engine:2"));
    assert_eq!(condition(&world, "UpdatePending"), "False/AllPodsCurrent");
}

#[tokio::test(start_paused = true)]
async fn on_delete_waits_for_somebody_else_and_what_is_left_can_be_rolled() {
    let world = ready(5, 1).await;
    strategy(&world, &json!({ "type": "OnDelete" }));
    let all = (uids(&world, "fe"), uids(&world, "dec"));
    image(&world, &[0, 1, 2], "engine:2");
    world.settle().await;
    assert_eq!((uids(&world, "fe"), uids(&world, "dec")), all);
    assert!(status(&world, "/updateProgress/updateEndedAt").is_string());
    assert_eq!(condition(&world, "UpdatePending"), "True/OldPodsKept");
    let pod = world.list("pods").into_iter().find(|it| it.name().starts_with("inf-0-pd-1-dec")).unwrap();
    world.delete("pods", pod.name());
    world.settle().await;
    assert_eq!(serving(&world)["inf-0-pd-1-dec"].iter().filter(|it| *it == "engine:2").count(), 1);

    let before = serving(&world);
    strategy(&world, &json!({ "type": "RollingRecreate" }));
    for step in missing(&world, &before).await {
        let units: Vec<_> =
            step.keys().filter(|it| !it.ends_with("fe")).map(|it| it.rsplit_once('-').unwrap().0).collect();
        assert!(units.windows(2).all(|it| it[0] == it[1]), "{step:?}");
        assert!(step.get("inf-0-fe").is_none_or(|it| *it == 1), "{step:?}");
    }
    assert!(serving(&world).values().flatten().all(|it| it == "engine:2"));
}

/// New replicas are of the new template at once, and are not replaced again.
#[tokio::test(start_paused = true)]
async fn scaling_goes_on_during_an_update() {
    let mut world = ready(6, 2).await;
    world.unready = vec!["inf-0-fe"];
    image(&world, &[0, 1, 2], "engine:2");
    world.settle().await;
    world.patch("podcliquescalinggroups.grove.io", "inf-1-pd", json!({ "spec": { "replicas": 4 } }));
    world.patch("podcliques.grove.io", "inf-1-fe", json!({ "spec": { "replicas": 3 } }));
    world.patch("podcliquesets.grove.io", "inf", json!({ "spec": { "replicas": 3 } }));
    world.settle().await;
    let now = serving(&world);
    assert_eq!(now["inf-1-pd-3-dec"], ["engine:2", "engine:2"]);
    assert_eq!(now["inf-1-fe"].iter().filter(|it| *it == "engine:2").count(), 1);
    assert_eq!(now["inf-2-fe"], ["engine:2", "engine:2"]);
    assert_eq!(now["inf-1-pd-0-dec"], ["engine:1", "engine:1"], "its turn has not come");
    let new: Vec<String> = uids(&world, "dec");
    world.unready.clear();
    world.patch("podcliques.grove.io", "inf-1-fe", json!({ "spec": { "replicas": 1 } }));
    // The pod that was not ready is looked at again when it changes.
    world.settle().await;
    let now = serving(&world);
    assert!(now.values().flatten().all(|it| it == "engine:2"), "{now:?}");
    assert_eq!((now["inf-1-fe"].len(), now["inf-2-pd-2-dec"].len()), (1, 2));
    let kept = uids(&world, "dec").into_iter().filter(|it| new.contains(it)).count();
    assert_eq!(kept, 14, "those of replica 0, the new replica, and the new copy stay: {kept}");
    assert_eq!(status(&world, "/updatedReplicas"), 3);
}

/// Nothing that is remembered of the one that is gone, in the middle of an update too, counts for its namesake.
#[tokio::test(start_paused = true)]
async fn a_set_that_is_made_again_under_its_name_begins_anew() {
    let mut world = ready(8, 1).await;
    world.unready = vec!["inf-0-fe"];
    image(&world, &[0], "engine:2");
    world.settle().await;
    assert_eq!(condition(&world, "UpdateInProgress"), "True/ReplacingPods");
    world.delete("podcliquesets.grove.io", "inf");
    world.settle().await;
    world.unready.clear();
    world.create("podcliquesets.grove.io", example(1));
    world.settle().await;
    assert_eq!(status(&world, "/availableReplicas"), 1);
    assert_eq!(condition(&world, "UpdateInProgress"), "");
    assert!(serving(&world).values().flatten().all(|it| it == "engine:1"));
    image(&world, &[0], "engine:2");
    world.settle().await;
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:2", "engine:2"]);
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
}

/// What an update may cost: beside its deletion and creation two writes for each replaced pod, everything included. Cliques
/// have eight pods here: what is written once for a clique or a replica (its template, the beginning and the end) is shared.
#[tokio::test(start_paused = true)]
async fn an_update_costs_two_writes_for_each_pod_beside_its_replacement() {
    let world = World::started(7);
    let mut set = example(4);
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["replicas"] = 8.into();
        clique["spec"]["minAvailable"] = 4.into();
    }
    world.create("podcliquesets.grove.io", set);
    world.settle().await;
    let pods = world.list("pods").len();
    let before = world.server.store().write_count();
    image(&world, &[0, 1, 2], "engine:2");
    world.settle().await;
    assert!(serving(&world).values().flatten().all(|it| it == "engine:2"));
    let writes = world.server.store().writes();
    let since = writes.len() - usize::try_from(world.server.store().write_count() - before).unwrap();
    let ours: Vec<_> = writes[since..].iter().filter(|it| it.manager != "world").collect();
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for write in &ours {
        *kinds
            .entry(format!("{} {} {}", write.verb, write.resource, write.subresource.unwrap_or_default()))
            .or_default() += 1;
    }
    let replaced = writes[since..].iter().filter(|it| it.resource == "pods").count();
    assert!(replaced >= 2 * pods);
    assert!(ours.len() <= 4 * pods, "{} writes for {pods} pods: {kinds:#?}", ours.len());
}
