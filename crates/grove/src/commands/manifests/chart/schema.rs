//! Which values the chart has: a table, and the schema that helm checks values with.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use grove_api::config::{Key, Shape, file_schema, json_schema};
use grove_scheduler::Registry;
use serde_json::{Value, json};

use Shape::{AnyObject, Bool, Integer, List, Name, Object, OneOf, Text};

const COUNT: Shape = Integer { min: 0, max: i32::MAX as i64 };

const IMAGE: &[Key] = &[Key::optional("repository", Text), Key::optional("tag", Text)];
const PULLED_IMAGE: &[Key] = &[
    Key::optional("repository", Text),
    Key::optional("tag", Text),
    Key::optional("pullPolicy", OneOf(&["Always", "IfNotPresent", "Never"])),
];
const NAMED: Shape = Object(&[Key::optional("name", Text), Key::optional("labels", AnyObject)]);
const LABELLED: Shape = Object(&[Key::optional("labels", AnyObject)]);
const WEBHOOK: Shape = Object(&[Key::optional("labels", AnyObject), Key::optional("annotations", AnyObject)]);
const ENABLED: Shape = Object(&[Key::optional("enabled", Bool)]);
const ENABLED_AND_LABELLED: Shape =
    Object(&[Key::optional("enabled", Bool), Key::optional("labels", AnyObject)]);

/// All values. `config` is the operator's configuration and has a table of its own.
pub(super) const VALUES: &[Key] = &[
    Key::optional("replicaCount", COUNT),
    Key::optional("image", Object(PULLED_IMAGE)),
    Key::optional("initImage", Object(IMAGE)),
    Key::optional("imagePullSecrets", List(&Object(&[Key::required("name", Name)]))),
    Key::optional("resources", AnyObject),
    Key::optional("podSecurityContext", AnyObject),
    Key::optional("securityContext", AnyObject),
    Key::optional("nodeSelector", AnyObject),
    Key::optional("tolerations", List(&AnyObject)),
    Key::optional("podAnnotations", AnyObject),
    Key::optional("config", AnyObject),
    Key::optional(
        "serviceAccount",
        Object(&[
            Key::optional("automount", Bool),
            Key::optional("name", Name),
            Key::optional("labels", AnyObject),
        ]),
    ),
    Key::optional("configMap", LABELLED),
    Key::optional(
        "deployment",
        Object(&[Key::optional("labels", AnyObject), Key::optional("env", List(&AnyObject))]),
    ),
    Key::optional(
        "service",
        Object(&[
            Key::optional("name", Name),
            Key::optional("type", OneOf(&["ClusterIP", "NodePort", "LoadBalancer"])),
            Key::optional("port", COUNT),
            Key::optional("labels", AnyObject),
            Key::optional("annotations", AnyObject),
        ]),
    ),
    Key::optional(
        "metrics",
        Object(&[
            Key::optional(
                "serviceMonitor",
                Object(&[
                    Key::optional("enabled", Bool),
                    Key::optional("name", Name),
                    Key::optional("labels", AnyObject),
                ]),
            ),
            Key::optional("prometheusRule", ENABLED_AND_LABELLED),
            Key::optional("dashboards", ENABLED_AND_LABELLED),
        ]),
    ),
    Key::optional("clusterRole", NAMED),
    Key::optional("clusterRoleBinding", NAMED),
    Key::optional("leaseRole", NAMED),
    Key::optional("leaseRoleBinding", NAMED),
    Key::optional(
        "webhooks",
        Object(&[
            Key::optional("caBundle", Text),
            Key::optional("podCliqueSetDefaultingWebhook", WEBHOOK),
            Key::optional("podCliqueSetValidationWebhook", WEBHOOK),
            Key::optional("clusterTopologyValidationWebhook", WEBHOOK),
            Key::optional("podCliqueValidationWebhook", WEBHOOK),
            Key::optional("podCliqueScalingGroupValidationWebhook", WEBHOOK),
            Key::optional("authorizerWebhook", WEBHOOK),
        ]),
    ),
    Key::optional(
        "webhookServerSecret",
        Object(&[Key::optional("enabled", Bool), Key::optional("labels", AnyObject)]),
    ),
    Key::optional(
        "priorityClass",
        Object(&[
            Key::optional("enabled", Bool),
            Key::optional("name", Name),
            Key::optional("value", Integer { min: i32::MIN as i64, max: 1_000_000_000 }),
        ]),
    ),
    Key::optional("podDisruptionBudget", ENABLED),
    Key::optional(
        "networkPolicy",
        Object(&[Key::optional("enabled", Bool), Key::optional("apiServerCIDRs", List(&Text))]),
    ),
    Key::optional("podPolicy", ENABLED),
    Key::optional("crds", Object(&[Key::optional("install", Bool)])),
    Key::optional(
        "crdInstaller",
        Object(&[Key::optional("enabled", Bool), Key::optional("image", Object(PULLED_IMAGE))]),
    ),
    Key::optional("podGrouper", Object(POD_GROUPER)),
    // Helm gives it to every chart that is part of another.
    Key::optional("global", AnyObject),
];

