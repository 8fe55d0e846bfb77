//! What admission fills into a PodCliqueSet. Pure, and idempotent: a defaulted set stays as it is.

use crate::wire::{
    AutoScalingConfig, CliqueStartupType, CliqueTemplate, GoDuration, HeadlessServiceConfig, PodCliqueSet,
    ReplicaSpread, ScalingGroupConfig, SchedulingPolicyConfig,
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

/// Names the admin's `default` topology in a new set that names none by itself, in either way to say it.
///
/// A set that exists never gets one, whatever the default has become. What it got when it was new it keeps, also where the
/// user, who never wrote it, sends the set without: it cannot be changed.
pub fn default_topology(set: &mut PodCliqueSet, old: Option<&PodCliqueSet>, default: Option<&str>) {
    let spread = set.spec.replica_spread.as_ref().and_then(ReplicaSpread::topology);
    // A set uses one topology.
    let default = default.filter(|it| spread.is_none_or(|spread| spread == *it));
    let template = &mut set.spec.template;
    if template.topology_constraints().next().is_some() {
        return;
    }
    let policy = &mut template.scheduling_policy_config;
    match (old, default) {
        (None, Some(name)) if policy.as_ref().and_then(SchedulingPolicyConfig::topology).is_none() => {
            policy.get_or_insert_default().topology_name = Some(name.to_owned());
        }
        (Some(old), _) if policy.is_none() => {
            let before = old.spec.template.scheduling_policy_config.as_ref();
            *policy = before.filter(|it| is_name_alone(it)).cloned();
        }
        _ => {}
    }
}

/// Whether a policy is all that a default would have made.
fn is_name_alone(policy: &SchedulingPolicyConfig) -> bool {
    policy.grouping_constraints.is_none() && policy.network_pack_group_configs.is_empty()
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

    /// The policy of a set with this part of a template, after defaulting.
    fn policy(
        part: &serde_json::Value,
        old: Option<&serde_json::Value>,
        default: Option<&str>,
    ) -> serde_json::Value {
        let with = |part: &serde_json::Value| {
            let clique = json!({ "name": "a", "spec": { "podSpec": { "containers": [] } } });
            let mut set = set(&clique, &json!([{ "name": "g", "cliqueNames": ["a"] }]));
            let mut template = serde_json::to_value(&set.spec.template).unwrap();
            json_patch::merge(&mut template, part);
            set.spec.template = serde_json::from_value(template).unwrap();
            set
        };
        let (mut set, old) = (with(part), old.map(with));
        default_topology(&mut set, old.as_ref(), default);
        serde_json::to_value(&set.spec.template).unwrap()["schedulingPolicyConfig"].clone()
    }

    #[test]
    fn a_new_set_without_a_topology_gets_the_default() {
        let named = |name: &str| json!({ "schedulingPolicyConfig": { "topologyName": name } });
        let pack = json!({ "topologyName": "mine", "pack": { "required": "rack" } });
        let groups = json!([{ "cliqueNames": ["a"] }]);
        let constraint = json!({ "required": { "topologyKey": "k" } });
        let rows = [
            ("nothing said", json!({}), Some("dc"), json!({ "topologyName": "dc" })),
            ("no default", json!({}), None, json!(null)),
            ("a name is kept", named("mine"), Some("dc"), json!({ "topologyName": "mine" })),
            ("an empty name is none", named(""), Some("dc"), json!({ "topologyName": "dc" })),
            (
                "pack groups without a name",
                json!({ "schedulingPolicyConfig": { "networkPackGroupConfigs": groups } }),
                Some("dc"),
                json!({ "topologyName": "dc", "networkPackGroupConfigs": groups }),
            ),
            (
                "constraints without a name",
                json!({ "schedulingPolicyConfig": { "groupingConstraints": constraint } }),
                Some("dc"),
                json!({ "topologyName": "dc", "groupingConstraints": constraint }),
            ),
            ("of the set", json!({ "topologyConstraint": pack }), Some("dc"), json!(null)),
            (
                "of a group",
                json!({ "podCliqueScalingGroups": [{ "name": "g", "cliqueNames": ["a"], "topologyConstraint": pack }] }),
                Some("dc"),
                json!(null),
            ),
            (
                "of a clique",
                json!({ "cliques": [{ "name": "a", "spec": { "podSpec": { "containers": [] } }, "topologyConstraint": pack }] }),
                Some("dc"),
                json!(null),
            ),
        ];
        for (what, part, default, want) in rows {
            assert_eq!(policy(&part, None, default), want, "{what}");
        }
    }

    #[test]
    fn a_set_whose_replicas_are_spread_over_another_topology_gets_no_default() {
        for (name, want) in [(None, Some("dc")), (Some("dc"), Some("dc")), (Some("mine"), None)] {
            let clique = json!({ "name": "a", "spec": { "podSpec": { "containers": [] } } });
            let mut set = set(&clique, &json!([]));
            let spread = json!({ "topologyName": name, "topologyDomain": "zone" });
            set.spec.replica_spread = serde_json::from_value(spread).unwrap();
            default_topology(&mut set, None, Some("dc"));
            let policy = set.spec.template.scheduling_policy_config;
            assert_eq!(policy.as_ref().and_then(SchedulingPolicyConfig::topology), want, "{name:?}");
        }
    }

    #[test]
    fn a_set_that_exists_keeps_the_topology_that_it_has() {
        let named = |name: &str| json!({ "schedulingPolicyConfig": { "topologyName": name } });
        let packed = json!({ "schedulingPolicyConfig": { "topologyName": "dc", "networkPackGroupConfigs": [{ "cliqueNames": ["a"] }] } });
        let rows = [
            ("never filled in later", json!({}), json!({}), json!(null)),
            ("left out by whoever never wrote it", json!({}), named("old"), json!({ "topologyName": "old" })),
            ("another name is for the rules", named("new"), named("old"), json!({ "topologyName": "new" })),
            ("what somebody wrote is not put back", json!({}), packed, json!(null)),
        ];
        for (what, part, old, want) in rows {
            assert_eq!(policy(&part, Some(&old), Some("dc")), want, "{what}");
        }
    }

    #[test]
    fn keeps_what_the_user_wrote() {
        let clique = json!({ "name": "a", "spec": { "roleName": "r", "replicas": 4, "minAvailable": 2,
            "podSpec": { "containers": [], "restartPolicy": "Never", "terminationGracePeriodSeconds": 5 } } });
        let got = defaulted(&clique, &json!([]));
        assert_eq!(got["spec"]["template"]["cliques"][0], clique);
    }
}
