//! ControllerRevisions: the templates that a set has had.

use std::collections::BTreeMap;

use grove_api::{
    constants::{components, labels},
    names,
    wire::PodCliqueSet,
};
use k8s_openapi::{
    api::apps::v1::ControllerRevision,
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, runtime::RawExtension},
};

use super::{labels::Labels, owner};
use crate::layout::{set_name, set_namespace};

/// The set's template as it is now, under its generation hash and with this number.
pub fn revision(set: &PodCliqueSet, hash: &str, number: i64) -> ControllerRevision {
    let name = names::revision(set_name(set), hash);
    let labels = Labels::from_template(&BTreeMap::new())
        .of_set(set_name(set))
        .with(labels::COMPONENT, components::REVISION)
        .into_map();
    // Our types have string keys only, so that they always serialise.
    let mut data = serde_json::to_value(&set.spec.template).unwrap_or_default();
    // The API server compares the bytes of `data` with those that it writes itself, in this order, and takes no change.
    data.sort_all_objects();
    ControllerRevision {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels),
            owner_references: owner(set).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        data: RawExtension(data),
        revision: Some(number),
    }
}
