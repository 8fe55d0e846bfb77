//! Labels, names, references and annotations that say that something is the victim's, and requests that go straight to what is
//! not the tenant's.

use anyhow::Result;
use grove_api::constants::{annotations, gates, labels};
use serde_json::{Value, json};

use super::{
    act::{Act, Who, named},
    attack::{Attack, attack},
    holds::Holds::{self, PodReturns, Returns, SetIsRecreated},
    own::{own_set, own_until},
    victim::{GANG, GROVE, Owned, Victim},
};
use crate::operator::account;

const FRONT: &[Holds] = &[PodReturns("web-0-front")];
const WORK: &[Holds] = &[PodReturns("web-0-pd-1-work")];
const GANG_RETURNS: &[Holds] = &[Returns("podgangs", "PodGang", "web-0")];

pub(super) fn table() -> Vec<Attack> {
    vec![
        attack("pods with the victim's labels", FRONT, |victim| unowned(victim, &["Pod"])),
        attack("PodCliques with the victim's labels", FRONT, |victim| unowned(victim, &["PodClique"])),
        attack("a scaling group with the victim's labels", WORK, |victim| {
            unowned(victim, &["PodCliqueScalingGroup"])
        }),
        attack("a PodGang with the victim's labels", GANG_RETURNS, |victim| unowned(victim, &["PodGang"])),
        attack("a Service and an autoscaler with the victim's labels", FRONT, |victim| {
            unowned(victim, &["Service", "HorizontalPodAutoscaler"])
        }),
        attack("a gated pod of the victim's gang", FRONT, gated_pod),
        attack("replica indices that are no numbers", FRONT, odd_indices),
        attack("a set of the victim's name", FRONT, |victim| same_name(victim, false)),
        attack("a set of the victim's name that is deleted", FRONT, |victim| same_name(victim, true)),
        attack("a set of the victim's name while that is recreated", &[SetIsRecreated], |victim| {
            same_name(victim, false)
        }),
        attack("a template with reserved labels", FRONT, |_| Ok(reserved_labels())),
        attack("a PodGang that lists the victim's pods", FRONT, listed_pods),
        attack("a PodGang that asks for the victim's reservation", FRONT, reservation),
        attack("a PodClique that starts after the victim's", FRONT, starts_after),
        attack("a pod in the victim's group of the scheduler", FRONT, scheduling_group),
        attack("annotations of ours, large and odd", FRONT, |_| Ok(odd_annotations())),
        attack("requests to the victim's namespace", FRONT, trespassing),
        attack("requests to the operator's objects", FRONT, |_| Ok(operators_objects())),
    ]
}

fn unowned(victim: &Victim, kinds: &[&str]) -> Result<Vec<Act>> {
    kinds.iter().map(|kind| Ok(Act::create(Who::Owner, victim.copy(kind, "", Owned::No)?))).collect()
}

fn gated_pod(victim: &Victim) -> Result<Vec<Act>> {
    let mut pod = victim.copy("Pod", "web-0-front", Owned::Bogus)?;
    pod["spec"]["nodeName"] = Value::Null;
    pod["spec"]["schedulingGates"] = json!([{ "name": gates::POD_GANG_PENDING }]);
    Ok(vec![Act::create(Who::Editor, pod)])
}

fn odd_indices(victim: &Victim) -> Result<Vec<Act>> {
    let pod = |(number, index): (usize, &&str)| {
        let mut pod = victim.copy("Pod", "web-0-pd-1-work", Owned::Bogus)?;
        pod["metadata"]["name"] = format!("forged-{number}").into();
        let keys = [labels::POD_INDEX, labels::SET_REPLICA_INDEX, labels::SCALING_GROUP_REPLICA_INDEX];
        for key in keys {
            pod["metadata"]["labels"][key] = (*index).into();
        }
        Ok(Act::create(Who::Editor, pod))
    };
    ["", "x", "0x1", "1e9", "00", "340282366920938463463374607431768211456"]
        .iter()
        .enumerate()
        .map(pod)
        .collect()
}

fn same_name(victim: &Victim, deleted: bool) -> Result<Vec<Act>> {
    let set = victim.copy("PodCliqueSet", "web", Owned::No)?;
    let mut acts = vec![
        Act::create(Who::Editor, set.clone()),
        Act::until(named(GROVE, "PodClique", "web-0-front")),
        Act::until(named(GANG, "PodGang", "web-0")),
    ];
    acts.extend(deleted.then(|| Act::delete(Who::Editor, set)));
    Ok(acts)
}

/// Admission may refuse it; without, the operator's own labels have to win.
fn reserved_labels() -> Vec<Act> {
    let mut set = own_set();
    set["spec"]["template"]["cliques"][0]["labels"] = json!({
        labels::PART_OF: "web",
        labels::POD_GANG: "web-0",
        labels::POD_CLIQUE: "web-0-front",
        labels::MANAGED_BY: "somebody",
        labels::SET_REPLICA_INDEX: "7",
        labels::BASE_POD_GANG: "web-0",
    });
    vec![Act::create(Who::Editor, set).any()]
}

