//! What helm renders of the chart is what `grove manifests` prints with equal arguments. `make chart-check` runs these; helm
//! comes from `make cluster-bin`, or from the variable `HELM`.

mod cases;

use std::collections::BTreeMap;
use std::process::{Command, Output};

use grove_api::manifest;
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use self::cases::CASES;
use super::{File, objects, of_kind, root};

const NAMESPACE: &str = "gang-system";
const PEM: &str = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n";

fn helm(arguments: &[&str]) -> Output {
    let program =
        std::env::var_os("HELM").unwrap_or_else(|| panic!("HELM names the program: make chart-check"));
    Command::new(program).args(arguments).current_dir(root()).output().unwrap()
}

fn template(name: &str, values: &str) -> Output {
    let file = File::new(&format!("helm-{name}.yaml"), values);
    let fixed = ["template", "grove", "charts/grove", "--kube-version", "1.37.0", "--namespace", NAMESPACE];
    helm(&[&fixed[..], &["--values", file.path()]].concat())
}

fn rendered(name: &str, values: &str) -> Vec<Value> {
    let output = template(name, values);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {told}");
    let text = String::from_utf8(output.stdout).unwrap();
    manifest::parse(&text).unwrap().into_iter().map(|it| it.value).filter(|it| !it.is_null()).collect()
}

/// Objects by kind, namespace and name, without what only one side can say.
fn by_name(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for mut object in objects {
        let metadata = &object["metadata"];
        let name = format!("{} {} {}", object["kind"], metadata["namespace"], metadata["name"]);
        // CRDs stay when a release is uninstalled; kubectl knows no such thing.
        if let Some(annotations) = object["metadata"].get_mut("annotations").and_then(Value::as_object_mut) {
            annotations.remove("helm.sh/resource-policy");
            if annotations.is_empty() {
                object["metadata"].as_object_mut().unwrap().remove("annotations");
            }
        }
        // Their order is that of the profiles on one side; it means nothing.
        if let Some(rules) = object.get_mut("rules").and_then(Value::as_array_mut) {
            rules.sort_by_key(Value::to_string);
        }
        sort_keys(&mut object);
        assert!(all.insert(name.clone(), object).is_none(), "{name} is there twice");
    }
    all
}

fn sort_keys(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.sort_keys();
            map.values_mut().for_each(sort_keys);
        }
        Value::Array(list) => list.iter_mut().for_each(sort_keys),
        _ => {}
    }
}

#[test]
#[ignore = "needs helm: make chart-check"]
fn helm_renders_what_grove_manifests_prints() {
    let pem = File::new("helm-ca.pem", PEM);
    for case in CASES {
        let chart = rendered(case.name, case.values);
        let text = of_kind(&chart, "ConfigMap")["data"]["config.yaml"].as_str().unwrap();
        let config = manifest::parse(text).unwrap().remove(0).value;
        for (pointer, wanted) in case.config {
            let wanted: Value = serde_json::from_str(wanted).unwrap();
            assert_eq!(config.pointer(pointer).unwrap_or(&Value::Null), &wanted, "{}: {pointer}", case.name);
        }
        // The arguments are equal if the file is: its name in the cluster is a hash of it.
        let file = File::new(&format!("helm-config-{}", case.name), text);
        let fixed = ["--no-namespace", "--namespace", NAMESPACE];
        let own = ["--config", file.path()];
        let given: Vec<&str> =
            case.arguments.iter().map(|it| if *it == "@pem@" { pem.path() } else { it }).collect();
        let mut wanted = by_name(objects(&[&fixed[..], &own, &given].concat()));
        if let Some(arguments) = case.grouper {
            wanted.extend(by_name(objects(&[&fixed[..], &["--pod-grouper"], arguments].concat())));
        }
        let chart = by_name(chart);
        let names = |it: &BTreeMap<String, Value>| it.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&chart), names(&wanted), "{}", case.name);
        for (name, wanted) in &wanted {
            let found = &chart[name];
            assert!(found == wanted, "{}: {name}\nhelm:      {found}\nmanifests: {wanted}", case.name);
        }
    }
}

