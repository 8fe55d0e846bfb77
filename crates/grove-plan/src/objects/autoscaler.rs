//! HorizontalPodAutoscalers of cliques and scaling groups that ask for one.

use std::collections::BTreeMap;

use grove_api::{
    constants::{GROUP, VERSION, components, labels},
    wire::{AutoScalingConfig, PodClique, PodCliqueScalingGroup},
};
use k8s_openapi::{
    api::autoscaling::v2::{
        CrossVersionObjectReference, HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::Resource;

use super::{Context, labels::Labels, owner};
use crate::layout::{Clique, set_name, set_namespace};

/// The autoscaler of a standalone clique, where it asks for one.
pub fn clique_autoscaler(context: Context<'_>, clique: &Clique<'_>) -> Option<HorizontalPodAutoscaler> {
    let config = clique.template.spec.auto_scaling_config.as_ref()?;
    Some(autoscaler(context, config, &PodClique::kind(&()), &clique.name))
}

/// The autoscaler of a scaling group called `name`, where it asks for one.
pub fn group_autoscaler(
    context: Context<'_>,
    config: Option<&AutoScalingConfig>,
    name: &str,
) -> Option<HorizontalPodAutoscaler> {
    Some(autoscaler(context, config?, &PodCliqueScalingGroup::kind(&()), name))
}

fn autoscaler(
    context: Context<'_>,
    config: &AutoScalingConfig,
    kind: &str,
    target: &str,
) -> HorizontalPodAutoscaler {
    let set = context.set;
    let labels = Labels::from_template(&BTreeMap::new())
        .of_set(set_name(set))
        .with(labels::NAME, target)
        .with(labels::COMPONENT, components::AUTOSCALER)
        .into_map();
    HorizontalPodAutoscaler {
        // The target's name: whoever looks for the autoscaler of a clique finds it.
        metadata: ObjectMeta {
            name: Some(target.to_owned()),
            namespace: Some(set_namespace(set).to_owned()),
            labels: Some(labels),
            owner_references: owner(set).map(|it| vec![it]),
            ..ObjectMeta::default()
        },
        spec: HorizontalPodAutoscalerSpec {
            min_replicas: config.min_replicas,
            max_replicas: config.max_replicas,
            metrics: (!config.metrics.is_empty()).then(|| config.metrics.clone()),
            scale_target_ref: CrossVersionObjectReference {
                api_version: Some(format!("{GROUP}/{VERSION}")),
                kind: kind.to_owned(),
                name: target.to_owned(),
            },
            ..HorizontalPodAutoscalerSpec::default()
        },
        status: None,
    }
}
