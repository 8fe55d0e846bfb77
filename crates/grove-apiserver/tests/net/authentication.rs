//! Who gets in.

use serde_json::{Value, json};

use crate::support::{ADMIN, CONFIG_MAPS, JANE, Setup, Stage, config_map, read, request};
use bytes::Bytes;
use http_body_util::Full;

#[tokio::test]
async fn without_valid_credentials_nothing_is_answered() {
    let stage = Stage::plain().await;
    let unauthorized = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401,
    });
    for path in [CONFIG_MAPS, "/version", "/healthz", "/openapi/v3", "/nonsense"] {
        assert_eq!(stage.get("", path).await, (401, unauthorized.clone()), "{path}");
    }
    for header in
        ["Bearer wrong", "Bearer ", "Bearer", "Basic YWRtaW46YWRtaW4=", "admin-token", "Bearer a.b.c"]
    {
        let request = request("GET", "/version", "").header("authorization", header);
        let (code, _) = read(stage.send(request.body(Full::<Bytes>::default()).unwrap()).await).await;
        assert_eq!(code, 401, "{header}");
    }
    assert_eq!(stage.get(ADMIN, "/version").await.0, 200);
}

#[tokio::test]
async fn anonymous_requests_are_let_in_only_if_wanted_and_never_with_a_wrong_token() {
    let stage = Stage::new(Setup { anonymous: true, ..Setup::default() }).await;
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (code, said) = stage.ask("", "POST", path, json!({})).await;
    let expected = json!({"username": "system:anonymous", "groups": ["system:unauthenticated"]});
    assert_eq!((code, &said["status"]["userInfo"]), (201, &expected));
    assert_eq!(stage.ask("wrong", "POST", path, json!({})).await.0, 401);
}

#[tokio::test]
async fn service_accounts_get_tokens_that_last_as_long_as_they() {
    let stage = Stage::plain().await;
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = stage.create(accounts, json!({"metadata": {"name": "builder"}})).await;
    let said =
        stage.create(&format!("{accounts}/builder/token"), json!({"spec": {"expirationSeconds": 600}})).await;
    assert_eq!(said["kind"], "TokenRequest");
    let token = said["status"]["token"].as_str().unwrap().to_owned();
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let (_, said) = stage.ask(&token, "POST", path, json!({})).await;
    let expected = json!({
        "username": "system:serviceaccount:default:builder", "uid": account["metadata"]["uid"],
        "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
    });
    assert_eq!(said["status"]["userInfo"], expected);

    let mut forged = token.clone();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(last);
    let (head, signature) = token.rsplit_once('.').unwrap();
    for wrong in [&forged, &head.to_owned(), &format!("{head}x.{signature}")] {
        assert_eq!(stage.get(wrong, "/version").await.0, 401, "{wrong}");
    }
    for (seconds, code) in [(599, 422), (600, 201), (1_i64 << 33, 422)] {
        let body = json!({"spec": {"expirationSeconds": seconds}});
        assert_eq!(stage.ask(ADMIN, "POST", &format!("{accounts}/builder/token"), body).await.0, code);
    }
    // For somebody else, so not for us.
    let body = json!({"spec": {"audiences": ["vault"]}});
    let other = stage.create(&format!("{accounts}/builder/token"), body).await;
    assert_eq!(stage.get(other["status"]["token"].as_str().unwrap(), "/version").await.0, 401);
    assert_eq!(stage.ask(ADMIN, "POST", &format!("{accounts}/nobody/token"), json!({})).await.0, 404);

    // An account of the same name is another account.
    assert_eq!(stage.ask(ADMIN, "DELETE", &format!("{accounts}/builder"), Value::Null).await.0, 200);
    assert_eq!(stage.get(&token, "/version").await.0, 401);
    stage.create(accounts, json!({"metadata": {"name": "builder"}})).await;
    assert_eq!(stage.get(&token, "/version").await.0, 401);
}

#[tokio::test]
async fn impersonation() {
    let stage =
        Stage::new(Setup { authorization: grove_apiserver::Authorization::Rbac, ..Setup::default() }).await;
    stage.create(CONFIG_MAPS, config_map("a")).await;
    let send = async |token: &str, headers: &[(&str, &str)]| {
        let mut request = request("GET", &format!("{CONFIG_MAPS}/a"), token);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        read(stage.send(request.body(Full::<Bytes>::default()).unwrap()).await).await
    };
    assert_eq!(send(ADMIN, &[]).await.0, 200);
    let (code, said) = send(ADMIN, &[("impersonate-user", "jane")]).await;
    let expected = r#"configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "default""#;
    assert_eq!((code, &said["message"]), (403, &json!(expected)));
    let as_master = [("impersonate-user", "jane"), ("impersonate-group", "system:masters")];
    assert_eq!(send(ADMIN, &as_master).await.0, 200);
    let (code, said) = send(JANE, &as_master).await;
    let expected = r#"users "jane" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope"#;
    assert_eq!((code, &said["message"]), (403, &json!(expected)));
    assert_eq!(send(ADMIN, &[("impersonate-group", "dev")]).await.0, 400);
}