/// What upstream's chart has and `grove manifests` has no argument for.
#[test]
#[ignore = "needs helm: make chart-check"]
fn upstreams_names_labels_and_annotations_are_rendered() {
    let chart = rendered(
        "names",
        "serviceAccount: { name: account, automount: true, labels: { a: account } }\n\
         clusterRole: { name: role, labels: { a: role } }\nclusterRoleBinding: { name: binding, labels: { a: binding } }\n\
         leaseRole: { name: lease, labels: { a: lease } }\nleaseRoleBinding: { name: lease-binding, labels: { a: lease-binding } }\n\
         configMap: { labels: { a: config } }\ndeployment: { labels: { a: deployment, app.kubernetes.io/name: x }, env: [{ name: E, value: e }] }\n\
         service: { name: front, type: NodePort, labels: { a: service, app.kubernetes.io/part-of: mine }, annotations: { b: c } }\n\
         metrics: { serviceMonitor: { enabled: true, name: monitor } }\npriorityClass: { name: class, value: 1000000 }\n\
         podAnnotations: { p: q }\nsecurityContext: { runAsUser: 7 }\npodSecurityContext: { fsGroup: 8 }\n\
         config: { server: { healthProbes: { enable: false }, webhooks: { certProvisionMode: manual } } }\n\
         podDisruptionBudget: { enabled: false }\nwebhooks: { podCliqueSetValidationWebhook: { labels: { a: webhook } } }\n",
    );
    let find = |kind: &str, name: &str| {
        let named = |it: &&Value| it["kind"] == kind && it["metadata"]["name"] == name;
        chart.iter().find(named).unwrap_or_else(|| panic!("no {kind} {name}"))
    };
    for (kind, name, label) in [
        ("ServiceAccount", "account", "account"),
        ("ClusterRole", "role", "role"),
        ("ClusterRoleBinding", "binding", "binding"),
        ("Role", "lease", "lease"),
        ("RoleBinding", "lease-binding", "lease-binding"),
        ("Service", "front", "service"),
        ("Deployment", "grove-operator", "deployment"),
        ("ValidatingWebhookConfiguration", "podcliqueset-validating-webhook", "webhook"),
    ] {
        let labels = &find(kind, name)["metadata"]["labels"];
        assert_eq!(labels["a"], label, "{kind}");
        assert!(labels["app.kubernetes.io/component"].is_string(), "{kind}");
    }
    assert_eq!(of_kind(&chart, "ConfigMap")["metadata"]["labels"]["a"], "config");
    assert_eq!(find("ServiceAccount", "account")["automountServiceAccountToken"], true);
    assert_eq!(find("ClusterRoleBinding", "binding")["roleRef"]["name"], "role");
    assert_eq!(find("ClusterRoleBinding", "binding")["subjects"][0]["name"], "account");
    assert_eq!(find("RoleBinding", "lease-binding")["roleRef"]["name"], "lease");
    assert_eq!(find("PriorityClass", "class")["value"], 1_000_000);
    let service = find("Service", "front");
    assert_eq!(
        (&service["spec"]["type"], &service["metadata"]["annotations"]["b"]),
        (&json!("NodePort"), &json!("c"))
    );
    assert_eq!(service["metadata"]["labels"]["app.kubernetes.io/part-of"], "mine");
    let webhook = find("ValidatingWebhookConfiguration", "podcliqueset-validating-webhook");
    assert_eq!(webhook["webhooks"][0]["clientConfig"]["service"]["name"], "front");
    let monitor = find("ServiceMonitor", "monitor");
    let spec = &find("Deployment", "grove-operator")["spec"];
    let pod = &spec["template"];
    assert_eq!(pod["metadata"]["annotations"], json!({ "p": "q" }));
    // Pods are found by what selects them, whatever labels are given.
    for selected in [&spec["selector"]["matchLabels"], &service["spec"]["selector"]] {
        for (key, value) in selected.as_object().unwrap() {
            assert_eq!(&pod["metadata"]["labels"][key], value);
        }
    }
    assert!(monitor["spec"]["selector"]["matchLabels"].is_object());
    assert_eq!(pod["spec"]["priorityClassName"], "class");
    assert_eq!(pod["spec"]["serviceAccountName"], "account");
    assert_eq!(pod["spec"]["securityContext"]["fsGroup"], 8);
    assert_eq!(pod["spec"]["securityContext"]["runAsNonRoot"], true);
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["securityContext"]["runAsUser"], 7);
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert!(container.get("livenessProbe").is_none() && container.get("readinessProbe").is_none());
    let env = container["env"].as_array().unwrap();
    assert_eq!(env.len(), 3);
    assert_eq!(env[2], json!({ "name": "E", "value": "e" }));
    assert!(!chart.iter().any(|it| it["kind"] == "PodDisruptionBudget"));
    let policy = of_kind(&chart, "ValidatingAdmissionPolicy")["spec"].to_string();
    assert!(policy.contains("system:serviceaccount:gang-system:account"), "{policy}");
}

