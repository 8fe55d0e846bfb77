//! Finalizers: objects of the tenant that do not end, or end in an unusual way.

use anyhow::Result;
use grove_api::constants::{finalizers, labels};
use serde_json::json;

use super::{
    act::{Act, Who, named},
    attack::{Attack, attack},
    holds::Holds::{self, PodReturns, Returns, SetIsRecreated},
    own::own_until,
    victim::{GROVE, Owned, Victim},
};

/// Nothing takes it off.
const HOLD: &str = "e2e.grove.io/hold";
const FRONT: &[Holds] = &[PodReturns("web-0-front")];
const WORK: &[Holds] = &[PodReturns("web-0-pd-1-work")];
const BASE_GANG: &[Holds] = &[Returns("podgangs", "PodGang", "web-0")];
const SERVICE: &[Holds] = &[Returns("services", "Service", "web-0")];

pub(super) fn table() -> Vec<Attack> {
    vec![
        attack("a deleted set that is held", FRONT, |_| {
            Ok(deleted_set(json!([finalizers::POD_CLIQUE_SET, HOLD])))
        }),
        attack("a deleted set without our finalizer", FRONT, |_| Ok(deleted_set(json!(null)))),
        attack("a set that leaves its children", FRONT, |_| {
            let mut acts = own_until(json!({}));
            acts.push(Act::orphan(Who::Editor, named(GROVE, "PodCliqueSet", "own")));
            Ok(acts)
        }),
        attack("a set that is created with our finalizers", FRONT, |_| Ok(all_of_ours())),
        attack("held pods of the victim's clique, deleted", FRONT, |victim| {
            held(victim, "Pod", "web-0-front")
        }),
        attack("a held clique of the victim's set, deleted", FRONT, |victim| {
            held(victim, "PodClique", "web-0-front")
        }),
        attack("a held group of the victim's set, deleted", WORK, |victim| {
            held(victim, "PodCliqueScalingGroup", "web-0-pd")
        }),
        attack("a held gang of the victim's set, deleted", BASE_GANG, |victim| {
            held(victim, "PodGang", "web-0")
        }),
        attack("a held Service of the victim's set, deleted", SERVICE, |victim| {
            held(victim, "Service", "web-0")
        }),
        attack("held pods on a hundred nodes that were never there", FRONT, invented_nodes),
        attack("a held group of the victim's gang, deleted", BASE_GANG, |victim| {
            held(victim, "PodGroup", "")
        }),
        attack("a held set of the victim's name while that is recreated", &[SetIsRecreated], |victim| {
            let mut set = victim.copy("PodCliqueSet", "web", Owned::No)?;
            set["metadata"]["finalizers"] = json!([HOLD]);
            Ok(vec![
                Act::create(Who::Editor, set.clone()),
                Act::until(named(GROVE, "PodClique", "web-0-front")),
                Act::delete(Who::Editor, set),
            ])
        }),
    ]
}

/// Deleted after its finalizers became these.
fn deleted_set(held_by: serde_json::Value) -> Vec<Act> {
    let mut acts = own_until(json!({}));
    let mut set = named(GROVE, "PodCliqueSet", "own");
    set["metadata"]["finalizers"] = held_by;
    acts.extend([Act::patch(Who::Editor, set.clone()), Act::delete(Who::Editor, set)]);
    acts
}

fn all_of_ours() -> Vec<Act> {
    let mut set = super::own::own_set();
    set["metadata"]["finalizers"] = json!([
        finalizers::POD_CLIQUE_SET,
        finalizers::POD_CLIQUE,
        finalizers::SCALING_GROUP,
        finalizers::COMPUTE_DOMAIN,
        finalizers::TOPOLOGY_PROTECTION,
    ]);
    vec![Act::create(Who::Editor, set.clone()), Act::delete(Who::Editor, set)]
}

/// Pods of the tenant's own clique that are bound to invented nodes, and do not end.
fn invented_nodes(victim: &Victim) -> Result<Vec<Act>> {
    let copy = victim.copy("Pod", "web-0-front", Owned::No)?;
    let mut acts = own_until(json!({}));
    for number in 0..100 {
        let (mut pod, name) = (copy.clone(), format!("invented-{number}"));
        pod["metadata"]["name"] = name.as_str().into();
        pod["metadata"]["finalizers"] = json!([HOLD]);
        pod["metadata"]["labels"][labels::POD_CLIQUE] = "own-0-front".into();
        pod["metadata"]["labels"][labels::PART_OF] = "own".into();
        pod["metadata"]["labels"][labels::POD_GANG] = "own-0".into();
        pod["spec"]["nodeName"] = format!("fake-{number}").into();
        acts.push(Act::create(Who::Owner, pod));
        let clique = named(GROVE, "PodClique", "own-0-front");
        acts.push(Act::adopt(Who::Owner, named("v1", "Pod", &name), clique));
    }
    Ok(acts)
}

/// A copy that names the victim's owner, cannot end, and is deleted.
fn held(victim: &Victim, kind: &str, name: &str) -> Result<Vec<Act>> {
    let mut copy = victim.copy(kind, name, Owned::Bogus)?;
    copy["metadata"]["finalizers"] = json!([HOLD]);
    Ok(vec![Act::create(Who::Owner, copy.clone()), Act::delete(Who::Owner, copy)])
}
