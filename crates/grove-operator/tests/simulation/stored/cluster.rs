//! A cluster with the stored objects of a version in it.

use std::collections::BTreeMap;

use grove_apiserver::{Action, WriteRecord};
use serde_json::{Value, json};

use super::{maps, objects::NAMESPACE, version::Version};
use crate::world::World;

pub(super) const SETS: &str = "podcliquesets.grove.io";
pub(super) const CLIQUES: &str = "podcliques.grove.io";
pub(super) const GROUPS: &str = "podcliquescalinggroups.grove.io";
pub(super) const GANGS: &str = "podgangs.scheduler.grove.io";
pub(super) const PODS: &str = "pods";

/// A cluster with the stored objects, and no operator yet.
pub(super) fn stored(version: Version, seed: u64) -> World {
    let world = World::with_kind(seed, &maps::definition());
    let mut uids = BTreeMap::new();
    for mut object in version.stored() {
        let resource = resource_of(&object);
        let status = object.as_object_mut().unwrap().remove("status");
        // Stored files name an owner where the server has a UID.
        let owners = object.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten() {
            owner["uid"] = json!(uids[owner["uid"].as_str().unwrap()]);
        }
        let key =
            format!("{}/{}", object["kind"].as_str().unwrap(), object["metadata"]["name"].as_str().unwrap());
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        world.write(resource, NAMESPACE, "", None, Action::Create(object)).unwrap();
        uids.insert(key, world.get(resource, &name).uid().to_owned());
        if let Some(status) = status {
            world.patch_status(resource, &name, status);
        }
    }
    world
}

/// The same cluster, after an operator looked at everything.
pub(super) async fn adopted(version: Version, seed: u64) -> World {
    let mut world = stored(version, seed);
    world.start();
    world.settle().await;
    world
}

fn resource_of(object: &Value) -> &'static str {
    match object["kind"].as_str().unwrap() {
        "PodCliqueSet" => SETS,
        "PodCliqueScalingGroup" => GROUPS,
        "PodClique" => CLIQUES,
        "PodGang" => GANGS,
        "PodGangMap" => maps::MAPS,
        "Service" => "services",
        "HorizontalPodAutoscaler" => "horizontalpodautoscalers.autoscaling",
        "Pod" => PODS,
        other => panic!("{other} is no kind of a stored object"),
    }
}

/// Successful writes of the operator to objects of a resource, since so many writes.
pub(super) fn writes_since(world: &World, count: u64, resource: &str) -> Vec<WriteRecord> {
    let mut writes = world.server.store().writes_since(count);
    writes.retain(|it| it.resource == resource && it.manager != "world" && it.code < 300);
    writes
}

/// UIDs and labels of pods by name. What a pod is made of besides never changes.
pub(super) fn pods(world: &World) -> BTreeMap<String, (String, Value)> {
    let all = world.list(PODS);
    let of = |it: &Value| it["metadata"]["labels"].clone();
    all.iter().map(|it| (it.name().to_owned(), (it.uid().to_owned(), of(it.value())))).collect()
}

/// `name gang base` of every PodClique.
pub(super) fn cliques(world: &World) -> Vec<String> {
    let label = |it: &Value, key: &str| it["metadata"]["labels"][key].as_str().unwrap_or("-").to_owned();
    let said =
        |it: &Value| format!("{} {}", label(it, "grove.io/podgang"), label(it, "grove.io/base-podgang"));
    world.list(CLIQUES).iter().map(|it| format!("{} {}", it.name(), said(it.value()))).collect()
}

/// Names of pods whose gate is not lifted, or that are not ready.
pub(super) fn not_running(world: &World) -> Vec<String> {
    let is_ready = |it: &Value| {
        let conditions = it["status"]["conditions"].as_array();
        conditions.is_some_and(|all| all.iter().any(|it| it["type"] == "Ready" && it["status"] == "True"))
    };
    let all = world.list(PODS);
    all.iter().filter(|it| !is_ready(it.value())).map(|it| it.name().to_owned()).collect()
}

/// The pods that each gang lists are those that name it, and the gang exists.
pub(super) fn assert_gangs_list_their_pods(world: &World) {
    let mut named: BTreeMap<String, Vec<String>> =
        world.names(GANGS).into_iter().map(|it| (it, Vec::new())).collect();
    for pod in world.list(PODS) {
        let gang = pod.value()["metadata"]["labels"]["grove.io/podgang"].as_str().unwrap();
        let of_gang = named.get_mut(gang).unwrap_or_else(|| panic!("{} is in no gang", pod.name()));
        of_gang.push(pod.name().to_owned());
    }
    for gang in world.list(GANGS) {
        let groups = gang.value()["spec"]["podgroups"].as_array().unwrap();
        let references = groups.iter().flat_map(|it| it["podReferences"].as_array().unwrap());
        let mut listed: Vec<&str> = references.map(|it| it["name"].as_str().unwrap()).collect();
        listed.sort_unstable();
        assert_eq!(listed, named[gang.name()], "{}", gang.name());
    }
}
