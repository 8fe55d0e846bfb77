//! What an operator does when it finds the objects of another version: as good as nothing.

use serde_json::{Value, json};

use super::{
    cluster::{
        CLIQUES, GANGS, GROUPS, PODS, SETS, adopted, assert_gangs_list_their_pods, cliques, pods, stored,
        writes_since,
    },
    maps::MAPS,
    objects::{self, generation_hash, template_hash},
    version::Version,
};
use crate::{workload::an_hour_without_writes, world::World};

/// Names of the gangs: the base gang, and those of replicas 1 and 2 of the group.
pub(super) fn gang_names(version: Version) -> [&'static str; 3] {
    if version.has_epochs() {
        ["inf-0-1788256800000000000", "inf-0-1788256800000000001-pd-1", "inf-0-1788256800000000002-pd-2"]
    } else {
        ["inf-0", "inf-0-pd-0", "inf-0-pd-1"]
    }
}

async fn is_adopted(version: Version) {
    let mut world = stored(version, 7);
    let (before, maps) = (pods(&world), world.list(MAPS));
    assert_eq!(before.len(), 11);
    assert_eq!(maps.len(), usize::from(version.has_epochs()));
    let count = world.server.store().write_count();
    world.start();
    world.settle().await;

    assert!(writes_since(&world, count, PODS).is_empty(), "a pod was written");
    assert!(writes_since(&world, count, MAPS).is_empty(), "a PodGangMap was written");
    assert_eq!(pods(&world), before);
    let same = world.list(MAPS).iter().zip(&maps).all(|(new, old)| new.value() == old.value());
    assert!(same, "PodGangMaps are left alone");
    assert_eq!(world.names(GANGS), gang_names(version));
    for resource in [SETS, GROUPS, CLIQUES, GANGS, "services", "horizontalpodautoscalers.autoscaling"] {
        let writes = writes_since(&world, count, resource);
        let made: Vec<_> = writes.iter().filter(|it| it.verb == "create" || it.verb == "delete").collect();
        assert!(made.is_empty(), "{made:?}");
    }
    says_where_everything_is(&world, version);
    is_honest(&world, version);
    assert_gangs_list_their_pods(&world);
    an_hour_without_writes(&world).await;
}

/// Labels of PodCliques are how everything else finds their gang.
fn says_where_everything_is(world: &World, version: Version) {
    let [base, one, two] = gang_names(version);
    let wanted = [
        format!("inf-0-fe {base} -"),
        format!("inf-0-pd-0-dec {base} -"),
        format!("inf-0-pd-0-pre {base} -"),
        format!("inf-0-pd-1-dec {one} {base}"),
        format!("inf-0-pd-1-pre {one} {base}"),
        format!("inf-0-pd-2-dec {two} {base}"),
        format!("inf-0-pd-2-pre {two} {base}"),
    ];
    assert_eq!(cliques(world), wanted);
}

/// Statuses say what is, and hashes stay: a change of one would replace pods.
fn is_honest(world: &World, version: Version) {
    let set = world.get(SETS, "inf");
    let status = set.field("/status").unwrap();
    for counter in ["replicas", "availableReplicas", "updatedReplicas"] {
        assert_eq!(status[counter], 1, "{counter}");
    }
    assert_eq!(status["currentGenerationHash"], json!(generation_hash(version)));
    assert_eq!(condition(status, "Available"), "True");
    assert_ne!(condition(status, "UpdateInProgress"), "True");
    let gangs: Vec<_> = status["podGangStatuses"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(gangs, gang_names(version));
    for gang in world.list(GANGS) {
        let status = gang.field("/status").unwrap();
        assert_eq!(status["phase"], "Running", "{}", gang.name());
        for type_ in ["Initialized", "Scheduled", "Ready"] {
            assert_eq!(condition(status, type_), "True", "{type_} of {}", gang.name());
        }
    }
    for clique in objects::cliques() {
        let found = world.get(CLIQUES, &clique.name);
        let status = found.field("/status").unwrap();
        assert_eq!(status["readyReplicas"], json!(clique.role.pods));
        assert_eq!(status["updatedReplicas"], json!(clique.role.pods));
        assert_eq!(status["currentPodTemplateHash"], json!(template_hash(version, clique.role)));
        assert_eq!(status["currentPodCliqueSetGenerationHash"], json!(generation_hash(version)));
        assert_eq!(condition(status, "MinAvailableBreached"), "False");
    }
    let group = world.get(GROUPS, objects::GROUP);
    for counter in ["replicas", "scheduledReplicas", "availableReplicas", "updatedReplicas"] {
        assert_eq!(group.field(&format!("/status/{counter}")), Some(&json!(3)), "{counter}");
    }
}

fn condition<'a>(status: &'a Value, type_: &str) -> &'a str {
    let conditions = status["conditions"].as_array().into_iter().flatten();
    conditions.filter(|it| it["type"] == type_).find_map(|it| it["status"].as_str()).unwrap_or("")
}

#[tokio::test(start_paused = true)]
async fn objects_of_this_version_are_adopted() {
    is_adopted(Version::Current).await;
}

#[tokio::test(start_paused = true)]
async fn objects_of_alpha_11_are_adopted() {
    is_adopted(Version::Alpha11).await;
}

#[tokio::test(start_paused = true)]
async fn objects_of_alpha_12_are_adopted() {
    is_adopted(Version::Alpha12).await;
}

#[tokio::test(start_paused = true)]
async fn objects_of_alpha_13_are_adopted() {
    is_adopted(Version::Alpha13).await;
}

/// Of what this version stored, nothing is written but statuses.
#[tokio::test(start_paused = true)]
async fn own_objects_need_no_write() {
    let mut world = stored(Version::Current, 3);
    let count = world.server.store().write_count();
    world.start();
    world.settle().await;
    for resource in [SETS, GROUPS, CLIQUES, GANGS, "services", "horizontalpodautoscalers.autoscaling"] {
        let writes = writes_since(&world, count, resource);
        assert!(writes.iter().all(|it| it.subresource == Some("status")), "{writes:?}");
    }
}

/// A second operator finds what the first one left, and has nothing to do.
#[tokio::test(start_paused = true)]
async fn what_is_adopted_stays_so_after_a_restart() {
    for version in Version::ALL {
        let mut world = adopted(version, 5).await;
        world.kill();
        let count = world.server.store().write_count();
        world.start();
        world.settle().await;
        let writes = world.server.store().writes_since(count);
        assert!(writes.iter().all(|it| it.manager == "world"), "{version:?}: {writes:?}");
    }
}
