//! The roles that every cluster with RBAC has.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::server::ApiServer;
use crate::write::{Action, WriteRequest};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Creates the cluster roles that every cluster with RBAC has, with their bindings: administrators of the group
/// `system:masters`, discovery and reviews for everybody who is known, health and version for everybody.
///
/// Roles that are there already stay as they are.
pub fn bootstrap_roles(server: &ApiServer) -> Result<(), Failure> {
    let discovery = [
        "/api",
        "/api/*",
        "/apis",
        "/apis/*",
        "/healthz",
        "/livez",
        "/openapi",
        "/openapi/*",
        "/readyz",
        "/version",
        "/version/",
    ];
    let health = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
    let paths = |paths: &[&str]| json!({"nonResourceURLs": paths, "verbs": ["get"]});
    let create = |group: &str, resources: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": ["create"]});
    let everything = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
    let every_path = json!({"nonResourceURLs": ["*"], "verbs": ["*"]});
    let own_rights = create("authorization.k8s.io", &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]);
    let own_name = create("authentication.k8s.io", &["selfsubjectreviews"]);
    let known = &["system:authenticated"][..];
    for (name, rules, groups) in [
        ("cluster-admin", vec![everything, every_path], &["system:masters"][..]),
        ("system:discovery", vec![paths(&discovery)], known),
        ("system:basic-user", vec![own_rights, own_name], known),
        (
            "system:public-info-viewer",
            vec![paths(&health)],
            &["system:authenticated", "system:unauthenticated"],
        ),
    ] {
        let labels = json!({"kubernetes.io/bootstrapping": "rbac-defaults"});
        let metadata = json!({"name": name, "labels": labels});
        ensure(server, "clusterroles", json!({"metadata": metadata, "rules": rules}))?;
        let subjects: Vec<Value> =
            groups.iter().map(|it| json!({"kind": "Group", "apiGroup": GROUP, "name": it})).collect();
        let role = json!({"apiGroup": GROUP, "kind": "ClusterRole", "name": name});
        let binding = json!({"metadata": metadata, "roleRef": role, "subjects": subjects});
        ensure(server, "clusterrolebindings", binding)?;
    }
    Ok(())
}

fn ensure(server: &ApiServer, plural: &str, object: Value) -> Result<(), Failure> {
    let resources = server.resources();
    let Some(resource) = resources.by_id(&format!("{plural}.{GROUP}")) else {
        return Err(Failure::no_such_resource());
    };
    let request = WriteRequest {
        resource: Arc::clone(resource),
        namespace: String::new(),
        name: String::new(),
        subresource: None,
        manager: "kube-apiserver".to_owned(),
        dry_run: false,
        action: Action::Create(object),
    };
    match server.write(request) {
        Err(failure) if failure.reason != "AlreadyExists" => Err(failure),
        _ => Ok(()),
    }
}
