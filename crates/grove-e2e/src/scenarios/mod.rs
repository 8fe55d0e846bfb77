//! The table of scenarios.

mod admission;
mod api;
mod backends;
mod command;
mod dice;
mod gang;
mod grouper;
mod install;
mod operator;
mod pod_rules;
mod rig;
mod rights;
mod situations;
mod start_order;
// The tables of `testdata/` and what a row means are the same for unit tests and for a real API server.
#[path = "../../../grove-api/tests/rules/table.rs"]
#[allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "test support; unit tests use more of it")]
mod table;
mod tenant;
mod termination;
mod topology;
mod up;
mod updates;

use crate::{
    cluster::{
        Gates::{All, ApiOnly, None, Workload},
        Scheduler::{Kai, Kube, Volcano},
    },
    scenario::Scenario,
};

/// Only by `make compat`: needs other projects' files.
pub const COMPAT: &[&[Scenario]] = &[
    &[Scenario::on_kube("api_corpus_samples_round_trip", |context| {
        Box::pin(api::corpus_samples_round_trip(context))
    })],
    operator::COMPAT,
];

/// All scenarios; those that take long come last.
pub const ALL: &[&[Scenario]] = &[
    TABLE,
    admission::TABLE,
    rights::TABLE,
    tenant::TABLE,
    start_order::TABLE,
    backends::TABLE,
    backends::GANGS,
    topology::TABLE,
    grouper::TABLE,
    updates::TABLE,
    termination::TABLE,
    operator::TABLE,
    install::TABLE,
];

/// Scenarios without an operator.
const TABLE: &[Scenario] = &[
    Scenario::on_kube("api_crds_install", |context| Box::pin(api::crds_install(context))),
    Scenario::on_kube("api_samples_round_trip", |context| Box::pin(api::samples_round_trip(context))),
    Scenario::on_kube("api_invalid_table", |context| Box::pin(api::invalid_table(context))),
    Scenario::on_kube("api_pod_rules", |context| Box::pin(pod_rules::hold(context))),
    Scenario::on_kube("api_suite", |context| Box::pin(api::suite(context))),
    Scenario::on_kube("rig_simulated_pods", |context| Box::pin(rig::simulated_pods(context))),
    Scenario::on_kube("rig_lost_node", |context| Box::pin(rig::lost_node(context))),
    Scenario::on_kube("rig_init_containers_run_for_real", |context| {
        Box::pin(rig::init_containers_run_for_real(context))
    }),
    Scenario::on_kube("rig_two_clusters_side_by_side", |context| {
        Box::pin(rig::two_clusters_side_by_side(context))
    }),
    Scenario::on_kube("rig_kube_scheduler_on_the_sandbox", |context| {
        Box::pin(rig::kube_scheduler_on_the_sandbox(context))
    }),
    Scenario::on_kube("rig_killed_harness_leaves_nothing", |context| {
        Box::pin(rig::killed_harness_leaves_nothing(context))
    }),
    Scenario::on_kube("up_shows_it_all", |context| Box::pin(up::shows_it_all(context))),
    Scenario {
        name: "gang_hierarchy_in_one_rack",
        on: &[(Kube, All), (Kai, All), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(gang::hierarchy_in_one_rack(context)),
    },
    Scenario {
        name: "gang_flat",
        on: &[(Kube, Workload), (Volcano, All)],
        full_only: false,
        run: |context| Box::pin(gang::flat(context)),
    },
    Scenario {
        name: "gang_unknown_to_the_scheduler",
        on: &[(Kube, ApiOnly)],
        full_only: true,
        run: |context| Box::pin(gang::unknown_to_the_scheduler(context)),
    },
    Scenario {
        name: "gang_not_served",
        on: &[(Kube, None)],
        full_only: true,
        run: |context| Box::pin(gang::not_served(context)),
    },
    Scenario {
        name: "sandbox_gang_situations",
        on: &[(Kube, All)],
        full_only: true,
        run: |context| Box::pin(situations::gangs(context)),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_is_in_the_documentation() {
        let pages =
            [include_str!("../../../../docs/e2e.md"), include_str!("../../../../docs/e2e-capabilities.md")];
        let is_listed = |name: &str| pages.iter().any(|it| it.contains(&format!("`{name}`")));
        let areas = ["start_order", "operator", "backend", "grouper", "updates", "termination", "rights"];
        let areas = areas.iter().chain(&["tenant", "admission", "topology", "install"]);
        let short = |name: &str| {
            areas.clone().find_map(|it| name.strip_prefix(it)?.strip_prefix('_').map(str::to_owned))
        };
        let scenarios = ALL.iter().chain(COMPAT).flat_map(|it| it.iter());
        let mut missing: Vec<&str> = scenarios
            .map(|it| it.name)
            .filter(|it| !is_listed(it) && !short(it).is_some_and(|it| is_listed(&it)))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        assert!(missing.is_empty(), "docs/e2e.md does not list {missing:?}");
    }
}
