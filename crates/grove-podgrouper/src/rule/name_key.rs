//! What tells the groups of one workload apart.

use grove_runtime::object_name::is_dns_subdomain;
use serde_json::Value;

use super::{scope::Scope, source::At};
use crate::{fields::shown, metadata, names::group_name, plugin::Refused, workload::Workload};

/// Characters of a value. Names of groups hold it whole.
const LONGEST: usize = 63;

/// Where the value is.
#[derive(Debug)]
pub(super) struct NameKey {
    pub(super) from_pod: bool,
    pub(super) value: At,
    pub(super) default: Option<String>,
}

impl NameKey {
    /// Name of the group that a pod is in.
    pub(super) fn group_name(&self, workload: Workload<'_>) -> Result<String, Refused> {
        let Workload { pod, top, .. } = workload;
        let scope = Scope::of(if self.from_pod { pod } else { top });
        let value = self.value.text(scope)?.or_else(|| self.default.clone());
        let Some(value) = value else {
            return Err(self.value.refused(format_args!(
                "finds nothing in {scope}: set it there, or set spec.nameKey.default"
            )));
        };
        if value.len() > LONGEST || !is_dns_subdomain(&value) {
            return Err(self.value.refused(format_args!(
                "what it finds in {scope} is {}: it is a part of the name of the group, so use at most {LONGEST} lower \
                 case letters, digits, dashes and dots, with a letter or digit at both ends",
                shown(&Value::from(value.as_str()))
            )));
        }
        Ok(group_name(metadata::name(top), &format!("{}-{value}", metadata::uid(top))))
    }
}
