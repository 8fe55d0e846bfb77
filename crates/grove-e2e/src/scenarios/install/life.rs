//! An installation from its beginning to its end: a sample becomes ready, an update under a thousand pods writes none of them, and
//! what is left at the end is what the documentation says.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodCliqueSet;
use kube::{ResourceExt, api::DeleteParams};

use super::{
    client::{self, Way},
    inventory,
    stage::Stage,
};
use crate::{
    cluster::{Write, repository},
    nodes::Hall,
    operator::account::USER,
    scenario::{Context, PodState, eventually},
    scenarios::{
        admission::until_answered,
        operator::{
            stage::{self, api, create, settled},
            wanted::Wanted,
            world::World,
        },
    },
};

/// On a machine that also builds.
pub(super) const PATIENCE: Duration = Duration::from_mins(8);
/// Nothing is written for so long: then all is written.
const QUIET: Duration = Duration::from_secs(5);

/// Gangs, each of two pods.
pub(super) const GANGS: usize = 500;
/// A thousand pods.
pub(super) const LARGE: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: large }
spec:
  replicas: 500
  template:
    cliques:
      - name: worker
        spec: { roleName: worker, replicas: 2, podSpec: { containers: [{ name: main, image: "registry.example.com/app:1.0", resources: { requests: { cpu: 10m } } }] } }
"#;

pub(super) async fn of_chart(context: &mut Context) -> Result<()> {
    whole(context, Way::Chart).await
}

pub(super) async fn of_manifests(context: &mut Context) -> Result<()> {
    whole(context, Way::Manifests).await
}

/// Nodes for a thousand pods.
pub(super) fn hall() -> Hall {
    Hall::racks(25).nodes(4).gpus(1)
}

async fn whole(context: &mut Context, way: Way) -> Result<()> {
    let stage = Stage::open(context, hall()).await?;
    let result = play(&stage, way).await;
    stage.close(result).await
}

async fn play(stage: &Stage, way: Way) -> Result<()> {
    let (context, client) = (&stage.context, stage.context.client());
    let before = inventory::take(&client).await?;
    way.install(stage, "info").await.context("install")?;
    stage.until_ready(PATIENCE).await?;
    are_confined(stage).await?;
    until_answered(context).await?;

    sample_runs(stage).await.context("sample")?;
    create(context, &stage::set(LARGE)?).await?;
    all_run(context).await?;
    update_writes_nothing(stage, way).await.context("update")?;

    let sets = &["delete", "podcliquesets", "--all", "--all-namespaces", "--timeout=8m"];
    client::kubectl(stage, sets, "").await?;
    context.log.until_count(&context.namespace, "pods are left", PATIENCE, 0, |_| true).await?;
    // Before its rights are taken away.
    stage.nothing_was_refused()?;
    way.remove(stage, "debug").await.context("remove")?;
    let wanted = leftovers(way);
    eventually("only that is left which the documentation names", PATIENCE, || async {
        let now = inventory::take(&client).await?;
        let left: BTreeSet<&str> = now.difference(&before).map(String::as_str).collect();
        let gone: Vec<&String> = before.difference(&now).collect();
        ensure!(gone.is_empty(), "others' objects are gone: {gone:?}");
        let (more, less) = (left.difference(&wanted), wanted.difference(&left));
        let (more, less): (Vec<_>, Vec<_>) = (more.collect(), less.collect());
        ensure!(more.is_empty() && less.is_empty(), "left besides: {more:?}; not left: {less:?}");
        Ok(())
    })
    .await
}

/// What docs/install.md says.
fn leftovers(way: Way) -> BTreeSet<&'static str> {
    match way {
        Way::Chart => BTreeSet::from([
            "Namespace grove-system",
            // Kubernetes' own, in every namespace.
            "ConfigMap grove-system/kube-root-ca.crt",
            "ServiceAccount grove-system/default",
            "CustomResourceDefinition clustertopologybindings.grove.io",
            "CustomResourceDefinition groupingrules.scheduler.grove.io",
            "CustomResourceDefinition podcliques.grove.io",
            "CustomResourceDefinition podcliquescalinggroups.grove.io",
            "CustomResourceDefinition podcliquesets.grove.io",
            "CustomResourceDefinition podgangs.scheduler.grove.io",
            "CustomResourceDefinition schedulerbackends.grove.io",
            "Secret grove-system/grove-webhook-server-cert",
            "Lease grove-system/grove-operator-leader-election",
            "SchedulerBackend default-scheduler",
            "SchedulerBackend kai-scheduler",
            "SchedulerBackend volcano",
        ]),
        Way::Manifests => BTreeSet::new(),
    }
}

