//! What becomes of gangs when their topology goes, and when it comes.

use grove_api::wire::TopologyLevel;
use serde_json::{Value, json};

use crate::{
    fixture::Scene,
    gang::{is_held, why_held},
    layout::Place,
    objects::{self, Context},
    topology::Topology,
};

const SCALED: Place<'_> = Place::Scaled { replica: 0, group: "g", group_replica: 1 };

fn topology() -> Topology {
    let level = |it: &str| TopologyLevel { domain: it.to_owned(), key: format!("example.com/{it}") };
    Topology { name: "dc".to_owned(), levels: vec![level("zone"), level("rack")] }
}

fn pack(pack: &Value) -> Value {
    json!({ "topologyName": "dc", "pack": pack })
}

/// A gang of clique `a` and group `g` of clique `b`, of a set with this in its template.
fn scene(place: Place<'static>, part: &Value) -> Scene {
    let mut scene = Scene::new("a=1/1 b=1/1 | g=2/1:b", place);
    let mut template = serde_json::to_value(&scene.set.spec.template).unwrap();
    for (pointer, value) in part.as_object().unwrap() {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        template.pointer_mut(parent).unwrap()[key] = value.clone();
    }
    scene.set.spec.template = serde_json::from_value(template).unwrap();
    scene
}

/// The gang as it was made when its topology was there.
fn placed(mut scene: Scene) -> Scene {
    let context = Context {
        set: &scene.set,
        default_scheduler: "default-scheduler",
        form: "",
        gang_names: &crate::gang_names::OurNames,
    };
    scene.gang = objects::gang(context, scene.place, Some(&topology()), |_| Some(Vec::new())).unwrap();
    scene
}

fn requires_rack() -> Value {
    json!({ "/topologyConstraint": pack(&json!({ "required": "rack" })) })
}

#[test]
fn a_gang_keeps_its_required_levels_when_its_topology_goes() {
    let deep = json!({
        "/topologyConstraint": pack(&json!({ "required": "zone", "preferred": "rack" })),
        "/podCliqueScalingGroups/0/topologyConstraint": pack(&json!({ "required": "rack" })),
        "/cliques/0/topologyConstraint": pack(&json!({ "preferred": "rack" })),
    });
    let of_clique = json!({ "/cliques/0/topologyConstraint": pack(&json!({ "required": "rack" })) });
    let of_group =
        json!({ "/podCliqueScalingGroups/0/topologyConstraint": pack(&json!({ "required": "rack" })) });
    let policy = json!({ "/schedulingPolicyConfig": {
        "topologyName": "dc",
        "networkPackGroupConfigs": [
            { "cliqueNames": ["a"], "topologyConstraint": { "required": { "topologyKey": "example.com/rack" } } },
        ],
    } });
    for part in [deep, of_clique, of_group, policy, requires_rack()] {
        let mut scene = placed(scene(Place::Base { replica: 0 }, &part));
        let before = scene.gang.clone();
        assert!(before.metadata.annotations.as_ref().is_some_and(|it| it["grove.io/topology-name"] == "dc"));
        scene.topology_missing = true;
        assert!(!is_held(&scene.seen()), "its scheduler goes by what it has");
        scene.pods(&[("a", "0g"), ("b", "0g")]);
        assert_eq!(scene.step(1), "list a:0g b:0g");
        for group in &mut scene.gang.spec.pod_groups {
            group.pod_references.clear();
        }
        assert_eq!(scene.gang, before, "but for the pods that it lists, all is as it was");
    }
}

