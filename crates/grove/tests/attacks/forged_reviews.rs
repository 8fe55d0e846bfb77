//! The table of forged reviews: what no API server sends.

use std::fmt::Display;

use grove_api::constants::{
    labels::PART_OF,
    webhooks::{AUTHORIZER, CLIQUE_VALIDATING, SET_DEFAULTING, SET_VALIDATING, TOPOLOGY_VALIDATING},
};
use serde_json::{Value, json};

use crate::{
    honest::review,
    program::{TENANT, set},
};

/// A forged review: where it is sent, the status of HTTP, what the review in the answer says of it, and words of it.
pub(crate) struct Forged {
    pub(crate) name: &'static str,
    pub(crate) path: &'static str,
    pub(crate) text: String,
    pub(crate) code: u16,
    pub(crate) allowed: Option<bool>,
    pub(crate) words: &'static str,
}

/// One that gets no review as its answer.
fn refused(name: &'static str, text: &dyn Display, code: u16, words: &'static str) -> Forged {
    Forged { name, path: SET_VALIDATING.path, text: text.to_string(), code, allowed: None, words }
}

fn answered(
    name: &'static str,
    path: &'static str,
    review: &Value,
    allowed: bool,
    words: &'static str,
) -> Forged {
    Forged { name, path, text: review.to_string(), code: 200, allowed: Some(allowed), words }
}

/// A review with another value at a path.
fn with(mut review: Value, path: &str, value: Value) -> Value {
    *review.pointer_mut(path).unwrap() = value;
    review
}

