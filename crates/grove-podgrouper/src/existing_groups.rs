//! Groups that are there already: how they were made says how the next pods of a workload are grouped.

use serde_json::Value;

use crate::plugin::{Found, Need};

/// Whether a group has no parts, as those of older versions.
pub(crate) fn is_flat(group: &Value) -> bool {
    group["spec"]["subGroups"].as_array().is_none_or(Vec::is_empty)
}

/// Kind of the owner of a group.
pub(crate) fn owner_kind(group: &Value) -> Option<&str> {
    group["metadata"]["ownerReferences"][0]["kind"].as_str()
}

/// What has not been read yet.
pub(crate) fn missing(needs: impl IntoIterator<Item = Need>, found: &Found) -> Vec<Need> {
    needs.into_iter().filter(|it| found.get(it).is_none()).collect()
}
