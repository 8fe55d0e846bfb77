//! What KAI's backend demands: of the cluster, of its settings, of sets, gangs and pods.

use crate::{
    cluster::{Kai, cluster, definition, kai, pod_group, queued, rendered, topologies},
    common::{config, gang, group, map, placed, pod, required},
};
use grove_api::{field::Path, wire::PodCliqueSet};
use grove_scheduler::{
    Answer, Capabilities, Feature, Gang, Probe, Probed, Scheduler, SchedulerBackend, Uses, backend::prepare,
    kai::KaiBackend, tree::Template,
};
use serde_json::{Value, json};

#[test]
fn the_backend_says_who_it_is() {
    assert_eq!(KaiBackend.name(), "kai-scheduler");
    assert!(KaiBackend.is_topology_aware() && !KaiBackend.is_always_active());
    let resources = KaiBackend.resources(&json!({}));
    let used: Vec<_> = resources.iter().map(|it| (it.resource.api_version.as_str(), it.uses)).collect();
    assert_eq!(
        used,
        [("scheduling.run.ai/v2alpha2", Uses::Writes), ("kai.scheduler/v1alpha1", Uses::Writes)]
    );
    let kinds: Vec<_> =
        resources.iter().map(|it| (it.resource.kind.as_str(), it.resource.plural.as_str())).collect();
    assert_eq!(kinds, [("PodGroup", "podgroups"), ("Topology", "topologies")]);
    let probes = KaiBackend.probes(&json!({}));
    let definition = Probe::Definition("podgroups.scheduling.run.ai".to_owned());
    assert_eq!(probes, [definition, Probe::Served(topologies())]);
}

