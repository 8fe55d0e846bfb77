//! What a set's scheduler adds to Grove's own rules.

use std::sync::Arc;

use grove_api::wire::TopologyLevel;
use grove_scheduler::Scheduler as Installed;

use super::*;
use crate::{
    admission::scheduling::{named, scheduling},
    backends::{
        Readiness,
        fixture::{Kube, kai, kube, volcano},
    },
};

const SCHEDULER_NAME: &str = "/spec/template/cliques/0/spec/podSpec/schedulerName";

/// Topology `dc` with the levels zone and rack; all three schedulers are active.
fn snapshot(scheduling: Scheduling) -> Snapshot {
    let active = |name: &str| Scheduler { name: name.to_owned(), topology_aware: false };
    let level = |it: &str| TopologyLevel { domain: it.to_owned(), key: format!("example.com/{it}") };
    let mut environment = environment();
    environment.schedulers.as_mut().unwrap().active =
        ["default-scheduler", "kai-scheduler", "volcano"].map(active).into();
    environment.topologies = [("dc".to_owned(), vec![level("zone"), level("rack")])].into();
    Snapshot { environment, scheduling, ..Snapshot::default() }
}

fn ready(name: &str, scheduler: Arc<dyn Installed>) -> Scheduling {
    Scheduling::Ready { name: name.to_owned(), scheduler }
}

/// The set for a scheduler, with a level that it requires, as it is stored.
fn placed(scheduler: &str, level: Option<&str>) -> Value {
    let mut set = with(SCHEDULER_NAME, json!(scheduler));
    if let Some(level) = level {
        let constraint = json!({ "topologyName": "dc", "pack": { "required": level } });
        set["spec"]["template"]["topologyConstraint"] = constraint;
    }
    stored(&set)
}

fn judged(operation: &str, new: &Value, old: &Value, scheduling: &Scheduling) -> Verdict {
    let snapshot = snapshot(scheduling.clone());
    judge(webhooks::SET_VALIDATING.path, &request(operation, new, old), &snapshot)
}

fn created(set: &Value, scheduling: &Scheduling) -> Verdict {
    judged("CREATE", set, &Value::Null, scheduling)
}

#[test]
fn each_backend_allows_what_it_can_and_refuses_what_it_cannot() {
    let queued = |mut set: Value| {
        set["metadata"]["labels"] = json!({ "kai.scheduler/queue": "q" });
        set
    };
    let (stock, kai_name, volcano_name) = ("default-scheduler", "kai-scheduler", "volcano");
    let nodes = ["example.com/rack", "example.com/zone"];
    let rows = [
        (ready(stock, kube(Kube::Tree)), placed(stock, Some("rack")), "allowed"),
        (
            ready(stock, kube(Kube::Flat)),
            placed(stock, Some("rack")),
            "spec.template.topologyConstraint: Forbidden: default-scheduler does not support RequiredTopologyGang (the whole gang in one \
             domain of a topology level): the API server drops topology constraints of PodGroups (feature gate \
             TopologyAwareWorkloadScheduling is closed)",
        ),
        (ready(kai_name, kai()), queued(placed(kai_name, Some("rack"))), "allowed"),
        (
            ready(kai_name, kai()),
            placed(kai_name, Some("rack")),
            "metadata.labels[kai.scheduler/queue]: Required value: KAI needs the name of a queue, here or on the cliques",
        ),
        (ready(volcano_name, volcano(&nodes)), placed(volcano_name, Some("rack")), "allowed"),
        (
            ready(volcano_name, volcano(&[])),
            placed(volcano_name, Some("rack")),
            "spec.template.topologyConstraint: Forbidden: volcano does not support RequiredTopologyGang (the whole gang in one domain of \
             a topology level): the cluster has no HyperNodes, from which Volcano knows its topology",
        ),
        (
            ready(volcano_name, volcano(&nodes[..1])),
            placed(volcano_name, Some("zone")),
            r#"spec.template: Forbidden: no HyperNode has the tierName "example.com/zone"; there are: example.com/rack"#,
        ),
    ];
    for (scheduling, set, want) in rows {
        let verdict = created(&set, &scheduling);
        assert_eq!(message(&verdict), want);
        assert_eq!(verdict.warnings, Vec::<String>::new());
        // What was so before does not keep anybody from changing something else.
        let mut changed = set.clone();
        changed["spec"]["replicas"] = 2.into();
        assert_eq!(judged("UPDATE", &changed, &set, &scheduling), Verdict::allowed(), "{want}");
    }
}