#[test]
#[ignore = "needs helm: make chart-check"]
fn an_empty_secret_is_there_where_upstreams_key_asks_for_it() {
    let chart = rendered("secret", "webhookServerSecret: { enabled: true, labels: { a: b } }");
    let secret = of_kind(&chart, "Secret");
    assert_eq!(
        secret["metadata"],
        json!({ "name": "grove-webhook-server-cert", "namespace": NAMESPACE, "labels": { "a": "b" } })
    );
    assert!(secret.get("data").is_none());
}

#[test]
#[ignore = "needs helm: make chart-check"]
fn values_that_cannot_work_are_refused_with_their_name() {
    for (values, wanted) in [
        ("replicas: 2", "replicas"),
        ("replicaCount: two", "replicaCount"),
        ("config: { logLevel: loud }", "logLevel"),
        ("config: { leaderElection: { leaseDurations: 1s } }", "leaseDurations"),
        ("config: { leaderElection: { leaseDuration: soon } }", "leaseDuration"),
        ("config: { server: { webhooks: { port: 0 } } }", "port"),
        ("config: { server: { webhooks: null } }", "webhooks"),
        ("config: { scheduler: { profiles: [{ name: none }] } }", "name"),
        ("config: { leaderElection: { enabled: false } }", "replicaCount: without leader election"),
        ("config: { server: { metrics: { bindAddress: 127.0.0.1 } } }", "config.server.metrics.bindAddress"),
        ("service: { name: front }", "service.name: the certificate"),
        ("webhooks: { caBundle: QQ== }", "webhooks.caBundle: the operator fills in"),
        ("podGrouper: { enabled: true, schedulerNames: [] }", "podGrouper.schedulerNames"),
        (
            "podGrouper: { defaultPrioritiesConfigMap: { name: a } }",
            "podGrouper.defaultPrioritiesConfigMap.namespace",
        ),
    ] {
        let output = template("wrong", values);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{values} was taken");
        assert!(told.contains(wanted), "{values}: {told}");
    }
    // What upstream's chart and files of its users have, and nothing reads.
    rendered(
        "accepted",
        "service: { port: 80 }\nconfig: { clusterTopology: { enabled: true }, authorizer: { reconcilerServiceAccountUserName: x } }\n",
    );
}

#[test]
#[ignore = "needs helm: make chart-check"]
fn helm_finds_nothing_wrong_with_the_chart() {
    let output = helm(&["lint", "--strict", "charts/grove"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_bundle_in_the_table_is_the_pem() {
    let manual = CASES.iter().find(|it| it.name == "manual").unwrap();
    let encoded = serde_json::to_value(ByteString(PEM.as_bytes().to_vec())).unwrap();
    assert!(manual.values.contains(encoded.as_str().unwrap()), "{encoded}");
}
