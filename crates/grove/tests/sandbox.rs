//! `grove sandbox` as a user runs it, on an API server of its own.

#![cfg(feature = "sandbox")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod without_cluster;

use std::{path::Path, process::Command};

use grove_apiserver::{
    ApiServer, Authentication, Authorization, Resources, ServeOptions, ServerHandle, serve,
};
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    jiff::Timestamp,
};
use kube::{Api, Client, ResourceExt, api::PostParams};
use serde_json::json;
use tokio::net::TcpListener;

/// A server with a simulated node and a real one, each with a pod, and a kubeconfig for it.
struct Stage {
    client: Client,
    handle: ServerHandle,
    kubeconfig: String,
}

impl Stage {
    async fn new(name: &str) -> Self {
        let server = ApiServer::new(Resources::kubernetes(), Timestamp::now, 7);
        let client = Client::new(server.service(), "default");
        for (name, provider) in [("sim", "sandbox://sim"), ("real", "aws:///i-0")] {
            let node = json!({ "metadata": { "name": name }, "spec": { "providerID": provider } });
            let node: Node = serde_json::from_value(node).unwrap();
            Api::all(client.clone()).create(&PostParams::default(), &node).await.unwrap();
            let pod = json!({
                "metadata": { "name": format!("on-{name}") },
                "spec": { "containers": [{ "name": "a", "image": "x" }], "nodeName": name },
            });
            let pod: Pod = serde_json::from_value(pod).unwrap();
            Api::default_namespaced(client.clone()).create(&PostParams::default(), &pod).await.unwrap();
        }
        let options = ServeOptions {
            authentication: Authentication::anonymous(),
            authorization: Authorization::AlwaysAllow,
            ..ServeOptions::default()
        };
        let handle = serve(TcpListener::bind("127.0.0.1:0").await.unwrap(), server, options).unwrap();
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
             clusters: [{{ name: c, cluster: {{ server: 'http://{}' }} }}]\n\
             users: [{{ name: u, user: {{}} }}]\n\
             contexts: [{{ name: here, context: {{ cluster: c, user: u }} }}]\n",
            handle.address()
        );
        std::fs::write(&file, text).unwrap();
        Self { client, handle, kubeconfig: file.display().to_string() }
    }

    /// Exit code, stdout and stderr.
    async fn grove(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_grove"));
        command.arg("sandbox").args(arguments).args(["--kubeconfig", &self.kubeconfig]);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    async fn annotation_of_node(&self, name: &str) -> Option<String> {
        let node = Api::<Node>::all(self.client.clone()).get(name).await.unwrap();
        node.annotations().get("sandbox.grove.io/lost").cloned()
    }
}

#[tokio::test]
async fn a_node_is_lost_and_returns() {
    let stage = Stage::new("sandbox-node").await;
    let (code, text, errors) = stage.grove(&["node", "lose", "sim"]).await;
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(text.starts_with("the kubelet of node sim is silent"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert_eq!(stage.annotation_of_node("sim").await.as_deref(), Some("true"));
    assert_eq!(stage.grove(&["node", "return", "sim"]).await.0, Some(0));
    assert_eq!(stage.annotation_of_node("sim").await, None);
    stage.handle.shutdown().await;
}

#[tokio::test]
async fn what_is_not_simulated_is_not_touched() {
    let stage = Stage::new("sandbox-real").await;
    let server = format!("http://{}/", stage.handle.address());
    for arguments in [["node", "lose", "real"], ["node", "drain", "real"], ["pod", "crash", "on-real"]] {
        let (code, text, errors) = stage.grove(&arguments).await;
        assert_eq!((code, text.as_str()), (Some(1), ""), "{errors}");
        assert!(errors.contains("node real") && errors.contains(&server), "{errors}");
        assert!(errors.contains("is not simulated") && errors.contains("nothing was changed"), "{errors}");
    }
    assert_eq!(stage.annotation_of_node("real").await, None);
    stage.handle.shutdown().await;
}

#[tokio::test]
async fn a_pod_fails_with_an_exit_code_and_misspelt_names_have_a_hint() {
    let stage = Stage::new("sandbox-pod").await;
    let (code, text, _) = stage.grove(&["pod", "fail", "on-sim", "--exit-code", "137"]).await;
    assert_eq!(code, Some(0));
    assert!(text.starts_with("pod on-sim ends with exit code 137"), "{text}");
    let (code, _, errors) = stage.grove(&["pod", "fail", "on-sin", "-n", "default"]).await;
    assert_eq!(code, Some(1));
    assert!(errors.contains("did you mean \"on-sim\"?"), "{errors}");
    stage.handle.shutdown().await;
}

#[test]
fn every_command_takes_a_name_and_needs_a_cluster() {
    let rows: [&[&str]; 9] = [
        &["node", "lose", "n"],
        &["node", "return", "n"],
        &["node", "cordon", "n"],
        &["node", "uncordon", "n"],
        &["node", "drain", "n"],
        &["pod", "fail", "p", "--exit-code", "3"],
        &["pod", "crash", "p", "-n", "ml"],
        &["pod", "unready", "p"],
        &["pod", "ready", "p"],
    ];
    for row in rows {
        let (code, text) = without_cluster::grove("sandbox", row);
        assert_eq!(code, Some(2), "{row:?}: {text}");
        assert!(text.starts_with("grove: no usable kubeconfig: "), "{row:?}: {text}");
    }
}

#[test]
fn arguments_that_cannot_be_used() {
    let rows: [&[&str]; 6] = [
        &[],
        &["node"],
        &["node", "lose"],
        &["node", "lose", "a/b"],
        &["pod", "fail", "p", "--exit-code", "300"],
        &["pod", "crash", "p", "--exit-code", "1"],
    ];
    for row in rows {
        let (code, text) = without_cluster::grove("sandbox", row);
        assert_eq!(code, Some(2), "{row:?}");
        assert!(!text.contains("no usable kubeconfig"), "{row:?}: {text}");
    }
}
