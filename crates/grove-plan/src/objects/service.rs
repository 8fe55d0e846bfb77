//! The headless Service of a set replica: it gives every pod a DNS name.

use grove_api::{
    constants::{components, labels},
    names,
};
use k8s_openapi::{
    api::core::v1::{Service, ServiceSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{Context, labels::Labels, owner};
use crate::layout::{set_name, set_namespace};

/// The Service of replica `replica`.
pub fn service(context: Context<'_>, replica: u32) -> Service {
    let (set, index) = (context.set, replica.to_string());
    let name = names::headless_service(set_name(set), replica);
    let selector = Labels::from_template(&std::collections::BTreeMap::new())
        .of_set(set_name(set))
        .with(labels::SET_REPLICA_INDEX, index.clone())
        .into_map();
    let labels = Labels::from_template(&selector)
        .with(labels::NAME, name.clone())
        .with(labels::COMPONENT, components::HEADLESS_SERVICE)
        .into_map();
    let config = set.spec.template.headless_service_config.as_ref();
    Service {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels),
            owner_references: owner(set).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        spec: Some(ServiceSpec {
            cluster_ip: Some("None".to_owned()),
            selector: Some(selector),
            publish_not_ready_addresses: Some(config.is_none_or(|it| it.publish_not_ready_addresses)),
            ..ServiceSpec::default()
        }),
        status: None,
    }
}
