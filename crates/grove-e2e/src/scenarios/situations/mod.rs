//! Situations of gangs, played with kube-scheduler on a real control plane and with the scheduler of the sandbox: both have to decide
//! alike. `e2e/gang-situations.yaml` says what there is, and not what becomes of it.

mod floor;
mod known;
mod objects;
mod play;
mod situation;

use anyhow::{Result, bail};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kube::{Api, api::DeleteParams};

use self::{known::Difference, situation::Situation};
use crate::{
    cluster::{Cluster, Options, Simulated},
    objects as any_objects,
    scenario::Context,
};

/// The sandbox decides as kube-scheduler does, but for what `e2e/gang-disagreements.txt` explains.
pub(super) async fn gangs(context: &mut Context) -> Result<()> {
    let situations = situation::all()?;
    let options = Options {
        folder: context.cluster.options.folder.join("sandbox"),
        simulated: Simulated::All,
        ..context.cluster.options.clone()
    };
    let mut sandbox = Context::new(Cluster::start(options, context.cluster.programs.clone()).await?).await?;
    sandbox.namespace.clone_from(&context.namespace);
    let (real, simulated) = tokio::try_join!(play(context, &situations), play(&mut sandbox, &situations))?;
    sandbox.cluster.stop().await?;

    let mut differences = Vec::new();
    for ((situation, real), simulated) in situations.iter().zip(real).zip(simulated) {
        if real != simulated {
            differences.push(Difference { situation, real, simulated });
        }
    }
    let complaints = known::judge(known::LIST, &differences)?;
    if complaints.is_empty() { Ok(()) } else { bail!("{}", complaints.join("\n  ")) }
}

async fn play(context: &mut Context, situations: &[Situation]) -> Result<Vec<Vec<play::Outcome>>> {
    for class in objects::priority_classes() {
        any_objects::apply(&context.client(), class, None).await?;
    }
    let outcomes = play::all(context, situations).await;
    // They have no namespace to go with.
    let classes: Api<PriorityClass> = Api::all(context.client());
    for class in objects::priority_classes() {
        classes
            .delete(class["metadata"]["name"].as_str().unwrap_or_default(), &DeleteParams::default())
            .await?;
    }
    outcomes
}
