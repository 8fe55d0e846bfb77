//! `grove manifests` as a user runs it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod group_policy;
mod helm;
mod pod_grouper;
mod pod_policy;
mod pod_security;
mod production;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use grove_api::manifest;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grove"));
    command.arg("manifests").args(arguments).current_dir(root()).output().unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn objects(arguments: &[&str]) -> Vec<Value> {
    manifest::parse(&text(arguments)).unwrap().into_iter().map(|it| it.value).collect()
}

fn kinds(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(|it| it["kind"].as_str().unwrap()).collect()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
    objects.iter().find(|it| it["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// A configuration in a file of its own, which goes with the value.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("grove-manifests-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn configuration(name: &str, more: &str) -> File {
    let head = "apiVersion: operator.config.grove.io/v1alpha1\nkind: OperatorConfiguration\n";
    File::new(name, &format!("{head}{more}"))
}

#[test]
fn the_default_output_is_the_one_that_is_checked_in() {
    let expected = include_str!("default.yaml");
    assert!(text(&["--no-crds"]) == expected, "tests/manifests/default.yaml is old: run `make manifests`");
}

#[test]
fn the_documented_rights_are_the_rights() {
    let page = std::fs::read_to_string(root().join("docs/rights.md")).unwrap();
    assert!(page.ends_with(&text(&["--explain-rights"])), "docs/rights.md is old: run `make manifests`");
}

#[test]
fn objects_come_in_an_order_in_which_they_can_be_applied() {
    let all = objects(&["--service-monitor", "--prometheus-rule", "--dashboards"]);
    let wanted = [
        "Namespace",
        "CustomResourceDefinition",
        "PriorityClass",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "ConfigMap",
        "Service",
        "Deployment",
        "ServiceMonitor",
        "PrometheusRule",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ];
    let mut kinds = kinds(&all);
    assert_eq!(kinds.iter().filter(|it| **it == "CustomResourceDefinition").count(), 7);
    kinds.dedup();
    assert_eq!(kinds, wanted);
}

#[test]
fn every_namespaced_object_says_where_it_belongs() {
    for object in objects(&["--no-crds", "--namespace", "elsewhere"]) {
        let namespaced = [
            "NetworkPolicy",
            "PodDisruptionBudget",
            "ServiceAccount",
            "Role",
            "RoleBinding",
            "ConfigMap",
            "Service",
            "Deployment",
        ]
        .map(Some);
        let wanted =
            if namespaced.contains(&object["kind"].as_str()) { json!("elsewhere") } else { Value::Null };
        assert_eq!(object["metadata"]["namespace"], wanted, "{object}");
    }
}

#[test]
fn what_was_checked_is_what_runs() {
    let config = configuration(
        "verbatim",
        "# why: a comment\nlogLevel: debug\nserver: { webhooks: { port: 4443 } }\n",
    );
    let all = objects(&["--no-crds", "--config", config.path()]);
    let map = of_kind(&all, "ConfigMap");
    assert_eq!(map["data"]["config.yaml"], std::fs::read_to_string(config.path()).unwrap());
    assert_eq!(map["immutable"], true);
    let name = map["metadata"]["name"].as_str().unwrap();
    let pod = &of_kind(&all, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod["volumes"][0]["configMap"]["name"], name);
    assert_eq!(pod["containers"][0]["ports"][0]["containerPort"], 4443);
    let webhook = &of_kind(&all, "ValidatingWebhookConfiguration")["webhooks"][0];
    assert_eq!(webhook["clientConfig"]["service"]["port"], 4443);
    // Another content has another name, so that pods start with it.
    let default = objects(&["--only", "ConfigMap"]);
    assert_ne!(default[0]["metadata"]["name"], name);
    assert!(name.starts_with("grove-operator-cm-") && name.len() == "grove-operator-cm-".len() + 8, "{name}");
}

#[test]
fn parts_that_are_off_are_not_installed() {
    let config = configuration("plain", "leaderElection: { enabled: false }\n");
    let all = objects(&["--no-crds", "--config", config.path()]);
    assert_eq!(of_kind(&all, "Deployment")["spec"]["replicas"], 1);
    let lease = |it: &Value| it["metadata"]["name"].as_str().unwrap().ends_with("-lease");
    assert!(!all.iter().any(lease));
    assert!(!text(&["--no-crds"]).contains("authorizer"));

    let config = configuration("authorizer", "authorizer: { enabled: true }\n");
    let all = objects(&["--no-crds", "--config", config.path()]);
    assert_eq!(kinds(&all).iter().filter(|it| **it == "ValidatingWebhookConfiguration").count(), 5);
}

#[test]
fn a_certificate_from_elsewhere_is_mounted_and_needs_no_rights() {
    let config =
        configuration("manual", "server: { webhooks: { certProvisionMode: manual, secretName: mine } }\n");
    let bundle = File::new("ca", "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n");
    let arguments = ["--no-crds", "--config", config.path(), "--ca-bundle", bundle.path()];
    let all = objects(&[&arguments[..], &["--webhook-annotation", "example.com/inject=ns/cert"]].concat());
    assert!(!kinds(&all).contains(&"Role"));
    let pod = &of_kind(&all, "Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod["volumes"][1]["secret"]["secretName"], "mine");
    assert_eq!(pod["containers"][0]["volumeMounts"][1]["mountPath"], "/etc/grove-operator/webhook-certs");
    let webhooks = of_kind(&all, "MutatingWebhookConfiguration");
    assert_eq!(webhooks["metadata"]["annotations"], json!({ "example.com/inject": "ns/cert" }));
    let authority = webhooks["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap();
    assert!(authority.starts_with("LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"), "{authority}");
}

#[test]
fn an_operator_elsewhere_gets_an_account_and_is_called_there() {
    let all = objects(&["--no-crds", "--webhook-url", "https://127.0.0.1:9443/"]);
    for kind in
        ["ConfigMap", "Service", "Deployment", "PriorityClass", "PodDisruptionBudget", "NetworkPolicy"]
    {
        assert!(!kinds(&all).contains(&kind), "{kind}");
    }
    of_kind(&all, "ServiceAccount");
    let client = &of_kind(&all, "ValidatingWebhookConfiguration")["webhooks"][0]["clientConfig"];
    assert_eq!(*client, json!({ "url": "https://127.0.0.1:9443/webhooks/validate-podcliqueset" }));
}

#[test]
fn kinds_can_be_chosen() {
    let roles = ["ClusterRole", "ClusterRole", "ClusterRole", "Role", "Role"];
    assert_eq!(kinds(&objects(&["--only", "clusterrole,ROLE"])), roles);
    assert!(!kinds(&objects(&["--no-crds", "--no-namespace"])).contains(&"Namespace"));
}

#[test]
fn a_wrong_configuration_is_told_as_config_check_tells_it() {
    let config =
        configuration("wrong", "logLevel: loud\nleaderElection: { enabled: true, leaseDuration: 1s }\n");
    let output = run(&["--config", config.path()]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    let check =
        Command::new(env!("CARGO_BIN_EXE_grove")).args(["config", "check", config.path()]).output().unwrap();
    assert_eq!(stderr(&output), str::from_utf8(&check.stdout).unwrap());
    assert!(stderr(&output).contains("logLevel: "), "{}", stderr(&output));
}

#[test]
fn arguments_that_cannot_be_used_are_told_and_nothing_is_printed() {
    let loopback = configuration("loopback", "server: { webhooks: { bindAddress: 127.0.0.1 } }\n");
    let alone = configuration("alone", "leaderElection: { enabled: false }\n");
    let manual = configuration("no-pem", "server: { webhooks: { certProvisionMode: manual } }\n");
    let cases: &[(&[&str], &str)] = &[
        (&["--namespace", "Grove"], "is not a name for a namespace"),
        (&["--image", ""], "--image \"\": is not an image"),
        (&["--init-image", "a b"], "--init-image \"a b\": is not an image"),
        (&["--replicas", "x"], "invalid value 'x' for '--replicas"),
        (
            &["--config", alone.path(), "--replicas", "2"],
            "without leader election all of them would work at once",
        ),
        (&["--config", "no-such-file.yaml"], "no-such-file.yaml"),
        (
            &["--config", loopback.path()],
            "server.webhooks.bindAddress \"127.0.0.1\": in a pod nobody can reach",
        ),
        (&["--webhook-url", "http://a"], "must begin with https://"),
        (&["--webhook-url", "https://a", "--replicas", "1"], "cannot be used with"),
        (&["--webhook-url", "https://a", "--only", "Deployment"], "no object of the chosen kinds"),
        (&["--ca-bundle", "Cargo.toml"], "certProvisionMode is auto"),
        (&["--config", manual.path(), "--ca-bundle", "Cargo.toml"], "must hold certificates in PEM"),
        (&["--config", manual.path(), "--webhook-annotation", "x"], "is not KEY=VALUE"),
        (&["--webhook-annotation", "a=b"], "certProvisionMode is auto"),
        (&["--toleration", "a:Never"], "the effect must be NoSchedule"),
        (&["--limit", "memory=lots"], "--limit memory=lots: \"lots\" is not an amount"),
        (&["--node-selector", "pool"], "--node-selector \"pool\": is not KEY=VALUE"),
        (&["--api-server-cidr", "192.0.2.1"], "is not a CIDR"),
        (&["--service-monitor-label", "a=b"], "--service-monitor"),
        (&["--prometheus-rule-label", "a=b"], "--prometheus-rule"),
        (&["--only", "Pod"], "invalid value 'Pod' for '--only"),
    ];
    for (arguments, wanted) in cases {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{arguments:?}");
        assert!(stderr(&output).contains(wanted), "{arguments:?}: {}", stderr(&output));
    }
}
