//! The admission policies of the accounts: what the operator and the pod grouper do passes, and what an attacker with their token
//! would do does not. Whether a real API server reads them alike is tested there (`rights_pod_changes`).

use kube_cel::cel::{Context, Program, Value as Cel};
use serde_json::{Value, json};

use super::{kinds, objects, of_kind};

const OPERATOR: &str = "system:serviceaccount:grove-system:grove-operator";
const GATE: &str = "grove.io/podgang-pending-creation";

/// A policy, with what an API server would do with a request.
struct Policy(Value);

impl Policy {
    fn of(arguments: &[&str]) -> Self {
        Self(of_kind(&objects(arguments), "ValidatingAdmissionPolicy").clone())
    }

    /// The messages of the rules that refuse it.
    fn refusals(&self, operation: &str, old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
        let request = json!({ "operation": operation, "userInfo": { "username": OPERATOR } });
        self.refusals_of(&request, old, new)
    }

    fn refusals_of(&self, request: &Value, old: Option<&Value>, new: Option<&Value>) -> Vec<String> {
        let mut context = Context::default();
        for (name, value) in [("request", Some(request)), ("object", new), ("oldObject", old)] {
            context.add_variable(name, value.cloned().unwrap_or(Value::Null)).unwrap();
        }
        let spec = &self.0["spec"];
        // The API server evaluates variables where they are used, and so does this.
        let variables = spec["variables"].as_array().unwrap();
        let expanded = |expression: &Value| {
            variables.iter().fold(expression.as_str().unwrap().to_owned(), |text, it| {
                let [name, value] = ["name", "expression"].map(|field| it[field].as_str().unwrap());
                text.replace(&format!("variables.{name}"), &format!("({value})"))
            })
        };
        // This evaluator has no types, and so no `dyn`.
        let untyped = |it: &Value| expanded(it).replace("dyn(", "(");
        let rules = spec["validations"].as_array().unwrap().iter();
        let evaluated = |it: &Value| Program::compile(&untyped(&it["expression"])).unwrap().execute(&context);
        let refuses = |it: &&Value| match evaluated(it) {
            Ok(Cel::Bool(allowed)) => !allowed,
            // With the failure policy `Fail`.
            _ => true,
        };
        rules.filter(refuses).map(|it| it["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Changes a pod: who may, and who may not.
    fn patched(&self, pod: &Value, patch: &Value) -> Vec<String> {
        let mut after = pod.clone();
        merge(&mut after, patch);
        self.refusals("UPDATE", Some(pod), Some(&after))
    }
}

/// A JSON merge patch.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in fields {
        if value.is_null() {
            target.remove(key);
        } else {
            merge(target.entry(key.as_str()).or_insert(Value::Null), value);
        }
    }
}

/// A pod as the operator creates it.
fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "chat-0-decode-x7k2p", "namespace": "team", "uid": "1", "resourceVersion": "5",
            "labels": { "app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "chat" },
            "annotations": { "user": "x" },
            "ownerReferences": [{
                "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "chat-0-decode", "uid": "2",
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": {
            "schedulerName": "kai-scheduler", "serviceAccountName": "default",
            "containers": [{ "name": "c", "image": "i", "resources": { "limits": { "cpu": "1" } } }],
            "schedulingGates": [{ "name": GATE }, { "name": "example.com/mine" }],
            "tolerations": [{ "key": "a", "operator": "Exists" }],
        },
    })
}

fn with(patch: &Value) -> Value {
    let mut pod = pod();
    merge(&mut pod, patch);
    pod
}

/// One that a user made.
fn foreign() -> Value {
    with(
        &json!({ "metadata": { "labels": { "app.kubernetes.io/managed-by": null }, "ownerReferences": null } }),
    )
}

#[test]
fn the_policy_is_for_the_account_and_fails_closed() {
    let all = objects(&["--no-crds", "--namespace", "elsewhere"]);
    let policy = of_kind(&all, "ValidatingAdmissionPolicy");
    let binding = of_kind(&all, "ValidatingAdmissionPolicyBinding");
    assert_eq!(binding["spec"]["policyName"], policy["metadata"]["name"]);
    assert_eq!(binding["spec"]["validationActions"], json!(["Deny"]));
    let conditions = json!([{
        "name": "is-the-account",
        "expression": "request.userInfo.username == 'system:serviceaccount:elsewhere:grove-operator'",
    }]);
    assert_eq!(
        (&policy["spec"]["matchConditions"], &policy["spec"]["failurePolicy"]),
        (&conditions, &json!("Fail"))
    );
    let left_out = objects(&["--no-crds", "--no-pod-policy"]);
    assert!(!kinds(&left_out).iter().any(|it| it.starts_with("ValidatingAdmissionPolicy")));
    let left_out = objects(&["--pod-grouper", "--no-pod-policy"]);
    assert!(!kinds(&left_out).iter().any(|it| it.starts_with("ValidatingAdmissionPolicy")));
}