fn listed_pods(victim: &Victim) -> Result<Vec<Act>> {
    let mut gang = victim.copy("PodGang", "web-0", Owned::No)?;
    gang["metadata"]["name"] = "thief".into();
    // As the original has them: in the victim's namespace.
    Ok(vec![Act::create(Who::Owner, gang)])
}

fn reservation(victim: &Victim) -> Result<Vec<Act>> {
    let mut gang = victim.copy("PodGang", "web-0-pd-0", Owned::No)?;
    gang["metadata"]["name"] = "thief".into();
    gang["spec"]["reuseReservationRef"] = json!({ "namespace": victim.namespace, "name": "web-0" });
    Ok(vec![Act::create(Who::Owner, gang)])
}

fn starts_after(victim: &Victim) -> Result<Vec<Act>> {
    let mut clique = victim.copy("PodClique", "web-0-pd-0-lead", Owned::No)?;
    clique["metadata"]["name"] = "after".into();
    clique["spec"]["startsAfter"] = json!(["web-0-front", format!("{}/web-0-front", victim.namespace)]);
    Ok(vec![Act::create(Who::Owner, clique).any()])
}

fn scheduling_group(victim: &Victim) -> Result<Vec<Act>> {
    let mut pod = victim.copy("Pod", "web-0-front", Owned::No)?;
    pod["spec"]["nodeName"] = Value::Null;
    pod["metadata"]["labels"] = json!({});
    Ok(vec![Act::create(Who::Editor, pod)])
}

fn odd_annotations() -> Vec<Act> {
    let large = "x".repeat(60_000);
    let mut acts = own_until(json!({
        annotations::RECONCILE_TRIGGER: large,
        annotations::RESET_RESTARTS: large,
        annotations::SCHEDULER_FORM: "../../web",
        annotations::APPLIED: "{\"a\":",
        annotations::REPLICA_SPREAD: "\u{0}",
        annotations::TOPOLOGY_NAME: "web/../web",
        annotations::PARENTS_READY: "maybe",
        annotations::DISABLE_PROTECTION: "victim/web",
    }));
    let mut again = named(GROVE, "PodCliqueSet", "own");
    again["metadata"]["annotations"] = json!({ annotations::RESET_RESTARTS: "again" });
    acts.push(Act::patch(Who::Editor, again));
    acts
}

fn trespassing(victim: &Victim) -> Result<Vec<Act>> {
    let there = &victim.namespace;
    let mut acts = Vec::new();
    for who in [Who::Editor, Who::Owner] {
        let pod = victim.object("Pod", "web-0-front")?;
        let pod = named("v1", "Pod", pod["metadata"]["name"].as_str().unwrap_or_default());
        let mut label = named(GROVE, "PodCliqueSet", "web");
        label["metadata"]["labels"] = json!({ "mine": "yes" });
        acts.extend([
            Act::create(who, own_set()),
            Act::delete(who, pod),
            Act::patch(who, label),
            Act::delete(who, named(GROVE, "PodCliqueSet", "web")),
            Act::delete(who, named(GANG, "PodGang", "web-0")),
            Act::scale(who, GROVE, "PodClique", "web-0-front", 0),
            Act::scale(who, GROVE, "PodCliqueScalingGroup", "web-0-pd", 0),
        ]);
    }
    Ok(acts.into_iter().map(|it| it.within(there).refused()).collect())
}

fn operators_objects() -> Vec<Act> {
    let binding = json!({
        "apiVersion": GROVE, "kind": "ClusterTopologyBinding", "metadata": { "name": "mine" },
        "spec": { "levels": [{ "domain": "host", "key": "kubernetes.io/hostname" }] },
    });
    let rule = json!({
        "apiVersion": GANG, "kind": "GroupingRule", "metadata": { "name": "mine" }, "spec": {},
    });
    let mut acts = Vec::new();
    for who in [Who::Editor, Who::Owner] {
        let mut crd = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "podcliquesets.grove.io");
        crd["metadata"]["labels"] = json!({ "mine": "yes" });
        acts.extend([
            Act::create(who, binding.clone()),
            Act::create(who, rule.clone()),
            Act::patch(who, crd),
            Act::delete(who, named(GROVE, "SchedulerBackend", "default-scheduler")),
            Act::delete(who, named("v1", "Secret", "grove-webhook-server-cert")).within(account::NAMESPACE),
            Act::delete(who, named("coordination.k8s.io/v1", "Lease", "grove-operator-leader-election"))
                .within("kube-system"),
            Act::delete(who, named("v1", "ServiceAccount", account::ACCOUNT)).within(account::NAMESPACE),
        ]);
    }
    acts.into_iter().map(Act::refused).collect()
}
