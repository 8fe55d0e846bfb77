//! KAI's answers, as its code words them, and the one line that is made of each.

use crate::{
    cluster::{Kai, kai, pod_group, queued},
    common::{gang, group},
};
use serde_json::{Value, json};

/// A PodGroup with these scheduling conditions, the newest last.
fn answered(conditions: Vec<Value>) -> Value {
    let mut object = pod_group(json!({}));
    object["status"] = json!({ "schedulingConditions": conditions });
    object
}

fn condition(pool: &str, message: &str, reasons: &[&str]) -> Value {
    let reasons: Vec<Value> =
        reasons.iter().map(|it| json!({ "reason": "PodSchedulingErrors", "message": it })).collect();
    json!({
        "type": "UnschedulableOnNodePool", "nodePool": pool, "reason": "Unschedulable", "status": "True",
        "message": message, "reasons": reasons,
    })
}

fn explained(objects: &[Value]) -> Option<String> {
    let gang = queued(gang(json!({ "podgroups": [group("web-0-a", 1, 1)] })));
    kai(Kai::V12).explain(&gang, objects)
}

fn readable(words: &str) -> String {
    kai(Kai::V12).readable(words)
}

fn of_reasons(reasons: &[&str]) -> String {
    explained(&[answered(vec![condition("default", "", reasons)])]).unwrap()
}

/// What KAI says of one rack in which three of four pods fit.
fn of_rack(found: u32, nodes: u32) -> String {
    format!(
        "Resources were found for {found} pods from all sub-groups while sub-group web-0-b requires 2 pods for gang \
         scheduling. Additional pods cannot be scheduled in this sub-group due to: no nodes with enough resources were \
         found: {nodes} node(s) didn't have enough resources: GPUs. \n1 node(s) had untolerated taint."
    )
}

#[test]
fn a_sentence_for_each_rack_becomes_one() {
    let racks: Vec<String> =
        [(1, 3), (3, 4), (0, 4), (2, 4), (1, 4), (1, 4)].map(|it| of_rack(it.0, it.1)).to_vec();
    let racks: Vec<&str> = racks.iter().map(String::as_str).collect();
    assert!(racks.join("").len() > 1500);
    assert_eq!(
        of_reasons(&racks),
        "resources for at most 3 pods were found, sub-group web-0-b requires 2 (tried 6 times): no nodes with enough \
         resources were found: up to 4 node(s) didn't have enough resources: GPUs, 1 node(s) had untolerated taint"
    );
}

#[test]
fn the_message_of_older_releases_is_read_where_there_are_no_reasons() {
    let message = format!("Unable to schedule podgroup: 2 {}. \n{}", of_rack(1, 3), of_rack(3, 4));
    assert_eq!(
        explained(&[answered(vec![condition("default", &message, &[])])]).unwrap(),
        "resources for at most 3 pods were found, sub-group web-0-b requires 2 (tried 3 times): no nodes with enough \
         resources were found: up to 4 node(s) didn't have enough resources: GPUs, 1 node(s) had untolerated taint"
    );
}

#[test]
fn each_sub_group_has_its_own_sentence() {
    let (one, other) = (of_rack(1, 3), of_rack(1, 3).replace("web-0-b", "web-0-a"));
    let line = of_reasons(&[&one, &other]);
    let counted = |text: &str| line.matches(text).count();
    assert_eq!(
        (counted("sub-group web-0-b requires 2:"), counted("sub-group web-0-a requires 2:")),
        (1, 1),
        "{line}"
    );
}

