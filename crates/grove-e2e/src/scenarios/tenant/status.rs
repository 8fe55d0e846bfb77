//! Statuses: of the tenant's own objects, and of copies of the victim's.

use anyhow::Result;
use grove_api::constants::conditions;
use serde_json::{Value, json};

use super::{
    act::{Act, Who, named},
    attack::{Attack, attack},
    holds::Holds::{self, PodReturns, Returns},
    own::own_until,
    victim::{GANG, GROVE, Owned, Victim},
};

const FRONT: &[Holds] = &[PodReturns("web-0-front")];
const WORK: &[Holds] = &[PodReturns("web-0-pd-1-work")];
const GANG_RETURNS: &[Holds] = &[Returns("podgangs", "PodGang", "web-0")];

/// The tenant's own objects that have a status.
const OWN: &[(&str, &str, &str)] = &[
    (GROVE, "PodCliqueSet", "own"),
    (GROVE, "PodCliqueScalingGroup", "own-0-pd"),
    (GROVE, "PodClique", "own-0-front"),
    (GANG, "PodGang", "own-0"),
];

pub(super) fn table() -> Vec<Attack> {
    vec![
        attack("statuses with the role edit", FRONT, |_| Ok(not_by_who_edits())),
        attack("huge counts in the tenant's statuses", FRONT, |_| {
            Ok(own(&json!({
                "replicas": i32::MAX, "availableReplicas": i32::MAX, "readyReplicas": i32::MAX,
                "scheduledReplicas": i32::MAX, "updatedReplicas": i32::MAX, "scheduleGatedReplicas": i32::MAX,
            })))
        }),
        attack("negative counts in the tenant's statuses", FRONT, |_| {
            let low = i32::MIN;
            Ok(own(
                &json!({ "replicas": low, "availableReplicas": low, "readyReplicas": low, "updatedReplicas": low }),
            ))
        }),
        attack("a generation that was never there", FRONT, |_| {
            Ok(own(&json!({ "observedGeneration": i64::MAX })))
        }),
        attack("a thousand conditions", FRONT, |_| Ok(own(&json!({ "conditions": thousand() })))),
        attack("hashes and progress of an update that is none", FRONT, |_| {
            Ok(own(&json!({
                "currentGenerationHash": "web", "currentPodCliqueSetGenerationHash": "web",
                "currentPodTemplateHash": "web",
                "updateProgress": { "updateStartedAt": "2001-01-01T00:00:00Z" },
            })))
        }),
        attack("a clique of the victim's set, breached since 2001", FRONT, |victim| {
            breached(victim, "PodClique", "web-0-front")
        }),
        attack("a group of the victim's set, breached since 2001", WORK, |victim| {
            breached(victim, "PodCliqueScalingGroup", "web-0-pd")
        }),
        attack("a member of the victim's group, breached since 2001", WORK, |victim| {
            breached(victim, "PodClique", "web-0-pd-1-work")
        }),
        attack("failed pods of the victim's clique", FRONT, failed_pods),
        attack("a gang of the victim's set that says it failed", GANG_RETURNS, failed_gang),
    ]
}

fn not_by_who_edits() -> Vec<Act> {
    let mut acts = own_until(json!({}));
    acts.extend(OWN.iter().map(|(api_version, kind, name)| {
        let mut object = named(api_version, kind, name);
        object["status"] = json!({ "replicas": 7, "phase": "Running" });
        Act::patch_status(Who::Editor, object).refused()
    }));
    acts
}

/// The same status on each of the tenant's objects, where the schema takes it.
fn own(status: &Value) -> Vec<Act> {
    let mut acts = own_until(json!({}));
    acts.extend(OWN.iter().map(|(api_version, kind, name)| {
        let mut object = named(api_version, kind, name);
        object["status"] = status.clone();
        Act::patch_status(Who::Owner, object).any()
    }));
    acts
}

fn condition(type_: &str, status: &str) -> Value {
    json!({
        "type": type_, "status": status, "reason": "Forged", "message": "forged",
        "lastTransitionTime": "2001-01-01T00:00:00Z",
    })
}

fn thousand() -> Value {
    (0..1_000).map(|number| condition(&format!("Forged{number}"), "True")).collect()
}

/// Gang termination looks at this condition, and at how long it holds.
fn breached(victim: &Victim, kind: &str, name: &str) -> Result<Vec<Act>> {
    let copy = victim.copy(kind, name, Owned::Bogus)?;
    let mut status = named(GROVE, kind, name);
    status["status"] = json!({
        "conditions": [condition(conditions::min_available_breached::TYPE, "True")],
        "replicas": 0,
    });
    Ok(vec![Act::create(Who::Owner, copy), Act::patch_status(Who::Owner, status)])
}

fn failed_pods(victim: &Victim) -> Result<Vec<Act>> {
    let mut acts = Vec::new();
    for number in 0..3 {
        let mut pod = victim.copy("Pod", "web-0-front", Owned::Bogus)?;
        let name = format!("forged-{number}");
        pod["metadata"]["name"] = name.clone().into();
        // It is not on a node, where it would run.
        pod["spec"]["nodeName"] = Value::Null;
        let mut status = named("v1", "Pod", &name);
        status["status"] = json!({ "phase": "Failed", "reason": "Evicted" });
        acts.extend([Act::create(Who::Owner, pod), Act::patch_status(Who::Owner, status)]);
    }
    Ok(acts)
}

fn failed_gang(victim: &Victim) -> Result<Vec<Act>> {
    let copy = victim.copy("PodGang", "web-0", Owned::Bogus)?;
    let mut status = named(GANG, "PodGang", "web-0");
    let all = ["Initialized", "Scheduled", "Ready", "Unhealthy"].map(|it| condition(it, "True"));
    status["status"] = json!({ "phase": "Running", "conditions": all });
    Ok(vec![Act::create(Who::Owner, copy), Act::patch_status(Who::Owner, status)])
}
