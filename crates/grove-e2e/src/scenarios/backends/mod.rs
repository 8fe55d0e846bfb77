//! Gangs through the operator and its scheduler backends, on every scheduler.

mod failing;
mod gangs;
mod kai_beside;
mod kai_newer;
mod metrics;
mod placement;
mod priority;
mod queue;
mod recovery;
mod side_by_side;
pub(super) mod stage;
mod switch;
mod told;
mod why;

use crate::{
    cluster::{
        Gates::{self, All, ApiOnly, None, Workload},
        Scheduler::{self, Kai, Kube, Volcano},
    },
    scenario::{Running, Scenario},
};

/// Upstream's gang scheduling tests.
pub(super) const GANGS: &[Scenario] = gangs::TABLE;

type On = &'static [(Scheduler, Gates)];
type Run = for<'a> fn(&'a mut crate::scenario::Context) -> Running<'a>;

/// Every scheduler at its best.
const BEST: On = &[(Kube, All), (Kai, All), (Volcano, All)];
/// Every scheduler that has gangs.
const WITH_GANGS: On = &[(Kube, All), (Kube, Workload), (Kai, All), (Volcano, All)];

const fn on(on: On, name: &'static str, run: Run) -> Scenario {
    Scenario { name, on, full_only: false, run }
}

/// Scenarios of the backends; those that take long come last.
pub(super) const TABLE: &[Scenario] = &[
    on(BEST, "backend_required_rack", |context| Box::pin(placement::required_rack(context))),
    on(BEST, "backend_nested_levels", |context| Box::pin(placement::nested_levels(context))),
    on(BEST, "backend_level_of_a_role", |context| Box::pin(placement::level_of_a_role(context))),
    on(
        &[(Kube, All), (Kube, Workload), (Kube, None), (Kai, All), (Volcano, All)],
        "backend_preferred_rack",
        |context| Box::pin(placement::preferred_rack(context)),
    ),
    on(BEST, "backend_required_and_preferred", |context| {
        Box::pin(placement::required_and_preferred(context))
    }),
    on(WITH_GANGS, "backend_priority_goes_first", |context| Box::pin(priority::goes_first(context))),
    on(&[(Kube, All), (Kube, Workload), (Kai, All)], "backend_priority_makes_room", |context| {
        Box::pin(priority::makes_room(context))
    }),
    on(WITH_GANGS, "backend_failing_keeps_gates", |context| Box::pin(failing::keeps_gates(context))),
    on(BEST, "backend_scheduler_restarts", |context| Box::pin(recovery::scheduler_restarts(context))),
    on(BEST, "backend_operator_restarts", |context| Box::pin(recovery::operator_restarts(context))),
    on(BEST, "backend_pod_fails_and_node_is_lost", |context| {
        Box::pin(recovery::pod_fails_and_node_is_lost(context))
    }),
    on(
        &[(Kube, All), (Kube, Workload), (Kube, None), (Kai, All), (Volcano, All)],
        "backend_capabilities",
        |context| Box::pin(told::capabilities(context)),
    ),
    on(&[(Kube, All)], "backend_why_names_each_obstacle", |context| {
        Box::pin(why::names_each_obstacle(context))
    }),
    on(BEST, "backend_metrics_and_events", |context| Box::pin(metrics::and_events(context))),
    on(&[(Kai, All), (Volcano, All)], "backend_queue_limits_gangs", |context| {
        Box::pin(queue::limits_gangs(context))
    }),
    on(&[(Kai, All)], "backend_kai_pod_grouper", |context| Box::pin(kai_beside::pod_grouper(context))),
    on(&[(Kai, All)], "backend_kai_takeover", |context| Box::pin(kai_beside::takeover(context))),
    on(&[(Kube, All)], "backend_kai_newer_form", |context| Box::pin(kai_newer::form(context))),
    on(&[(Kube, All), (Kube, None)], "backend_no_gangs", |context| Box::pin(told::no_gangs(context))),
    on(&[(Kube, Workload)], "backend_no_levels", |context| Box::pin(told::no_levels(context))),
    Scenario {
        name: "backend_groups_are_not_honoured",
        on: &[(Kube, ApiOnly)],
        full_only: true,
        run: |context| Box::pin(told::groups_are_not_honoured(context)),
    },
    on(&[(Kai, All)], "backend_side_by_side", |context| {
        Box::pin(side_by_side::one_loses_its_definition(context))
    }),
    on(&[(Kai, All)], "backend_switch", |context| Box::pin(switch::running_sets_stay(context))),
];
