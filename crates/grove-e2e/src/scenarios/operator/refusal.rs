//! Pods that the API server refuses.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use grove_api::constants::conditions::{self, pod_gang};
use k8s_openapi::api::core::v1::{Event, ResourceQuota};
use kube::api::ListParams;
use serde_json::json;

use super::{
    stage::{self, api, create, patch, settled},
    wanted::Wanted,
    world::World,
};
use crate::{
    cluster::Tail,
    operator::of_operator,
    scenario::{Context, DEADLINE, eventually},
};

/// Five pods of two cliques; a gang of four.
const PAIR: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: pair }
spec:
  replicas: 1
  template:
    cliques:
      - name: a
        spec: { roleName: a, replicas: 3, minAvailable: 2, podSpec: &pod { containers: [{ name: main, image: "registry.example.com/app:1.0" }] } }
      - name: b
        spec: { roleName: b, replicas: 2, podSpec: *pod }
"#;

/// The server's words are in the conditions of clique, gang and set; it is asked ever more rarely and few events tell of
/// it; when the quota is raised, all goes on.
pub(super) async fn quota(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    limit(context, 1).await?;
    let mut tail = context.cluster.tail()?;
    let set = stage::set(PAIR)?;
    create(context, &set).await?;
    let words = "exceeded quota: pods";
    says(context, Some(words)).await?;
    let world = World::read(context).await?;
    let gang = world.gang("pair-0")?.status.clone().unwrap_or_default();
    let initialized = gang.conditions.iter().find(|it| it.type_ == pod_gang::INITIALIZED);
    ensure!(initialized.is_some_and(|it| it.status == "False"), "{:?}", gang.conditions);

    // It goes on asking, and not too often.
    let refused = asked_again(context, &mut tail, 6).await?;
    ensure!(refused <= 20, "the server was asked {refused} times");
    let pods = context.log.now(&context.namespace);
    ensure!(pods.len() == 1 && !pods[0].gates.is_empty(), "one gated pod was expected: {pods:?}");
    let mut told: BTreeMap<String, i32> = BTreeMap::new();
    for event in api::<Event>(context).list(&ListParams::default()).await?.items {
        let object = event.involved_object;
        if object.kind.as_deref() == Some("PodClique") {
            *told.entry(object.name.unwrap_or_default()).or_default() += 1;
        }
    }
    ensure!(told.values().any(|it| *it > 0), "no event tells of it");
    ensure!(told.values().all(|it| *it <= 3), "events of cliques: {told:?}");

    limit(context, 20).await?;
    settled(context, &Wanted::of(&set)).await?;
    says(context, None).await
}

/// Where only pods above the minimum are refused, the gang goes; the conditions say what is missing.
pub(super) async fn quota_above_minimum(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    limit(context, 4).await?;
    let set = stage::set(PAIR)?;
    create(context, &set).await?;
    let ready = |pods: &[crate::scenario::PodState]| pods.len() == 4 && pods.iter().all(|it| it.ready);
    context.expect("the minimum is ready", ready).await?;
    eventually("the set is available and says what is refused", DEADLINE, || async {
        let world = World::read(context).await?;
        let status = world.set("pair")?.status.clone().unwrap_or_default();
        let is = |type_: &str| status.conditions.iter().any(|it| it.type_ == type_ && it.status == "True");
        ensure!(
            is(conditions::available::TYPE) && is(conditions::REPLICA_FAILURE),
            "{:?}",
            status.conditions
        );
        let gang = world.gang("pair-0")?.status.clone().unwrap_or_default();
        ensure!(gang.phase == "Running", "the gang is {}: {:?}", gang.phase, gang.conditions);
        Ok(())
    })
    .await?;
    limit(context, 20).await?;
    settled(context, &Wanted::of(&set)).await?;
    Ok(())
}

