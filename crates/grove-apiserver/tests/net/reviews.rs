//! Questions about users and their rights.

use grove_apiserver::{Authorization, bootstrap_roles};
use serde_json::{Value, json};

use crate::support::{ADMIN, JANE, Setup, Stage};

const AUTHORIZATION: &str = "/apis/authorization.k8s.io/v1";

async fn stage(authorization: Authorization) -> Stage {
    let stage = Stage::new(Setup { authorization, ..Setup::default() }).await;
    bootstrap_roles(&stage.server).unwrap();
    let group = "rbac.authorization.k8s.io";
    let role = json!({"metadata": {"name": "reader"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    stage.create(&format!("/apis/{group}/v1/namespaces/default/roles"), role).await;
    let binding = json!({
        "metadata": {"name": "reader"}, "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"},
        "subjects": [{"apiGroup": group, "kind": "Group", "name": "dev"}],
    });
    stage.create(&format!("/apis/{group}/v1/namespaces/default/rolebindings"), binding).await;
    stage
}

fn on_pods(verb: &str, namespace: &str) -> Value {
    json!({"resourceAttributes": {"verb": verb, "resource": "pods", "namespace": namespace}})
}

#[tokio::test]
async fn access_reviews() {
    let stage = stage(Authorization::Rbac).await;
    let mine = format!("{AUTHORIZATION}/selfsubjectaccessreviews");
    for (spec, allowed) in [
        (on_pods("get", "default"), true),
        (on_pods("list", "default"), false),
        (on_pods("get", "kube-system"), false),
        (json!({"nonResourceAttributes": {"verb": "get", "path": "/version"}}), true),
        (json!({"nonResourceAttributes": {"verb": "get", "path": "/metrics"}}), false),
    ] {
        let (code, said) = stage.ask(JANE, "POST", &mine, json!({"spec": spec})).await;
        assert_eq!((code, &said["status"]), (201, &json!({"allowed": allowed})), "{spec}");
        assert_eq!(said["spec"], spec);
    }
    let theirs = format!("{AUTHORIZATION}/subjectaccessreviews");
    let of = |user: &str, groups: Value| {
        let mut spec = on_pods("get", "default");
        (spec["user"], spec["groups"]) = (user.into(), groups);
        json!({"spec": spec})
    };
    for (body, allowed) in [
        (of("x", json!(["dev"])), true),
        (of("dev", json!([])), false),
        (of("x", json!(["system:masters"])), true),
    ] {
        let (code, said) = stage.ask(ADMIN, "POST", &theirs, body.clone()).await;
        assert_eq!((code, &said["status"]["allowed"]), (201, &json!(allowed)), "{body}");
    }
    assert_eq!(
        stage.ask(JANE, "POST", &theirs, of("x", json!([]))).await.0,
        403,
        "others are none of her business"
    );
    assert_eq!(stage.ask(ADMIN, "POST", &theirs, of("", json!([]))).await.0, 422);
    assert_eq!(stage.ask(JANE, "POST", &mine, json!({"spec": {}})).await.0, 422);
    assert_eq!(stage.ask(JANE, "POST", &mine, json!({"kind": "Pod"})).await.0, 400);
    assert_eq!(stage.ask(ADMIN, "GET", &mine, Value::Null).await.0, 405);
}

#[tokio::test]
async fn rules_reviews() {
    let path = format!("{AUTHORIZATION}/selfsubjectrulesreviews");
    let body = json!({"spec": {"namespace": "default"}});
    let strict = stage(Authorization::Rbac).await;
    let (_, said) = strict.ask(JANE, "POST", &path, body.clone()).await;
    let rules = said["status"]["resourceRules"].as_array().unwrap();
    assert!(rules.contains(&json!({"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]})), "{said}");
    let (_, said) = strict.ask(JANE, "POST", &path, json!({"spec": {"namespace": "kube-system"}})).await;
    assert!(!said["status"].to_string().contains("pods"), "{said}");
    assert_eq!(strict.ask(JANE, "POST", &path, json!({})).await.0, 400);
    let everything = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
    let open = stage(Authorization::AlwaysAllow).await;
    assert_eq!(open.ask(JANE, "POST", &path, body).await.1["status"]["resourceRules"], everything);
}

#[tokio::test]
async fn token_reviews() {
    let stage = stage(Authorization::AlwaysAllow).await;
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let (_, said) = stage.ask(ADMIN, "POST", path, json!({"spec": {"token": JANE}})).await;
    let user = json!({"username": "jane", "groups": ["dev", "system:authenticated"]});
    assert_eq!(said["status"], json!({"authenticated": true, "user": user}));
    let (_, said) = stage.ask(ADMIN, "POST", path, json!({"spec": {"token": "wrong"}})).await;
    assert_eq!(said["status"]["authenticated"], Value::Null);
}