/// All of them.
pub(crate) fn table() -> Vec<Forged> {
    let mine = || set("mine", "default");
    let create = || review("CREATE", &mine(), &Value::Null);
    let uid = |uid: Value| with(create(), "/request/uid", uid);
    let mut rows = vec![
        refused("a number as uid", &uid(7.into()), 400, "invalid type: integer"),
        refused("an object as uid", &uid(json!({ "a": 1 })), 400, "invalid type: map"),
        refused("no uid", &uid(Value::Null), 400, "invalid type: null"),
        refused("an empty uid", &uid("".into()), 400, "the request has no uid"),
        refused(
            "a uid of a megabyte",
            &uid("u".repeat(1 << 20).into()),
            400,
            "the uid has more than 256 bytes",
        ),
        refused(
            "no request",
            &json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview" }),
            400,
            "has no request",
        ),
        refused(
            "another version",
            &with(create(), "/apiVersion", "admission.k8s.io/v1beta1".into()),
            400,
            "v1beta1",
        ),
        refused(
            "another operation",
            &with(create(), "/request/operation", "ESCALATE".into()),
            400,
            "ESCALATE",
        ),
        refused(
            "a text as userInfo",
            &with(create(), "/request/userInfo", "root".into()),
            400,
            "invalid type: string",
        ),
        refused(
            "a list as namespace",
            &with(create(), "/request/namespace", json!([TENANT])),
            400,
            "invalid type",
        ),
        refused("two requests", &r#"{"request":{"uid":"1"},"request":{"uid":"2"}}"#, 400, "AdmissionReview"),
        refused("nesting without end", &"[".repeat(1 << 20), 413, "too many values"),
        refused("bytes that are no text", &"\u{0}\u{1}", 400, "not an AdmissionReview"),
    ];
    rows.extend(many_values());
    rows.extend(wrong_objects());
    rows.extend(authorizer());
    rows
}

/// Small texts that become large, or long to judge.
fn many_values() -> Vec<Forged> {
    let mine = || set("mine", "default");
    let old = |old: Value| review("UPDATE", &mine(), &old);
    let text = |part: &str| {
        let bomb = format!("[{}0]", part.repeat((3 << 20) / part.len()));
        old(Value::from("BOMB")).to_string().replace("\"BOMB\"", &bomb)
    };
    let deep = old(Value::from("BOMB")).to_string().replace("\"BOMB\"", &"[".repeat(10_000));
    let too_many = "the review has too many values";
    // As many as are still judged: both objects have thousands of findings, each of them its own.
    let wrong = |variable: Value| {
        let mut wrong = mine();
        let container = json!({ "name": "a", "image": "b", "env": vec![variable; 2_500] });
        wrong["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"] = json!([container]);
        wrong
    };
    let (new, before) =
        (wrong(json!({ "name": "A", "value": 1 })), wrong(json!({ "name": 1, "value": "A" })));
    let mut cliques = mine();
    cliques["spec"]["template"]["cliques"] = json!(vec![json!({}); 200_000]);
    vec![
        refused("small maps in oldObject", &text(r#"{"":0},"#), 413, too_many),
        refused("small lists in oldObject", &text("[0],"), 413, too_many),
        refused("numbers in oldObject", &text("0,"), 413, too_many),
        refused("deep nesting in oldObject", &deep, 400, "recursion limit"),
        answered(
            "findings in both objects",
            SET_VALIDATING.path,
            &review("UPDATE", &new, &before),
            false,
            "... (cut)",
        ),
        answered(
            "200,000 cliques to be defaulted",
            SET_DEFAULTING.path,
            &review("CREATE", &cliques, &Value::Null),
            true,
            "",
        ),
        answered(
            "an oldObject of 6 MB",
            SET_VALIDATING.path,
            &review("DELETE", &Value::Null, &{
                let mut old = mine();
                old["metadata"]["annotations"] = json!({ "a": "b".repeat(6 << 20) });
                old
            }),
            true,
            "",
        ),
    ]
}

/// Objects that do not fit to the path, or are of others.
fn wrong_objects() -> Vec<Forged> {
    let (mine, victim) = (set("mine", "default"), set("victim", TENANT));
    let mut shrunk = victim.clone();
    shrunk["spec"]["replicas"] = 0.into();
    let deployment = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" } });
    let mut lying = review("CREATE", &deployment, &Value::Null);
    lying["request"]["kind"] = json!({ "group": "grove.io", "version": "v1alpha1", "kind": "PodCliqueSet" });
    let mut traversing = mine.clone();
    traversing["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "../../../api/v1/namespaces/grove-system/secrets", "packDomain": "rack" });
    let create = review("CREATE", &mine, &Value::Null);
    vec![
        answered(
            "another kind",
            SET_VALIDATING.path,
            &review("CREATE", &deployment, &Value::Null),
            false,
            "got Deployment",
        ),
        answered("another kind than the request says", SET_VALIDATING.path, &lying, false, "not of the kind"),
        answered("a set for topologies", TOPOLOGY_VALIDATING.path, &create, false, "got PodCliqueSet"),
        answered("a set for cliques", CLIQUE_VALIDATING.path, &create, false, "got PodCliqueSet"),
        answered(
            "a name that is a path",
            SET_VALIDATING.path,
            &review("CREATE", &traversing, &Value::Null),
            false,
            "topologyName",
        ),
        // Whether alice may do it is for the API server to say; a yes to a forger changes nothing.
        answered(
            "a change of another tenant's set",
            SET_VALIDATING.path,
            &without_user(review("UPDATE", &shrunk, &victim)),
            true,
            "",
        ),
        answered(
            "a deletion of another tenant's set",
            SET_VALIDATING.path,
            &without_user(review("DELETE", &Value::Null, &victim)),
            true,
            "",
        ),
    ]
}

fn without_user(mut review: Value) -> Value {
    review["request"].as_object_mut().unwrap().remove("userInfo");
    review
}

/// What the authorizer protects, with users of the forger's choice.
fn authorizer() -> Vec<Forged> {
    let clique = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodClique",
        "metadata": { "name": "victim-0-worker", "namespace": TENANT, "labels": { PART_OF: "victim" } },
    });
    let delete = || review("DELETE", &Value::Null, &clique);
    let by = |user: &str| with(delete(), "/request/userInfo/username", user.into());
    let path = AUTHORIZER.path;
    let operator = "system:serviceaccount:grove-system:grove-operator";
    let long = "m".repeat(1 << 20);
    let mut update = review("UPDATE", &clique, &clique);
    update["request"]["object"]["metadata"]["labels"] = json!({});
    vec![
        answered(
            "a deletion without a user",
            path,
            &without_user(delete()),
            false,
            "may not change this PodClique",
        ),
        answered("a deletion by a stranger", path, &by("mallory"), false, "may not change this PodClique"),
        answered("a user with a name of a megabyte", path, &by(&long), false, "... (cut)"),
        answered("an update that takes the label off", path, &update, false, "may not change this PodClique"),
        answered("a deletion in the operator's name", path, &by(operator), true, ""),
    ]
}
