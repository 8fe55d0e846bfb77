//! What Volcano's backend demands and answers: of the cluster, of sets and pods, and why a gang waits.

use crate::{
    cluster::{Volcano, bare, cluster, hyper_nodes, pod_group, volcano},
    common::{config, gang, group, placed, pod, preferred, required},
};
use grove_api::{field::Path, wire::PodCliqueSet};
use grove_scheduler::{
    Answer, Capabilities, Feature, Gang, Probe, Probed, SchedulerBackend, Uses, backend::prepare,
    volcano::VolcanoBackend,
};
use serde_json::{Value, json};

#[test]
fn the_backend_says_who_it_is() {
    assert_eq!(VolcanoBackend.name(), "volcano");
    assert!(VolcanoBackend.is_topology_aware() && !VolcanoBackend.is_always_active());
    let resources = VolcanoBackend.resources(&json!({}));
    let named: Vec<_> = resources
        .iter()
        .map(|it| (it.resource.api_version.as_str(), it.resource.plural.as_str(), it.uses))
        .collect();
    assert_eq!(
        named,
        [
            ("scheduling.volcano.sh/v1beta1", "podgroups", Uses::Writes),
            ("topology.volcano.sh/v1alpha1", "hypernodes", Uses::Writes),
        ]
    );
    let definition = Probe::Definition("podgroups.scheduling.volcano.sh".to_owned());
    let probes = [definition, Probe::Served(hyper_nodes()), Probe::Objects(hyper_nodes())];
    assert_eq!(VolcanoBackend.probes(&json!({})), probes);
    let errors = VolcanoBackend.check_config(&json!({ "queue": "x" }), &Path::of(&["config"]));
    assert_eq!(errors.len(), 1);
    assert!(VolcanoBackend.check_config(&json!({}), &Path::of(&["config"])).is_empty());
}

#[test]
fn what_the_cluster_has_decides() {
    let error = VolcanoBackend.init(&json!({}), &Probed::default()).err().unwrap();
    let missing =
        "the cluster has no CRD podgroups.scheduling.volcano.sh that serves v1beta1: install Volcano";
    assert_eq!(error, missing);
    for (release, version) in
        [(Volcano::V11, "before 1.12"), (Volcano::V12, "1.12 or 1.13"), (Volcano::V14, "1.14 or newer")]
    {
        assert_eq!(volcano(&cluster(release)).version().as_deref(), Some(version));
    }
}

const PREEMPTION: Answer = Answer::Pass(
    "Volcano moves whole gangs from 1.15 on, where its configuration has the actions gangpreempt and gangreclaim; \
     otherwise pod by pod, or not at all",
);

/// Volcano from 1.14 on, with HyperNodes.
const ALL: Capabilities = Capabilities {
    single_group_gang: Answer::Native,
    multi_group_gang: Answer::Native,
    hierarchical_gang: Answer::Emulated(
        "all parts of a bundle are needed, so that the gang needs each of them",
    ),
    best_effort_above_minimum: Answer::Native,
    minimum_change: Answer::Native,
    required_topology_gang: Answer::Native,
    required_topology_bundle: Answer::Emulated(
        "a bundle is one sub-group; minTaskMember keeps the minima in it",
    ),
    required_topology_group: Answer::Native,
    nested_required_topology: Answer::Native,
    preferred_topology: Answer::Emulated("preferred pod affinity, weighted by level"),
    required_and_preferred_topology: Answer::Emulated(
        "the required level is the scheduler's own, the preferred one is pod affinity",
    ),
    priority_class: Answer::Native,
    gang_preemptor: PREEMPTION,
    gang_victim: PREEMPTION,
    reservation_reuse: Answer::Pass("Volcano keeps no capacity for a gang that comes later"),
    scaled_after_base: Answer::Emulated("pods of a scaled gang stay gated until its base gang is placed"),
    queue: Answer::Native,
    group_status: Answer::Native,
};

