//! Sets that fit their scheduler, and sets that do not.

mod planned;
#[path = "../../../../grove-plan/src/fixture/set.rs"]
mod set;

use grove_api::{
    constants::{annotations, labels},
    wire::TopologyLevel,
};
use serde_json::{Value, json};

use self::set::set;
use super::*;
use crate::backends::fixture::{Kube, kai, kai_with, kube, volcano};

const DROPS: &str = "the API server drops topology constraints of PodGroups (feature gate \
     TopologyAwareWorkloadScheduling is closed)";
const ONE_LEVEL: &str = "a PodGroup has one topology level for all of its pods; more needs CompositePodGroups of \
     scheduling.k8s.io/v1alpha3 (feature gate CompositePodGroup)";
const NOT_SERVED: &str = "the API server does not serve PodGroups of scheduling.k8s.io/v1beta1 (feature gate \
     GenericWorkload): pods are placed one by one";
const PREEMPTION: &str = "Volcano moves whole gangs from 1.15 on, where its configuration has the actions gangpreempt \
     and gangreclaim; otherwise pod by pod, or not at all";
const NO_HYPER_NODES: &str = "the cluster has no HyperNodes, from which Volcano knows its topology";

/// Topology `dc` with the levels zone and rack.
fn topology() -> Topology {
    let level =
        |domain: &str| TopologyLevel { domain: domain.to_owned(), key: format!("example.com/{domain}") };
    Topology { name: "dc".to_owned(), levels: vec![level("zone"), level("rack")] }
}

/// Clique `fe`, and group `pd` of `pre` and `dec` with two of three replicas in the base gang; with placements such as
/// `required zone` of the set, the group and `fe`.
fn packed(of_set: &str, of_group: &str, of_clique: &str) -> PodCliqueSet {
    let mut set = set("fe=2/2 pre=1/1 dec=2/2 | pd=3/2:pre,dec");
    let constraint = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        let pack: Value = words.chunks(2).map(|it| (it[0].to_owned(), json!(it[1]))).collect();
        (!words.is_empty())
            .then(|| serde_json::from_value(json!({ "topologyName": "dc", "pack": pack })).unwrap())
    };
    let template = &mut set.spec.template;
    template.topology_constraint = constraint(of_set);
    template.scaling_groups[0].topology_constraint = constraint(of_group);
    template.cliques[0].topology_constraint = constraint(of_clique);
    set
}

/// The set in KAI's queue `q`.
fn queued(mut set: PodCliqueSet) -> PodCliqueSet {
    set.metadata.labels = Some([(labels::KAI_QUEUE.to_owned(), "q".to_owned())].into());
    set
}

fn errors(found: &Findings) -> Vec<String> {
    found.errors.iter().map(ToString::to_string).collect()
}

fn warnings(found: &Findings) -> Vec<String> {
    found.warnings.iter().map(ToString::to_string).collect()
}

fn created(set: &PodCliqueSet, scheduler: &dyn Scheduler, name: &str) -> Findings {
    fit(set, None, Some(&topology()), scheduler, name)
}

#[test]
fn what_fits_is_neither_refused_nor_told() {
    let deep = packed("required zone", "required rack preferred rack", "required rack");
    let flat = packed("required zone preferred rack", "", "");
    let loose = packed("", "", "preferred rack");
    let tiers = ["example.com/rack", "example.com/zone"];
    let rows = [
        ("default-scheduler", &deep, kube(Kube::Tree)),
        ("default-scheduler", &flat, kube(Kube::FlatTopology)),
        ("default-scheduler", &loose, kube(Kube::Flat)),
        ("kai-scheduler", &queued(deep.clone()), kai()),
        ("kai-scheduler", &queued(loose.clone()), kai()),
        ("volcano", &deep, volcano(&tiers)),
        ("volcano", &flat, volcano(&tiers)),
        // Pods are packed without HyperNodes too.
        ("volcano", &loose, volcano(&[])),
    ];
    for (row, (name, set, scheduler)) in rows.into_iter().enumerate() {
        let found = created(set, scheduler.as_ref(), name);
        assert_eq!((errors(&found), warnings(&found)), (vec![], vec![]), "row {row}");
    }
}

/// KAI whose Topology CRD is not installed: what is required is refused with that reason, what is preferred is told.
#[test]
fn kai_without_topologies_places_nothing_by_them() {
    let why =
        "the cluster has no CRD topologies.kai.scheduler that serves v1alpha1: install KAI's Topology CRD";
    let kai = kai_with(false);
    let found = created(&queued(packed("required zone", "", "")), kai.as_ref(), "kai-scheduler");
    let [error] = &errors(&found)[..] else { panic!("{:?}", errors(&found)) };
    assert!(
        error.starts_with("spec.template.topologyConstraint: Forbidden: ") && error.ends_with(why),
        "{error}"
    );
    let found = created(&queued(packed("", "", "preferred rack")), kai.as_ref(), "kai-scheduler");
    let [warning] = &warnings(&found)[..] else { panic!("{:?}", warnings(&found)) };
    assert!(errors(&found).is_empty() && warning.contains(why), "{warning}");
    let found = created(&queued(packed("", "", "")), kai.as_ref(), "kai-scheduler");
    assert_eq!((errors(&found), warnings(&found)), (vec![], vec![]));
}

