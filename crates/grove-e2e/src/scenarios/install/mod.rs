//! What is shipped, installed as users do: the image's program in pods of the Deployment, from the packaged chart and from `grove
//! manifests`. Each scenario has a cluster of its own, on which nothing of ours was before.

mod availability;
mod chart;
mod client;
mod inventory;
mod life;
mod outage;
mod rotation;
mod stage;
mod wrong_values;

use crate::scenario::Scenario;

/// Scenarios of installations. Each takes minutes.
pub(super) const TABLE: &[Scenario] = &[
    Scenario::on_kube("install_wrong_values", |context| Box::pin(wrong_values::fail(context))),
    Scenario::on_kube("install_rotation", |context| Box::pin(rotation::on_both(context))),
    Scenario::on_kube("install_chart", |context| Box::pin(life::of_chart(context))),
    Scenario::on_kube("install_manifests", |context| Box::pin(life::of_manifests(context))),
    Scenario::on_kube("install_high_availability", |context| Box::pin(availability::holds(context))),
];
