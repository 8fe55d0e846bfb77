//! Names, settings, what the API server has, and what follows from it.

use grove_api::field::Path;
use grove_scheduler::{
    Answer, Feature, Probe, Probed, SchedulerBackend, Uses, builtin::builtin, kube::KubeBackend,
};
use serde_json::{Value, json};

use crate::{Cluster, FLAT, FLAT_TOPOLOGY, PLAIN, TREE};

#[test]
fn names() {
    assert_eq!(KubeBackend.name(), "default-scheduler");
    assert_eq!(KubeBackend.synonyms(), ["kube-scheduler"]);
    assert!(KubeBackend.is_always_active());
    assert!(!KubeBackend.is_topology_aware());
    assert_eq!(builtin().all()[0].name(), "default-scheduler");
}

#[test]
fn settings() {
    let errors = |config: Value| -> Vec<String> {
        let errors = KubeBackend.check_config(&config, &Path::of(&["config"]));
        errors.iter().map(ToString::to_string).collect()
    };
    for fine in [json!({}), json!({ "gangScheduling": false }), json!({ "GangScheduling": true })] {
        assert_eq!(errors(fine), Vec::<String>::new());
    }
    assert_eq!(errors(json!({ "gangScheduling": null, "GangScheduling": true })), Vec::<String>::new());
    assert_eq!(
        errors(json!({ "gangScheduling": true, "GangScheduling": true })),
        ["config.GangScheduling: Forbidden: gangScheduling is the same setting; keep one of them"]
    );
    assert_eq!(
        errors(json!({ "gangScheduling": "yes" })),
        [r#"config.gangScheduling: Invalid value: "yes": must be true or false"#]
    );
    assert_eq!(
        errors(json!({ "gangSchedulin": true })),
        [r#"config.gangSchedulin: Unknown field: did you mean "gangScheduling"?"#]
    );
}

#[test]
fn without_gang_scheduling_nothing_is_used_and_it_is_said() {
    for off in [json!({ "gangScheduling": false }), json!({ "GangScheduling": false })] {
        assert_eq!(KubeBackend.resources(&off), []);
        assert_eq!(KubeBackend.probes(&off), []);
        let scheduler = KubeBackend.init(&off, &TREE.probed()).unwrap();
        assert_eq!((scheduler.form(), scheduler.version()), ("plain", None));
        let Answer::Pass(why) = scheduler.capabilities().multi_group_gang else { panic!("not passed") };
        assert!(why.starts_with("gangScheduling is false in the operator's configuration"), "{why}");
    }
    let on = KubeBackend.init(&json!({ "gangScheduling": true }), &TREE.probed()).unwrap();
    assert_eq!(on.form(), "tree");
}

#[test]
fn what_is_written_and_asked() {
    let resources = KubeBackend.resources(&json!({}));
    let used: Vec<_> = resources
        .iter()
        .map(|it| (it.resource.api_version.as_str(), it.resource.plural.as_str(), it.uses))
        .collect();
    assert_eq!(
        used,
        [
            ("scheduling.k8s.io/v1beta1", "podgroups", Uses::Writes),
            ("scheduling.k8s.io/v1alpha3", "compositepodgroups", Uses::Writes),
        ]
    );
    let probes = KubeBackend.probes(&json!({}));
    let Some(Probe::DryRun { object, .. }) = probes.last() else { panic!("no dry run: {probes:?}") };
    // A value here is refused where the default class has another one.
    assert_eq!(object["spec"].get("preemptionPolicy"), None);
    assert_eq!(object["spec"]["disruptionMode"], json!({ "all": {} }));
}

#[test]
fn what_the_server_has_decides() {
    let version = |cluster: Cluster| cluster.scheduler().version();
    let tree = "scheduling.k8s.io v1beta1 PodGroup, v1alpha3 CompositePodGroup, preemptionPolicy";
    assert_eq!(version(TREE).as_deref(), Some(tree));
    assert_eq!(version(FLAT_TOPOLOGY).as_deref(), Some("scheduling.k8s.io v1beta1 PodGroup with topology"));
    assert_eq!(version(FLAT).as_deref(), Some("scheduling.k8s.io v1beta1 PodGroup"));
    assert_eq!(version(PLAIN), None);
    // The scheduler reads PodGroups in v1beta1, whatever else is served.
    let composites_only = Cluster { groups: false, composites: true, kept: &[] };
    assert_eq!(composites_only.scheduler().form(), "plain");
    // Nobody answered.
    let scheduler = KubeBackend.init(&json!({}), &Probed::default()).unwrap();
    assert_eq!(scheduler.form(), "plain");
}

#[test]
fn a_server_that_refuses_pod_groups_is_an_error() {
    let refused = TREE.probed().with_dry_run("podgroup", Err("exceeded quota".to_owned()));
    let error = KubeBackend.init(&json!({}), &refused).unwrap_err();
    assert_eq!(error, "the API server refuses PodGroups: exceeded quota");
    // Without an answer to the dry run nothing is taken for granted.
    let unanswered =
        KubeBackend.probes(&json!({})).into_iter().fold(Probed::default(), |probed, it| match it {
            Probe::Served(resource) if resource.resource == "podgroups" => {
                probed.with_served(&resource, true)
            }
            _ => probed,
        });
    let scheduler = KubeBackend.init(&json!({}), &unanswered).unwrap();
    assert!(matches!(scheduler.capabilities().required_topology_gang, Answer::Reject(_)));
}

/// The columns of the fact sheet: N native, E emulated, R reject, P pass.
#[test]
fn capabilities() {
    use Feature::*;
    let rows = [
        (SingleGroupGang, "NNNP"),
        (MultiGroupGang, "NEEP"),
        (HierarchicalGang, "NEEP"),
        (BestEffortAboveMinimum, "EEEN"),
        (MinimumChange, "EEEP"),
        (RequiredTopologyGang, "NNRR"),
        (RequiredTopologyBundle, "NRRR"),
        (RequiredTopologyGroup, "NERR"),
        (NestedRequiredTopology, "NRRR"),
        (PreferredTopology, "EEEE"),
        (RequiredAndPreferredTopology, "EERR"),
        (PriorityClass, "NNNE"),
        (GangPreemptor, "NNNP"),
        (GangVictim, "NNNP"),
        (ReservationReuse, "PPPP"),
        (ScaledAfterBase, "EEEE"),
        (Queue, "PPPP"),
        (GroupStatus, "NNNE"),
    ];
    assert_eq!(rows.map(|(feature, _)| feature).as_slice(), Feature::ALL);
    let tables = [TREE, FLAT_TOPOLOGY, FLAT, PLAIN].map(|it| it.scheduler().capabilities());
    for (feature, expected) in rows {
        let letter = |answer: Answer| match answer {
            Answer::Native => 'N',
            Answer::Emulated(_) => 'E',
            Answer::Reject(_) => 'R',
            Answer::Pass(_) => 'P',
        };
        let row: String = tables.iter().map(|it| letter(it.of(feature))).collect();
        assert_eq!(row, expected, "{feature:?}");
    }
}