#[test]
fn what_is_rejected_is_refused_at_the_field_that_asks() {
    let cannot = |field: &str, what: &str, why: &str| {
        format!("spec.template.{field}: Forbidden: default-scheduler does not support {what}: {why}")
    };
    let whole = "RequiredTopologyGang (the whole gang in one domain of a topology level)";
    let bundle = "RequiredTopologyBundle (a bundle of groups in one domain of a topology level)";
    let group = "RequiredTopologyGroup (the pods of one group in one domain of a topology level)";
    let nested = "NestedRequiredTopology (required levels inside of one another)";
    let of_group = "podCliqueScalingGroups[0].topologyConstraint";
    let rows = [
        (Kube::Flat, packed("required zone", "", ""), vec![cannot("topologyConstraint", whole, DROPS)]),
        // The group is a bundle in the base gang, and all of a scaled one: the field is told once.
        (
            Kube::Flat,
            packed("", "required rack", ""),
            vec![cannot(of_group, &format!("{bundle}, {whole}"), DROPS)],
        ),
        (Kube::FlatTopology, packed("", "required rack", ""), vec![cannot(of_group, bundle, ONE_LEVEL)]),
        (
            Kube::FlatTopology,
            packed("required zone", "required rack", ""),
            vec![cannot(of_group, &format!("{bundle}, {nested}"), ONE_LEVEL)],
        ),
        (
            Kube::Plain,
            packed("", "", "required rack"),
            vec![cannot("cliques[0].topologyConstraint", group, NOT_SERVED)],
        ),
    ];
    for (has, set, want) in rows {
        assert_eq!(errors(&created(&set, kube(has).as_ref(), "default-scheduler")), want, "{has:?}");
    }
    let volcano = created(&packed("required zone", "", ""), volcano(&[]).as_ref(), "volcano");
    let want = format!(
        "spec.template.topologyConstraint: Forbidden: volcano does not support {whole}: {NO_HYPER_NODES}"
    );
    assert_eq!(errors(&volcano), [want]);
}

#[test]
fn what_is_passed_over_is_told_once_for_each_field_and_reason() {
    let set = packed("", "", "");
    let found = created(&set, kube(Kube::Plain).as_ref(), "default-scheduler");
    let several = "MultiGroupGang (several groups, each with a minimum of its own, placed all or none)";
    assert_eq!(errors(&found), Vec::<String>::new());
    assert_eq!(
        warnings(&found),
        [format!("spec.template: default-scheduler ignores {several}: {NOT_SERVED}")]
    );
    let mut set = packed("", "", "");
    set.spec.template.priority_class_name = "high".to_owned();
    let found = created(&set, volcano(&[]).as_ref(), "volcano");
    let preemption = "GangPreemptor (the gang makes room for itself as a whole), GangVictim (the gang gives room as a whole or not at all)";
    assert_eq!(
        warnings(&found),
        [format!("spec.template.priorityClassName: volcano ignores {preemption}: {PREEMPTION}")]
    );
}

/// A queue under the key of one scheduler says that the user counts on it; the set may have come from there.
#[test]
fn a_queue_at_a_scheduler_without_queues_is_told() {
    let stock = kube(Kube::Tree);
    let told = |field: &str| {
        format!(
            "{field}: default-scheduler ignores Queue (a queue or tenant of the scheduler): kube-scheduler has no queues"
        )
    };
    let mut set = queued(packed("", "", ""));
    // No pod of `fe` is in a scaled gang.
    set.spec.template.cliques[0].annotations.insert(annotations::VOLCANO_QUEUE.to_owned(), "q".to_owned());
    let found = created(&set, stock.as_ref(), "default-scheduler");
    assert_eq!(errors(&found), Vec::<String>::new());
    assert_eq!(
        warnings(&found),
        [
            told("metadata.labels[kai.scheduler/queue]"),
            told("spec.template.cliques[0].annotations[scheduling.grove.io/volcano-queue]"),
        ]
    );
    assert_eq!(
        passed_over(&set, None, stock.as_ref(), "default-scheduler"),
        ["default-scheduler ignores Queue: kube-scheduler has no queues."]
    );
    // Volcano has queues; that it reads another key is no gap.
    assert_eq!(warnings(&created(&set, volcano(&[]).as_ref(), "volcano")), Vec::<String>::new());
}

