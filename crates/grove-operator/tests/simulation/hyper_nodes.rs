//! Volcano's HyperNodes, made from a ClusterTopologyBinding and the labels of nodes; and nodes that lack one.

use std::time::Duration;

use grove_apiserver::Resource;
use serde_json::{Value, json};

use crate::{
    cluster_wide::{create, delete, patch},
    workload::an_hour_without_writes,
    world::World,
};

const BINDINGS: &str = "clustertopologybindings.grove.io";
const HYPER_NODES: &str = "hypernodes.topology.volcano.sh";
const ZONE: &str = "example.com/zone";
const RACK: &str = "example.com/rack";

/// Volcano's definitions, as far as they are looked at.
pub(crate) fn definitions() -> [Value; 2] {
    let definition = |group: &str, version: &str, kind: &str, scope: &str, spec: Value| {
        let plural = format!("{}s", kind.to_lowercase());
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.{group}") },
            "spec": {
                "group": group, "scope": scope,
                "names": { "kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List") },
                "versions": [{ "name": version, "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "properties": { "spec": {
                        "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": spec,
                    } },
                } } }],
            },
            "status": {
                "acceptedNames": { "kind": kind, "plural": plural },
                "conditions": [{ "type": "Established", "status": "True" }],
            },
        })
    };
    let text = json!({ "type": "string" });
    let network = json!({ "type": "object", "properties": { "mode": text, "highestTierName": text } });
    [
        definition(
            "scheduling.volcano.sh",
            "v1beta1",
            "PodGroup",
            "Namespaced",
            json!({ "networkTopology": network }),
        ),
        definition("topology.volcano.sh", "v1alpha1", "HyperNode", "Cluster", json!({})),
    ]
}

/// The kind of these.
pub(crate) fn definition_kind() -> Resource {
    let mut kind = Resource::custom(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );
    kind.namespaced = false;
    kind
}

fn levels(keys: &[&str]) -> Value {
    keys.iter().map(|key| json!({ "domain": key.rsplit_once('/').unwrap().1, "key": key })).collect()
}

fn bind(world: &World, name: &str, keys: &[&str]) {
    create(
        world,
        BINDINGS,
        json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
            "metadata": { "name": name }, "spec": { "levels": levels(keys) },
        }),
    );
}

/// A node, by the values of its zone and its rack; a `-` is a label that is not there.
fn join(world: &World, name: &str, zone: &str, rack: &str) {
    let labels = [(ZONE, zone), (RACK, rack)].into_iter().filter(|it| it.1 != "-");
    let labels: Value = labels.map(|(key, value)| (key.to_owned(), Value::from(value))).collect();
    let metadata = json!({ "name": name, "labels": labels });
    create(world, "nodes", json!({ "apiVersion": "v1", "kind": "Node", "metadata": metadata }));
}

/// A HyperNode of the admin.
fn of_admin(name: &str, tier: i64, key: &str) -> Value {
    let member = json!({ "type": "Node", "selector": { "exactMatch": { "name": "n0" } } });
    json!({
        "apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode", "metadata": { "name": name },
        "spec": { "tier": tier, "tierName": key, "members": [member] },
    })
}

/// Two racks in zone `a`, one in zone `b`, and a running operator.
async fn started(seed: u64) -> World {
    let mut world = World::with_volcano(seed);
    (world.tells, world.topology_aware) = (true, true);
    for (name, zone, rack) in [("n0", "a", "0"), ("n1", "a", "0"), ("n2", "a", "1"), ("n3", "b", "0")] {
        join(&world, name, zone, rack);
    }
    world.start();
    world.settle().await;
    world
}

