//! MutatingAdmissionPolicies: what the server changes by itself in what clients write.

use grove_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{CONFIG_MAPS, PODS, cluster, delete, get, merge, post};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";

fn server() -> ApiServer {
    let server = cluster();
    server.call_webhooks(|_, _, _| None);
    server
}

/// A policy on new and changed ConfigMaps that sets a field of `data`, with more or other fields.
fn policy(name: &str, set: &str, more: Value) -> Value {
    let mut spec = json!({
        "matchConstraints": {"resourceRules": [
            {"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}]},
        "mutations": [mutation(&format!("Object{{data: {{{set}}}}}"))],
    });
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"metadata": {"name": name}, "spec": spec})
}

fn mutation(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

async fn create(server: &ApiServer, path: &str, object: Value) {
    let (code, said) = post(server, path, object).await;
    assert_eq!(code, 201, "{said}");
}

/// Puts a policy in force, everywhere.
async fn enforce(server: &ApiServer, policy: Value) {
    let name = policy["metadata"]["name"].clone();
    create(server, POLICIES, policy).await;
    create(server, BINDINGS, json!({"metadata": {"name": name}, "spec": {"policyName": name}})).await;
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "1"}})
}

#[tokio::test]
async fn a_policy_in_force_changes_what_is_stored() {
    let server = server();
    create(&server, POLICIES, policy("mark", "'by': request.operation", json!({}))).await;
    create(&server, CONFIG_MAPS, map("before")).await;
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/before")).await.1["data"], json!({"a": "1"}));

    create(&server, BINDINGS, json!({"metadata": {"name": "b"}, "spec": {"policyName": "mark"}})).await;
    let (code, said) = post(&server, CONFIG_MAPS, map("a")).await;
    assert_eq!((code, &said["data"]), (201, &json!({"a": "1", "by": "CREATE"})));
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/a")).await.1, said);
    let (_, said) = merge(&server, &format!("{CONFIG_MAPS}/before"), json!({"data": {"b": "2"}})).await;
    assert_eq!(said["data"], json!({"a": "1", "b": "2", "by": "UPDATE"}));
    delete(&server, &format!("{CONFIG_MAPS}/before"), Value::Null).await;

    delete(&server, &format!("{BINDINGS}/b"), Value::Null).await;
    let (_, said) = post(&server, CONFIG_MAPS, map("after")).await;
    assert_eq!(said["data"], json!({"a": "1"}));
}

#[tokio::test]
async fn a_binding_chooses_namespaces_and_objects() {
    let server = server();
    create(&server, POLICIES, policy("mark", "'by': 'policy'", json!({}))).await;
    let chosen = |name: &str, resources: Value| json!({"metadata": {"name": name}, "spec": {"policyName": "mark", "matchResources": resources}});
    let labels = json!({"matchLabels": {"on": "yes"}});
    let silent = json!({"matchExpressions": [{"key": "on", "operator": "DoesNotExist"}]});
    create(&server, BINDINGS, chosen("objects", json!({"objectSelector": labels}))).await;
    create(
        &server,
        BINDINGS,
        chosen("spaces", json!({"namespaceSelector": labels, "objectSelector": silent})),
    )
    .await;
    merge(&server, "/api/v1/namespaces/kube-public", json!({"metadata": {"labels": {"on": "yes"}}})).await;
    for (namespace, labels, is_changed) in [
        ("default", json!({}), false),
        ("default", json!({"on": "yes"}), true),
        ("kube-public", json!({}), true),
        ("kube-public", json!({"on": "no"}), false),
    ] {
        let body = json!({"metadata": {"generateName": "a-", "labels": labels}});
        let (_, said) = post(&server, &format!("/api/v1/namespaces/{namespace}/configmaps"), body).await;
        assert_eq!(said["data"]["by"] == "policy", is_changed, "{said}");
    }
}