#[test]
fn the_condition_names_what_is_passed_over_with_the_reason() {
    // The base gang has two groups, a scaled one has one.
    let set = set("a=1/1 b=1/1 | g=1/1:b");
    let said = passed_over(&set, None, kube(Kube::Plain).as_ref(), "default-scheduler");
    let features = "SingleGroupGang, MultiGroupGang";
    assert_eq!(said, [format!("default-scheduler ignores {features}: {NOT_SERVED}.")]);
    assert_eq!(passed_over(&set, None, kube(Kube::Tree).as_ref(), "default-scheduler"), Vec::<String>::new());
    let mut with_class = set;
    with_class.spec.template.priority_class_name = "high".to_owned();
    let said = passed_over(&with_class, None, volcano(&[]).as_ref(), "volcano");
    assert_eq!(said, [format!("volcano ignores GangPreemptor, GangVictim: {PREEMPTION}.")]);
}

#[test]
fn the_rules_of_the_scheduler_count_too() {
    let set = packed("", "", "");
    let found = created(&set, kai().as_ref(), "kai-scheduler");
    let text = "metadata.labels[kai.scheduler/queue]: Required value: KAI needs the name of a queue, here or on the cliques";
    assert_eq!(errors(&found), [text], "and not once more by what it renders");
    assert_eq!(errors(&created(&set, volcano(&[]).as_ref(), "volcano")), Vec::<String>::new());
}

#[test]
fn what_cannot_be_rendered_is_refused_in_the_words_of_the_backend() {
    let set = packed("required zone", "", "");
    let found = created(&set, volcano(&["example.com/rack"]).as_ref(), "volcano");
    let text = r#"spec.template: Forbidden: no HyperNode has the tierName "example.com/zone"; there are: example.com/rack"#;
    assert_eq!(errors(&found), [text], "both gangs say so");
}

#[test]
fn a_queue_on_one_clique_is_that_of_every_gang() {
    let mut set = packed("", "", "");
    // The group's scaled gangs have no pod of this clique.
    set.spec.template.cliques[0].labels.insert(labels::KAI_QUEUE.to_owned(), "q".to_owned());
    assert_eq!(errors(&created(&set, kai().as_ref(), "kai-scheduler")), Vec::<String>::new());
}

#[test]
fn a_gang_that_contradicts_itself_is_told() {
    let mut set = set("a-0=1/1 b=1/1 | a=1/1:b");
    set.spec.template.scaling_groups[0].topology_constraint =
        packed("", "required rack", "").spec.template.scaling_groups[0].topology_constraint.clone();
    let text = "spec.template: Forbidden: PodGang inf-0 would be invalid: \
                spec.topologyConstraintGroupConfigs[0].name: must be there, and unique in the gang";
    assert_eq!(errors(&created(&set, kube(Kube::Tree).as_ref(), "default-scheduler")), [text]);
}

#[test]
fn in_an_update_only_what_is_new_counts() {
    let update = |new: &PodCliqueSet, old: &PodCliqueSet, scheduler: &dyn Scheduler| {
        let found = fit(new, Some(old), Some(&topology()), scheduler, "it");
        (errors(&found), warnings(&found))
    };
    let nothing = (vec![], vec![]);
    let changed = |it: &PodCliqueSet| {
        let mut it = it.clone();
        it.spec.replicas = 7;
        it
    };
    // Refused, passed over, ruled out and not rendered: each was so before.
    let bare = set("a=1/1");
    for (set, scheduler) in [
        (packed("required zone", "", ""), kube(Kube::Plain)),
        (packed("", "", ""), kube(Kube::Plain)),
        (bare.clone(), kai()),
        (packed("required zone", "", ""), volcano(&["example.com/rack"])),
    ] {
        let fresh = fit(&set, None, Some(&topology()), scheduler.as_ref(), "it");
        assert!(!fresh.errors.is_empty() || !fresh.warnings.is_empty(), "{scheduler:?}");
        assert_eq!(update(&changed(&set), &set, scheduler.as_ref()), nothing, "{scheduler:?}");
    }
    let (found, told) =
        update(&packed("required zone", "", ""), &packed("", "", ""), kube(Kube::Flat).as_ref());
    assert_eq!((found.len(), told.len()), (1, 0));
    let (found, told) = update(&queued(packed("", "", "")), &packed("", "", ""), kube(Kube::Tree).as_ref());
    assert_eq!((found.len(), told.len()), (0, 1));
    let (found, _) = update(&bare, &queued(packed("", "", "")), kai().as_ref());
    assert_eq!(found.len(), 1, "{found:?}");
    let volcano = volcano(&["example.com/rack"]);
    let (found, _) = update(&packed("required zone", "", ""), &packed("", "", ""), volcano.as_ref());
    assert_eq!(found.len(), 1, "{found:?}");
}
