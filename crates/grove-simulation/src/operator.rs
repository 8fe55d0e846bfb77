//! The operator under test: the real one, as often as it is started.

use std::{sync::Arc, time::Duration};

use grove_api::config;
use grove_operator::{Caps, Concurrency, Operator, OperatorMetrics, Patience, Settings};
use grove_runtime::{Events, InformerMetrics, QueueMetrics, Term};
use grove_scheduler::builtin::builtin;
use k8s_openapi::jiff::SignedDuration;
use kube::Client;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    cluster::{NAMESPACE, configuration},
    connection::Connection,
    plan::Backend,
};

/// An operator that runs. It dies when this is dropped, in the middle of whatever it does.
pub(crate) struct Running {
    _tasks: JoinSet<()>,
}

/// Starts an operator that knows nothing. Nodes count as lost after this time, if ever; `backend` is the scheduler of gangs, where it has objects of its own.
pub(crate) fn start(
    connection: Connection,
    lost_after: Option<Duration>,
    backend: Option<Backend>,
) -> anyhow::Result<Running> {
    let client = Client::new(connection, NAMESPACE);
    let registry = builtin();
    let config = json!({
        "apiVersion": config::API_VERSION, "kind": config::KIND, "scheduler": configuration(backend),
    });
    let loaded = registry.with_known(|known| config::load(&config, known));
    let loaded = loaded.map_err(|errors| anyhow::anyhow!("the operator's configuration: {errors:?}"))?;
    let lost_after = lost_after.and_then(|it| SignedDuration::try_from(it).ok());
    // No set has to be in one domain, so nothing is placed anew.
    let patience = |after| Patience { after, replace_unit_after: SignedDuration::ZERO };
    let settings = Settings {
        concurrency: Concurrency { sets: 2, groups: 2, cliques: 4, gangs: 4 },
        registry,
        profiles: loaded.profiles,
        namespace: NAMESPACE.to_owned(),
        init_image: "grove-initc:1".to_owned(),
        topology_aware: backend == Some(Backend::Kai),
        caps: Caps::default(),
        node_loss: lost_after.map(patience),
        clock: clock::operator_now,
    };
    let (informers, queues) = (InformerMetrics::default(), QueueMetrics::default());
    let metrics = OperatorMetrics::default();
    let operator = Arc::new(Operator::new(client, Events::none(), settings, &informers, &queues, metrics));
    let mut tasks = JoinSet::new();
    let watching = Arc::clone(&operator);
    tasks.spawn(async move { watching.watch(CancellationToken::new()).await });
    tasks.spawn(async move {
        operator.work(Term::default()).await;
    });
    Ok(Running { _tasks: tasks })
}