#[test]
fn every_feature_is_answered_by_what_is_installed() {
    let nodes = "the cluster has no HyperNodes, from which Volcano knows its topology";
    let without_nodes = Capabilities {
        required_topology_gang: Answer::Reject(nodes),
        required_topology_bundle: Answer::Reject(nodes),
        required_topology_group: Answer::Reject(nodes),
        nested_required_topology: Answer::Reject(nodes),
        required_and_preferred_topology: Answer::Reject(nodes),
        ..ALL
    };
    let part = Answer::Reject("Volcano before 1.14 cannot place a part of a gang on its own");
    let level = Answer::Reject("Volcano before 1.14 does not support topology levels");
    let old = Capabilities {
        multi_group_gang: Answer::Emulated("minTaskMember keeps the minimum of each group"),
        required_topology_gang: level,
        required_topology_bundle: part,
        required_topology_group: part,
        nested_required_topology: part,
        required_and_preferred_topology: level,
        ..ALL
    };
    for (what, cluster, wanted) in [
        ("1.14", cluster(Volcano::V14), ALL),
        ("1.14, HyperNodes unread", bare(Volcano::V14).with_served(&hyper_nodes(), true), ALL),
        ("1.14, none", bare(Volcano::V14).with_objects(&hyper_nodes(), Vec::new()), without_nodes),
        ("1.14, not served", bare(Volcano::V14).with_served(&hyper_nodes(), false), without_nodes),
        ("1.12", cluster(Volcano::V12), old),
        ("1.11", cluster(Volcano::V11), old),
    ] {
        let answers = volcano(&cluster).capabilities();
        for feature in Feature::ALL {
            assert_eq!(answers.of(*feature), wanted.of(*feature), "{feature:?} on {what}");
        }
    }
}

fn prepared(cluster: &Probed, gang: &Gang, clique: &str) -> Value {
    let mut pod = pod(clique, 0);
    prepare(volcano(cluster).as_ref(), &mut pod, gang).unwrap();
    let mut again = pod.clone();
    prepare(volcano(cluster).as_ref(), &mut again, gang).unwrap();
    assert_eq!(again, pod);
    serde_json::to_value(pod).unwrap()
}

#[test]
fn a_pod_carries_all_that_volcano_reads() {
    let wanted = |clique: &str, task: Option<&str>| {
        let mut wanted = serde_json::to_value(pod(clique, 0)).unwrap();
        wanted["spec"]["schedulerName"] = json!("volcano");
        wanted["metadata"]["annotations"] =
            json!({ "scheduling.k8s.io/group-name": "web-0", "scheduling.volcano.sh/group-name": "web-0" });
        if let Some(task) = task {
            wanted["metadata"]["annotations"]["volcano.sh/task-spec"] = json!(task);
        }
        wanted
    };
    let two = gang(json!({ "podgroups": [group("a", 1, 1), group("b", 1, 1)] }));
    let bundled = gang(json!({
        "podgroups": [group("a", 1, 1), group("b", 1, 1)],
        "topologyConstraintGroupConfigs": [placed(config("bb", &["b"]), required("rack"))],
    }));
    let (new, old) = (cluster(Volcano::V14), cluster(Volcano::V12));
    assert_eq!(prepared(&new, &two, "a"), wanted("a", None));
    assert_eq!(prepared(&new, &bundled, "a"), wanted("a", None));
    assert_eq!(prepared(&new, &bundled, "b"), wanted("b", Some("b")));
    assert_eq!(prepared(&old, &two, "b"), wanted("b", Some("b")));
}

/// Sub-group policies make Volcano forget that the gang is to be packed, and it can be told no preferred level.
#[test]
fn preferred_levels_are_soft_affinity_everywhere() {
    let wishes = gang(json!({
        "podgroups": [group("a", 1, 1), placed(group("b", 1, 1), preferred("host"))],
        "topologyConstraint": preferred("rack"),
    }));
    let term = |weight: i32, level: &str, labels: Value| json!({ "weight": weight, "podAffinityTerm": { "topologyKey": level, "labelSelector": { "matchLabels": labels } } });
    let of_gang = || term(100, "rack", json!({ "grove.io/podgang": "web-0" }));
    let of_group = || term(25, "host", json!({ "grove.io/podclique": "b" }));
    for cluster in [
        cluster(Volcano::V14),
        bare(Volcano::V14),
        cluster(Volcano::V12),
        bare(Volcano::V12),
        bare(Volcano::V11),
    ] {
        for (clique, terms) in [("a", vec![of_gang()]), ("b", vec![of_gang(), of_group()])] {
            let affinity =
                json!({ "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": terms } });
            assert_eq!(prepared(&cluster, &wishes, clique)["spec"]["affinity"], affinity, "{clique}");
        }
    }
    // A required level is Volcano's own.
    let required = gang(json!({ "podgroups": [group("a", 1, 1)], "topologyConstraint": required("rack") }));
    assert_eq!(prepared(&cluster(Volcano::V14), &required, "a")["spec"]["affinity"], Value::Null);
}

