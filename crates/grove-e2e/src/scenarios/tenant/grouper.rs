//! Owners of pods, as the pod grouper follows them, that lead nowhere or too far. An honest workload of the victim is grouped
//! meanwhile.

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    act::{Act, Who, named},
    attack::{Attack, attack, carry_out},
    holds::Holds::{self, IsGrouped},
    tenants::{Tenants, options},
    victim::{GROVE, Victim},
};
use crate::{grouper, scenario::Context};

const GROUPED: &[Holds] = &[IsGrouped];
/// Pods with the same owner.
const PODS: usize = 40;
/// Kinds that do not exist, a pod of each.
const KINDS: usize = 1_000;
/// Owners above one another.
const DEEP: usize = 40;

/// One attack after the other, with an operator and a pod grouper.
pub(super) async fn scenario(context: &mut Context) -> Result<()> {
    let mut tenants = Tenants::begin(context, options()).await?;
    let scheduler = context.scheduler().pod_name();
    grouper::start(&mut context.cluster, &[scheduler]).await?;
    carry_out(context, &mut tenants, &table()).await
}

pub(super) fn table() -> Vec<Attack> {
    let owned = |api_version: &'static str, kind: &'static str, name: &'static str| {
        move |_: &Victim| Ok(pods_of(&owner(api_version, kind, name, "forged")))
    };
    let traversal = "../../../../api/v1/namespaces/kube-system/secrets/any";
    vec![
        attack("an owner called ?watch=true&x=/", GROUPED, owned("apps/v1", "ReplicaSet", "?watch=true&x=/")),
        attack("an owner called as another path", GROUPED, owned("apps/v1", "ReplicaSet", traversal)),
        attack(
            "an owner called %2e%2e%2f and a line break",
            GROUPED,
            owned("apps/v1", "ReplicaSet", "%2e%2e%2f\r\nx"),
        ),
        attack("an owner of a kind that is a path", GROUPED, owned("apps/v1", "ReplicaSet/../Secret", "any")),
        attack(
            "an owner of a version that is a query",
            GROUPED,
            owned("apps/v1?watch=true", "ReplicaSet", "any"),
        ),
        attack("an owner of a group that is a path", GROUPED, owned("..%2f..%2fapi/v1", "Secret", "any")),
        attack("an owner without a namespace", GROUPED, owned("v1", "Node", "rack-0-node-0")),
        attack("an owner that is a Secret", GROUPED, owned("v1", "Secret", "grove-webhook-server-cert")),
        attack("pods of a thousand kinds", GROUPED, |_| Ok(many_kinds())),
        attack("a pod with five hundred owners", GROUPED, |_| Ok(many_owners())),
        attack("owners that go round in a circle", GROUPED, |_| Ok(circle())),
        attack("a pod that owns itself", GROUPED, |_| {
            let own = named("v1", "Pod", "forged");
            Ok(vec![
                Act::create(Who::Editor, pod("forged", &json!([]))),
                Act::adopt(Who::Editor, own.clone(), own),
            ])
        }),
        attack("forty owners above one another", GROUPED, |_| Ok(deep())),
        attack("an owner in the victim's namespace", GROUPED, |victim| {
            let uid = victim.uid("PodCliqueSet", "web")?;
            Ok(vec![Act::create(Who::Editor, pod("forged", &owner(GROVE, "PodCliqueSet", "web", uid)))])
        }),
        attack("a Job that wants as many pods as there are numbers", GROUPED, |_| Ok(huge_job())),
    ]
}

fn owner(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!([{ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": true }])
}

/// A pod that the pod grouper sees to.
fn pod(name: &str, owners: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "labels": { "grove.io/pod-grouper": "enabled" }, "ownerReferences": owners },
        "spec": { "containers": [{ "name": "main", "image": "none" }] },
    })
}

/// More of them than the pod grouper has workers; the API server may refuse such owners.
fn pods_of(owners: &Value) -> Vec<Act> {
    (0..PODS).map(|it| Act::create(Who::Editor, pod(&format!("forged-{it}"), owners)).any()).collect()
}

/// A ReplicaSet without pods of its own.
fn empty(name: &str) -> Value {
    let app = json!({ "app": name });
    let template = json!({ "metadata": { "labels": app }, "spec": { "containers": [{ "name": "main", "image": "none" }] } });
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": name },
        "spec": { "replicas": 0, "selector": { "matchLabels": app }, "template": template },
    })
}

fn many_kinds() -> Vec<Act> {
    let one = |number: usize| {
        let owner = owner(&format!("g{number}.example.com/v1"), &format!("Kind{number}"), "any", "forged");
        Act::create(Who::Editor, pod(&format!("forged-{number}"), &owner))
    };
    (0..KINDS).map(one).collect()
}

fn many_owners() -> Vec<Act> {
    let one = |number: usize| json!({ "apiVersion": "example.com/v1", "kind": format!("Kind{number}"), "name": "any", "uid": format!("u{number}") });
    vec![Act::create(Who::Editor, pod("forged", &(0..500).map(one).collect())).any()]
}

fn circle() -> Vec<Act> {
    let set = |name: &str| named("apps/v1", "ReplicaSet", name);
    vec![
        Act::create(Who::Editor, empty("one")),
        Act::create(Who::Editor, empty("two")),
        Act::adopt(Who::Editor, set("one"), set("two")),
        Act::adopt(Who::Editor, set("two"), set("one")),
        Act::create(Who::Editor, pod("forged", &json!([]))),
        Act::adopt(Who::Editor, named("v1", "Pod", "forged"), set("one")),
    ]
}

fn deep() -> Vec<Act> {
    let name = |number: usize| format!("deep-{number}");
    let mut acts = vec![Act::create(Who::Editor, pod("forged", &json!([])))];
    let mut below = named("v1", "Pod", "forged");
    for number in 0..DEEP {
        let above = named("apps/v1", "ReplicaSet", &name(number));
        acts.push(Act::create(Who::Editor, empty(&name(number))));
        acts.push(Act::adopt(Who::Editor, below, above.clone()));
        below = above;
    }
    acts
}

/// Suspended, so that only what it says is large.
fn huge_job() -> Vec<Act> {
    let template =
        json!({ "spec": { "restartPolicy": "Never", "containers": [{ "name": "main", "image": "none" }] } });
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "huge", "annotations": { "kai.scheduler/batch-min-member": "999999999999999999999" } },
        "spec": { "suspend": true, "parallelism": i32::MAX, "completions": i32::MAX, "template": template },
    });
    vec![
        Act::create(Who::Editor, job.clone()).any(),
        Act::create(Who::Editor, pod("forged", &json!([]))),
        Act::adopt(Who::Editor, named("v1", "Pod", "forged"), job),
    ]
}
