//! The operator over an in-memory API, with a scheduler and kubelets that do their work at once. Time is virtual: what
//! waits for a minute takes no time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "functions that tests share are tests too"
)]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

mod autoscalers;
mod backend_objects;
mod backends;
mod behaviour;
mod bindings;
mod blind_nodes;
mod cluster_wide;
mod deadlines;
mod deleted_bindings;
mod deletion;
mod dry_runs;
mod forbidden;
mod herds;
mod hosts;
mod hyper_nodes;
mod kills;
mod metrics;
mod node_loss;
mod passed_over;
mod paused;
mod places;
mod quotas;
mod recovery;
mod restart_policy;
mod restored;
mod revisions;
mod set_back;
mod shutdown;
mod sizes;
mod slow;
mod snapshot;
mod spread;
mod start_order;
mod stored;
mod stuck_updates;
mod tenants;
mod termination;
mod termination_kills;
mod terms;
mod topologies;
mod updates;
mod workload;
mod world;
mod zero;
