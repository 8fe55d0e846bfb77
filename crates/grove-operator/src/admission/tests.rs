//! Every handler as a function of a request and of what is known.

mod bodies;
mod knowledge;
mod live;
mod scaling;
mod scheduling;
mod topology;

use std::sync::Arc;

use grove_api::{
    constants::{labels, webhooks},
    manifest,
    review::{Review, review},
    validation::{Environment, Scheduler, Schedulers},
};
use serde_json::{Value, json};

use super::*;

fn set() -> Value {
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": "web", "namespace": "ml" },
        "spec": {
            "replicas": 1,
            "template": { "cliques": [{
                "name": "front",
                "spec": { "roleName": "front", "replicas": 3, "podSpec": { "containers": [{ "name": "c", "image": "i" }] } },
            }] },
        },
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut set = set();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    set.pointer_mut(parent).unwrap()[key] = value;
    set
}

fn environment() -> Environment {
    let active = vec![Scheduler { name: "default-scheduler".to_owned(), topology_aware: false }];
    Environment {
        schedulers: Some(Schedulers { default: "default-scheduler".to_owned(), active }),
        topology_aware: Some(true),
        all_topologies_known: true,
        mnnvl: Some(false),
        ..Environment::default()
    }
}

fn request(operation: &str, object: &Value, old: &Value) -> Request {
    let subject = if object.is_null() { old } else { object };
    let (group, version) = subject["apiVersion"].as_str().unwrap().split_once('/').unwrap_or(("", "v1"));
    serde_json::from_value(json!({
        "uid": "u-1",
        "kind": { "group": group, "version": version, "kind": subject["kind"] },
        "namespace": "ml",
        "operation": operation,
        "userInfo": { "username": "alice" },
        "object": object,
        "oldObject": old,
    }))
    .unwrap()
}

fn judge(path: &str, request: &Request, snapshot: &Snapshot) -> Verdict {
    let exempt = ["system:serviceaccount:kai:binder".to_owned()];
    let authorizer = Authorizer::new("grove-system", "grove-operator", &exempt);
    Desk::new(Arc::new(snapshot.clone()), Some(authorizer)).judge(path, request, snapshot)
}

fn validated(operation: &str, object: &Value, old: &Value) -> Verdict {
    let snapshot = Snapshot { environment: environment(), ..Snapshot::default() };
    judge(webhooks::SET_VALIDATING.path, &request(operation, object, old), &snapshot)
}

fn message(verdict: &Verdict) -> &str {
    verdict.denial.as_ref().map_or("allowed", |it| &it.message)
}

/// The object as the cluster has it behind the defaulting webhook.
fn stored(object: &Value) -> Value {
    let verdict =
        judge(webhooks::SET_DEFAULTING.path, &request("CREATE", object, &Value::Null), &Snapshot::default());
    let mut stored = object.clone();
    json_patch::patch(&mut stored, &verdict.patch.unwrap()).unwrap();
    stored
}

#[test]
fn a_field_of_a_newer_version_is_told_and_not_refused() {
    let newer = stored(&with("/spec/template/cliques/0/spec/podSpec/newerField", json!(1)));
    let verdict = validated("CREATE", &newer, &Value::Null);
    assert_eq!(message(&verdict), "allowed");
    let said = "spec.template.cliques[0].spec.podSpec.newerField: not known to this version of the operator, and not checked";
    assert!(verdict.warnings.iter().any(|it| it == said), "{:?}", verdict.warnings);
}

#[test]
fn what_schema_and_rule_say_of_an_old_value_does_not_count() {
    let scaling = json!({ "minReplicas": 3, "maxReplicas": 20000, "metrics": [] });
    let old = stored(&with("/spec/template/cliques/0/spec/autoScalingConfig", scaling));
    assert_ne!(message(&validated("CREATE", &old, &Value::Null)), "allowed");
    let mut new = old.clone();
    new["metadata"]["labels"] = json!({ "a": "b" });
    assert_eq!(message(&validated("UPDATE", &new, &old)), "allowed");
}

