use anstream::adapter::strip_str;
use serde_json::json;

use super::*;
use crate::commands::why::workload::{
    facts::Facts,
    fixture::{KAI, KUBE, facts, gated, in_kai, in_kube, kai, kai_pods, over_limit, placed, pod, with},
};

const DOCUMENTATION: &str = include_str!("../../../../../../../docs/why.md");

fn plain(facts: &Facts) -> String {
    strip_str(&report(&Report::of(facts))).to_string()
}

#[test]
fn requested_against_available() {
    let group = with(kai("pg-train-5c1", &json!({ "minMember": 1 })), &over_limit());
    let pods = vec![pod("train-0", KAI, &in_kai("pg-train-5c1", ""))];
    let want = "\
Job train in namespace lab: 1 pod: 1 waiting

group pg-train-5c1 (podgroups.scheduling.run.ai, kai-scheduler): minimum 1 pod, queue team-a, priority class train, 1 pod: 1 waiting
its queue is at its limit: team-a quota has reached the allowable limit of GPUs. Limit is 16 GPUs, currently 12 GPUs allocated and workload requested 8 GPUs
  RESOURCE         REQUESTED   AVAILABLE   IN USE   NON-PREEMPTIBLE   QUOTA   LIMIT
  cpu              8           any         12       2                 none    none
  nvidia.com/gpu   8           4           12       6                 8       16
  - raise the limit of queue team-a by 4 nvidia.com/gpu, or free up as much in it
  - or move the workload to another queue, or let it request less
";
    assert_eq!(plain(&facts(pods, &[(KAI, group)])), want);
    assert!(DOCUMENTATION.contains(want), "docs/why.md does not show it");
}

#[test]
fn parts_and_other_groups() {
    let parts = json!([
        { "name": "all", "minSubGroup": 2 },
        { "name": "master", "minMember": 1, "parent": "all" },
        { "name": "worker", "minMember": 2, "parent": "all" },
    ]);
    let group = kai("pg-a", &json!({ "subGroups": parts }));
    let of = |name, part, more| pod(name, KAI, &with(in_kai("pg-a", part), &more));
    let mut pods = vec![
        of("m", "master", placed()),
        of("w-0", "worker", gated()),
        of("w-1", "worker", json!({})),
        pod("other", KUBE, &in_kube("lost")),
        pod("fine", KUBE, &placed()),
    ];
    pods.push(of("stray", "", json!({})));
    let mut facts = facts(pods, &[(KAI, group)]);
    facts.notes.push("replicasets.apps could not be read".to_owned());
    let want = "\
Job train in namespace lab: 6 pods: 2 scheduled, 4 waiting, 1 of them gated

group pg-a (podgroups.scheduling.run.ai, kai-scheduler): minimum 1 sub-group, queue team-a, priority class train, 4 pods: 1 scheduled, 3 waiting, 1 of them gated
  SUB-GROUP   MINIMUM        PODS   PLACED   GATED
  all         2 sub-groups   -      -        -
  master      1              1      1        0
  worker      2              2      0        1
    1 pod in none of them
1 pod is gated by example.com/wait, and kai-scheduler waits for that
  - find the controller that set the gate example.com/wait: it has to remove it

other groups: 1 not scheduled, 1 scheduled
  lost: its pods refer to the group lost (podgroups.scheduling.k8s.io), which does not exist

Note: replicasets.apps could not be read
";
    assert_eq!(plain(&facts), want);
}

#[test]
fn many_groups_and_parts_have_an_end() {
    let parts: Vec<_> = (0..40).map(|it| json!({ "name": format!("p{it}"), "minMember": 1 })).collect();
    let text = plain(&facts(kai_pods(1, &json!({})), &[(KAI, kai("pg", &json!({ "subGroups": parts })))]));
    assert!(text.contains("\n    … and 10 more\n"), "{text}");
    let pods = (0..9).map(|it| pod(&format!("p{it}"), KUBE, &in_kube(&format!("g{it}")))).collect();
    let text = plain(&facts(pods, &[]));
    assert!(text.contains("\nother groups: 8 not scheduled\n"), "{text}");
    assert!(text.ends_with("\n  … and 3 more waiting\n"), "{text}");
}

#[test]
fn nothing_at_all_is_told() {
    let want = "\
Job train in namespace lab: no pods

there are no pods yet
  - if this does not change, `kubectl describe job/train -n lab` shows why its pods are not created
";
    assert_eq!(plain(&facts(vec![], &[])), want);
}