/// Owner, tier and domain of each HyperNode.
fn tree(world: &World) -> Vec<String> {
    let line = |it: &std::sync::Arc<grove_apiserver::Object>| {
        let text = |pointer: &str| it.field(pointer).and_then(Value::as_str).unwrap_or("-").to_owned();
        let label = |key: &str| text(&format!("/metadata/labels/{}", key.replace('/', "~1")));
        let owner = text("/metadata/ownerReferences/0/name");
        let tier = it.field("/spec/tier").unwrap();
        format!("{owner} {tier} {} {}", label(ZONE), label(RACK))
    };
    let mut lines: Vec<String> = world.server.store().list(HYPER_NODES, None).iter().map(line).collect();
    lines.sort();
    lines
}

const WHOLE: [&str; 5] = ["halls 1 a 0", "halls 1 a 1", "halls 1 b 0", "halls 2 a -", "halls 2 b -"];

/// Status, reason and message of a condition of a binding.
fn said(world: &World, name: &str, type_: &str) -> (String, String, String) {
    let binding = world.server.store().get(BINDINGS, "", name).unwrap();
    let conditions = binding.field("/status/conditions").unwrap().as_array().unwrap().clone();
    let condition = conditions.iter().find(|it| it["type"] == type_).unwrap();
    let text = |field: &str| condition[field].as_str().unwrap().to_owned();
    (text("status"), text("reason"), text("message"))
}

fn drift(world: &World, name: &str) -> (String, String) {
    let (status, _, message) = said(world, name, "SchedulerTopologyDrift");
    (status, message)
}

fn in_sync() -> (String, String) {
    ("False".to_owned(), "every scheduler has these levels".to_owned())
}

/// Writes since then, by resource and kind of write.
fn writes(world: &World, before: usize) -> Vec<String> {
    let writes = world.server.store().writes().split_off(before);
    writes.iter().filter(|it| it.manager == "grove-operator").map(|it| it.resource.clone()).collect()
}

fn count(world: &World) -> usize {
    world.server.store().writes().len()
}