/// A base gang of four pods, and two scaled gangs of three.
const TRIO: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: trio }
spec:
  replicas: 1
  template:
    cliques:
      - name: a
        spec: { roleName: a, replicas: 1, podSpec: &pod { containers: [{ name: main, image: "registry.example.com/app:1.0" }] } }
      - name: b
        spec: { roleName: b, replicas: 1, podSpec: *pod }
      - name: c
        spec: { roleName: c, replicas: 2, podSpec: *pod }
    podCliqueScalingGroups:
      - { name: g, cliqueNames: [b, c], replicas: 3, minAvailable: 1 }
"#;

/// With room for one of two scaled gangs, one runs and the other holds nothing; when the quota is raised, it runs too.
pub(super) async fn quota_two_gangs(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    limit(context, 7).await?;
    let set = stage::set(TRIO)?;
    create(context, &set).await?;
    let one_runs = |pods: &[crate::scenario::PodState]| pods.len() == 7 && pods.iter().all(|it| it.ready);
    context.expect("the base gang and one scaled gang are ready", one_runs).await?;
    eventually("the other gang says what it waits for", DEADLINE, || async {
        let world = World::read(context).await?;
        let waiting = world.gang("trio-0-g-1")?.status.clone().unwrap_or_default();
        let said = waiting.conditions.iter().find(|it| it.type_ == conditions::REPLICA_FAILURE);
        ensure!(said.is_some_and(|it| it.message.contains("quota")), "{:?}", waiting.conditions);
        Ok(())
    })
    .await?;
    limit(context, 10).await?;
    settled(context, &Wanted::of(&set)).await?;
    Ok(())
}

/// Lets so many pods into the namespace.
async fn limit(context: &Context, pods: u32) -> Result<()> {
    let spec = json!({ "metadata": { "name": "pods" }, "spec": { "hard": { "pods": pods.to_string() } } });
    let quotas = api::<ResourceQuota>(context);
    match quotas.get_opt("pods").await? {
        None => drop(create(context, &serde_json::from_value::<ResourceQuota>(spec)?).await?),
        Some(_) => drop(patch::<ResourceQuota>(context, "pods", &spec).await?),
    }
    eventually("the quota is in force", DEADLINE, || async {
        let hard = quotas.get("pods").await?.status.and_then(|it| it.hard).unwrap_or_default();
        ensure!(hard.get("pods").is_some_and(|it| it.0 == pods.to_string()), "{hard:?}");
        Ok(())
    })
    .await
}

/// Waits until cliques, gang and set say why pods are missing, in the server's words; or that none is.
async fn says(context: &Context, words: Option<&str>) -> Result<()> {
    eventually("the refusal is told", DEADLINE, || async {
        let world = World::read(context).await?;
        let said = |all: &[grove_api::wire::Condition]| {
            all.iter().find(|it| it.type_ == conditions::REPLICA_FAILURE).map(|it| it.message.clone())
        };
        for (name, message) in [
            ("clique", said(&world.clique("pair-0-a")?.status.clone().unwrap_or_default().conditions)),
            ("clique", said(&world.clique("pair-0-b")?.status.clone().unwrap_or_default().conditions)),
            ("gang", said(&world.gang("pair-0")?.status.clone().unwrap_or_default().conditions)),
            ("set", said(&world.set("pair")?.status.clone().unwrap_or_default().conditions)),
        ] {
            let right = match (words, &message) {
                (None, None) => true,
                (Some(words), Some(message)) => message.contains(words),
                _ => false,
            };
            ensure!(right, "the {name} says {message:?}");
        }
        Ok(())
    })
    .await
}

/// Waits until the operator has been refused so often; how often it was then.
async fn asked_again(context: &Context, tail: &mut Tail, times: usize) -> Result<usize> {
    let mut refused = 0;
    let waiting = async {
        while refused < times {
            let more = of_operator(tail.more()?, &context.namespace);
            refused += more.iter().filter(|it| it.what() == "create pods" && it.code == 403).count();
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        Ok(refused)
    };
    tokio::time::timeout(DEADLINE, waiting).await?
}