const POD_GROUPER: &[Key] = &[
    Key::optional("enabled", Bool),
    Key::optional("replicaCount", COUNT),
    Key::optional("schedulerNames", List(&Text)),
    Key::optional("namespaceLabelSelector", Text),
    Key::optional(
        "defaultPrioritiesConfigMap",
        Object(&[Key::optional("namespace", Name), Key::optional("name", Name)]),
    ),
    Key::optional("resources", AnyObject),
    Key::optional("nodeSelector", AnyObject),
    Key::optional("tolerations", List(&AnyObject)),
];

/// The schema. What templates read must be there: a key that somebody sets to null is gone, and says so here.
pub(super) fn values(registry: &Registry, templates: &BTreeMap<String, String>) -> io::Result<Value> {
    let mut schema = json_schema(&Object(VALUES));
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["properties"]["config"] = configuration(registry)?;
    let used: BTreeSet<String> = templates.values().flat_map(|it| used(it)).collect();
    for path in used {
        require(&mut schema, &path);
    }
    Ok(schema)
}

/// The operator's configuration without what the chart itself writes, and with what only the chart reads.
fn configuration(registry: &Registry) -> io::Result<Value> {
    let wrong = || io::Error::other("the configuration's schema has changed its form");
    let mut schema = file_schema();
    let properties = schema["properties"].as_object_mut().ok_or_else(wrong)?;
    properties.shift_remove("apiVersion");
    properties.shift_remove("kind");
    schema.as_object_mut().ok_or_else(wrong)?.shift_remove("required");
    schema["properties"]["server"]["properties"]["healthProbes"]["properties"]["enable"] =
        json!({ "type": "boolean" });
    let names: Vec<&str> = registry
        .all()
        .iter()
        .flat_map(|it| std::iter::once(it.name()).chain(it.synonyms().iter().copied()))
        .collect();
    let profile = &mut schema["properties"]["scheduler"]["properties"]["profiles"]["items"]["properties"];
    profile["name"] = json!({ "type": "string", "enum": names });
    Ok(schema)
}

/// Values that a template reads.
pub(super) fn used(template: &str) -> Vec<String> {
    let is_path = |it: char| it.is_ascii_alphanumeric() || it == '.';
    template
        .split(".Values.")
        .skip(1)
        .map(|it| it.split(|it| !is_path(it)).next().unwrap_or_default().trim_end_matches('.').to_owned())
        .collect()
}

/// Requires a value, and all that it is in.
fn require(schema: &mut Value, path: &str) {
    let mut at = schema;
    for key in path.split('.') {
        if at["properties"].get(key).is_none() {
            return;
        }
        if !at["required"].is_array() {
            at["required"] = json!([]);
        }
        if let Some(required) = at["required"].as_array_mut().filter(|it| !it.iter().any(|it| it == key)) {
            required.push(key.into());
        }
        at = &mut at["properties"][key];
    }
}
