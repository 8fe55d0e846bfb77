//! Bounds and patterns beside the CEL rules: simple limits are plain schema, and CEL's cost depends on them.

use serde_json::{Map, Value, json};

use super::{Definitions, patterns};
use crate::limits::MAX_LABEL_LENGTH;

pub(super) fn attach(definitions: &mut Definitions) {
    for (type_, field, keyword, value) in [
        ("CliqueTemplate", "name", "pattern", json!(patterns::DNS_LABEL)),
        ("ScalingGroupConfig", "name", "pattern", json!(patterns::DNS_LABEL)),
        ("PodCliqueSpec", "minAvailable", "minimum", json!(1)),
        ("ScalingGroupConfig", "minAvailable", "minimum", json!(1)),
        ("PodCliqueScalingGroupSpec", "minAvailable", "minimum", json!(1)),
        ("ClaimTemplate", "name", "minLength", json!(1)),
        ("SetSharing", "name", "minLength", json!(1)),
        ("GroupSharing", "name", "minLength", json!(1)),
        ("SharingRef", "name", "minLength", json!(1)),
        ("KindMatch", "group", "pattern", json!(patterns::API_GROUP)),
        ("KindMatch", "version", "pattern", json!(patterns::ANY_VERSION)),
        ("KindMatch", "kind", "pattern", json!(patterns::KIND)),
        ("NameKey", "path", "pattern", json!(patterns::JSON_PATH)),
        ("NameKey", "default", "pattern", json!(patterns::DNS_LABEL)),
        ("CountSource", "path", "pattern", json!(patterns::JSON_PATH)),
        ("TextSource", "path", "pattern", json!(patterns::JSON_PATH)),
        ("PrioritySource", "path", "pattern", json!(patterns::JSON_PATH)),
        ("ForEach", "path", "pattern", json!(patterns::JSON_PATH)),
        ("ForEach", "name", "pattern", json!(patterns::JSON_PATH)),
        ("ForEach", "podLabel", "pattern", json!(patterns::LABEL_KEY)),
        ("SubGroupRule", "name", "pattern", json!(patterns::DNS_LABEL)),
    ] {
        if let Some(schema) = field_of(definitions, type_, field) {
            schema.insert(keyword.to_owned(), value);
        }
    }
    // Fields that are always written although they have a default.
    for (type_, fields) in [
        (
            "PodCliqueStatus",
            &["readyReplicas", "scheduleGatedReplicas", "scheduledReplicas", "updatedReplicas"] as &[&str],
        ),
        ("PodCliqueScalingGroupStatus", &["availableReplicas", "scheduledReplicas", "updatedReplicas"]),
        ("PodCliqueSetStatus", &["availableReplicas", "updatedReplicas"]),
        ("SchedulerBackendStatus", &["default"]),
        ("GroupingRuleStatus", &["groups"]),
        ("PodCliqueScalingGroupSpec", &["cliqueNames", "replicas"]),
        ("HeadlessServiceConfig", &["publishNotReadyAddresses"]),
        ("io.k8s.api.resource.v1.ResourceClaimTemplateSpec", &["spec"]),
    ] {
        if let Some(Value::Object(schema)) = definitions.get_mut(type_) {
            schema.insert("required".to_owned(), json!(fields));
        }
    }
    for (type_, field) in [
        ("PodCliqueSpec", "startsAfter"),
        ("ScalingGroupConfig", "cliqueNames"),
        ("PodCliqueScalingGroupSpec", "cliqueNames"),
        ("PackGroup", "cliqueNames"),
        ("SetFilter", "childCliqueNames"),
        ("SetFilter", "childScalingGroupNames"),
        ("GroupFilter", "childCliqueNames"),
    ] {
        // A PodClique's startsAfter holds whole object names, so the bound is that of a label.
        if let Some(Value::Object(items)) =
            field_of(definitions, type_, field).and_then(|it| it.get_mut("items"))
        {
            items.insert("maxLength".to_owned(), json!(MAX_LABEL_LENGTH));
        }
    }
}

fn field_of<'a>(
    definitions: &'a mut Definitions,
    type_: &str,
    field: &str,
) -> Option<&'a mut Map<String, Value>> {
    definitions.get_mut(type_)?.get_mut("properties")?.get_mut(field)?.as_object_mut()
}