#[test]
fn defaulting_leaves_what_it_does_not_know_and_patches_nothing_twice() {
    let mut sent = with("/spec/template/cliques/0/spec/podSpec/newerField", json!({ "a": [1, null] }));
    sent["metadata"].as_object_mut().unwrap().remove("namespace");
    let filled = stored(&sent);
    assert_eq!(filled.pointer("/spec/template/cliques/0/spec/minAvailable"), Some(&json!(3)));
    assert_eq!(
        filled.pointer("/spec/template/cliques/0/spec/podSpec/newerField"),
        Some(&json!({ "a": [1, null] }))
    );
    assert_eq!(filled.pointer("/spec/template/terminationDelay"), Some(&json!("4h0m0s")));
    assert_eq!(
        filled.pointer("/metadata/namespace"),
        None,
        "the namespace is the request's, not \"default\""
    );
    let again =
        judge(webhooks::SET_DEFAULTING.path, &request("UPDATE", &filled, &filled), &Snapshot::default());
    assert_eq!(again, Verdict::allowed(), "a defaulted set gets no patch, not an empty one");
}

#[test]
fn defaulting_in_an_update_keeps_the_minimum_that_cannot_change() {
    let mut new = stored(&set());
    new["spec"]["template"]["cliques"][0]["spec"]["replicas"] = 9.into();
    new["spec"]["template"]["cliques"][0]["spec"].as_object_mut().unwrap().remove("minAvailable");
    let verdict =
        judge(webhooks::SET_DEFAULTING.path, &request("UPDATE", &new, &stored(&set())), &Snapshot::default());
    json_patch::patch(&mut new, &verdict.patch.unwrap()).unwrap();
    assert_eq!(new.pointer("/spec/template/cliques/0/spec/minAvailable"), Some(&json!(3)));
}

#[test]
fn every_patch_fits_the_text_it_is_for() {
    // Null and absent fields, of which the typed form has a value.
    for (pointer, value) in [
        ("/spec/replicas", Value::Null),
        ("/spec/template/cliques/0/spec/replicas", json!(0)),
        ("/spec/template/cliques/0/spec/replicas", Value::Null),
        ("/spec/template/headlessServiceConfig", Value::Null),
        (
            "/spec/template/podCliqueScalingGroups",
            json!([{ "name": "g", "cliqueNames": ["front"], "scaleConfig": { "maxReplicas": 3 } }]),
        ),
    ] {
        let filled = stored(&with(pointer, value.clone()));
        let count = filled.pointer("/spec/template/cliques/0/spec/replicas").unwrap();
        // 0 stays 0.
        assert_eq!(count.as_i64().unwrap() >= 1, value != 0, "{pointer} {value}: {filled}");
    }
}

#[test]
fn what_cannot_be_read_is_left_to_the_schema() {
    for object in [with("/spec/template/cliques", json!("many")), with("/spec/template", Value::Null)] {
        let verdict = judge(
            webhooks::SET_DEFAULTING.path,
            &request("CREATE", &object, &Value::Null),
            &Snapshot::default(),
        );
        assert_eq!(verdict, Verdict::allowed());
        assert!(validated("CREATE", &object, &Value::Null).denial.is_some());
    }
}

#[test]
fn validation_says_what_grove_validate_says() {
    let wrong = with("/spec/template/cliques/0/spec/minAvailable", json!(5));
    let verdict = validated("CREATE", &wrong, &Value::Null);
    assert_eq!(
        message(&verdict),
        "spec.template.cliques[0].spec.minAvailable: Invalid value: 5: must not be greater than replicas (3)"
    );
    let Review::Checked(offline) = review(&wrong, &environment()) else { panic!("not checked") };
    assert_eq!(verdict.denial.as_ref().unwrap().errors, offline.errors);
    assert_eq!(verdict.denial.as_ref().unwrap().code, 403);

    let mut worse = wrong;
    worse["spec"]["replicas"] = (-1).into();
    let verdict = validated("CREATE", &worse, &Value::Null);
    let all = message(&verdict);
    assert!(all.starts_with("[spec.replicas: Invalid value: -1: ") && all.ends_with("(3)]"), "{all}");
    let causes = verdict.to_review("u-1")["response"]["status"]["details"]["causes"].clone();
    assert_eq!(causes[1]["field"], "spec.template.cliques[0].spec.minAvailable");
    assert_eq!(validated("CREATE", &stored(&set()), &Value::Null), Verdict::allowed());
}

