//! What admission fills into a PodCliqueSet. Pure, and idempotent: a defaulted set stays as it is.

mod topology;

pub use self::topology::default_topology;
use crate::wire::{
    AutoScalingConfig, CliqueStartupType, CliqueTemplate, GoDuration, HeadlessServiceConfig, PodCliqueSet,
    ScalingGroupConfig,
};

/// How long a replica may stay below its minimum.
const TERMINATION_DELAY_SECONDS: u64 = 4 * 3600;
/// What Kubernetes itself would give a pod.
const GRACE_PERIOD_SECONDS: i64 = 30;

/// Fills in every default, those of the CRD too, so that it serves without an API server.
///
/// In an update, `old` is the object as it was: a minimum that the user leaves to us stays what it is, because it
/// cannot be changed; from the new `replicas` it would be another one.
pub fn default_pod_clique_set(set: &mut PodCliqueSet, old: Option<&PodCliqueSet>) {
    let namespace = set.metadata.namespace.get_or_insert_default();
    if namespace.is_empty() {
        "default".clone_into(namespace);
    }
    let template = &mut set.spec.template;
    template.startup_type.get_or_insert(CliqueStartupType::AnyOrder);
    template.termination_delay.get_or_insert_with(|| GoDuration::from_secs(TERMINATION_DELAY_SECONDS));
    template
        .headless_service_config
        .get_or_insert(HeadlessServiceConfig { publish_not_ready_addresses: true });
    for clique in &mut template.cliques {
        let old = old.and_then(|it| it.spec.template.clique(&clique.name));
        default_clique(clique, old.and_then(|it| it.spec.min_available));
    }
    template.scaling_groups.iter_mut().for_each(default_group);
}

fn default_clique(clique: &mut CliqueTemplate, old_minimum: Option<i32>) {
    let spec = &mut clique.spec;
    spec.role_name.get_or_insert_default();
    // An explicit 0 is kept: the clique is scaled to zero.
    let replicas = *spec.replicas.get_or_insert(1);
    // At least 1: it is the minimum of a clique that has pods, and cannot be changed when it gets some.
    let minimum = *spec.min_available.get_or_insert(old_minimum.unwrap_or(replicas.max(1)));
    default_autoscaling(spec.auto_scaling_config.as_mut(), replicas, minimum);
    let pod = &mut spec.pod_spec;
    let restart_policy = pod.restart_policy.get_or_insert_default();
    if restart_policy.is_empty() {
        "Always".clone_into(restart_policy);
    }
    pod.termination_grace_period_seconds.get_or_insert(GRACE_PERIOD_SECONDS);
}

fn default_group(group: &mut ScalingGroupConfig) {
    let replicas = *group.replicas.get_or_insert(1);
    let minimum = *group.min_available.get_or_insert(1);
    default_autoscaling(group.scale_config.as_mut(), replicas, minimum);
}

