//! What the stock scheduler asks of a set.

use grove_api::wire::PodCliqueSet;
use serde_json::{Value, json};

use crate::{Cluster, FLAT, FLAT_TOPOLOGY, PLAIN, TREE};

fn set(template: Value) -> PodCliqueSet {
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
        "metadata": { "name": "web", "namespace": "ns" },
        "spec": { "replicas": 1, "template": template },
    }))
    .unwrap()
}

fn clique(name: &str, pod_spec: Value) -> Value {
    let mut pod = pod_spec;
    pod["containers"] = json!([]);
    json!({ "name": name, "spec": { "podSpec": pod, "replicas": 1 } })
}

fn errors(cluster: Cluster, new: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Vec<String> {
    let findings = cluster.scheduler().validate_pod_clique_set(new, old);
    assert_eq!(findings.warnings, []);
    findings.errors.iter().map(|it| it.path.to_string()).collect()
}

#[test]
fn what_would_never_be_placed_is_refused() {
    let class = |of_set: &str, of_cliques: [&str; 2]| {
        let cliques = of_cliques.map(|it| clique("a", json!({ "priorityClassName": it })));
        json!({ "priorityClassName": of_set, "cliques": cliques })
    };
    let policies = |policies: [Value; 2]| json!({ "cliques": policies.map(|it| clique("a", json!({ "preemptionPolicy": it }))) });
    let pod_spec =
        |number: usize, field: &str| format!("spec.template.cliques[{number}].spec.podSpec.{field}");
    let group = json!({ "schedulingGroup": { "podGroupName": "mine" } });
    let table: Vec<(Value, Vec<String>)> = vec![
        (class("high", ["", ""]), vec![]),
        (class("high", ["high", ""]), vec![]),
        (class("", ["", ""]), vec![]),
        (class("high", ["low", ""]), vec![pod_spec(0, "priorityClassName")]),
        (class("", ["", "low"]), vec![pod_spec(1, "priorityClassName")]),
        (class("system-cluster-critical", ["", ""]), vec!["spec.template.priorityClassName".to_owned()]),
        (class("systematic", ["", ""]), vec![]),
        (policies([json!("Never"), json!("Never")]), vec![]),
        (policies([json!("Never"), Value::Null]), vec![]),
        (policies([json!("Never"), json!("PreemptLowerPriority")]), vec![pod_spec(1, "preemptionPolicy")]),
        (json!({ "cliques": [clique("a", group)] }), vec![pod_spec(0, "schedulingGroup")]),
    ];
    for (template, expected) in table {
        let set = set(template.clone());
        for cluster in [TREE, FLAT_TOPOLOGY, FLAT] {
            assert_eq!(errors(cluster, &set, None), expected, "{template}");
            // What was so before is not held against an update.
            assert_eq!(errors(cluster, &set, Some(&set)), Vec::<String>::new(), "{template}");
        }
        // Pods alone have nothing in common.
        assert_eq!(errors(PLAIN, &set, None), Vec::<String>::new(), "{template}");
    }
}

#[test]
fn the_words_say_what_to_do() {
    let template = json!({ "cliques": [clique("a", json!({ "priorityClassName": "low" }))] });
    let findings = TREE.scheduler().validate_pod_clique_set(&set(template), None);
    assert_eq!(
        findings.errors[0].to_string(),
        "spec.template.cliques[0].spec.podSpec.priorityClassName: Invalid value: \"low\": kube-scheduler places a gang only \
         if all of its pods have its priority: name the class in spec.template.priorityClassName and leave it out here"
    );
}

#[test]
fn a_running_set_keeps_its_priority() {
    let of = |class: &str, replicas: i32| {
        let mut set = set(json!({ "priorityClassName": class, "cliques": [clique("a", json!({}))] }));
        set.spec.replicas = replicas;
        set
    };
    let changed = ["spec.template.priorityClassName"];
    for cluster in [TREE, FLAT] {
        assert_eq!(errors(cluster, &of("high", 1), Some(&of("low", 1))), changed);
        assert_eq!(errors(cluster, &of("", 1), Some(&of("low", 1))), changed);
        assert_eq!(errors(cluster, &of("low", 2), Some(&of("low", 1))), Vec::<String>::new());
        assert_eq!(errors(cluster, &of("high", 1), Some(&of("low", 0))), Vec::<String>::new());
    }
    assert_eq!(errors(PLAIN, &of("high", 1), Some(&of("low", 1))), Vec::<String>::new());
}

#[test]
fn one_pod_group_cannot_have_the_level_of_one_clique() {
    let constrained = |name: &str| {
        let mut it = clique(name, json!({}));
        it["topologyConstraint"] = json!({ "pack": { "required": "rack" } });
        it
    };
    let group =
        |cliques: &[&str], min: i32| json!({ "name": "g", "cliqueNames": cliques, "minAvailable": min });
    let refused = vec!["spec.template.cliques[0].topologyConstraint.pack.required".to_owned()];
    for (template, expected) in [
        (json!({ "cliques": [constrained("a")] }), vec![]),
        (json!({ "cliques": [constrained("a"), clique("b", json!({}))] }), refused.clone()),
        (json!({ "cliques": [constrained("a")], "podCliqueScalingGroups": [group(&["a"], 1)] }), vec![]),
        // Two replicas in the base gang.
        (
            json!({ "cliques": [constrained("a")], "podCliqueScalingGroups": [group(&["a"], 2)] }),
            refused.clone(),
        ),
        // Nothing of the group in the base gang, two cliques in each scaled one.
        (
            json!({ "cliques": [constrained("a"), clique("b", json!({}))],
                "podCliqueScalingGroups": [group(&["a", "b"], 0)] }),
            refused,
        ),
    ] {
        assert_eq!(errors(FLAT_TOPOLOGY, &set(template.clone()), None), expected, "{template}");
        // Trees can have it, and without any topology the table of capabilities refuses it.
        for cluster in [TREE, FLAT] {
            assert_eq!(errors(cluster, &set(template.clone()), None), Vec::<String>::new(), "{template}");
        }
    }
}
