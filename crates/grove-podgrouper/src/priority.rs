//! The PriorityClass of a workload.

use serde_json::Value;

use crate::{
    metadata::label,
    settings::Settings,
    workload::{Kind, Owner},
};

/// Label that names a PriorityClass.
pub(crate) const LABEL: &str = "priorityClassName";

/// The class that the owners or the pod name, else that of their kinds, if it exists; else the fallback.
///
/// For each owner one name is tried: a wrong name of an owner is not replaced by that of the pod.
pub(crate) fn priority_class(owners: &[Owner], pod: &Value, settings: &Settings, fallback: &str) -> String {
    let of_pod = label(pod, LABEL).filter(|it| !it.is_empty()).or(pod["spec"][LABEL].as_str());
    let named = owners.iter().filter_map(|owner| {
        let of_owner = owner.labels.get(LABEL).map(String::as_str).filter(|it| !it.is_empty());
        of_owner.or(of_pod)
    });
    let of_kinds = owners.iter().filter_map(|owner| {
        let kind = Kind::parse(&owner.object.api_version, &owner.object.kind);
        Some(settings.kind_default(kind)?.priority_class.as_str())
    });
    let known = named.chain(of_kinds).find(|it| settings.priority_classes.contains(*it));
    known.unwrap_or(fallback).to_owned()
}

#[cfg(test)]
mod tests;