#[test]
fn what_the_operator_does_passes() {
    let policy = Policy::of(&["--no-crds"]);
    let none = Vec::<String>::new();
    assert_eq!(policy.refusals("CREATE", None, Some(&pod())), none);
    assert_eq!(policy.refusals("DELETE", Some(&pod()), None), none);
    let no_gates = with(&json!({ "spec": { "schedulingGates": null } }));
    // A pod that lost one of its marks is still ours.
    for lost in [json!({ "labels": null }), json!({ "ownerReferences": null })] {
        assert_eq!(policy.refusals("DELETE", Some(&with(&json!({ "metadata": lost }))), None), none);
    }
    let version = json!({ "metadata": { "resourceVersion": "6", "generation": 2, "managedFields": [{ "manager": "grove-operator" }] } });
    for patch in [
        json!({ "spec": { "schedulingGates": [{ "name": "example.com/mine" }] } }),
        json!({ "spec": { "schedulingGates": [{ "name": "example.com/mine" }], "nodeSelector": { "zone": "a" } } }),
        json!({ "metadata": { "annotations": { "grove.io/parents-ready": "true" } } }),
        json!({ "metadata": { "annotations": { "pod-group-name": "pg-a-0-uid" } } }),
        version,
        json!({}),
    ] {
        assert_eq!(policy.patched(&pod(), &patch), none, "{patch}");
    }
    let only_ours =
        with(&json!({ "spec": { "schedulingGates": [{ "name": GATE }], "nodeSelector": { "a": "b" } } }));
    let lifted = json!({ "spec": { "schedulingGates": null, "nodeSelector": { "zone": "a" } } });
    assert_eq!(policy.patched(&only_ours, &lifted), none);
    let told = json!({ "metadata": { "annotations": { "grove.io/parents-ready": "true" } } });
    assert_eq!(policy.patched(&with(&json!({ "metadata": { "annotations": null } })), &told), none);
    assert_eq!(policy.patched(&no_gates, &told), none);
}

