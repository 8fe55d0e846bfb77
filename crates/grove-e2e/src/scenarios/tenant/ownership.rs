//! Ownership: copies of the victim's objects, of every kind that the operator indexes, that name the victim's own objects as
//! their owners.

use anyhow::Result;
use grove_api::constants::labels;
use serde_json::{Value, json};

use super::{
    act::{Act, Who, named},
    attack::{Attack, attack},
    holds::Holds::{self, PodReturns, Returns, SetIsRecreated},
    victim::{GROVE, Owned, Victim},
};

const FRONT: &[Holds] = &[PodReturns("web-0-front")];
const LEAD: &[Holds] = &[PodReturns("web-0-pd-0-lead")];
const WORK: &[Holds] = &[PodReturns("web-0-pd-1-work")];
const BASE_GANG: &[Holds] = &[Returns("podgangs", "PodGang", "web-0")];
const SCALED_GANG: &[Holds] = &[Returns("podgangs", "PodGang", "web-0-pd-0")];
const SERVICE: &[Holds] = &[Returns("services", "Service", "web-0")];
const AUTOSCALER: &[Holds] = &[Returns("horizontalpodautoscalers", "HorizontalPodAutoscaler", "web-0-front")];

/// Kind and name of the original, who makes the copy, and what must still hold for the victim.
const COPIES: &[(&str, &str, Who, &[Holds])] = &[
    ("Pod", "web-0-front", Who::Editor, FRONT),
    ("Pod", "web-0-pd-1-work", Who::Editor, WORK),
    ("PodClique", "web-0-front", Who::Owner, FRONT),
    ("PodClique", "web-0-pd-0-lead", Who::Owner, LEAD),
    ("PodCliqueScalingGroup", "web-0-pd", Who::Owner, WORK),
    ("PodGang", "web-0", Who::Owner, BASE_GANG),
    ("PodGang", "web-0-pd-0", Who::Owner, SCALED_GANG),
    ("Service", "web-0", Who::Editor, SERVICE),
    ("HorizontalPodAutoscaler", "web-0-front", Who::Editor, AUTOSCALER),
    ("ControllerRevision", "", Who::Owner, FRONT),
    ("PodGroup", "", Who::Owner, BASE_GANG),
    ("CompositePodGroup", "", Who::Owner, BASE_GANG),
];

/// How the copies name their owner, and how that is called.
const OWNERS: &[(Owned, &str)] =
    &[(Owned::Rightly, "of the victim's owner"), (Owned::Bogus, "of the victim's owner under a bogus kind")];

pub(super) fn table() -> Vec<Attack> {
    let mut table = vec![
        attack("kinds that belong to the operator, with the role edit", FRONT, no_rights),
        attack("ten running pods of the victim's clique", FRONT, many_pods),
        attack("a running pod with an index far beyond", FRONT, far_index),
        attack("a pod whose second owner is the victim's clique", FRONT, second_owner),
        attack("a pod that the victim's set owns", FRONT, |victim| owned_by(victim, "PodCliqueSet", "web")),
        attack("a pod that the victim's group owns", WORK, |victim| {
            owned_by(victim, "PodCliqueScalingGroup", "web-0-pd")
        }),
        attack("a ConfigMap that the victim's set owns", FRONT, config_map),
    ];
    for (owned, how) in OWNERS {
        table.extend(COPIES.iter().map(|(kind, name, who, holds)| {
            let name_of_row = format!("{kind} {name} {how}").replace("  ", " ");
            attack(name_of_row, holds, |victim: &Victim| {
                Ok(vec![Act::create(*who, victim.copy(kind, name, *owned)?)])
            })
        }));
    }
    let everything = |victim: &Victim| -> Result<Vec<Act>> {
        let copies = COPIES
            .iter()
            .map(|(kind, name, who, _)| Ok(Act::create(*who, victim.copy(kind, name, Owned::Bogus)?)));
        copies.collect()
    };
    table.push(attack("all of these while the victim's set is recreated", &[SetIsRecreated], everything));
    table
}

/// Who edits makes sets, and no other kind of ours.
fn no_rights(victim: &Victim) -> Result<Vec<Act>> {
    let kinds = ["PodClique", "PodCliqueScalingGroup", "PodGang", "ControllerRevision"];
    let copies = kinds.map(|kind| Ok(Act::create(Who::Editor, victim.copy(kind, "", Owned::No)?).refused()));
    copies.into_iter().collect()
}

fn many_pods(victim: &Victim) -> Result<Vec<Act>> {
    let copy = |number: usize| {
        let mut pod = victim.copy("Pod", "web-0-front", Owned::Bogus)?;
        pod["metadata"]["name"] = format!("forged-{number}").into();
        Ok(Act::create(Who::Editor, pod))
    };
    (0..10).map(copy).collect()
}

fn far_index(victim: &Victim) -> Result<Vec<Act>> {
    let copy = |index: &&str| {
        let mut pod = victim.copy("Pod", "web-0-front", Owned::Bogus)?;
        pod["metadata"]["name"] = format!("forged-{}", index.len()).into();
        pod["metadata"]["labels"][labels::POD_INDEX] = (*index).into();
        Ok(Act::create(Who::Editor, pod))
    };
    ["7", "4294967295", "99999999999999999999"].iter().map(copy).collect()
}

fn reference(victim: &Victim, kind: &str, name: &str, controller: bool) -> Result<Value> {
    let uid = victim.uid(kind, name)?;
    Ok(
        json!({ "apiVersion": "example.com/v1", "kind": kind, "name": name, "uid": uid, "controller": controller }),
    )
}

fn second_owner(victim: &Victim) -> Result<Vec<Act>> {
    let mut pod = victim.copy("Pod", "web-0-front", Owned::No)?;
    let mine = json!({
        "apiVersion": "example.com/v1", "kind": "Mine", "name": "mine", "uid": "mine", "controller": true,
    });
    pod["metadata"]["ownerReferences"] = json!([mine, reference(victim, "PodClique", "web-0-front", false)?]);
    Ok(vec![Act::create(Who::Editor, pod)])
}

fn owned_by(victim: &Victim, kind: &str, name: &str) -> Result<Vec<Act>> {
    let mut pod = victim.copy("Pod", "web-0-pd-1-work", Owned::No)?;
    pod["metadata"]["ownerReferences"] = json!([reference(victim, kind, name, true)?]);
    Ok(vec![Act::create(Who::Editor, pod)])
}

/// A kind that the operator does not look at, with the right reference: the garbage collector is asked for nothing of the
/// victim's either.
fn config_map(victim: &Victim) -> Result<Vec<Act>> {
    let uid = victim.uid("PodCliqueSet", "web")?;
    let mut map = named("v1", "ConfigMap", "forged");
    map["metadata"]["ownerReferences"] = json!([{
        "apiVersion": GROVE, "kind": "PodCliqueSet", "name": "web", "uid": uid, "blockOwnerDeletion": true,
    }]);
    Ok(vec![Act::create(Who::Editor, map)])
}
