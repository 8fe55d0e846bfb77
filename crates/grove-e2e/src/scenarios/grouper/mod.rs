//! The pod grouper: groups for workloads of every kind.

mod gangs;
mod side_by_side;
mod workloads;

use crate::{
    cluster::{
        Gates::All,
        Scheduler::{Kai, Volcano},
    },
    scenario::Scenario,
};

pub(super) const TABLE: &[Scenario] = &[
    Scenario {
        name: "grouper_side_by_side",
        on: &[(Kai, All)],
        full_only: false,
        run: |context| Box::pin(side_by_side::side_by_side(context)),
    },
    Scenario {
        name: "grouper_gangs",
        on: &[(Kai, All)],
        full_only: false,
        run: |context| Box::pin(gangs::gangs(context)),
    },
    Scenario {
        name: "grouper_job",
        on: &[(Volcano, All)],
        full_only: false,
        run: |context| Box::pin(gangs::job(context)),
    },
];
