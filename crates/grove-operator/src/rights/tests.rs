use std::collections::BTreeSet;

use grove_api::config::OperatorConfiguration;
use grove_scheduler::builtin::builtin;
use serde_json::json;

use super::*;

/// Everything on.
fn full() -> OperatorConfiguration {
    let mut config = OperatorConfiguration::default();
    config.leader_election.enabled = true;
    config.authorizer.enabled = true;
    config
}

/// With every backend.
fn all(config: &OperatorConfiguration, namespace: &str) -> Vec<Right> {
    let uses: Vec<_> = builtin().all().iter().flat_map(|it| it.resources(&json!({}))).collect();
    rights(config, namespace, &uses)
}

fn has(right: &Right, resource: &str) -> bool {
    right.resources.iter().any(|it| it == resource)
}

fn of(rights: &[Right], feature: Feature) -> Vec<&Right> {
    rights.iter().filter(|it| it.feature == feature).collect()
}

#[test]
fn no_right_is_wild_or_without_a_reason() {
    for right in all(&full(), "grove-system") {
        let words = right.resources.iter().map(String::as_str).chain(right.verbs.iter().copied());
        for word in words.chain([right.group.as_str()]) {
            assert!(!word.contains('*'), "{right:?}");
        }
        assert!(right.names.iter().all(|it| !it.is_empty() && !it.contains('*')), "{right:?}");
        assert!(
            !right.resources.is_empty() && !right.verbs.is_empty() && !right.reason.is_empty(),
            "{right:?}"
        );
    }
}

/// Verbs and kinds by which one gains more rights than one has, and those by which one reads what is nobody's business.
#[test]
fn nothing_leads_to_more_rights() {
    for right in all(&full(), "grove-system") {
        for verb in ["escalate", "bind", "impersonate", "approve", "sign"] {
            assert!(!right.verbs.contains(&verb), "{right:?}");
        }
        for resource in ["pods/exec", "pods/ephemeralcontainers", "serviceaccounts/token", "configmaps"] {
            assert!(!has(&right, resource), "{right:?}");
        }
        assert_ne!(right.group, "rbac.authorization.k8s.io", "{right:?}");
        // Who writes nodes moves pods to his own.
        if has(&right, "nodes") {
            assert_eq!(right.verbs, ["get", "list", "watch"], "{right:?}");
        }
        // Definitions are read; who writes one could read whatever is sent to its webhook.
        if right.group == "apiextensions.k8s.io" {
            assert_eq!(right.verbs, ["get", "list", "watch"], "{right:?}");
        }
    }
}

#[test]
fn secrets_are_ours_alone() {
    let rights = all(&full(), "grove-system");
    let secrets: Vec<_> = rights.iter().filter(|it| has(it, "secrets")).collect();
    assert!(!secrets.is_empty());
    for right in secrets {
        assert_eq!(right.place, Place::Namespace("grove-system".to_owned()));
        let named = right.names == ["grove-webhook-server-cert"];
        assert!(named || right.verbs == ["create"], "{right:?}");
    }
}

/// A create cannot be limited by name: with names it would allow nothing.
#[test]
fn whatever_is_created_has_no_names() {
    for right in all(&full(), "grove-system") {
        assert!(right.names.is_empty() || !right.verbs.contains(&"create"), "{right:?}");
    }
}

#[test]
fn no_right_is_there_twice() {
    let mut seen = BTreeSet::new();
    for right in all(&full(), "grove-system") {
        for resource in &right.resources {
            for verb in right.verbs {
                let names = if right.names.is_empty() { vec![String::new()] } else { right.names.clone() };
                for name in names {
                    let one = (right.place.clone(), right.group.clone(), resource.clone(), *verb, name);
                    assert!(seen.insert(one), "{resource} {verb}: {right:?}");
                }
            }
        }
    }
}

#[test]
fn a_part_that_is_off_has_no_rights() {
    let config = OperatorConfiguration::default();
    let plain = all(&config, "n");
    assert!(of(&plain, Feature::LeaderElection).is_empty());
    assert!(of(&plain, Feature::AuthorizerCertificate).is_empty());
    assert_eq!(of(&plain, Feature::Certificates).len(), 4);

    assert!(plain.iter().any(|it| has(it, "nodes")));

    let mut config = full();
    config.server.webhooks.cert_provision_mode = CertProvisionMode::Manual;
    config.node_loss.enabled = false;
    let manual = all(&config, "n");
    assert!(of(&manual, Feature::Certificates).is_empty());
    assert!(of(&manual, Feature::AuthorizerCertificate).is_empty());
    assert!(manual.iter().all(|it| !has(it, "secrets") && !has(it, "nodes")));
}

#[test]
fn names_and_namespaces_are_the_configurations() {
    let mut config = full();
    config.leader_election.resource_name = "lock".to_owned();
    config.server.webhooks.secret_name = "cert".to_owned();
    let own = all(&config, "n");
    let lease = of(&own, Feature::LeaderElection)[0];
    assert_eq!(
        (&lease.place, lease.names.as_slice()),
        (&Place::Namespace("n".to_owned()), &["lock".to_owned()][..])
    );
    assert_eq!(of(&own, Feature::Certificates)[0].names, ["cert"]);

    config.leader_election.resource_namespace = "locks".to_owned();
    let elsewhere = all(&config, "n");
    for lease in of(&elsewhere, Feature::LeaderElection) {
        assert_eq!(lease.place, Place::Namespace("locks".to_owned()));
    }
    assert_eq!(of(&elsewhere, Feature::Certificates)[0].place, Place::Namespace("n".to_owned()));
}
