//! Whether a workload may be preempted.

use serde_json::Value;

use crate::{
    group::Preemptibility,
    metadata::label,
    settings::Settings,
    workload::{Kind, Owner},
};

/// Label that says it.
pub(crate) const LABEL: &str = "kai.scheduler/preemptibility";

/// What the owners or the pod say, else what their kinds get. An empty label says that nobody decides; a wrong one says
/// nothing.
pub(crate) fn preemptibility(owners: &[Owner], pod: &Value, settings: &Settings) -> Option<Preemptibility> {
    let of_owners = owners.iter().filter_map(|it| it.labels.get(LABEL).map(String::as_str));
    let said = of_owners.chain(label(pod, LABEL)).find_map(|text| match text {
        "" => Some(None),
        _ => Preemptibility::parse(text).map(Some),
    });
    said.unwrap_or_else(|| {
        owners.iter().find_map(|owner| {
            let kind = Kind::parse(&owner.object.api_version, &owner.object.kind);
            settings.kind_default(kind)?.preemptibility
        })
    })
}

#[cfg(test)]
mod tests;