/// Its pods would be placed anywhere, and nothing would bring them together again.
#[test]
fn a_gang_that_was_made_without_its_topology_is_held_until_it_is_there() {
    let mut scene = scene(Place::Base { replica: 0 }, &requires_rack());
    scene.topology_missing = true;
    scene.told = crate::gang::Told::No;
    scene.pods(&[("a", "0g"), ("b", "0g")]);
    assert_eq!(scene.step(1), "list a:0g b:0g");
    assert_eq!(scene.step(2), "initialize");
    assert_eq!(scene.step(3), "rest", "nobody is told, and nobody is let go");
    scene.report(false, 4);
    let conditions = &scene.gang.status.as_ref().unwrap().conditions;
    let said = conditions.iter().find(|it| it.type_ == "Scheduled").unwrap();
    assert_eq!((said.status.as_str(), said.reason.as_str()), ("False", "ClusterTopologyNotFound"));
    assert!(said.message.contains("\"dc\"") && said.message.contains("create it"), "{}", said.message);

    (scene.topology, scene.topology_missing) = (Some(topology()), false);
    scene.step(5);
    let constraint = serde_json::to_value(&scene.gang.spec.topology_constraint).unwrap();
    assert_eq!(constraint, json!({ "packConstraint": { "required": "example.com/rack" } }));
    assert_eq!(scene.step(6), "tell");
    assert_eq!(scene.step(7), "ungate a:0g b:0g");
}

#[test]
fn only_gangs_of_which_a_level_is_required_are_held() {
    let rows = [
        ("the set", requires_rack(), [true, true]),
        (
            "a preferred level",
            json!({ "/topologyConstraint": pack(&json!({ "preferred": "rack" })) }),
            [false, false],
        ),
        (
            "the group",
            json!({ "/podCliqueScalingGroups/0/topologyConstraint": pack(&json!({ "required": "rack" })) }),
            [true, true],
        ),
        (
            "a clique that the scaled gang does not have",
            json!({ "/cliques/0/topologyConstraint": pack(&json!({ "required": "rack" })) }),
            [true, false],
        ),
        (
            "the group's preferred level instead of the set's required one",
            json!({
                "/topologyConstraint": pack(&json!({ "required": "zone" })),
                "/podCliqueScalingGroups/0/topologyConstraint": pack(&json!({ "preferred": "rack" })),
            }),
            [true, false],
        ),
        ("a name alone", json!({ "/schedulingPolicyConfig": { "topologyName": "dc" } }), [false, false]),
        (
            "a policy",
            json!({ "/schedulingPolicyConfig": {
                "topologyName": "dc", "groupingConstraints": { "required": { "topologyKey": "k" } },
            } }),
            [true, true],
        ),
        ("nothing", json!({}), [false, false]),
    ];
    for (what, part, want) in rows {
        let held = [Place::Base { replica: 0 }, SCALED].map(|place| {
            let mut scene = scene(place, &part);
            scene.topology_missing = true;
            let held = is_held(&scene.seen());
            assert_eq!(why_held(&scene.seen()).is_some(), held, "{what}");
            scene.topology_missing = false;
            assert!(!is_held(&scene.seen()), "{what}: topology is off, or the topology is there");
            held
        });
        assert_eq!(held, want, "{what}");
    }
}

/// Where an earlier operator dropped the constraints of a gang that runs, its replacements come as they did.
#[test]
fn a_gang_that_runs_without_its_topology_is_not_held() {
    let mut scene = scene(Place::Base { replica: 0 }, &requires_rack());
    scene.topology_missing = true;
    scene.pods(&[("a", "0b"), ("b", "0g")]);
    assert!(!is_held(&scene.seen()));
    scene.pods(&[("a", "0g"), ("b", "0g")]);
    assert!(is_held(&scene.seen()));
}

/// Where nothing is required, a scheduler that no longer knows the topology must not hold up the pods.
#[test]
fn preferred_levels_go_with_their_topology() {
    let wish = json!({ "/topologyConstraint": pack(&json!({ "preferred": "rack" })) });
    let mut scene = placed(scene(Place::Base { replica: 0 }, &wish));
    assert!(scene.gang.spec.topology_constraint.is_some());
    scene.topology_missing = true;
    scene.step(1);
    assert_eq!(scene.gang.spec.topology_constraint, None);
}