/// An autoscaler never scales to zero, nor from zero: its lower bound is `replicas`, or the minimum where there are none.
fn default_autoscaling(config: Option<&mut AutoScalingConfig>, replicas: i32, minimum: i32) {
    if let Some(config) = config {
        config.min_replicas.get_or_insert(if replicas == 0 { minimum } else { replicas });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(clique: &serde_json::Value, groups: &serde_json::Value) -> PodCliqueSet {
        let template = json!({ "cliques": [clique], "podCliqueScalingGroups": groups });
        let spec = json!({ "template": template });
        serde_json::from_value(json!({ "metadata": { "name": "s" }, "spec": spec })).unwrap()
    }

    fn defaulted(clique: &serde_json::Value, groups: &serde_json::Value) -> serde_json::Value {
        let mut set = set(clique, groups);
        default_pod_clique_set(&mut set, None);
        let once = serde_json::to_value(&set).unwrap();
        default_pod_clique_set(&mut set, None);
        assert_eq!(once, serde_json::to_value(&set).unwrap(), "defaulting twice changes something");
        once
    }

    #[test]
    fn fills_the_whole_template() {
        let pod = json!({ "containers": [{ "name": "c" }] });
        let got = defaulted(&json!({ "name": "a", "spec": { "podSpec": pod } }), &json!([]));
        assert_eq!(
            got["spec"],
            json!({
                "replicas": 0,
                "template": {
                    "cliques": [{
                        "name": "a",
                        "spec": {
                            "roleName": "",
                            "podSpec": {
                                "containers": [{ "name": "c" }],
                                "restartPolicy": "Always",
                                "terminationGracePeriodSeconds": 30,
                            },
                            "replicas": 1,
                            "minAvailable": 1,
                        },
                    }],
                    "cliqueStartupType": "CliqueStartupTypeAnyOrder",
                    "headlessServiceConfig": { "publishNotReadyAddresses": true },
                    "terminationDelay": "4h0m0s",
                },
            })
        );
        assert_eq!(got["metadata"]["namespace"], "default");
    }

    #[test]
    fn minimum_comes_from_the_defaulted_replicas() {
        let spec = |replicas: i32| json!({ "name": "a", "spec": { "podSpec": { "containers": [] }, "replicas": replicas } });
        assert_eq!(
            defaulted(&spec(7), &json!([]))["spec"]["template"]["cliques"][0]["spec"]["minAvailable"],
            7
        );
    }

    #[test]
    fn an_explicit_zero_is_kept() {
        let clique = json!({ "name": "a", "spec": {
            "podSpec": { "containers": [] }, "replicas": 0, "autoScalingConfig": { "maxReplicas": 9 } } });
        let group = json!([{ "name": "g", "cliqueNames": ["b"], "replicas": 0, "minAvailable": 2, "scaleConfig": { "maxReplicas": 5 } }]);
        let got = defaulted(&clique, &group);
        let spec = &got["spec"]["template"]["cliques"][0]["spec"];
        assert_eq!((&spec["replicas"], &spec["minAvailable"]), (&json!(0), &json!(1)));
        assert_eq!(
            spec["autoScalingConfig"]["minReplicas"], 1,
            "an autoscaler of 0 is refused by Kubernetes"
        );
        let group = &got["spec"]["template"]["podCliqueScalingGroups"][0];
        assert_eq!((&group["replicas"], &group["scaleConfig"]["minReplicas"]), (&json!(0), &json!(2)));
    }

    #[test]
    fn minimum_is_kept_in_an_update() {
        let clique = |replicas: i32| json!({ "name": "a", "spec": { "podSpec": { "containers": [] }, "replicas": replicas } });
        let mut old = set(&clique(2), &json!([]));
        default_pod_clique_set(&mut old, None);
        let mut new = set(&clique(4), &json!([]));
        default_pod_clique_set(&mut new, Some(&old));
        assert_eq!(new.spec.template.cliques[0].spec.min_available, Some(2));
    }

    #[test]
    fn autoscalers_start_at_replicas() {
        let clique = json!({ "name": "a", "spec": {
            "podSpec": { "containers": [] }, "replicas": 3, "autoScalingConfig": { "maxReplicas": 9 } } });
        let group = json!([{ "name": "g", "cliqueNames": ["a"], "replicas": 2, "scaleConfig": { "maxReplicas": 5 } }]);
        let got = defaulted(&clique, &group);
        let template = &got["spec"]["template"];
        assert_eq!(template["cliques"][0]["spec"]["autoScalingConfig"]["minReplicas"], 3);
        assert_eq!(template["podCliqueScalingGroups"][0]["scaleConfig"]["minReplicas"], 2);
        assert_eq!(template["podCliqueScalingGroups"][0]["minAvailable"], 1);
    }

    #[test]
    fn keeps_what_the_user_wrote() {
        let clique = json!({ "name": "a", "spec": { "roleName": "r", "replicas": 4, "minAvailable": 2,
            "podSpec": { "containers": [], "restartPolicy": "Never", "terminationGracePeriodSeconds": 5 } } });
        let got = defaulted(&clique, &json!([]));
        assert_eq!(got["spec"]["template"]["cliques"][0], clique);
    }
}
