//! Priority: who goes first, and who makes room for whom.

use anyhow::{Result, ensure};
use k8s_openapi::api::{core::v1::Pod, scheduling::v1::PriorityClass};
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::Value;

use super::stage::{self, Role};
use crate::{
    cluster::Scheduler,
    nodes::{Hall, node_name},
    objects,
    scenario::{Context, PodState},
    scenarios::operator::stage::api,
};

/// Both can give room in KAI, which takes 100 and more for "never".
const CLASSES: &str = "
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: e2e-low }
value: 40
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: { name: e2e-high }
value: 60
";

fn set(name: &str, class: &str, roles: &[Role]) -> Value {
    let mut set = stage::set(name, roles);
    set["spec"]["template"]["priorityClassName"] = class.into();
    set
}

const PAIR: &[Role] = &[Role::new("a", 1, 1), Role::new("b", 1, 1)];

/// Two gangs wait for the same room: the one of higher priority gets it, though it came later.
pub(super) async fn goes_first(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(3).gpus(1)).await?;
    with_classes(context, async |context| {
        for node in 1..3 {
            context.cordon(&node_name(0, node), true).await?;
        }
        stage::start(context, stage::options(context)).await?;
        context.apply(&set("low", "e2e-low", PAIR).to_string()).await?;
        let let_go = |name: &'static str| {
            move |pods: &[PodState]| of(pods, name).filter(|it| it.gates.is_empty()).count() == 2
        };
        context.expect("the first gang waits", let_go("low-")).await?;
        context.apply(&set("high", "e2e-high", PAIR).to_string()).await?;
        context.expect("the second gang waits", let_go("high-")).await?;
        context.had_its_turn("high-").await?;
        context.cordon(&node_name(0, 1), false).await?;
        stage::ready(context, "high-", 2).await?;
        context.had_its_turn("low-").await?;
        let pods = context.log.now(&context.namespace);
        let placed = of(&pods, "low-").filter(|it| it.node.is_some()).count();
        ensure!(placed == 0, "{placed} pods of lower priority are placed");
        // The stock scheduler goes by the pods' own.
        let pods = match context.scheduler() {
            Scheduler::Kube => api::<Pod>(context).list(&ListParams::default()).await?.items,
            Scheduler::Kai | Scheduler::Volcano => Vec::new(),
        };
        for pod in pods {
            let class = pod.spec.as_ref().and_then(|it| it.priority_class_name.clone());
            let class = class.unwrap_or_default();
            ensure!(class.starts_with("e2e-"), "a pod has the class {class:?}");
        }
        context.cordon(&node_name(0, 2), false).await?;
        Ok(())
    })
    .await
}

/// A gang makes room for itself, and who gives room gives all of it: half a gang is of no use.
pub(super) async fn makes_room(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(4).gpus(1)).await?;
    with_classes(context, async |context| {
        stage::start(context, stage::options(context)).await?;
        let four = [Role::new("a", 2, 2), Role::new("b", 2, 2)];
        context.apply(&set("low", "e2e-low", &four).to_string()).await?;
        let before: Vec<String> =
            stage::ready(context, "low-", 4).await?.into_iter().map(|it| it.uid).collect();
        context.apply(&set("high", "e2e-high", PAIR).to_string()).await?;
        stage::ready(context, "high-", 2).await?;
        let gone = |pods: &[PodState]| pods.iter().all(|it| !before.contains(&it.uid));
        context.expect("the gang that gave room is gone as a whole", gone).await?;
        // Its pods are made anew and wait: two slots are not enough.
        let waits = |pods: &[PodState]| {
            of(pods, "low-").filter(|it| it.node.is_none() && it.gates.is_empty()).count() == 4
        };
        context.expect("the gang waits again", waits).await?;
        context.had_its_turn("low-").await?;
        let pods = context.log.now(&context.namespace);
        ensure!(waits(&pods), "half a gang runs: {pods:?}");
        Ok(())
    })
    .await
}

fn of<'a>(pods: &'a [PodState], prefix: &str) -> impl Iterator<Item = &'a PodState> {
    pods.iter().filter(move |it| it.name.starts_with(prefix))
}

/// PriorityClasses have no namespace to go with.
pub(super) async fn with_classes(
    context: &mut Context,
    run: impl AsyncFnOnce(&mut Context) -> Result<()>,
) -> Result<()> {
    objects::apply_text(&context.client(), CLASSES, None).await?;
    let result = run(context).await;
    let classes: Api<PriorityClass> = Api::all(context.client());
    for name in ["e2e-low", "e2e-high"] {
        classes.delete(name, &DeleteParams::default()).await?;
    }
    result
}
