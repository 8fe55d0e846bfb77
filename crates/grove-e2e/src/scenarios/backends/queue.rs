//! Queues of schedulers that have some.

use anyhow::{Result, ensure};
use serde_json::json;

use super::stage::{self, Role};
use crate::{cluster::Scheduler, nodes::Hall, objects, scenario::Context};

const KAI: &str = "
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: { name: e2e-team }
spec:
  parentQueue: parent
  resources:
    cpu: { quota: -1, limit: -1, overQuotaWeight: 1 }
    gpu: { quota: -1, limit: 3, overQuotaWeight: 1 }
    memory: { quota: -1, limit: -1, overQuotaWeight: 1 }
";
const VOLCANO: &str = "
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: { name: e2e-team }
spec:
  weight: 1
  reclaimable: true
  capability: { nvidia.com/gpu: 3 }
";

/// A gang stands in the queue that its set names, and the queue's limit holds for it as a whole: of two gangs of two pods
/// each, three GPUs are enough for one.
pub(super) async fn limits_gangs(context: &mut Context) -> Result<()> {
    let (queue, key) = match context.scheduler() {
        Scheduler::Volcano => (VOLCANO, "scheduling.grove.io/volcano-queue"),
        _ => (KAI, "kai.scheduler/queue"),
    };
    context.nodes(Hall::racks(1).nodes(1).gpus(8)).await?;
    objects::apply_text(&context.client(), queue, None).await?;
    let result = two_gangs(context, key).await;
    let mut queue = objects::parse(queue)?.remove(0);
    let queues = objects::api_for(&context.client(), &mut queue, None).await?;
    queues.delete("e2e-team", &kube::api::DeleteParams::default()).await?;
    result
}

async fn two_gangs(context: &mut Context, key: &str) -> Result<()> {
    stage::start(context, stage::options(context)).await?;
    for name in ["first", "second"] {
        let mut set = stage::set(name, &[Role::new("a", 1, 1), Role::new("b", 1, 1)]);
        set["metadata"]["annotations"] = json!({ key: "e2e-team" });
        context.apply(&set.to_string()).await?;
        if name == "first" {
            stage::ready(context, "first-", 2).await?;
        }
    }
    context
        .expect("the second gang is let go", |pods| {
            pods.iter().filter(|it| it.name.starts_with("second-") && it.gates.is_empty()).count() == 2
        })
        .await?;
    context.had_its_turn("second-").await?;
    let placed = context.log.now(&context.namespace);
    let placed = placed.iter().filter(|it| it.name.starts_with("second-") && it.node.is_some()).count();
    ensure!(placed == 0, "{placed} pods are placed beyond the limit of their queue");
    for group in stage::groups(context).await? {
        let queue = &group.data["spec"]["queue"];
        ensure!(queue == "e2e-team", "a group stands in {queue}");
    }
    // Without the limit it goes on: nothing else held it.
    let mut more = stage::set("free", &[Role::new("a", 2, 2)]);
    more["metadata"]["annotations"] = json!({});
    context.apply(&more.to_string()).await?;
    stage::ready(context, "free-", 2).await?;
    Ok(())
}
