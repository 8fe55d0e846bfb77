//! The pod grouper: groups for workloads of every kind.

mod gangs;
mod jobs_own_group;
mod large;
mod side_by_side;
mod workloads;

use crate::{
    cluster::{
        Gates::{All, Workload},
        Scheduler::{Kai, Kube, Volcano},
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
        on: &[(Kube, Workload), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(gangs::job(context)),
    },
    Scenario {
        name: "grouper_jobs_own_group",
        on: &[(Kube, All)],
        full_only: false,
        run: |context| Box::pin(jobs_own_group::jobs_own_group(context)),
    },
    Scenario {
        name: "grouper_large",
        on: &[(Kai, All)],
        full_only: true,
        run: |context| Box::pin(large::large(context)),
    },
];
