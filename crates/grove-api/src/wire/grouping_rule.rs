//! GroupingRule: how the pods of a kind of workloads are grouped, without code. Grove's own kind.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Condition;
use crate::limits::{MAX_JSON_PATH, MAX_LABEL_LENGTH, MAX_NAME_LENGTH, MAX_RULE_SUB_GROUPS};

/// Whose pods are grouped, and how. What a rule does not say is as for workloads without a plugin or rule: one group for each, of
/// which one pod has to be placed.
#[derive(Clone, Debug, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(group = "scheduler.grove.io", version = "v1alpha1", kind = "GroupingRule", plural = "groupingrules")]
#[kube(shortname = "gr", status = "GroupingRuleStatus")]
#[kube(derive = "PartialEq", derive = "Default", schema = "disabled")]
#[serde(rename_all = "camelCase")]
pub struct GroupingRuleSpec {
    /// The workloads: objects of this kind that are the topmost owners of pods.
    #[serde(rename = "match")]
    pub match_: KindMatch,
    /// Makes one group for each value instead of one for each workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_key: Option<NameKey>,
    /// Pods of a group that have to be placed together; 1 where absent. A group with sub-groups has their minima instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_member: Option<CountSource>,
    /// Sub-groups that have to be placed together; all of them where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_sub_group: Option<CountSource>,
    /// PriorityClass of the groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class: Option<PrioritySource>,
    /// Where all pods of a group go. Where it says nothing, annotations of the workload do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<TopologySource>,
    /// Parts of a group with minima of their own. A pod is in the first one that it fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = MAX_RULE_SUB_GROUPS))]
    pub sub_groups: Vec<SubGroupRule>,
}

/// A kind of objects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KindMatch {
    /// API group; empty for the core.
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub group: String,
    /// API version, or * for any.
    #[schemars(length(max = MAX_LABEL_LENGTH))]
    pub version: String,
    /// Kind.
    #[schemars(length(max = MAX_LABEL_LENGTH))]
    pub kind: String,
}

/// A text that tells the groups of a workload apart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NameKey {
    /// Where the path begins: at the pod, or at the workload.
    #[serde(default)]
    pub from: NameKeyFrom,
    /// Path to the value, such as .metadata.labels.replica.
    #[schemars(length(max = MAX_JSON_PATH))]
    pub path: String,
    /// The value where the path finds none; without it such pods are not grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH))]
    pub default: Option<String>,
}

/// Where a name key is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum NameKeyFrom {
    /// The pod.
    #[default]
    Pod,
    /// The workload.
    Owner,
}

/// A number: fixed, or read from the workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountSource {
    /// Path to the number, or to several, which are added up. In a sub-group with forEach it begins at the item, elsewhere
    /// at the workload; with $ always at the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_JSON_PATH))]
    pub path: Option<String>,
    /// The number where the path finds none; without it such workloads are not grouped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub default: Option<i32>,
    /// The number, instead of a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub value: Option<i32>,
}

/// A text: fixed, or read from the workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextSource {
    /// Path to the text. In a sub-group with forEach it begins at the item, elsewhere at the workload; with $ always at the
    /// workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_JSON_PATH))]
    pub path: Option<String>,
    /// The text where the path finds none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_NAME_LENGTH))]
    pub default: Option<String>,
    /// The text, instead of a path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_NAME_LENGTH))]
    pub value: Option<String>,
}

/// A PriorityClass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrioritySource {
    /// Path to its name in the workload. What it finds goes before all else that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_JSON_PATH))]
    pub path: Option<String>,
    /// Its name where nothing else names one; train where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_NAME_LENGTH))]
    pub default: Option<String>,
}

/// Levels of a topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TopologySource {
    /// Name of the topology. In a sub-group that of the whole group where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<TextSource>,
    /// The level that has to hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<TextSource>,
    /// The level to try for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<TextSource>,
}

/// A part of a group, or one for each item of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubGroupRule {
    /// Name of the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH))]
    pub name: Option<String>,
    /// Makes a part of each item of a list or map of the workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub for_each: Option<ForEach>,
    /// Pods of the part that have to be placed together.
    pub min_member: CountSource,
    /// Its pods. A part of a name and without a selector takes the pods that no other takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_selector: Option<LabelSelector>,
    /// Where its pods go, inside of where the whole group goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<TopologySource>,
}

/// The list or map that parts are made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ForEach {
    /// Path to the list or map in the workload.
    #[schemars(length(max = MAX_JSON_PATH))]
    pub path: String,
    /// Path from an item to the name of its part; the keys of a map are the names where absent. Names are made lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_JSON_PATH))]
    pub name: Option<String>,
    /// Label of pods whose value is the name of their part.
    #[schemars(length(max = 317))]
    pub pod_label: String,
}

/// Whether a rule can be used, and how much it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupingRuleStatus {
    /// Generation of the rule that was acted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// `Compiled` and `Active`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,
    /// Groups that were made by it and are there.
    #[serde(default)]
    pub groups: i32,
}
