//! Topologies of a cluster, and what schedulers, sets and people are told of them.

mod binding;
mod deleted;
mod home;
mod hyper_nodes;
mod kueue;
mod large;
mod spread;
mod tas;

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::{
    cluster::{
        Gates::{All, Levels},
        Scheduler::{Kai, Kube, Volcano},
    },
    scenario::{PodState, Scenario},
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
        on: &[(Kube, All), (Kai, All)],
        full_only: false,
        run: |context| Box::pin(deleted::goes_and_comes(context)),
    },
    Scenario {
        name: "topology_binding_comes_with_its_set",
        on: &[(Kube, All)],
        full_only: false,
        run: |context| Box::pin(deleted::comes_with_its_set(context)),
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
    Scenario {
        name: "topology_large_hall",
        on: &[(Kube, All), (Kai, All), (Volcano, All)],
        full_only: true,
        run: |context| Box::pin(large::hall(context)),
    },
    Scenario {
        name: "topology_replicas_are_apart",
        on: &[(Kube, All), (Kai, All), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(spread::replicas_are_apart(context)),
    },
    Scenario {
        name: "topology_tas",
        on: &[(Kube, All), (Kube, Levels), (Kai, All), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(tas::play(context)),
    },
];

/// The one rack in which pods are.
fn one_rack(pods: &[PodState]) -> Result<&str> {
    let racks = pods.iter().filter_map(|it| it.node.as_deref()?.rsplit_once("-node-")).map(|it| it.0);
    let racks: BTreeSet<&str> = racks.collect();
    ensure!(racks.len() == 1, "not in one rack: {racks:?}");
    racks.into_iter().next().context("nowhere")
}
