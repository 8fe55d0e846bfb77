//! The operator on a real control plane: what it makes of a PodCliqueSet, and that nothing can keep it from it.

mod adoption;
mod budget;
mod check;
mod commands;
mod crash;
mod deletion;
mod dynamo;
mod failure;
mod gates;
mod leader;
mod node_loss;
mod refusal;
mod repair;
mod rolling_upgrade;
mod samples;
mod scale;
pub(super) mod stage;
pub(super) mod story;
mod update;
pub(super) mod wanted;
pub(super) mod world;

use crate::{
    cluster::{
        Gates::{All, Workload},
        Scheduler::Kube,
    },
    scenario::Scenario,
};

/// Scenarios of the operator; those that take long come last.
pub(super) const TABLE: &[Scenario] = &[
    Scenario::on_kube(samples::NAME, |context| Box::pin(samples::ours(context))),
    Scenario::on_kube("operator_scale_set", |context| Box::pin(scale::set(context))),
    Scenario::on_kube("operator_scale_clique", |context| Box::pin(scale::clique(context))),
    Scenario::on_kube("operator_scale_group", |context| Box::pin(scale::group(context))),
    Scenario {
        name: "operator_scale_zero",
        on: &[(Kube, All), (Kube, Workload)],
        full_only: false,
        run: |context| Box::pin(scale::zero(context)),
    },
    Scenario::on_kube("operator_scale_begins_with_zero", |context| {
        Box::pin(scale::begins_with_zero(context))
    }),
    Scenario::on_kube("operator_gate_order", |context| Box::pin(gates::order(context))),
    Scenario::on_kube("operator_gate_base_first", |context| Box::pin(gates::base_first(context))),
    Scenario::on_kube("operator_gang_references", |context| Box::pin(gates::references(context))),
    Scenario::on_kube("operator_repair_deleted", |context| Box::pin(repair::deleted(context))),
    Scenario::on_kube("operator_repair_edited", |context| Box::pin(repair::edited(context))),
    Scenario::on_kube("operator_repair_relabelled", |context| Box::pin(repair::relabelled(context))),
    Scenario::on_kube("operator_update_restarts_nothing", |context| {
        Box::pin(update::replicas_and_template(context))
    }),
    Scenario::on_kube("operator_quota", |context| Box::pin(refusal::quota(context))),
    Scenario::on_kube("operator_quota_above_minimum", |context| {
        Box::pin(refusal::quota_above_minimum(context))
    }),
    Scenario::on_kube("operator_quota_two_gangs", |context| Box::pin(refusal::quota_two_gangs(context))),
    Scenario::on_kube("operator_failed_pods", |context| Box::pin(failure::failed_pods(context))),
    Scenario::on_kube("operator_stuck_terminating", |context| Box::pin(failure::stuck_terminating(context))),
    Scenario::on_kube("operator_deletion", |context| Box::pin(deletion::leaves_nothing(context))),
    Scenario::on_kube("operator_deletion_young", |context| Box::pin(deletion::young(context))),
    Scenario::on_kube("operator_deletion_orphans", |context| Box::pin(deletion::orphans(context))),
    Scenario::on_kube("operator_deletion_namespace", |context| Box::pin(deletion::namespace(context))),
    Scenario::on_kube("operator_adoption", |context| Box::pin(adoption::from_upstream(context))),
    Scenario::on_kube("operator_status_command", |context| Box::pin(commands::status(context))),
    Scenario::on_kube("operator_dynamo_reads", |context| Box::pin(dynamo::reads(context))),
    Scenario::on_kube("operator_leader_election", |context| Box::pin(leader::one_works(context))),
    Scenario::on_kube("operator_rolling_upgrade", |context| Box::pin(rolling_upgrade::under_load(context))),
    Scenario::on_kube("operator_killed", |context| Box::pin(crash::killed(context))),
    Scenario::on_kube("operator_node_lost", |context| Box::pin(node_loss::lost(context))),
    Scenario::on_kube("operator_write_budget", |context| Box::pin(budget::writes(context))),
];

/// With other projects' files.
pub(super) const COMPAT: &[Scenario] = &[
    Scenario::on_kube("operator_corpus_samples_run", |context| Box::pin(samples::upstreams(context))),
    Scenario::on_kube("operator_corpus_dynamo_runs", |context| Box::pin(samples::dynamos(context))),
];