#[test]
fn an_update_may_leave_an_old_fault_and_may_not_add_one() {
    let bad = |it: &Value| {
        let mut it = it.clone();
        it["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["schedulerName"] = "gone".into();
        it
    };
    let (good, old) = (stored(&set()), bad(&stored(&set())));
    assert!(message(&validated("CREATE", &old, &Value::Null)).contains("not active"));
    let mut new = old.clone();
    new["spec"]["replicas"] = 2.into();
    assert_eq!(validated("UPDATE", &new, &old), Verdict::allowed());
    assert_ne!(message(&validated("UPDATE", &bad(&good), &good)), "allowed");

    // Likewise where it is the schema's: the CRD has become stricter since.
    let mut old = good.clone();
    old["spec"]["template"]["cliques"][0]["labels"] = json!({ "a": 1 });
    assert_ne!(message(&validated("CREATE", &old, &Value::Null)), "allowed");
    let mut new = old.clone();
    new["spec"]["replicas"] = 2.into();
    assert_eq!(message(&validated("UPDATE", &new, &old)), "allowed");
}

#[test]
fn what_is_being_deleted_is_let_go() {
    let broken = with("/spec/template/cliques", json!([]));
    let mut leaving = broken.clone();
    leaving["metadata"]["deletionTimestamp"] = "2026-11-15T00:00:00Z".into();
    assert_ne!(message(&validated("UPDATE", &broken, &set())), "allowed");
    assert_eq!(validated("UPDATE", &leaving, &set()), Verdict::allowed());
    assert_eq!(validated("DELETE", &Value::Null, &broken), Verdict::allowed());
    let defaulted =
        judge(webhooks::SET_DEFAULTING.path, &request("UPDATE", &leaving, &set()), &Snapshot::default());
    assert_eq!(defaulted, Verdict::allowed());
}

#[test]
fn warnings_go_out_with_a_yes() {
    let mut old = stored(&set());
    old["spec"]["template"]["topologyConstraint"] = json!({ "topologyName": "racks", "packDomain": "rack" });
    let verdict = validated("UPDATE", &old, &old);
    assert_eq!(verdict.denial, None);
    assert_eq!(
        verdict.warnings,
        ["spec.template.topologyConstraint.packDomain: deprecated: use pack.required"]
    );
    assert_eq!(verdict.to_review("u")["response"]["warnings"][0], json!(verdict.warnings[0]));
}

fn binding(scheduler: &str, domain: &str) -> Value {
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "ClusterTopologyBinding",
        "metadata": { "name": "racks" },
        "spec": {
            "levels": [{ "domain": "zone", "key": "a/zone" }, { "domain": domain, "key": "a/rack" }],
            "schedulerTopologyBindings": [{ "schedulerName": scheduler, "topologyReference": "t" }],
        },
    })
}

#[test]
fn bindings_are_judged_likewise() {
    let path = webhooks::TOPOLOGY_VALIDATING.path;
    let snapshot = Snapshot { environment: environment(), ..Snapshot::default() };
    let judged =
        |operation: &str, new: &Value, old: &Value| judge(path, &request(operation, new, old), &snapshot);
    let (old, new) = (binding("gone", "rack"), binding("gone", "shelf"));
    assert!(message(&judged("CREATE", &old, &Value::Null)).contains("this scheduler is not active"));
    assert_eq!(judged("UPDATE", &new, &old).denial, None, "the scheduler went after the binding was made");
    assert!(message(&judged("UPDATE", &binding("gone", "zone"), &old)).contains("Duplicate value: \"zone\""));
    assert_eq!(judged("DELETE", &Value::Null, &old), Verdict::allowed());
}