#[tokio::test(start_paused = true)]
async fn there_is_one_for_each_domain() {
    let world = started(1).await;
    let before = count(&world);
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    assert_eq!(tree(&world), WHOLE);
    assert_eq!(drift(&world, "halls"), in_sync());
    let (status, reason, _) = said(&world, "halls", "NodesLabelled");
    assert_eq!((status.as_str(), reason.as_str()), ("True", "AllNodesLabelled"));
    let of = |resource: &str| writes(&world, before).iter().filter(|it| *it == resource).count();
    assert_eq!((of(HYPER_NODES), of(BINDINGS)), (5, 1));
    // Levels that Volcano knows now can be required: its backend has looked again.
    let backend = world.server.store().get("schedulerbackends.grove.io", "", "volcano").unwrap();
    let answers = backend.field("/status/capabilities").unwrap().to_string();
    assert!(!answers.contains("the cluster has no HyperNodes"), "{answers}");
    an_hour_without_writes(&world).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_costs_nothing_and_a_domain_what_it_is() {
    let world = started(2).await;
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;

    let before = count(&world);
    join(&world, "n4", "b", "0");
    delete(&world, "nodes", "n1");
    world.settle().await;
    assert_eq!(writes(&world, before), Vec::<String>::new());

    let before = count(&world);
    join(&world, "n5", "b", "7");
    world.settle().await;
    let mut more = WHOLE.to_vec();
    more.insert(3, "halls 1 b 7");
    assert_eq!(tree(&world), more);
    // The rack, and its zone.
    assert_eq!(writes(&world, before), [HYPER_NODES, HYPER_NODES]);

    delete(&world, "nodes", "n3");
    delete(&world, "nodes", "n4");
    delete(&world, "nodes", "n5");
    world.settle().await;
    assert_eq!(tree(&world), ["halls 1 a 0", "halls 1 a 1", "halls 2 a -"]);
    assert_eq!(drift(&world, "halls"), in_sync());
    an_hour_without_writes(&world).await;
}

#[tokio::test(start_paused = true)]
async fn other_levels_are_another_tree() {
    let world = started(3).await;
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    patch(&world, BINDINGS, "halls", json!({ "spec": { "levels": levels(&[ZONE]) } }));
    world.settle().await;
    assert_eq!(tree(&world), ["halls 1 a -", "halls 1 b -"]);
    assert_eq!(drift(&world, "halls"), in_sync());
    delete(&world, BINDINGS, "halls");
    world.settle().await;
    assert_eq!(tree(&world), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn nodes_without_a_label_are_left_out_and_counted() {
    let world = started(4).await;
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    let before = count(&world);
    for number in 0..20 {
        join(&world, &format!("bare-{number}"), "a", "-");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    join(&world, "nowhere", "-", "-");
    world.settle().await;
    assert_eq!(tree(&world), WHOLE);
    let told = "nodes without the label of a level: example.com/zone: 1, example.com/rack: 21";
    let words = ("False".to_owned(), "LabelsMissing".to_owned(), told.to_owned());
    assert_eq!(said(&world, "halls", "NodesLabelled"), words);
    // What comes within two seconds is told three times at most.
    assert!(writes(&world, before).len() <= 3, "{:?}", writes(&world, before));
    an_hour_without_writes(&world).await;

    let before = count(&world);
    for number in 0..20 {
        let labels = json!({ "metadata": { "labels": { RACK: "1" } } });
        patch(&world, "nodes", &format!("bare-{number}"), labels);
    }
    delete(&world, "nodes", "nowhere");
    world.settle().await;
    assert_eq!(said(&world, "halls", "NodesLabelled").0, "True");
    assert_eq!(writes(&world, before), [BINDINGS]);
}

#[tokio::test(start_paused = true)]
async fn without_any_node_there_is_nothing_to_make() {
    let mut world = World::with_volcano(5);
    world.topology_aware = true;
    join(&world, "bare", "a", "-");
    world.start();
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    assert_eq!(tree(&world), Vec::<String>::new());
    let words = r#"volcano "halls": no node has the labels of all levels"#;
    assert_eq!(drift(&world, "halls"), ("True".to_owned(), words.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn what_the_admin_has_made_is_compared_and_left_alone() {
    let world = started(6).await;
    create(&world, HYPER_NODES, of_admin("theirs", 1, RACK));
    let before = count(&world);
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    assert_eq!(tree(&world), ["- 1 - -"]);
    let words = r#"volcano "halls": no HyperNode has the tierName "example.com/zone"; HyperNode "theirs" does not belong to this binding, so none are created"#;
    assert_eq!(drift(&world, "halls"), ("True".to_owned(), words.to_owned()));

    create(&world, HYPER_NODES, of_admin("whole", 2, ZONE));
    world.settle().await;
    assert_eq!(drift(&world, "halls"), in_sync());
    assert!(writes(&world, before).iter().all(|it| it != HYPER_NODES));

    delete(&world, HYPER_NODES, "theirs");
    delete(&world, HYPER_NODES, "whole");
    world.settle().await;
    assert_eq!(tree(&world), WHOLE);
    assert_eq!(drift(&world, "halls"), in_sync());

    // They come again, and ours go.
    create(&world, HYPER_NODES, of_admin("theirs", 1, RACK));
    world.settle().await;
    assert_eq!(tree(&world), ["- 1 - -"]);
}

#[tokio::test(start_paused = true)]
async fn a_binding_that_names_volcano_makes_none() {
    let world = started(7).await;
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    let bound = json!([{ "schedulerName": "volcano", "topologyReference": "discovered" }]);
    patch(&world, BINDINGS, "halls", json!({ "spec": { "schedulerTopologyBindings": bound } }));
    world.settle().await;
    assert_eq!(tree(&world), Vec::<String>::new());
    let words = r#"volcano "discovered": no HyperNode has the tierName "example.com/zone""#;
    assert_eq!(drift(&world, "halls"), ("True".to_owned(), words.to_owned()));
    create(&world, HYPER_NODES, of_admin("r", 1, RACK));
    create(&world, HYPER_NODES, of_admin("z", 2, ZONE));
    world.settle().await;
    assert_eq!(drift(&world, "halls"), in_sync());
}

#[tokio::test(start_paused = true)]
async fn what_somebody_does_to_them_is_mended() {
    let world = started(8).await;
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    let one = world.server.store().list(HYPER_NODES, None).remove(0);
    delete(&world, HYPER_NODES, one.name());
    world.settle().await;
    assert_eq!(tree(&world), WHOLE);
    patch(&world, HYPER_NODES, one.name(), json!({ "spec": { "tier": 9 } }));
    world.settle().await;
    assert_eq!(tree(&world), WHOLE);
    // What Volcano writes of them is nobody's business.
    let before = count(&world);
    patch(&world, HYPER_NODES, one.name(), json!({ "status": { "nodeCount": 9 } }));
    world.settle().await;
    assert_eq!(writes(&world, before), Vec::<String>::new());
}

/// Volcano knows one tree. A younger binding is in sync if it has the levels of the older one, and has its turn after it.
#[tokio::test(start_paused = true)]
async fn of_two_bindings_the_older_one_has_its_tree() {
    let world = started(9).await;
    bind(&world, "younger-is-not-a-matter-of-names", &[ZONE, RACK]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    bind(&world, "halls", &[RACK]);
    bind(&world, "floors", &[RACK, "example.com/shelf"]);
    world.settle().await;
    assert!(tree(&world).iter().all(|it| it.starts_with("younger-")), "{:?}", tree(&world));
    assert_eq!(drift(&world, "halls"), in_sync());
    assert_eq!(drift(&world, "floors").0, "True");
    an_hour_without_writes(&world).await;
    delete(&world, BINDINGS, "younger-is-not-a-matter-of-names");
    delete(&world, BINDINGS, "floors");
    world.settle().await;
    assert_eq!(tree(&world), ["halls 1 - 0", "halls 1 - 1"]);
    assert_eq!(drift(&world, "halls"), in_sync());
}

/// The older one has its tree also where the younger one was there with its own first.
#[tokio::test(start_paused = true)]
async fn an_older_binding_takes_the_place_of_a_younger_one() {
    let world = started(16).await;
    bind(&world, "older", &[ZONE]);
    let bound = json!([{ "schedulerName": "volcano", "topologyReference": "any" }]);
    patch(&world, BINDINGS, "older", json!({ "spec": { "schedulerTopologyBindings": bound } }));
    tokio::time::sleep(Duration::from_secs(2)).await;
    bind(&world, "halls", &[ZONE, RACK]);
    world.settle().await;
    assert_eq!(tree(&world), WHOLE);
    patch(&world, BINDINGS, "older", json!({ "spec": { "schedulerTopologyBindings": [] } }));
    world.settle().await;
    assert_eq!(tree(&world), ["older 1 a -", "older 1 b -"]);
    assert_eq!(drift(&world, "older"), in_sync());
    an_hour_without_writes(&world).await;
}

/// An operator that is killed in the middle of it, at any write: the next one ends what it began.
#[tokio::test(start_paused = true)]
async fn a_tree_that_was_begun_is_ended() {
    for writes in 1..=5 {
        let mut world = started(10 + writes).await;
        bind(&world, "halls", &[ZONE, RACK]);
        let there = |world: &World| world.server.store().list(HYPER_NODES, None).len();
        world.settle_unless(|| there(&world) as u64 >= writes).await;
        world.kill();
        join(&world, "late", "c", "0");
        delete(&world, "nodes", "n2");
        world.start();
        world.settle().await;
        let wanted =
            ["halls 1 a 0", "halls 1 b 0", "halls 1 c 0", "halls 2 a -", "halls 2 b -", "halls 2 c -"];
        assert_eq!(tree(&world), wanted, "{writes}");
        assert_eq!(drift(&world, "halls"), in_sync());
    }
}