#[test]
fn what_is_passed_over_is_a_warning_when_it_is_new() {
    let scheduling = ready("default-scheduler", kube(Kube::Plain));
    let set = placed("default-scheduler", None);
    let verdict = created(&set, &scheduling);
    assert_eq!(message(&verdict), "allowed");
    let want = "spec.template: default-scheduler ignores SingleGroupGang (one group of pods of which a minimum is placed together): the \
                API server does not serve PodGroups of scheduling.k8s.io/v1beta1 (feature gate GenericWorkload): \
                pods are placed one by one";
    assert_eq!(verdict.warnings, [want]);
    assert_eq!(judged("UPDATE", &set, &set, &scheduling), Verdict::allowed());
}

#[test]
fn rules_of_grove_and_of_the_scheduler_are_told_together_in_the_order_of_the_fields() {
    let mut wrong = placed("kai-scheduler", None);
    wrong["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 5.into();
    wrong["spec"]["replicas"] = (-1).into();
    let verdict = created(&wrong, &ready("kai-scheduler", kai()));
    let fields: Vec<String> = verdict.denial.unwrap().errors.iter().map(|it| it.path.to_string()).collect();
    assert_eq!(
        fields,
        [
            "metadata.labels[kai.scheduler/queue]",
            "spec.replicas",
            "spec.template.cliques[0].spec.minAvailable",
        ]
    );
}

/// Grove's rules refuse it, and nobody waits until its gangs are planned.
#[test]
fn a_set_of_any_size_is_answered_at_once() {
    let mut huge = placed("kai-scheduler", None);
    huge["metadata"]["labels"] = json!({ "kai.scheduler/queue": "q" });
    huge["spec"]["template"]["cliques"][0]["spec"] = json!({ "roleName": "r", "replicas": i32::MAX,
        "minAvailable": i32::MAX - 1, "podSpec": { "containers": [{ "name": "c", "image": "i" }] } });
    let verdict = created(&huge, &ready("kai-scheduler", kai()));
    assert!(message(&verdict).contains("cliques"), "{verdict:?}");
}

#[test]
fn a_scheduler_that_is_not_ready_takes_no_new_sets() {
    let set = placed("kai-scheduler", None);
    let refused = Scheduling::Refused("the cluster has no CRD".to_owned());
    let text = "spec.template.cliques[0].spec.podSpec.schedulerName: Forbidden: the cluster has no CRD";
    assert_eq!(message(&created(&set, &refused)), text);
    assert_eq!(message(&judged("UPDATE", &set, &set, &refused)), text, "it was another scheduler before");
    // One that is wrong by itself may not be meant for it.
    let mut wrong = set.clone();
    wrong["spec"]["replicas"] = json!(-1);
    let answer = created(&wrong, &refused);
    assert!(message(&answer).starts_with("spec.replicas") && !message(&answer).contains("CRD"), "{answer:?}");
    let mut leaving = set.clone();
    leaving["metadata"]["deletionTimestamp"] = "2026-11-15T00:00:00Z".into();
    assert_eq!(judged("UPDATE", &leaving, &set, &refused), Verdict::allowed());
    assert_eq!(judged("DELETE", &Value::Null, &set, &refused), Verdict::allowed());
    assert_eq!(created(&set, &Scheduling::NotKnown), Verdict::allowed());
}

#[test]
fn a_set_keeps_the_scheduler_that_it_has_whatever_became_of_it() {
    let failed = Readiness::Failed("the cluster has no CRD".to_owned());
    let name = "kai-scheduler";
    for (readiness, before, want) in [
        (&failed, None, Some(r#"scheduler backend "kai-scheduler" is not ready: the cluster has no CRD"#)),
        (&failed, Some("volcano"), Some("is not ready: the cluster has no CRD")),
        (&failed, Some(name), None),
        (&Readiness::NotLooked, None, Some(r#"scheduler backend "kai-scheduler" is being initialised"#)),
        (&Readiness::NotLooked, Some(name), None),
        // Grove's own rules refuse it, and say which ones there are.
        (&Readiness::NotConfigured, None, None),
        (&Readiness::NotConfigured, Some(name), None),
    ] {
        match (scheduling(name, before, readiness), want) {
            (Scheduling::NotKnown, None) => {}
            (Scheduling::Refused(why), Some(want)) => assert!(why.ends_with(want), "{why}"),
            (got, want) => panic!("{readiness:?} {before:?}: {got:?} instead of {want:?}"),
        }
    }
}

#[test]
fn the_scheduler_is_the_first_that_a_clique_names() {
    let clique = |name: Value| json!({ "spec": { "podSpec": { "schedulerName": name } } });
    let set = |cliques: Value| json!({ "spec": { "template": { "cliques": cliques } } });
    for (set, want) in [
        (set(json!([clique(json!("")), clique(Value::Null), clique(json!("volcano"))])), Some("volcano")),
        (set(json!([{}, clique(json!("a")), clique(json!("b"))])), Some("a")),
        (set(json!([{}])), None),
        (json!({}), None),
    ] {
        assert_eq!(named(&set), want);
    }
}