#[test]
fn each_kind_of_sentence() {
    let cause =
        "no nodes with enough resources were found: 2 node(s) didn't have enough resources: CPU cores.";
    let topology = |rest: &str| {
        format!("topology dc, requirement rack couldn't be satisfied for job <ns/pg-web-0-u1>{rest}")
    };
    let single = format!(
        "Resources were found for 2 pods while 4 are required for gang scheduling. Additional pods cannot be scheduled due to: {cause}"
    );
    let pods: Vec<String> =
        (0..5).map(|it| format!("Resources were not found for pod ns/a-{it} due to: {cause}")).collect();
    let in_racks: Vec<String> = (0..2)
        .map(|it| {
            topology(&format!(", subgroup web-0-b: not enough resources in rack-{it} to allocate the job"))
        })
        .collect();
    let table: Vec<(Vec<&str>, String)> = vec![
        (
            vec![&single],
            "resources for 2 pods were found, the gang requires 4: no nodes with enough resources were found: \
             2 node(s) didn't have enough resources: CPU cores"
                .to_owned(),
        ),
        (
            pods.iter().map(String::as_str).collect(),
            "no resources for a-0, a-1, a-2 and 2 more: no nodes with enough resources were found: \
             2 node(s) didn't have enough resources: CPU cores"
                .to_owned(),
        ),
        (
            in_racks.iter().map(String::as_str).collect(),
            "no rack of topology dc has enough resources for sub-group web-0-b: rack-0, rack-1".to_owned(),
        ),
        (vec!["Requested topology dc does not exist"], "Requested topology dc does not exist".to_owned()),
        (
            vec!["queue 'x' does not exist.", "queue 'x' does not exist."],
            "queue 'x' does not exist (tried 2 times)".to_owned(),
        ),
        (
            vec!["Resources were found for many pods", "Requested topology dc does not exist"],
            "Resources were found for many pods; Requested topology dc does not exist".to_owned(),
        ),
    ];
    for (reasons, wanted) in table {
        assert_eq!(of_reasons(&reasons), wanted);
    }
    let whole = topology("");
    assert_eq!(of_reasons(&[&whole]), "no rack of topology dc has enough resources for the gang");
    let nowhere = topology(": not enough resources in the cluster to allocate the job");
    assert_eq!(
        of_reasons(&[&nowhere]),
        "no rack of topology dc has enough resources for the gang, nor has the whole cluster"
    );
    let uncounted = "Resources were not found for pod ns/a-0 due to: no claim: the claim x is gone";
    assert_eq!(of_reasons(&[uncounted]), "no resources for a-0: no claim: the claim x is gone");
}

#[test]
fn the_newest_answer_counts() {
    let old = condition("default", "", &["old"]);
    let new = condition("gpu", "", &["new"]);
    assert_eq!(explained(&[answered(vec![old.clone(), new])]).unwrap(), "in node pool gpu: new");
    let mut over = old.clone();
    over["status"] = json!("False");
    assert_eq!(explained(&[answered(vec![old, over])]), None);
}

#[test]
fn a_silent_scheduler_is_not_put_words_into_the_mouth() {
    assert_eq!(explained(&[]), None);
    assert_eq!(explained(&[pod_group(json!({}))]), None);
    assert_eq!(explained(&[answered(vec![])]), None);
    assert_eq!(explained(&[answered(vec![condition("default", "", &[""])])]), None);
}

#[test]
fn a_line_has_an_end() {
    let line = of_reasons(&[&"ä".repeat(2000)]);
    assert_eq!(line.chars().count(), 401);
    assert!(line.ends_with('…'));
}

/// What KAI says of a rack that is too small.
fn too_small(rack: &str, fit: u32, needs: u32) -> String {
    format!("node-group zone-0.block-0.{rack} can allocate only {fit} of {needs} required pods")
}

const UNSATISFIED: &str =
    "topology hall, requirement topology.kubernetes.io/rack couldn't be satisfied for job <ns/pg-gang-0-u1>";

#[test]
fn racks_that_are_too_small_are_one_sentence_with_their_level() {
    let folded = "none of 2 domains of topology.kubernetes.io/rack has room for the gang: \
         zone-0.block-0.rack-0 has room for at most 3 of 4 pods";
    let (first, second) = (too_small("rack-0", 3, 4), too_small("rack-1", 3, 4));
    let words = format!("Unable to schedule podgroup: {first}. \n{second}. \n{UNSATISFIED}.");
    assert_eq!(readable(&words), folded);
    // Twice each, which KAI counts.
    let words = format!("Unable to schedule podgroup: 2 {first}. \n2 {second}. \n2 {UNSATISFIED}.");
    assert_eq!(readable(&words), folded);
    // On the PodGroup they stand in any order.
    assert_eq!(of_reasons(&[&first, &second, UNSATISFIED]), folded);
    assert_eq!(of_reasons(&[&second, &first, UNSATISFIED]), folded);

    let better = too_small("rack-1", 4, 5);
    let part = format!("{UNSATISFIED}, subgroup gang-0-x-0");
    assert_eq!(
        of_reasons(&[&too_small("rack-0", 1, 5), &better, &too_small("rack-2", 2, 5), &part]),
        "none of 3 domains of topology.kubernetes.io/rack has room for sub-group gang-0-x-0: \
         zone-0.block-0.rack-1 has room for at most 4 of 5 pods"
    );
    assert_eq!(
        of_reasons(&[&better, UNSATISFIED]),
        "no domain of topology.kubernetes.io/rack has room for the gang: \
         zone-0.block-0.rack-1 has room for at most 4 of 5 pods"
    );
}

