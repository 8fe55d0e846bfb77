//! What an installation has beyond a program that runs: it survives drains, can be placed, and is watched.

use serde_json::json;

use super::{kinds, objects, of_kind};

/// A drain takes one operator at a time, and nothing is cut off that has to be reached.
#[test]
fn an_operator_survives_drains_and_isolated_namespaces() {
    let all = objects(&["--no-crds"]);
    let deployment = &of_kind(&all, "Deployment")["spec"];
    let selector = &deployment["selector"];
    let budget = &of_kind(&all, "PodDisruptionBudget")["spec"];
    assert_eq!((&budget["selector"], &budget["maxUnavailable"]), (selector, &json!(1)));
    assert!(budget.get("minAvailable").is_none());
    let apart = &deployment["template"]["spec"]["affinity"]["podAntiAffinity"];
    let term = &apart["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"];
    assert_eq!((&term["labelSelector"], &term["topologyKey"]), (selector, &json!("kubernetes.io/hostname")));
    assert_eq!(deployment["template"]["spec"]["priorityClassName"], "grove-operator-priority-critical");

    let policy = &of_kind(&all, "NetworkPolicy")["spec"];
    assert_eq!(policy["podSelector"], *selector);
    assert_eq!(policy["egress"], json!([{}]));
    assert!(policy["ingress"][0].get("from").is_none());
    let listening: Vec<_> =
        deployment["template"]["spec"]["containers"][0]["ports"].as_array().unwrap().iter().collect();
    let open: Vec<_> =
        policy["ingress"][0]["ports"].as_array().unwrap().iter().map(|it| &it["port"]).collect();
    assert_eq!(open, listening.iter().map(|it| &it["containerPort"]).collect::<Vec<_>>());
    let narrow = objects(&["--only", "NetworkPolicy", "--api-server-cidr", "192.0.2.10/32"]);
    assert_eq!(narrow[0]["spec"]["egress"], json!([{ "to": [{ "ipBlock": { "cidr": "192.0.2.10/32" } }] }]));

    let labels = &of_kind(&all, "Namespace")["metadata"]["labels"];
    assert_eq!(labels["pod-security.kubernetes.io/enforce"], "restricted");
    let less = objects(&["--no-crds", "--no-priority-class", "--no-network-policy"]);
    assert!(!kinds(&less).contains(&"PriorityClass") && !kinds(&less).contains(&"NetworkPolicy"));
    assert!(!of_kind(&less, "Deployment").to_string().contains("priorityClassName"));
}

#[test]
fn arguments_about_pods_are_for_the_operator_and_for_the_pod_grouper() {
    let arguments = [
        "--only=Deployment",
        "--node-selector=pool=infra",
        "--toleration=gpu",
        "--request=cpu=200m",
        "--limit=memory=",
        "--image-pull-secret=registry",
        "--image-pull-policy=Always",
    ];
    for program in [&[][..], &["--pod-grouper"]] {
        let all = objects(&[program, &arguments].concat());
        let pod = &all[0]["spec"]["template"]["spec"];
        assert_eq!(pod["nodeSelector"], json!({ "pool": "infra" }));
        assert_eq!(pod["tolerations"], json!([{ "key": "gpu", "operator": "Exists" }]));
        assert_eq!(pod["imagePullSecrets"], json!([{ "name": "registry" }]));
        let container = &pod["containers"][0];
        assert_eq!(container["resources"], json!({ "requests": { "cpu": "200m", "memory": "128Mi" } }));
        assert_eq!(container["imagePullPolicy"], "Always");
    }
}

#[test]
fn a_monitor_finds_the_metrics_of_the_service() {
    let all = objects(&["--no-crds", "--service-monitor", "--service-monitor-label", "release=prometheus"]);
    let (monitor, service) = (of_kind(&all, "ServiceMonitor"), of_kind(&all, "Service"));
    assert_eq!(monitor["metadata"]["labels"]["release"], "prometheus");
    assert_eq!(monitor["spec"]["selector"]["matchLabels"], service["metadata"]["labels"]);
    let port = &monitor["spec"]["endpoints"][0]["port"];
    assert!(service["spec"]["ports"].as_array().unwrap().iter().any(|it| it["name"] == *port));
}

#[test]
fn alerts_and_dashboard_are_found_by_their_labels() {
    let all = objects(&["--no-crds", "--prometheus-rule", "--prometheus-rule-label", "a=b", "--dashboards"]);
    let rule = of_kind(&all, "PrometheusRule");
    assert_eq!(rule["metadata"]["labels"]["a"], "b");
    assert_eq!(rule["spec"]["groups"][0]["rules"][0]["alert"], "GroveOperatorDown");
    let is_dashboard = |it: &&serde_json::Value| it["metadata"]["labels"]["grafana_dashboard"] == "1";
    let dashboard = all.iter().find(is_dashboard).unwrap();
    let text = dashboard["data"]["grove-operator.json"].as_str().unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
}