#[test]
fn a_default_queue_is_the_only_setting() {
    let check = |config: Value| {
        let errors = KaiBackend.check_config(&config, &Path::of(&["config"]));
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(check(json!({})).is_empty());
    assert!(check(json!({ "defaultQueue": "team-a" })).is_empty());
    assert_eq!(check(json!({ "defaultQueue": "Team A" })).len(), 1);
    assert_eq!(
        check(json!({ "defaultQueu": "x" })),
        [r#"config.defaultQueu: Unknown field: did you mean "defaultQueue"?"#]
    );
}

/// Where a CRD has the fields of the spec.
const SPEC: &str = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";

#[test]
fn what_the_cluster_has_decides() {
    let name = "podgroups.scheduling.run.ai";
    let version = |release| kai(release).version().unwrap();
    assert_eq!(version(Kai::V12), "0.12 to 0.14");
    assert_eq!(version(Kai::V15), "0.15 or 0.16");
    assert_eq!(version(Kai::V17), "0.17 or newer");
    for field in ["preemptionDelay", "stalenessGracePeriod"] {
        let mut half = definition(Kai::V17);
        half.pointer_mut(SPEC).unwrap().as_object_mut().unwrap().remove(field);
        let cluster = Probed::default().with_definition(name, half);
        let version = KaiBackend.init(&json!({}), &cluster).unwrap().version().unwrap();
        assert_eq!(version, "0.15 or 0.16", "without {field}");
    }
    let error = |cluster: &Probed| KaiBackend.init(&json!({}), cluster).err().unwrap();
    let missing =
        "the cluster has no CRD podgroups.scheduling.run.ai that serves v2alpha2: install KAI 0.12 or newer";
    assert_eq!(error(&Probed::default()), missing);
    let mut unserved = definition(Kai::V15);
    unserved["spec"]["versions"][0]["served"] = json!(false);
    assert_eq!(error(&Probed::default().with_definition(name, unserved)), missing);
    let mut flat = definition(Kai::V12);
    flat.pointer_mut(SPEC).unwrap()["subGroups"]["items"]["properties"]
        .as_object_mut()
        .unwrap()
        .remove("parent");
    let error = error(&Probed::default().with_definition(name, flat));
    assert!(error.contains("update KAI to 0.12 or newer"), "{error}");
}

#[test]
fn every_feature_is_answered_as_the_facts_have_it() {
    let scaled = "pods of a scaled gang stay gated until its base gang is placed";
    let wanted = Capabilities {
        single_group_gang: Answer::Native,
        multi_group_gang: Answer::Native,
        hierarchical_gang: Answer::Native,
        best_effort_above_minimum: Answer::Native,
        minimum_change: Answer::Native,
        required_topology_gang: Answer::Native,
        required_topology_bundle: Answer::Native,
        required_topology_group: Answer::Native,
        nested_required_topology: Answer::Native,
        preferred_topology: Answer::Native,
        required_and_preferred_topology: Answer::Native,
        priority_class: Answer::Native,
        gang_preemptor: Answer::Native,
        gang_victim: Answer::Native,
        reservation_reuse: Answer::Pass("KAI keeps no capacity for a gang that comes later"),
        scaled_after_base: Answer::Emulated(scaled),
        queue: Answer::Native,
        group_status: Answer::Native,
    };
    for release in [Kai::V12, Kai::V15, Kai::V17] {
        let answers = kai(release).capabilities();
        for feature in Feature::ALL {
            assert_eq!(answers.of(*feature), wanted.of(*feature), "{feature:?} in {release:?}");
        }
    }
}

fn template(name: &str, queue: &str) -> Template {
    Template { name: name.to_owned(), labels: map(&[("kai.scheduler/queue", queue)]), annotations: map(&[]) }
}

#[test]
fn the_queue_comes_from_the_set_or_else_from_its_cliques() {
    let plain = || gang(json!({ "podgroups": [group("a", 1, 1), group("b", 1, 1)] }));
    let queue = map(&[("kai.scheduler/queue", "q")]);
    let other = map(&[("kai.scheduler/queue", "other")]);
    let changed = |change: &dyn Fn(&mut Gang)| {
        let mut gang = plain();
        change(&mut gang);
        gang
    };
    let by_label = changed(&|gang| gang.labels.extend(queue.clone()));
    let by_annotation = changed(&|gang| gang.annotations.extend(queue.clone()));
    let label_first = changed(&|gang| {
        gang.labels.extend(queue.clone());
        gang.annotations.extend(other.clone());
    });
    let by_template = changed(&|gang| gang.describe_group("b", queue.clone(), map(&[])));
    let by_template_annotation = changed(&|gang| gang.describe_group("b", map(&[]), queue.clone()));
    let by_all = changed(&|gang| {
        gang.labels.extend(queue.clone());
        gang.describe_group("a", queue.clone(), map(&[]));
        gang.describe_group("b", map(&[]), queue.clone());
    });
    // A scaled gang has only some of the cliques of its set.
    let by_sibling = changed(&|gang| gang.siblings.push(template("front", "q")));
    for gang in
        [by_label, by_annotation, label_first, by_template, by_template_annotation, by_all, by_sibling]
    {
        assert_eq!(rendered(Kai::V15, &gang, &[]).value["spec"]["queue"], "q");
        let mut pod = pod("a", 0);
        kai(Kai::V15).prepare_pod(&mut pod, &gang).unwrap();
        assert_eq!(pod.metadata.labels.unwrap()["kai.scheduler/queue"], "q");
    }

    let error = |gang: &Gang| kai(Kai::V15).render(gang, &[]).unwrap_err().to_string();
    let none = "no queue: label the PodCliqueSet, or its cliques, with kai.scheduler/queue";
    assert_eq!(error(&plain()), none);
    assert_eq!(error(&changed(&|gang| gang.labels.extend(map(&[("kai.scheduler/queue", "  ")])))), none);
    let conflict = changed(&|gang| {
        gang.labels.extend(queue.clone());
        gang.describe_group("b", other.clone(), map(&[]));
    });
    assert_eq!(
        error(&conflict),
        r#"the queue has to be one for the whole workload, but "web-0" says "q" and "b" says "other""#
    );
    let conflict = changed(&|gang| gang.siblings.extend([template("x", "q"), template("y", "other")]));
    assert_eq!(
        error(&conflict),
        r#"the queue has to be one for the whole workload, but "x" says "q" and "y" says "other""#
    );

    // The setting counts where nobody says anything.
    let config = json!({ "defaultQueue": "everybody" });
    let with_default = KaiBackend.init(&config, &cluster(Kai::V15)).unwrap();
    let queue = |gang: &Gang| with_default.render(gang, &[]).unwrap()[0].value["spec"]["queue"].clone();
    assert_eq!(queue(&plain()), "everybody");
    assert_eq!(queue(&queued(plain())), "team-a");
}

#[test]
fn what_kai_could_never_place_is_not_rendered() {
    let error = |gang: Gang| kai(Kai::V15).render(&queued(gang), &[]).unwrap_err().to_string();
    let long = "n".repeat(64);
    for name in [long.as_str(), "Upper", "a.b", "-a", "a-", "ä"] {
        let text = error(gang(json!({ "podgroups": [group(name, 1, 1)] })));
        assert!(text.contains("cannot be a sub-group of KAI"), "{name}: {text}");
    }
    let bundle = gang(json!({
        "podgroups": [group("a", 1, 1)], "topologyConstraintGroupConfigs": [config(&long, &["a"])],
    }));
    assert!(error(bundle).contains("cannot be a sub-group of KAI"));
    for (whose, spec) in [
        ("the gang", json!({ "podgroups": [group("a", 1, 1)], "topologyConstraint": required("rack") })),
        (r#""a""#, json!({ "podgroups": [placed(group("a", 1, 1), required("rack"))] })),
    ] {
        let mut gang = gang(spec);
        gang.topology = String::new();
        let wanted =
            "is placed by topology, but the gang does not name one (annotation grove.io/topology-name)";
        assert_eq!(error(gang), format!("{whose} {wanted}"));
    }
    let mut pools = gang(json!({ "podgroups": [group("a", 1, 1), group("b", 1, 1)] }));
    for (name, pool) in [("a", "x"), ("b", "y")] {
        pools.describe_group(name, map(&[("kai.scheduler/node-pool", pool)]), map(&[]));
    }
    assert!(error(pools).starts_with("the node pool has to be one for the whole workload"));
}

#[test]
fn a_pod_grouper_that_takes_the_placement_off_is_told_and_not_fought() {
    let placed_gang = || {
        queued(gang(json!({
            "podgroups": [placed(group("a", 1, 1), required("host")), group("b", 1, 1)],
            "topologyConstraint": required("zone"),
            "topologyConstraintGroupConfigs": [config("bb", &["b"])],
        })))
    };
    let ours = rendered(Kai::V12, &placed_gang(), &[]).value;
    let with_owner = |mut object: Value| {
        object["metadata"]["annotations"]["kai.scheduler/top-owner-metadata"] = json!("…");
        object
    };
    let without = |path: &str, key: &str| {
        let mut object = ours.clone();
        object.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(key);
        object
    };
    let root = without("/spec", "topologyConstraint");
    let leaf = without("/spec/subGroups/2", "topologyConstraint");
    let parent = without("/spec/subGroups/3", "parent");
    let mut empty = ours.clone();
    empty["spec"]["topologyConstraint"] = json!({});
    let render = |release, existing: Value| kai(release).render(&placed_gang(), &[existing]);
    for taken in [root, leaf, parent, empty] {
        let text = render(Kai::V12, with_owner(taken.clone())).unwrap_err().to_string();
        assert!(text.starts_with("KAI's own pod grouper takes the placement off the PodGroup"), "{text}");
        // Nobody else wrote it: then it is we who bring it.
        assert_eq!(render(Kai::V12, taken.clone()).unwrap()[0].value, ours);
        // From 0.15 on the pod grouper leaves our pods alone, and the annotation is ours.
        assert!(render(Kai::V15, with_owner(taken)).is_ok());
    }
    // One that agrees with us is no rival, nor is one whose gang has no placement.
    assert_eq!(render(Kai::V12, with_owner(ours.clone())).unwrap()[0].value, ours);
    let plain = queued(gang(json!({ "podgroups": [group("a", 1, 1)] })));
    let there = with_owner(rendered(Kai::V12, &plain, &[]).value);
    assert!(kai(Kai::V12).render(&plain, &[there]).is_ok());
}

#[test]
fn a_pod_carries_all_that_kai_reads() {
    let gang = queued(gang(json!({ "podgroups": [group("web-0-a", 1, 1)] })));
    let mut prepared = pod("web-0-a", 0);
    prepare(kai(Kai::V15).as_ref(), &mut prepared, &gang).unwrap();
    let mut wanted = serde_json::to_value(pod("web-0-a", 0)).unwrap();
    wanted["spec"]["schedulerName"] = json!("kai-scheduler");
    wanted["metadata"]["labels"]["kai.scheduler/subgroup-name"] = json!("web-0-a");
    wanted["metadata"]["labels"]["kai.scheduler/queue"] = json!("team-a");
    wanted["metadata"]["annotations"] = json!({
        "pod-group-name": "pg-web-0-u1",
        "kai.scheduler/skip-podgrouper": "true",
        "kai.scheduler/podgang": "web-0",
        "kai.scheduler/podgroup": "web-0-a",
    });
    assert_eq!(serde_json::to_value(&prepared).unwrap(), wanted);
    let mut again = prepared.clone();
    prepare(kai(Kai::V15).as_ref(), &mut again, &gang).unwrap();
    assert_eq!(again, prepared);
}

#[test]
fn a_pod_points_to_the_pod_group_that_is_there() {
    let mut gang = queued(gang(json!({ "podgroups": [group("a", 1, 1)] })));
    for (there, name) in [
        (vec![], "pg-web-0-u1"),
        (vec!["web-0"], "web-0"),
        (vec!["web-0", "pg-web-0-u1"], "pg-web-0-u1"),
        (vec!["other"], "pg-web-0-u1"),
    ] {
        gang.objects = there.iter().map(|it| (*it).to_owned()).collect();
        let mut pod = pod("a", 0);
        kai(Kai::V15).prepare_pod(&mut pod, &gang).unwrap();
        assert_eq!(pod.metadata.annotations.unwrap()["pod-group-name"], name, "{there:?}");
        // The PodGroup is the same one.
        let objects = there.iter().map(|name| {
            let mut object = pod_group(json!({ "queue": "team-a" }));
            object["metadata"]["name"] = json!(name);
            object
        });
        let object = rendered(Kai::V15, &gang, &objects.collect::<Vec<_>>()).value;
        assert_eq!(object["metadata"]["name"], name, "{there:?}");
    }
}

#[test]
fn a_pod_that_kai_would_drop_is_refused() {
    let gang = queued(gang(json!({ "podgroups": [group("a", 1, 1)] })));
    let error = |mut pod| kai(Kai::V15).prepare_pod(&mut pod, &gang).unwrap_err().to_string();
    assert_eq!(error(pod("b", 0)), r#""b" is not a group of the gang "web-0""#);
    let mut bare = pod("a", 0);
    bare.metadata.labels = None;
    assert_eq!(error(bare), "the pod has no label grove.io/podclique");
}

fn set(labels: Value, annotations: Value, cliques: Value) -> PodCliqueSet {
    serde_json::from_value(json!({
        "metadata": { "name": "web", "labels": labels, "annotations": annotations },
        "spec": { "replicas": 1, "template": { "cliques": cliques } },
    }))
    .unwrap()
}

fn clique(name: &str, labels: Value) -> Value {
    json!({ "name": name, "labels": labels, "spec": { "podSpec": { "containers": [] }, "replicas": 1 } })
}

fn errors(scheduler: &dyn Scheduler, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Vec<String> {
    scheduler.validate_pod_clique_set(set, old).errors.iter().map(ToString::to_string).collect()
}

#[test]
fn sets_are_refused_with_the_field_and_a_sentence() {
    let q = |queue: &str| json!({ "kai.scheduler/queue": queue });
    let none = json!({});
    let needed = "metadata.labels[kai.scheduler/queue]: Required value: KAI needs the name of a queue, here or on the cliques";
    let table = [
        (set(q("a"), none.clone(), json!([clique("x", none.clone())])), vec![]),
        (set(none.clone(), q("a"), json!([clique("x", none.clone())])), vec![]),
        (set(none.clone(), none.clone(), json!([clique("x", none.clone()), clique("y", q("a"))])), vec![]),
        (set(q("a"), none.clone(), json!([clique("x", q("a"))])), vec![]),
        (set(none.clone(), none.clone(), json!([clique("x", none.clone())])), vec![needed]),
        (
            set(q("a"), none.clone(), json!([clique("x", q("a")), clique("y", q("b"))])),
            vec![
                r#"spec.template.cliques[1].labels[kai.scheduler/queue]: Invalid value: "b": must be "a" as in metadata.labels[kai.scheduler/queue]: the queue is one for the whole set"#,
            ],
        ),
        (
            set(none.clone(), none.clone(), json!([clique("x", q("a")), clique("y", q("b"))])),
            vec![
                r#"spec.template.cliques[1].labels[kai.scheduler/queue]: Invalid value: "b": must be "a" as in spec.template.cliques[0].labels[kai.scheduler/queue]: the queue is one for the whole set"#,
            ],
        ),
        (
            set(
                json!({ "kai.scheduler/queue": "a", "kai.scheduler/node-pool": "gpu" }),
                none.clone(),
                json!([clique("x", json!({ "kai.scheduler/node-pool": "cpu" }))]),
            ),
            vec![
                r#"spec.template.cliques[0].labels[kai.scheduler/node-pool]: Invalid value: "cpu": must be "gpu" as in metadata.labels[kai.scheduler/node-pool]: the node pool is one for the whole set"#,
            ],
        ),
        (
            set(
                json!({ "kai.scheduler/queue": "a", "kai.scheduler/preemptibility": "maybe" }),
                json!({ "kai.scheduler/preemption-delay": "-1s", "kai.scheduler/staleness-grace-period": "soon" }),
                json!([clique("x", none.clone())]),
            ),
            vec![
                r#"metadata.labels[kai.scheduler/preemptibility]: Unsupported value: "maybe": supported values: "preemptible", "non-preemptible""#,
                r#"metadata.annotations[kai.scheduler/preemption-delay]: Invalid value: "-1s": must be a duration such as 30s, 15m or 1h30m, and not negative"#,
                r#"metadata.annotations[kai.scheduler/staleness-grace-period]: Invalid value: "soon": must be a duration such as 30s, 15m or 1h30m; a negative one means never"#,
            ],
        ),
        (
            set(
                json!({ "kai.scheduler/queue": "a", "kai.scheduler/preemptibility": "non-preemptible" }),
                json!({ "kai.scheduler/preemption-delay": "5m", "kai.scheduler/staleness-grace-period": "-1s" }),
                json!([clique("x", none.clone())]),
            ),
            vec![],
        ),
    ];
    let kai = kai(Kai::V15);
    for (set, wanted) in &table {
        assert_eq!(errors(kai.as_ref(), set, None), *wanted);
        // What was so before is not held against an update.
        assert!(errors(kai.as_ref(), set, Some(set)).is_empty());
        assert_eq!(errors(kai.as_ref(), set, Some(&table[0].0)), *wanted);
    }
    let config = json!({ "defaultQueue": "everybody" });
    let with_default = KaiBackend.init(&config, &cluster(Kai::V15)).unwrap();
    assert!(errors(with_default.as_ref(), &table[4].0, None).is_empty());
}

#[test]
fn a_change_of_the_queue_is_told_to_reach_only_new_gangs() {
    let set = |queue: &str| {
        set(json!({ "kai.scheduler/queue": queue }), json!({}), json!([clique("x", json!({}))]))
    };
    let kai = kai(Kai::V15);
    let warnings = |now: &str, before: &str| {
        let findings = kai.validate_pod_clique_set(&set(now), Some(&set(before)));
        assert!(findings.errors.is_empty());
        findings.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings("b", "a"),
        [
            r#"metadata.labels[kai.scheduler/queue]: gangs that exist stay in the queue "a"; only new ones use "b""#
        ]
    );
    assert!(warnings("a", "a").is_empty());
}