#[tokio::test]
async fn only_what_matches_is_changed() {
    let rules = |more: Value| {
        let mut rule = json!({"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([rule])
    };
    for (more, is_changed) in [
        (json!({"matchConstraints": {"resourceRules": rules(json!({"resources": ["secrets"]}))}}), false),
        (json!({"matchConstraints": {"resourceRules": rules(json!({"resourceNames": ["a"]}))}}), true),
        (json!({"matchConstraints": {"resourceRules": rules(json!({"resourceNames": ["b"]}))}}), false),
        (
            json!({"matchConstraints": {"resourceRules": rules(json!({})), "excludeResourceRules": rules(json!({}))}}),
            false,
        ),
        (json!({"matchConditions": [{"name": "is-a", "expression": "object.metadata.name == 'a'"}]}), true),
        (json!({"matchConditions": [{"name": "is-b", "expression": "object.metadata.name == 'b'"}]}), false),
    ] {
        let server = server();
        enforce(&server, policy("mark", "'by': 'policy'", more.clone())).await;
        let (_, said) = post(&server, CONFIG_MAPS, map("a")).await;
        assert_eq!(said["data"]["by"] == "policy", is_changed, "{more}");
    }
}

#[tokio::test]
async fn variables_are_used_by_later_ones_and_by_mutations() {
    let variables = json!([
        {"name": "name", "expression": "object.metadata.name"},
        {"name": "twice", "expression": "variables.name + variables.name"},
        {"name": "wrong", "expression": "object.none"},
    ]);
    let server = server();
    let mutations = json!([
        mutation("Object{data: {'twice': variables.twice}}"),
        mutation("Object{data: {'seen': object.data.twice}}"),
    ]);
    enforce(&server, policy("v", "", json!({"variables": variables, "mutations": mutations}))).await;
    let (_, said) = post(&server, CONFIG_MAPS, map("a")).await;
    assert_eq!(said["data"], json!({"a": "1", "twice": "aa", "seen": "aa"}), "{said}");
}

#[tokio::test]
async fn policies_see_what_others_did_before_and_once_more_if_they_want() {
    for (reinvoked, expected) in [("Never", "no"), ("IfNeeded", "yes")] {
        let server = server();
        let first = "'seen': has(object.data.second) ? 'yes' : 'no'";
        enforce(&server, policy("1", first, json!({"reinvocationPolicy": reinvoked}))).await;
        enforce(&server, policy("2", "'second': object.data.seen + '!'", json!({}))).await;
        let (_, said) = post(&server, CONFIG_MAPS, map("a")).await;
        assert_eq!(said["data"], json!({"a": "1", "seen": expected, "second": "no!"}), "{reinvoked}");
    }
}

#[tokio::test]
async fn a_policy_that_fails_refuses_or_is_ignored() {
    let json_patch = json!([{"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}]);
    for (more, why) in [
        (json!({"mutations": [mutation("Object{data: {'a': object.none}}")]}), "no such key: none"),
        (
            json!({"variables": [{"name": "v", "expression": "object.none"}],
                "mutations": [mutation("Object{data: {'a': variables.v}}")]}),
            "no such key: v; variables.v: no such key: none",
        ),
        (json!({"mutations": [mutation("Object{data:")]}), "compilation failed"),
        (json!({"mutations": json_patch}), "patchType \"JSONPatch\" is not supported by this server"),
        (json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}), "paramKind is not supported"),
        (json!({"matchConditions": [{"name": "c", "expression": "object.none == 1"}]}), "condition \"c\""),
    ] {
        for (failure_policy, code) in [(Value::Null, 403), (json!("Fail"), 403), (json!("Ignore"), 201)] {
            let server = server();
            let mut policy = policy("p", "'by': 'policy'", more.clone());
            policy["spec"]["failurePolicy"] = failure_policy;
            enforce(&server, policy).await;
            let (said_code, said) = post(&server, CONFIG_MAPS, map("a")).await;
            assert_eq!(said_code, code, "{more}: {said}");
            if code == 403 {
                let message = said["message"].as_str().unwrap();
                assert!(message.starts_with("policy 'p' with binding 'p' denied request: "), "{message}");
                assert!(message.contains(why), "{message}");
                assert_eq!(said["reason"], "Invalid");
            } else {
                assert_eq!(said["data"], json!({"a": "1"}));
            }
        }
    }
}

#[tokio::test]
async fn what_is_owned_as_a_whole_is_not_changed_in_part() {
    let server = server();
    let pods = json!({"resourceRules": [
        {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]});
    let set = |expression: &str| json!({"matchConstraints": pods, "mutations": [mutation(expression)]});
    let tolerations = "Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: 'a'}]}}";
    enforce(&server, policy("p", "", set(tolerations))).await;
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}});
    let (code, said) = post(&server, PODS, pod.clone()).await;
    assert_eq!(code, 403);
    let why = "may not mutate atomic arrays, maps or structs: .spec.tolerations";
    assert!(said["message"].as_str().unwrap().ends_with(why), "{said}");
    // Items that have a name are told apart.
    delete(&server, &format!("{BINDINGS}/p"), Value::Null).await;
    let image = "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', image: 'j:2'}]}}";
    enforce(&server, policy("q", "", set(image))).await;
    let (code, said) = post(&server, PODS, pod).await;
    assert_eq!((code, &said["spec"]["containers"][0]["image"]), (201, &json!("j:2")), "{said}");
    assert_eq!(
        said["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent",
        "defaults come after policies"
    );
}

#[tokio::test]
async fn policies_leave_the_configuration_of_admission_alone() {
    let server = server();
    let all = json!({"matchConstraints": {"resourceRules": [
        {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]},
        "mutations": [mutation("Object{nonsense: object.none}")]});
    enforce(&server, policy("all", "", all)).await;
    assert_eq!(post(&server, CONFIG_MAPS, map("a")).await.0, 403);
    assert_eq!(delete(&server, &format!("{POLICIES}/all"), Value::Null).await.0, 200);
    assert_eq!(post(&server, CONFIG_MAPS, map("a")).await.0, 201);
}
