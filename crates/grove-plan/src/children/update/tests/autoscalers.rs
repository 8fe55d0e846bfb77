//! Autoscalers: what the template says, and what the API server adds.

use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;

use super::*;

/// The autoscaler of a clique whose template has this configuration.
fn scaled(config: Value) -> HorizontalPodAutoscaler {
    let mut set = set("fe=2/1");
    set.spec.template.cliques[0].spec.auto_scaling_config = serde_json::from_value(config).unwrap();
    let clique = layout::standalone(&set, 0).next().unwrap();
    objects::clique_autoscaler(context(&set), &clique).unwrap()
}

fn metrics(name: &str, percent: i32) -> Value {
    let target = json!({ "type": "Utilization", "averageUtilization": percent });
    json!([{ "type": "Resource", "resource": { "name": name, "target": target } }])
}

#[test]
fn autoscalers_follow_the_template_and_keep_what_the_server_adds() {
    let plain = |min: i32, max: i32| scaled(json!({ "minReplicas": min, "maxReplicas": max }));
    let added = json!({ "spec": { "metrics": metrics("cpu", 80), "behavior": { "scaleDown": {} } } });
    let served = with(&plain(2, 5), &added);
    assert_eq!(autoscaler(&served, &plain(2, 5)), None);
    assert_eq!(
        autoscaler(&served, &plain(1, 8)),
        Some(json!({ "spec": { "minReplicas": 1, "maxReplicas": 8 } }))
    );
}

#[test]
fn metrics_follow_the_template() {
    let with_metrics =
        |metrics: Value| scaled(json!({ "minReplicas": 2, "maxReplicas": 5, "metrics": metrics }));
    let none = json!([]);
    let (half, most, memory) = (metrics("cpu", 50), metrics("cpu", 80), metrics("memory", 80));
    let both = json!([half[0], memory[0]]);
    // What the autoscaler has, what the template says, and the metrics that are written.
    for (has, wants, written) in [
        (&half, &half, None),
        (&half, &memory, Some(&memory)),
        (&both, &half, Some(&half)),
        (&half, &none, Some(&Value::Null)),
        (&memory, &none, Some(&Value::Null)),
        (&both, &none, Some(&Value::Null)),
        // The API server's own, written or not.
        (&most, &none, None),
        (&none, &none, None),
        (&none, &half, Some(&half)),
    ] {
        let patch = autoscaler(&with_metrics(has.clone()), &with_metrics(wants.clone()));
        assert_eq!(patch, written.map(|it| json!({ "spec": { "metrics": it } })), "{has} to {wants}");
    }
}
