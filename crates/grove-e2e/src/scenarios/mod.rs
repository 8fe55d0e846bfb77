//! The table of scenarios.

mod gang;

use crate::{
    cluster::{
        Gates::{All, Workload},
        Scheduler::{Kai, Kube, Volcano},
    },
    scenario::Scenario,
};

/// All scenarios.
pub const TABLE: &[Scenario] = &[
    Scenario {
        name: "gang_hierarchy_in_one_rack",
        on: &[(Kube, All), (Kai, All)],
        full_only: false,
        run: |context| Box::pin(gang::hierarchy_in_one_rack(context)),
    },
    Scenario {
        name: "gang_flat",
        on: &[(Kube, Workload), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(gang::flat(context)),
    },
];
