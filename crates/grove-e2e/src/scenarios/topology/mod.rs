//! Topologies of a cluster, and what schedulers, sets and people are told of them.

mod binding;
mod home;
mod hyper_nodes;
mod kueue;

use crate::{
    cluster::{
        Gates::All,
        Scheduler::{Kai, Kube, Volcano},
    },
    scenario::Scenario,
};

/// Scenarios of topologies.
pub(super) const TABLE: &[Scenario] = &[
    Scenario {
        name: "topology_binding_is_mirrored",
        on: &[(Kai, All)],
        full_only: false,
        run: |context| Box::pin(binding::is_mirrored(context)),
    },
    Scenario {
        name: "topology_binding_names_another",
        on: &[(Kai, All)],
        full_only: false,
        run: |context| Box::pin(binding::names_another(context)),
    },
    Scenario {
        name: "topology_binding_goes_and_comes",
        on: &[(Kai, All)],
        full_only: false,
        run: |context| Box::pin(binding::goes_and_comes(context)),
    },
    Scenario {
        name: "topology_binding_volcano",
        on: &[(Volcano, All)],
        full_only: false,
        run: |context| Box::pin(hyper_nodes::are_made(context)),
    },
    Scenario {
        name: "topology_kueue_comes_and_goes",
        on: &[(Kube, All), (Kai, All)],
        full_only: false,
        run: |context| Box::pin(kueue::comes_and_goes(context)),
    },
    Scenario {
        name: "topology_scaled_gangs_follow",
        on: &[(Kube, All), (Kai, All), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(home::scaled_gangs_follow(context)),
    },
];