#[test]
fn what_an_attacker_with_the_operators_token_does_is_refused() {
    let policy = Policy::of(&["--no-crds"]);
    let image = json!([{ "name": "c", "image": "evil", "resources": { "limits": { "cpu": "1" } } }]);
    for (patch, told) in [
        (json!({ "spec": { "containers": image } }), "changes nothing in the spec"),
        (json!({ "spec": { "tolerations": [{ "operator": "Exists" }] } }), "changes nothing in the spec"),
        (json!({ "spec": { "activeDeadlineSeconds": 1 } }), "changes nothing in the spec"),
        (json!({ "spec": { "serviceAccountName": "admin" } }), "changes nothing in the spec"),
        (json!({ "spec": { "tolerations": null } }), "changes nothing in the spec"),
        (json!({ "spec": { "schedulingGates": [{ "name": GATE }] } }), "removes its own gate"),
        (
            json!({ "spec": { "schedulingGates": [{ "name": GATE }, { "name": "example.com/mine" }, { "name": "x" }] } }),
            "removes its own gate",
        ),
        (json!({ "spec": { "nodeSelector": { "a": "1", "b": "2" } } }), "adds one label to a node selector"),
        (json!({ "metadata": { "labels": { "app": "x" } } }), "changes nothing in the metadata"),
        (json!({ "metadata": { "ownerReferences": null } }), "changes nothing in the metadata"),
        (json!({ "metadata": { "finalizers": ["x/y"] } }), "changes nothing in the metadata"),
        (json!({ "metadata": { "annotations": { "user": "y" } } }), "changes no annotation"),
        (json!({ "metadata": { "annotations": { "user": null } } }), "changes no annotation"),
    ] {
        let refusals = policy.patched(&pod(), &patch);
        assert!(refusals.len() == 1 && refusals[0].contains(told), "{patch}: {refusals:?}");
    }
    let selected = with(&json!({ "spec": { "nodeSelector": { "zone": "a" } } }));
    assert_eq!(policy.patched(&selected, &json!({ "spec": { "nodeSelector": { "zone": "b" } } })).len(), 1);

    let told = json!({ "metadata": { "annotations": { "grove.io/parents-ready": "true" } } });
    assert_eq!(policy.patched(&foreign(), &told), ["the Grove operator changes only its own pods"]);
    assert_eq!(
        policy.refusals("DELETE", Some(&foreign()), None),
        ["the Grove operator deletes only its own pods"]
    );
    let owner = |patch: Value| {
        let mut owner = pod()["metadata"]["ownerReferences"][0].clone();
        merge(&mut owner, &patch);
        json!({ "metadata": { "ownerReferences": [owner] } })
    };
    for (patch, told) in [
        (json!({ "metadata": { "labels": null } }), "labelled as its own"),
        (
            json!({ "metadata": { "labels": { "app.kubernetes.io/managed-by": "helm" } } }),
            "labelled as its own",
        ),
        (json!({ "metadata": { "ownerReferences": null } }), "that a PodClique owns"),
        (owner(json!({ "kind": "Job" })), "that a PodClique owns"),
        (owner(json!({ "apiVersion": "example.com/v1" })), "that a PodClique owns"),
        (owner(json!({ "controller": null })), "that a PodClique owns"),
        (
            json!({ "spec": { "schedulingGates": [{ "name": "example.com/mine" }] } }),
            "that its gate holds back",
        ),
        (json!({ "spec": { "schedulingGates": null } }), "that its gate holds back"),
    ] {
        let refusals = policy.refusals("CREATE", None, Some(&with(&patch)));
        assert!(refusals.len() == 1 && refusals[0].contains(told), "{patch}: {refusals:?}");
    }
    let request =
        json!({ "operation": "CREATE", "subResource": "exec", "userInfo": { "username": OPERATOR } });
    let refusals = policy.refusals_of(&request, None, Some(&json!({ "kind": "PodExecOptions" })));
    assert!(refusals.contains(&"the Grove operator uses no subresource of pods".to_owned()), "{refusals:?}");
}

#[test]
fn the_pod_grouper_marks_pods_of_its_schedulers_and_nothing_else() {
    let arguments =
        ["--pod-grouper", "--scheduler-name", "kai-scheduler", "--scheduler-name", "mine=volcano"];
    let policy = Policy::of(&arguments);
    let none = Vec::<String>::new();
    let pod = foreign();
    for patch in [
        json!({ "metadata": { "annotations": { "pod-group-name": "g" }, "labels": { "kai.scheduler/subgroup-name": "a" } } }),
        json!({ "metadata": { "annotations": { "scheduling.k8s.io/group-name": "g", "volcano.sh/task-spec": "t" } } }),
    ] {
        assert_eq!(policy.patched(&pod, &patch), none, "{patch}");
        let marked = with(&patch);
        assert_eq!(
            policy.patched(
                &marked,
                &json!({ "metadata": { "labels": { "kai.scheduler/subgroup-name": null } } })
            ),
            none
        );
    }
    for (patch, told) in [
        (json!({ "spec": { "schedulingGates": null } }), "changes nothing in the spec"),
        (
            json!({ "spec": { "containers": [{ "name": "c", "image": "evil" }] } }),
            "changes nothing in the spec",
        ),
        (json!({ "metadata": { "ownerReferences": [{ "kind": "Job" }] } }), "but labels and annotations"),
        (json!({ "metadata": { "labels": { "app": "x" } } }), "changes no labels"),
        (json!({ "metadata": { "annotations": { "user": null } } }), "changes no annotations"),
    ] {
        let refusals = policy.patched(&pod, &patch);
        assert!(refusals.len() == 1 && refusals[0].contains(told), "{patch}: {refusals:?}");
    }
    let mut other = pod.clone();
    other["spec"]["schedulerName"] = "default-scheduler".into();
    let mark = json!({ "metadata": { "annotations": { "pod-group-name": "g" } } });
    assert_eq!(
        policy.patched(&other, &mark),
        ["the Grove pod grouper changes only pods of the schedulers that it works for"]
    );
    other["spec"]["schedulerName"] = "mine".into();
    assert_eq!(policy.patched(&other, &mark), none);
    assert_eq!(policy.refusals("CREATE", None, Some(&pod)).len(), 1);
    assert_eq!(policy.refusals("DELETE", Some(&pod), None).len(), 1);
}
