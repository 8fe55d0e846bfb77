//! A rolling upgrade: while users write sets, and pods of a large one are created, each of two operators is replaced.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use grove_api::{constants::labels, wire::PodCliqueSet};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{ListParams, PostParams},
};
use tokio::{
    sync::oneshot::{self, error::TryRecvError},
    task::JoinHandle,
    time::sleep,
};

use super::{
    leader::{LEASE, is_leader},
    stage::{self, create, settled},
    wanted::Wanted,
};
use crate::{
    nodes::Hall,
    operator::{Balancer, Operator, OperatorOptions, of_operator},
    scenario::{Context, DEADLINE, eventually},
    scenarios::admission::until_answered,
};

const PODS: usize = 200;
const WIDE: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: wide }
spec:
  replicas: 1
  template:
    cliques:
      - name: one
        spec: { roleName: one, replicas: 200, minAvailable: 1, podSpec: { containers: [{ name: main, image: "registry.example.com/app:1.0" }] } }
"#;

/// Between two sets of a user.
const PAUSE: Duration = Duration::from_millis(20);

/// Both operators are replaced, the leader in the middle of creating pods: no set of a user is refused, and no pod is created twice.
pub(super) async fn under_load(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(4).gpus(1)).await?;
    let balancer = Balancer::open().await?;
    let options = |name: &str| OperatorOptions {
        name: name.to_owned(),
        lease: LEASE,
        webhooks: true,
        webhook_port: Some(balancer.port()),
        ..OperatorOptions::default()
    };
    context.start_operator(options("operator")).await?;
    let mut second = Operator::start(&context.cluster, options("operator-2")).await?;
    let result = upgrade(context, &mut second, &balancer).await;
    if second.is_running() {
        second.kill().await?;
    }
    result
}

async fn upgrade(context: &mut Context, second: &mut Operator, balancer: &Balancer) -> Result<()> {
    balancer.add(context.operator()?);
    balancer.add(second);
    until_answered(context).await?;
    ensure!(is_leader(context.operator()?).await?, "the first does not lead");
    let (mut tail, mark) = (context.cluster.tail()?, context.log.mark());
    let users = Users::start(context)?;

    let set = stage::set(WIDE)?;
    create(context, &set).await?;
    context.expect("the first pods are there", |pods| !pods.is_empty()).await?;
    let before = stage::api::<Pod>(context).list_metadata(&ListParams::default()).await?;
    context.operator()?.stop().await?;
    ensure!(before.items.len() < PODS, "all pods were there before the leader had to stop");
    settled(context, &Wanted::of(&set)).await?;
    ensure!(is_leader(second).await?, "the second does not lead");

    context.operator()?.start_again().await?;
    balancer.add(context.operator()?);
    second.stop().await?;
    let first = context.operator_ref()?;
    eventually("the first leads again", DEADLINE, || async {
        ensure!(is_leader(first).await?, "it does not");
        Ok(())
    })
    .await?;

    let (count, failures) = users.stop().await?;
    ensure!(failures.is_empty(), "of {count} sets, so many were refused: {failures:#?}");
    // Operators stop for seconds.
    ensure!(count > 20, "only {count} sets were written");

    let requests = of_operator(tail.more()?, &context.namespace);
    let created = requests.iter().filter(|it| it.what() == "create pods" && it.code == 201).count();
    ensure!(created == PODS, "{created} pods were created for {PODS} indices");
    let mut uids: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for change in context.log.since(mark, &context.namespace) {
        let Some(pod) = change.after else { continue };
        let index = (pod.label(labels::POD_CLIQUE).to_owned(), pod.label(labels::POD_INDEX).to_owned());
        uids.entry(index).or_default().insert(change.uid);
    }
    let twice: Vec<_> = uids.iter().filter(|it| it.1.len() > 1).collect();
    ensure!(twice.is_empty() && uids.len() == PODS, "{} indices, more than once: {twice:?}", uids.len());
    Ok(())
}

/// Writes one set after the other, by dry runs, which admission answers as any other.
struct Users {
    stop: oneshot::Sender<()>,
    /// How many were written, and how many were refused with which words.
    writing: JoinHandle<(usize, BTreeMap<String, usize>)>,
}

impl Users {
    fn start(context: &Context) -> Result<Self> {
        let sets: Api<PodCliqueSet> = stage::api(context);
        let mut set = stage::set(WIDE)?;
        set.metadata.namespace = Some(context.namespace.clone());
        let (stop, mut stopped) = oneshot::channel();
        let writing = tokio::spawn(async move {
            let dry = PostParams { dry_run: true, ..PostParams::default() };
            let (mut count, mut failures) = (0, BTreeMap::new());
            while stopped.try_recv() == Err(TryRecvError::Empty) {
                set.metadata.name = Some(format!("user-{count}"));
                if let Err(error) = sets.create(&dry, &set).await {
                    *failures.entry(error.to_string()).or_default() += 1;
                }
                count += 1;
                sleep(PAUSE).await;
            }
            (count, failures)
        });
        Ok(Self { stop, writing })
    }

    async fn stop(self) -> Result<(usize, BTreeMap<String, usize>)> {
        // Where it has ended already, nobody listens.
        let _ = self.stop.send(());
        self.writing.await.context("it panicked")
    }
}