#[test]
fn another_kind_is_not_judged_and_not_let_through() {
    let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" } });
    let verdict =
        judge(webhooks::SET_VALIDATING.path, &request("CREATE", &pod, &Value::Null), &Snapshot::default());
    let denial = verdict.denial.unwrap();
    assert_eq!(denial.code, 400);
    assert!(
        denial.message.contains("reviews PodCliqueSet (grove.io/v1alpha1), got Pod"),
        "{}",
        denial.message
    );
    // The request says one kind, and the object another.
    let mut forged = request("CREATE", &set(), &Value::Null);
    forged.object = pod;
    assert_ne!(message(&judge(webhooks::SET_VALIDATING.path, &forged, &Snapshot::default())), "allowed");
}

#[test]
fn only_the_operator_and_the_exempt_change_what_is_managed() {
    let managed = |kind: &str| {
        json!({ "apiVersion": if kind == "Pod" { "v1" } else { "grove.io/v1alpha1" }, "kind": kind,
            "metadata": { "name": "web-0-front", "labels": { labels::PART_OF: "web" } } })
    };
    let mut stranger = managed("PodClique");
    stranger["metadata"].as_object_mut().unwrap().remove("labels");
    let operator = "system:serviceaccount:grove-system:grove-operator";
    let exempt = "system:serviceaccount:kai:binder";
    let collector = "system:serviceaccount:kube-system:generic-garbage-collector";
    for (operation, object, user, owner, allowed, warned) in [
        ("CREATE", managed("PodClique"), "alice", Owner::Protects, false, false),
        ("UPDATE", managed("PodClique"), "alice", Owner::Protects, false, false),
        ("DELETE", managed("PodClique"), "alice", Owner::Protects, false, false),
        ("UPDATE", managed("Pod"), "alice", Owner::Protects, false, false),
        ("DELETE", managed("Pod"), "alice", Owner::Protects, true, false),
        ("UPDATE", managed("PodClique"), operator, Owner::Protects, true, false),
        ("UPDATE", managed("PodClique"), exempt, Owner::Protects, true, false),
        ("DELETE", managed("PodClique"), collector, Owner::Protects, true, false),
        ("UPDATE", managed("PodClique"), "alice", Owner::LetsGo, true, false),
        ("UPDATE", managed("PodClique"), "alice", Owner::Absent, true, true),
        ("UPDATE", stranger, "alice", Owner::Protects, true, true),
        ("CONNECT", managed("Pod"), "alice", Owner::Protects, true, false),
    ] {
        let old = if operation == "CREATE" { Value::Null } else { object.clone() };
        let new = if operation == "DELETE" { Value::Null } else { object };
        let mut asked = request(operation, &new, &old);
        user.clone_into(&mut asked.user_info.username);
        let verdict = judge(webhooks::AUTHORIZER.path, &asked, &Snapshot { owner, ..Snapshot::default() });
        let got = (verdict.denial.is_none(), !verdict.warnings.is_empty());
        assert_eq!(got, (allowed, warned), "{operation} by {user} of {owner:?}: {verdict:?}");
    }
}

#[test]
fn the_label_cannot_be_taken_off_to_escape_protection() {
    let mut old =
        json!({ "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": { "name": "a" } });
    let new = old.clone();
    old["metadata"]["labels"] = json!({ labels::PART_OF: "web" });
    let snapshot = Snapshot { owner: Owner::Protects, ..Snapshot::default() };
    let verdict = judge(webhooks::AUTHORIZER.path, &request("UPDATE", &new, &old), &snapshot);
    assert_eq!(verdict.denial.map(|it| it.code), Some(403));
}

#[test]
fn the_samples_pass() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        for document in manifest::parse(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap() {
            if document.value["kind"] != "PodCliqueSet" || document.value.to_string().contains("opology") {
                continue;
            }
            let mut snapshot = Snapshot::default();
            snapshot.environment.topology_aware = Some(true);
            let asked = request("CREATE", &stored(&document.value), &Value::Null);
            assert_eq!(judge(webhooks::SET_VALIDATING.path, &asked, &snapshot).denial, None);
            count += 1;
        }
    }
    assert!(count > 2, "only {count}");
}
