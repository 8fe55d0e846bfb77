//! Role-based access control.

use grove_apiserver::{Authorization, bootstrap_roles};
use serde_json::{Value, json};

use crate::support::{ADMIN, JANE, Setup, Stage};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";

async fn stage() -> Stage {
    Stage::new(Setup { authorization: Authorization::Rbac, ..Setup::default() }).await
}

fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
    json!({"apiGroups": groups, "resources": resources, "verbs": verbs})
}

fn subject(kind: &str, name: &str) -> Value {
    json!({"kind": kind, "name": name, "namespace": if kind == "ServiceAccount" { "default" } else { "" }})
}

fn binding(kind: &str, role: &str, subject: Value) -> Value {
    let role_ref = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role});
    json!({"metadata": {"generateName": "b-"}, "roleRef": role_ref, "subjects": [subject]})
}

impl Stage {
    async fn cluster_role(&self, name: &str, labels: Value, rules: Value) {
        let role = json!({"metadata": {"name": name, "labels": labels}, "rules": rules});
        self.create(&format!("{RBAC}/clusterroles"), role).await;
    }

    async fn bind_cluster(&self, role: &str, subject: Value) {
        self.create(&format!("{RBAC}/clusterrolebindings"), binding("ClusterRole", role, subject)).await;
    }

    /// Whether a user is let through: whatever comes after is no refusal.
    async fn may(&self, token: &str, method: &str, path: &str) -> bool {
        let body = if method == "GET" { Value::Null } else { json!({}) };
        self.ask(token, method, path, body).await.0 != 403
    }
}

#[tokio::test]
async fn nothing_is_allowed_that_no_rule_allows() {
    let stage = stage().await;
    for (method, path) in [
        ("GET", "/api/v1/pods"),
        ("GET", "/version"),
        ("GET", "/nonsense"),
        ("POST", "/api/v1/namespaces/default/pods/a/binding"),
        ("OPTIONS", "/api/v1/pods"),
        ("GET", "/apis/example.com/v1/namespaces/default/nothings"),
    ] {
        assert!(!stage.may(JANE, method, path).await, "{method} {path}");
        assert!(stage.may(ADMIN, method, path).await, "{method} {path}");
    }
}

#[tokio::test]
async fn rules() {
    let configmaps = "/api/v1/namespaces/default/configmaps";
    let pods = "/api/v1/namespaces/default/pods";
    let widgets = "/apis/example.com/v1/namespaces/default/widgets";
    for (rules, method, path, expected) in [
        (json!([rule(&[""], &["pods"], &["list"])]), "GET", pods, true),
        (json!([rule(&[""], &["pods"], &["list"])]), "GET", "/api/v1/pods", true),
        (json!([rule(&[""], &["pods"], &["list"])]), "GET", &format!("{pods}/a"), false),
        (json!([rule(&[""], &["pods"], &["list"])]), "GET", &format!("{pods}?watch=true"), false),
        (json!([rule(&[""], &["pods"], &["list"])]), "GET", configmaps, false),
        (json!([rule(&["apps"], &["pods"], &["list"])]), "GET", pods, false),
        (json!([rule(&["*"], &["*"], &["*"])]), "GET", pods, true),
        (json!([rule(&["*"], &["*"], &["*"])]), "GET", "/version", false),
        (
            json!([rule(&["example.com"], &["widgets/status"], &["get"])]),
            "GET",
            &format!("{widgets}/a/status"),
            true,
        ),
        (
            json!([rule(&["example.com"], &["widgets"], &["get"])]),
            "GET",
            &format!("{widgets}/a/status"),
            false,
        ),
        (
            json!([rule(&["example.com"], &["widgets/status"], &["get"])]),
            "GET",
            &format!("{widgets}/a"),
            false,
        ),
        (json!([rule(&["*"], &["*/scale"], &["get"])]), "GET", &format!("{widgets}/a/scale"), true),
        (json!([rule(&["*"], &["*/scale"], &["get"])]), "GET", &format!("{widgets}/a/status"), false),
        (json!([rule(&[""], &["pods/binding"], &["create"])]), "POST", &format!("{pods}/a/binding"), true),
        (json!([rule(&[""], &["pods"], &["create"])]), "POST", &format!("{pods}/a/binding"), false),
        (json!([]), "GET", pods, false),
        (json!([{"nonResourceURLs": ["/version"], "verbs": ["get"]}]), "GET", "/version", true),
        (json!([{"nonResourceURLs": ["/openapi/*"], "verbs": ["get"]}]), "GET", "/openapi/v3", true),
        (json!([{"nonResourceURLs": ["/openapi/*"], "verbs": ["get"]}]), "GET", "/openapi", false),
        (json!([{"nonResourceURLs": ["*"], "verbs": ["get"]}]), "GET", "/metrics", true),
        (json!([{"nonResourceURLs": ["*"], "verbs": ["get"]}]), "GET", pods, false),
    ] {
        let stage = stage().await;
        stage.cluster_role("role", json!({}), rules.clone()).await;
        stage.bind_cluster("role", subject("User", "jane")).await;
        assert_eq!(stage.may(JANE, method, path).await, expected, "{rules} {method} {path}");
    }
}