/// Volcano breaks a level that a sub-group requires where its pods are drawn to the rest of the gang.
#[test]
fn a_pod_is_not_drawn_out_of_what_its_own_group_requires() {
    let wishes = gang(json!({
        "podgroups": [group("a", 1, 1), placed(group("b", 1, 1), required("rack"))],
        "topologyConstraint": { "packConstraint": { "required": "block", "preferred": "host" } },
    }));
    let affinity =
        |clique: &str| prepared(&cluster(Volcano::V14), &wishes, clique)["spec"]["affinity"].clone();
    let terms = &affinity("a")["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!(terms[0]["podAffinityTerm"]["topologyKey"], "host");
    assert_eq!(affinity("b"), Value::Null);
}

#[test]
fn a_pod_of_no_group_is_refused() {
    let gang = gang(json!({ "podgroups": [group("a", 1, 1)] }));
    let error =
        |mut pod| volcano(&cluster(Volcano::V14)).prepare_pod(&mut pod, &gang).unwrap_err().to_string();
    assert_eq!(error(pod("b", 0)), r#""b" is not a group of the gang "web-0""#);
    let mut bare = pod("a", 0);
    bare.metadata.labels = None;
    assert_eq!(error(bare), "the pod has no label grove.io/podclique");
}

fn set(annotations: Value, template: Value) -> PodCliqueSet {
    serde_json::from_value(json!({
        "metadata": { "name": "web", "annotations": annotations },
        "spec": { "replicas": 1, "template": template },
    }))
    .unwrap()
}

fn clique(name: &str, annotations: Value, level: Option<&str>) -> Value {
    let mut clique = json!({
        "name": name, "annotations": annotations, "spec": { "podSpec": { "containers": [] }, "replicas": 1 },
    });
    if let Some(level) = level {
        clique["topologyConstraint"] = json!({ "pack": { "required": level } });
    }
    clique
}

fn errors(set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Vec<String> {
    let findings = volcano(&cluster(Volcano::V14)).validate_pod_clique_set(set, old);
    assert!(findings.warnings.is_empty());
    findings.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn queues_of_a_set() {
    let key = "scheduling.grove.io/volcano-queue";
    let q = |queue: &str| json!({ key: queue });
    let of =
        |of_set: Value, of_clique: Value| set(of_set, json!({ "cliques": [clique("x", of_clique, None)] }));
    let fine = of(json!({}), json!({}));
    for (set, wanted) in [
        (of(json!({}), json!({})), vec![]),
        (of(q("a.b"), q("a.b")), vec![]),
        (of(json!({}), q("a")), vec![]),
        (
            of(q("a"), q("b")),
            vec![
                r#"spec.template.cliques[0].annotations[scheduling.grove.io/volcano-queue]: Invalid value: "b": must be "a" as in metadata.annotations[scheduling.grove.io/volcano-queue]: the queue is one for the whole set"#,
            ],
        ),
        (
            of(q("Team A"), json!({})),
            vec![
                r#"metadata.annotations[scheduling.grove.io/volcano-queue]: Invalid value: "Team A": must be the name of a queue: lower case letters, digits, '-' and '.'"#,
            ],
        ),
        (
            of(q("a..b"), json!({})),
            vec![
                r#"metadata.annotations[scheduling.grove.io/volcano-queue]: Invalid value: "a..b": must be the name of a queue: lower case letters, digits, '-' and '.'"#,
            ],
        ),
    ] {
        assert_eq!(errors(&set, None), wanted);
        assert_eq!(errors(&set, Some(&fine)), wanted);
        assert!(errors(&set, Some(&set)).is_empty());
    }
}

#[test]
fn a_scaling_group_and_its_cliques_have_one_level() {
    let of = |whole: Option<&str>, group: Option<&str>, clique_level: Option<&str>| {
        let constraint = |level: Option<&str>| level.map(|it| json!({ "pack": { "required": it } }));
        set(
            json!({}),
            json!({
                "cliques": [clique("alone", json!({}), Some("host")), clique("x", json!({}), clique_level)],
                "topologyConstraint": constraint(whole),
                "podCliqueScalingGroups": [{
                    "name": "pd", "cliqueNames": ["x"], "topologyConstraint": constraint(group),
                }],
            }),
        )
    };
    for fine in [
        of(Some("zone"), Some("rack"), None),
        of(Some("zone"), Some("rack"), Some("rack")),
        of(Some("zone"), None, Some("rack")),
        of(Some("rack"), Some("rack"), Some("host")),
        of(None, None, None),
    ] {
        assert!(errors(&fine, None).is_empty());
    }
    for whole in [None, Some("zone")] {
        let refused = of(whole, Some("rack"), Some("host"));
        assert_eq!(
            errors(&refused, None),
            [
                r#"spec.template.cliques[1].topologyConstraint: Invalid value: "host": Volcano has one level of sub-groups: the scaling group "pd" requires "rack", so that its cliques cannot require another domain"#
            ]
        );
        assert!(errors(&refused, Some(&refused)).is_empty());
    }
}

fn explained(status: Value) -> Option<String> {
    let mut object = pod_group(json!({ "queue": "team-a" }));
    object["status"] = status;
    let gang = gang(json!({ "podgroups": [group("a", 1, 1)] }));
    volcano(&cluster(Volcano::V14)).explain(&gang, &[json!({ "apiVersion": "v1" }), object])
}

fn condition(type_: &str, time: &str, reason: &str, message: &str) -> Value {
    json!({ "type": type_, "status": "True", "lastTransitionTime": time, "reason": reason, "message": message })
}

#[test]
fn why_a_gang_waits() {
    let long = "3/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 1 Schedulable, \
        3 Unschedulable. Origin reason is web-0-a-x7f2k: 0/2 nodes are unavailable: 2 Insufficient nvidia.com/gpu.";
    let enqueue = "4/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 4 \
        Unschedulable. Origin reason is: resource in cluster is overused";
    let no_origin =
        "1/4 tasks in gang unschedulable: pod group is not ready, 3 Running, 1 Pending, 4 minAvailable";
    let unschedulable =
        |message: &str| condition("Unschedulable", "2026-01-01T00:00:02Z", "NotEnoughResources", message);
    let scheduled = |second: u32| {
        condition(
            "Scheduled",
            &format!("2026-01-01T00:00:0{second}Z"),
            "tasks in gang are ready to be scheduled",
            "",
        )
    };
    let inqueue = |conditions: Vec<Value>| json!({ "phase": "Inqueue", "conditions": conditions });
    let mut over = unschedulable(no_origin);
    over["status"] = json!("False");
    for (status, wanted) in [
        (
            inqueue(vec![unschedulable(long)]),
            Some(
                "3 of 4 pods cannot be placed: web-0-a-x7f2k: 0/2 nodes are unavailable: 2 Insufficient nvidia.com/gpu",
            ),
        ),
        (
            inqueue(vec![unschedulable(enqueue)]),
            Some("4 of 4 pods cannot be placed: resource in cluster is overused"),
        ),
        (inqueue(vec![unschedulable(no_origin)]), Some(no_origin)),
        (
            inqueue(vec![unschedulable("Not enough valid tasks for gang-scheduling, valid: 2, min: 4")]),
            Some("Not enough valid tasks for gang-scheduling, valid: 2, min: 4"),
        ),
        (inqueue(vec![unschedulable("")]), Some("NotEnoughResources")),
        (inqueue(vec![unschedulable(no_origin), scheduled(3)]), None),
        (inqueue(vec![scheduled(1), unschedulable(no_origin)]), Some(no_origin)),
        (inqueue(vec![over]), Some(r#"queued in "team-a"; Volcano gives no reason"#)),
        (json!({ "phase": "Pending" }), Some(r#"not yet admitted to queue "team-a""#)),
        (json!({ "phase": "Inqueue" }), Some(r#"queued in "team-a"; Volcano gives no reason"#)),
        (json!({ "phase": "Unknown" }), Some("some of its pods run and others cannot be placed")),
        (json!({ "phase": "Running" }), None),
        (json!({}), None),
    ] {
        assert_eq!(explained(status.clone()).as_deref(), wanted, "{status}");
    }
    let line = explained(inqueue(vec![unschedulable(&"x".repeat(1000))])).unwrap();
    assert_eq!(line.chars().count(), 401);
}