/// The shipped program is in a pod what its manifest says: nobody, without privileges, with a root that cannot be written.
async fn are_confined(stage: &Stage) -> Result<()> {
    for pod in stage.pods().await? {
        let name = pod.name_any();
        let outer = stage.runner.pid(&name).with_context(|| format!("{name} does not run"))?;
        let children = std::fs::read_to_string(format!("/proc/{outer}/task/{outer}/children"))?;
        let process = children.split_whitespace().next().with_context(|| format!("{name} has no process"))?;
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let field = |key: &str| {
            let line = status.lines().find_map(|it| it.strip_prefix(key)).unwrap_or_default();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        for (key, want) in [
            ("Uid:", "65532 65532 65532 65532"),
            ("Gid:", "65532 65532 65532 65532"),
            ("Groups:", ""),
            ("CapEff:", "0000000000000000"),
            ("NoNewPrivs:", "1"),
        ] {
            ensure!(field(key) == want, "{name}: {key} {}, not {want}", field(key));
        }
        let mounts = std::fs::read_to_string(format!("/proc/{process}/mountinfo"))?;
        let root =
            mounts.lines().map(|it| it.split(' ').collect::<Vec<_>>()).find(|it| it.get(4) == Some(&"/"));
        let options = root.and_then(|it| it.get(5).copied()).unwrap_or_default();
        ensure!(options.split(',').any(|it| it == "ro"), "{name}: its root is mounted {options:?}");
    }
    Ok(())
}

/// A sample of the repository, as a user applies it.
async fn sample_runs(stage: &Stage) -> Result<()> {
    let context = &stage.context;
    let text = std::fs::read_to_string(repository().join("samples/02-two-roles.yaml"))?;
    client::kubectl(stage, &["apply", "--namespace", &context.namespace, "-f", "-"], &text).await?;
    let set = stage::set(&text)?;
    settled(context, &Wanted::of(&set)).await?;
    api::<PodCliqueSet>(context).delete(&set.name_any(), &DeleteParams::default()).await?;
    eventually("nothing of the sample is left", PATIENCE, || async {
        let left = World::read(context).await?.leftovers();
        ensure!(left.is_empty(), "left: {}", left.join(", "));
        Ok(())
    })
    .await
}

/// Waits until the large set is ready and says so.
pub(super) async fn all_run(context: &Context) -> Result<()> {
    let is_ready = |it: &PodState| it.ready;
    context.log.until_count(&context.namespace, "pods are ready", PATIENCE, 2 * GANGS, is_ready).await?;
    eventually("the set says so", PATIENCE, || async {
        let set = api::<PodCliqueSet>(context).get("large").await?;
        let available = usize::try_from(set.status.unwrap_or_default().available_replicas)?;
        ensure!(available == GANGS, "{available} replicas are available");
        Ok(())
    })
    .await
}

/// Another configuration starts other pods of the operator, and no pod of a user notices.
async fn update_writes_nothing(stage: &Stage, way: Way) -> Result<()> {
    let context = &stage.context;
    let mut tail = context.cluster.tail()?;
    let ours = |all: Vec<Write>| -> Vec<Write> {
        all.into_iter().filter(|it| it.user == USER && it.namespace == context.namespace).collect()
    };
    let mut quiet = std::time::Instant::now();
    // What the creation is still writing.
    while quiet.elapsed() < QUIET {
        if !ours(tail.more()?).is_empty() {
            quiet = std::time::Instant::now();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let mark = context.log.mark();
    let old: BTreeSet<_> = stage.pods().await?.iter().map(ResourceExt::name_any).collect();
    way.install(stage, "debug").await?;
    eventually("the pods are others", PATIENCE, || async {
        let now: BTreeSet<_> = stage.pods().await?.iter().map(ResourceExt::name_any).collect();
        ensure!(now.is_disjoint(&old), "{old:?} are still among {now:?}");
        Ok(())
    })
    .await?;
    stage.until_ready(PATIENCE).await?;
    until_answered(context).await?;
    // A new leader looks at everything; what it has to write it writes soon.
    tokio::time::sleep(2 * QUIET).await;
    let written = ours(tail.more()?);
    ensure!(
        written.is_empty(),
        "{} writes, the first: {:?}",
        written.len(),
        &written[..written.len().min(3)]
    );
    let changes = context.log.since(mark, &context.namespace);
    ensure!(changes.is_empty(), "pods changed: {:?}", changes.first());
    Ok(())
}