#[test]
fn racks_stand_apart_where_it_is_not_clear_for_what_they_are_too_small() {
    let (two, three) = (too_small("rack-0", 1, 2), too_small("rack-0", 1, 3));
    let part = format!("{UNSATISFIED}, subgroup gang-0-x-0");
    let of_two = "zone-0.block-0.rack-0 has room for at most 1 of 2 pods";
    let of_three = "zone-0.block-0.rack-0 has room for at most 1 of 3 pods";
    let no_rack = |whose: &str| {
        format!("no topology.kubernetes.io/rack of topology hall has enough resources for {whose}")
    };
    let levels = format!("{}; {}", no_rack("the gang"), no_rack("sub-group gang-0-x-0"));
    assert_eq!(of_reasons(&[&two, UNSATISFIED, &part]), format!("{of_two}; {levels}"));
    assert_eq!(
        of_reasons(&[&two, &three, UNSATISFIED]),
        format!("{of_two}; {of_three}; {}", no_rack("the gang"))
    );
    assert_eq!(
        of_reasons(&[&two, &too_small("rack-1", 0, 2)]),
        format!("none of 2 domains has room: {of_two}")
    );
}

#[test]
fn words_of_pods_are_one_sentence() {
    let nodes = "no nodes with enough resources were found: 1 node is unschedulable. \n\
                 7 node(s) didn't have enough resources: GPUs.";
    let told = "no nodes with enough resources were found: 1 node is unschedulable, \
                7 node(s) didn't have enough resources: GPUs";
    let gang = format!(
        "PodSchedulingErrors: Resources were found for 1 pods from all sub-groups while sub-group waits-0-b requires 2 \
         pods for gang scheduling. Additional pods cannot be scheduled in this sub-group due to: {nodes}."
    );
    let table = [
        (nodes.to_owned(), told.to_owned()),
        (
            // Not all that is wrong with nodes begins with the word.
            "no nodes with enough resources were found: 1 node is unschedulable. \n2 Too many pods.".to_owned(),
            "no nodes with enough resources were found: 1 node is unschedulable, 2 Too many pods".to_owned(),
        ),
        (
            gang.clone(),
            format!("resources for 1 pods were found, sub-group waits-0-b requires 2: {told}"),
        ),
        (
            format!("PodSchedulingErrors: Resources were not found for pod ns/low-0-a-x7k2p due to: {nodes}."),
            format!("no resources for low-0-a-x7k2p: {told}"),
        ),
        (
            format!("Node-Pool 'gpu': {gang}"),
            format!("in node pool gpu: resources for 1 pods were found, sub-group waits-0-b requires 2: {told}"),
        ),
        (format!("Node-Pool 'default': {nodes}"), told.to_owned()),
        (
            "Unable to schedule podgroup: 2 node-group(s) didn't have enough resources: CPU cores. \n\
             3 node-group(s) didn't have enough resources: memory."
                .to_owned(),
            "node-group(s) didn't have enough resources: CPU cores (tried 2 times); \
             node-group(s) didn't have enough resources: memory (tried 3 times)"
                .to_owned(),
        ),
        (
            "OverLimit: team-a quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 4 GPUs \
             allocated and workload requested 2 GPUs."
                .to_owned(),
            "team-a quota has reached the allowable limit of GPUs. Limit is 4 GPUs, currently 4 GPUs allocated and \
             workload requested 2 GPUs"
                .to_owned(),
        ),
        ("Unable to schedule podgroup".to_owned(), "Unable to schedule podgroup".to_owned()),
        ("Unable to schedule pod".to_owned(), "Unable to schedule pod".to_owned()),
        ("OverLimited is \n another  word.".to_owned(), "OverLimited is; another word".to_owned()),
        (String::new(), String::new()),
    ];
    for (words, wanted) in table {
        assert_eq!(readable(&words), wanted, "{words}");
    }
    let long = readable(&format!("Unable to schedule podgroup: {}.", "ä".repeat(2000)));
    assert_eq!((long.chars().count(), long.ends_with('…')), (401, true));
}
