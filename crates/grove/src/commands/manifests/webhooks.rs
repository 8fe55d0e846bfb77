//! The webhook configurations. Only our own kinds are matched, so that an operator that is down holds up nothing else.

use std::{collections::BTreeMap, io};

use grove_api::constants::{
    GROUP, SCHEDULER_GROUP, VERSION,
    labels::{MANAGED_BY, MANAGED_BY_VALUE},
    webhooks::{
        AUTHORIZER, CLIQUE_VALIDATING, GROUP_VALIDATING, SET_DEFAULTING, SET_SCALE, SET_VALIDATING,
        TOPOLOGY_VALIDATING, Webhook,
    },
};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations, ServiceReference,
    ValidatingWebhook, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use super::{
    Kind, Object,
    installation::{Installation, Reach},
    labels::{labels, metadata},
};

const FAIL: &str = "Fail";
const IGNORE: &str = "Ignore";
const EXACT: &str = "Exact";
const NONE: &str = "None";
/// Seconds. Half a minute, the most that is allowed, would hold up a user for no good.
const TIMEOUT: i32 = 10;
/// Likewise where the answer is advice: nobody waits long for that.
const ADVICE_TIMEOUT: i32 = 3;

/// A change of replicas. A Scale leaves 0 out.
const SCALED: &str = "(has(object.spec.replicas) ? object.spec.replicas : 0) != \
     (has(oldObject.spec.replicas) ? oldObject.spec.replicas : 0)";
/// By a person or another operator: autoscalers scale all day, and read no advice.
const NOT_BY_THE_CLUSTER: &str = "!(request.userInfo.username.startsWith('system:serviceaccount:kube-system:') || \
     request.userInfo.username == 'system:kube-controller-manager')";

const WRITE: &[&str] = &["CREATE", "UPDATE"];
const CHANGE: &[&str] = &["UPDATE", "DELETE"];
const ANY: &[&str] = &["CREATE", "UPDATE", "DELETE"];

pub(super) fn objects(installation: &Installation) -> io::Result<Vec<Object>> {
    let sets = || vec![rule(WRITE, GROUP, &[VERSION], &["podcliquesets"], "Namespaced")];
    let defaulting = MutatingWebhookConfiguration {
        metadata: named(SET_DEFAULTING, "pcs-defaulting-webhook", installation),
        webhooks: Some(vec![MutatingWebhook {
            name: SET_DEFAULTING.name.to_owned(),
            admission_review_versions: vec!["v1".to_owned()],
            client_config: client(SET_DEFAULTING, installation),
            failure_policy: Some(FAIL.to_owned()),
            match_policy: Some(EXACT.to_owned()),
            rules: Some(sets()),
            side_effects: NONE.to_owned(),
            timeout_seconds: Some(TIMEOUT),
            ..MutatingWebhook::default()
        }]),
    };
    let topologies = vec![rule(WRITE, GROUP, &[VERSION], &["clustertopologybindings"], "Cluster")];
    let mut objects = vec![
        Object::new(Kind::MutatingWebhookConfiguration, &defaulting)?,
        configuration(
            SET_VALIDATING,
            "pcs-validating-webhook",
            vec![
                refusing(SET_VALIDATING, sets(), None, installation),
                advice(SET_SCALE, &["podcliquesets/scale"], installation),
            ],
            installation,
        )?,
        validating(
            TOPOLOGY_VALIDATING,
            "clustertopology-validating-webhook",
            topologies,
            None,
            installation,
        )?,
        advising(
            CLIQUE_VALIDATING,
            "pclq-validating-webhook",
            &["podcliques", "podcliques/scale"],
            installation,
        )?,
        advising(
            GROUP_VALIDATING,
            "pcsg-validating-webhook",
            &["podcliquescalinggroups", "podcliquescalinggroups/scale"],
            installation,
        )?,
    ];
    if installation.config.authorizer.enabled {
        let ours = BTreeMap::from([(MANAGED_BY.to_owned(), MANAGED_BY_VALUE.to_owned())]);
        let ours = LabelSelector { match_labels: Some(ours), ..LabelSelector::default() };
        objects.push(validating(AUTHORIZER, "authorizer-webhook", managed(), Some(ours), installation)?);
    }
    Ok(objects)
}