#[tokio::test]
async fn names_of_objects() {
    let stage = stage().await;
    let mut named =
        rule(&[""], &["configmaps"], &["get", "list", "watch", "create", "delete", "deletecollection"]);
    named["resourceNames"] = json!(["a"]);
    stage.cluster_role("role", json!({}), json!([named])).await;
    stage.bind_cluster("role", subject("User", "jane")).await;
    let path = "/api/v1/namespaces/default/configmaps";
    assert!(stage.may(JANE, "GET", &format!("{path}/a")).await);
    assert!(!stage.may(JANE, "GET", &format!("{path}/b")).await);
    assert!(!stage.may(JANE, "GET", path).await);
    assert!(stage.may(JANE, "GET", &format!("{path}?fieldSelector=metadata.name%3Da")).await);
    assert!(!stage.may(JANE, "GET", &format!("{path}?fieldSelector=metadata.name%3Db")).await);
    assert!(!stage.may(JANE, "POST", path).await, "the name of a new object is not known yet");
    assert!(!stage.may(JANE, "DELETE", path).await);
}

#[tokio::test]
async fn subjects_and_namespaces() {
    let stage = stage().await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    stage.create(accounts, json!({"metadata": {"name": "builder"}})).await;
    let said = stage.create(&format!("{accounts}/builder/token"), json!({})).await;
    let builder = said["status"]["token"].as_str().unwrap();
    let rules = json!([rule(&[""], &["configmaps"], &["list"]), rule(&[""], &["namespaces"], &["get"])]);
    stage.cluster_role("reader", json!({}), rules.clone()).await;
    stage
        .create(
            &format!("{RBAC}/namespaces/kube-system/roles"),
            json!({"metadata": {"name": "reader"}, "rules": rules}),
        )
        .await;
    let bind = async |namespace: &str, kind: &str, subject: Value| {
        let path = format!("{RBAC}/namespaces/{namespace}/rolebindings");
        stage.create(&path, binding(kind, "reader", subject)).await;
    };
    bind("default", "ClusterRole", subject("Group", "dev")).await;
    bind("default", "Role", subject("User", "nobody")).await;
    bind("kube-system", "Role", subject("ServiceAccount", "builder")).await;
    let list = |namespace: &str| format!("/api/v1/namespaces/{namespace}/configmaps");
    for (token, path, expected) in [
        (JANE, list("default"), true),
        (JANE, list("kube-system"), false),
        (JANE, "/api/v1/configmaps".to_owned(), false),
        (JANE, "/api/v1/namespaces/default".to_owned(), true),
        (JANE, "/api/v1/namespaces/kube-system".to_owned(), false),
        (builder, list("kube-system"), true),
        (builder, list("default"), false),
    ] {
        assert_eq!(stage.may(token, "GET", &path).await, expected, "{path}");
    }
}

#[tokio::test]
async fn cluster_roles_aggregate_others_by_their_labels() {
    let stage = stage().await;
    let aggregate = |selectors: Value, name: &str, labels: Value| json!({"metadata": {"name": name, "labels": labels}, "aggregationRule": {"clusterRoleSelectors": selectors}});
    let path = format!("{RBAC}/clusterroles");
    let inner = aggregate(json!([{"matchLabels": {"to": "inner"}}]), "inner", json!({"to": "outer"}));
    stage.create(&path, inner).await;
    let expressions = json!([{"key": "to", "operator": "In", "values": ["outer"]}]);
    stage.create(&path, aggregate(json!([{"matchExpressions": expressions}]), "outer", json!({}))).await;
    // Two that aggregate each other end all the same.
    stage
        .create(&path, aggregate(json!([{"matchLabels": {"to": "round"}}]), "round", json!({"to": "outer"})))
        .await;
    stage
        .create(&path, aggregate(json!([{"matchLabels": {"to": "outer"}}]), "back", json!({"to": "round"})))
        .await;
    stage.bind_cluster("outer", subject("User", "jane")).await;
    assert!(!stage.may(JANE, "GET", "/api/v1/nodes").await);
    stage.cluster_role("nodes", json!({"to": "inner"}), json!([rule(&[""], &["nodes"], &["list"])])).await;
    assert!(stage.may(JANE, "GET", "/api/v1/nodes").await);
    assert!(!stage.may(JANE, "GET", "/api/v1/pods").await);
}

#[tokio::test]
async fn the_roles_that_every_cluster_has() {
    let stage =
        Stage::new(Setup { authorization: Authorization::Rbac, anonymous: true, ..Setup::default() }).await;
    bootstrap_roles(&stage.server).unwrap();
    bootstrap_roles(&stage.server).unwrap();
    for (token, path, expected) in [
        (JANE, "/apis", true),
        (JANE, "/openapi/v3", true),
        (JANE, "/metrics", false),
        (JANE, "/api/v1/pods", false),
        ("", "/healthz", true),
        ("", "/version", true),
        ("", "/apis", false),
    ] {
        assert_eq!(stage.may(token, "GET", path).await, expected, "{path}");
    }
}