/// What the authorizer protects. Pods may be deleted by anybody who may: evictions and kubelets do.
fn managed() -> Vec<RuleWithOperations> {
    let rbac = "rbac.authorization.k8s.io";
    let namespaced =
        |operations, group, versions, resources| rule(operations, group, versions, resources, "Namespaced");
    vec![
        namespaced(CHANGE, "", &["v1"], &["secrets", "serviceaccounts", "services"]),
        namespaced(&["UPDATE"], "", &["v1"], &["pods"]),
        namespaced(CHANGE, rbac, &["v1"], &["roles", "rolebindings"]),
        namespaced(CHANGE, "autoscaling", &["v1", "v2"], &["horizontalpodautoscalers"]),
        namespaced(ANY, GROUP, &[VERSION], &["podcliques", "podcliquescalinggroups"]),
        namespaced(ANY, SCHEDULER_GROUP, &[VERSION], &["podgangs"]),
    ]
}

fn validating(
    webhook: Webhook,
    label: &str,
    rules: Vec<RuleWithOperations>,
    object_selector: Option<LabelSelector>,
    installation: &Installation,
) -> io::Result<Object> {
    let it = refusing(webhook, rules, object_selector, installation);
    configuration(webhook, label, vec![it], installation)
}

fn refusing(
    webhook: Webhook,
    rules: Vec<RuleWithOperations>,
    object_selector: Option<LabelSelector>,
    installation: &Installation,
) -> ValidatingWebhook {
    ValidatingWebhook {
        failure_policy: Some(FAIL.to_owned()),
        object_selector,
        rules: Some(rules),
        timeout_seconds: Some(TIMEOUT),
        ..asked(webhook, installation)
    }
}

fn advising(
    webhook: Webhook,
    label: &str,
    resources: &[&str],
    installation: &Installation,
) -> io::Result<Object> {
    configuration(webhook, label, vec![advice(webhook, resources, installation)], installation)
}

/// A webhook that is asked when somebody changes `replicas`, and never in the way: not of the operator, which writes these
/// objects all the time and never their replicas, and of nobody while the operator is down.
fn advice(webhook: Webhook, resources: &[&str], installation: &Installation) -> ValidatingWebhook {
    let condition = |name: &str, expression: &str| MatchCondition {
        name: name.to_owned(),
        expression: expression.to_owned(),
    };
    ValidatingWebhook {
        failure_policy: Some(IGNORE.to_owned()),
        match_conditions: Some(vec![
            condition("replicas-change", SCALED),
            condition("not-by-the-cluster", NOT_BY_THE_CLUSTER),
        ]),
        rules: Some(vec![rule(&["UPDATE"], GROUP, &[VERSION], resources, "Namespaced")]),
        timeout_seconds: Some(ADVICE_TIMEOUT),
        ..asked(webhook, installation)
    }
}

/// What all have in common.
fn asked(webhook: Webhook, installation: &Installation) -> ValidatingWebhook {
    ValidatingWebhook {
        name: webhook.name.to_owned(),
        admission_review_versions: vec!["v1".to_owned()],
        client_config: client(webhook, installation),
        match_policy: Some(EXACT.to_owned()),
        side_effects: NONE.to_owned(),
        ..ValidatingWebhook::default()
    }
}

fn configuration(
    webhook: Webhook,
    label: &str,
    webhooks: Vec<ValidatingWebhook>,
    installation: &Installation,
) -> io::Result<Object> {
    let configuration = ValidatingWebhookConfiguration {
        metadata: named(webhook, label, installation),
        webhooks: Some(webhooks),
    };
    Object::new(Kind::ValidatingWebhookConfiguration, &configuration)
}

fn named(webhook: Webhook, label: &str, installation: &Installation) -> ObjectMeta {
    let annotations = &installation.webhook_annotations;
    ObjectMeta {
        annotations: (!annotations.is_empty()).then(|| annotations.clone()),
        ..metadata(webhook.configuration, None, labels(&format!("operator-{label}"), label))
    }
}

/// Without an authority where the operator fills it in: applying these manifests again must not take it away.
fn client(webhook: Webhook, installation: &Installation) -> WebhookClientConfig {
    let ca_bundle = installation.ca_bundle.clone().map(ByteString);
    match &installation.reach {
        Reach::Service => WebhookClientConfig {
            ca_bundle,
            service: Some(ServiceReference {
                name: installation.names.service.clone(),
                namespace: installation.namespace.clone(),
                path: Some(webhook.path.to_owned()),
                port: Some(installation.config.server.webhooks.port.into()),
            }),
            url: None,
        },
        Reach::Url(base) => {
            WebhookClientConfig { ca_bundle, service: None, url: Some(format!("{base}{}", webhook.path)) }
        }
    }
}

fn rule(
    operations: &[&str],
    group: &str,
    versions: &[&str],
    resources: &[&str],
    scope: &str,
) -> RuleWithOperations {
    let all = |words: &[&str]| Some(words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>());
    RuleWithOperations {
        api_groups: all(&[group]),
        api_versions: all(versions),
        operations: all(operations),
        resources: all(resources),
        scope: Some(scope.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configurations(installation: &Installation) -> Vec<serde_json::Value> {
        objects(installation).unwrap().into_iter().map(|it| it.value).collect()
    }

    /// An operator that is down must not hold up pods, or anything else that is not ours.
    #[test]
    fn only_our_own_kinds_are_matched() {
        for configuration in configurations(&Installation::example()) {
            for rule in configuration["webhooks"][0]["rules"].as_array().unwrap() {
                assert_eq!(rule["apiGroups"], serde_json::json!(["grove.io"]));
            }
        }
    }

    #[test]
    fn the_authorizer_is_there_where_it_is_enabled_and_sees_only_what_grove_made() {
        let mut installation = Installation::example();
        assert_eq!(configurations(&installation).len(), 5);
        installation.config.authorizer.enabled = true;
        let all = configurations(&installation);
        let authorizer = all.iter().find(|it| it["metadata"]["name"] == "authorizer-webhook").unwrap();
        assert_eq!(
            authorizer["webhooks"][0]["objectSelector"],
            serde_json::json!({ "matchLabels": { "app.kubernetes.io/managed-by": "grove-operator" } })
        );
    }

    /// The operator itself writes cliques and groups: a webhook on them must not hold it up, nor depend on it.
    #[test]
    fn what_the_operator_makes_is_never_held_up() {
        let all = configurations(&Installation::example());
        for webhook in all.iter().flat_map(|it| it["webhooks"].as_array().unwrap()) {
            let rules = webhook["rules"].to_string();
            if !rules.contains("/scale") {
                assert_eq!(webhook["failurePolicy"], "Fail");
                continue;
            }
            assert_eq!(webhook["failurePolicy"], "Ignore");
            assert!(!rules.contains("CREATE") && !rules.contains("status"), "{rules}");
            assert!(
                webhook["matchConditions"][0]["expression"]
                    .as_str()
                    .unwrap()
                    .contains("oldObject.spec.replicas")
            );
        }
    }

    #[test]
    fn an_operator_elsewhere_is_called_by_its_address() {
        let reach = Reach::Url("https://127.0.0.1:9443".to_owned());
        let all = configurations(&Installation { reach, ..Installation::example() });
        let client = &all[0]["webhooks"][0]["clientConfig"];
        assert_eq!(
            *client,
            serde_json::json!({ "url": "https://127.0.0.1:9443/webhooks/default-podcliqueset" })
        );
    }
}
