//! Two backends at once: sets of each side by side, and one backend that loses what it needs.

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{
    constants::conditions::{
        pod_gang::{BACKEND_NOT_READY, SCHEDULED},
        scheduler_backend_ready as ready,
    },
    wire::{PodCliqueScalingGroup, PodCliqueSet},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::Value;

use super::stage::{self, Role};
use crate::{
    cluster::Scheduler::{self, Kai, Kube},
    nodes::Hall,
    objects,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, PodState, eventually},
    scenarios::operator::stage::{api, scale},
};

const DEFINITION: &str = "podgroups.scheduling.run.ai";
/// Sets that are made while the definition goes.
const LOAD: usize = 6;

pub(super) async fn one_loses_its_definition(context: &mut Context) -> Result<()> {
    // Room for every set that is made, however late those of KAI are refused: 66 GPUs of 80.
    context.nodes(Hall::racks(2).nodes(5).gpus(8)).await?;
    let options =
        OperatorOptions { schedulers: vec![Kube, Kai], webhooks: true, ..OperatorOptions::default() };
    stage::start(context, options).await?;
    stage::until_answered(context).await?;
    for scheduler in [Kube, Kai] {
        context.apply(&set("first", scheduler).to_string()).await?;
        stage::ready(context, &format!("first-{}-", scheduler.name()), 4).await?;
    }
    let definitions: Api<CustomResourceDefinition> = Api::all(context.client());
    let definition = definitions.get(DEFINITION).await?;
    let result = without(context, &definitions).await;
    // Whatever happened: the next scenario needs it.
    let restored = restore(context, &definition).await;
    result?;
    restored?;

    stage::backend_says(context, Kai, |it| it.status == "True").await?;
    stage::ready(context, "first-kai-", 6).await?;
    eventually("new sets of KAI are taken", DEADLINE, || async {
        context.apply(&set("last", Kai).to_string()).await
    })
    .await?;
    stage::ready(context, "last-kai-", 4).await.map(drop)
}

/// The definition goes while sets of both are made.
async fn without(context: &Context, definitions: &Api<CustomResourceDefinition>) -> Result<()> {
    let load = async {
        for number in 0..LOAD {
            for scheduler in [Kube, Kai] {
                // Those of KAI are refused from some moment on.
                let made = context.apply(&set(&format!("load{number}"), scheduler).to_string()).await;
                ensure!(scheduler == Kai || made.is_ok(), "a set of the stock scheduler: {made:?}");
            }
        }
        Ok(())
    };
    let loses = async {
        definitions.delete(DEFINITION, &DeleteParams::default()).await?;
        Ok::<_, anyhow::Error>(())
    };
    let (load, loses) = futures::join!(load, loses);
    load?;
    loses?;

    let said = stage::backend_says(context, Kai, |it| it.status == "False").await?;
    ensure!(said.reason == ready::FAILED, "the reason is {}", said.reason);
    ensure!(said.message.contains(DEFINITION), "it does not say what is missing: {}", said.message);
    for number in 0..LOAD {
        stage::ready(context, &format!("load{number}-kube-"), 4).await?;
    }
    context.apply(&set("later", Kube).to_string()).await?;
    stage::ready(context, "later-kube-", 4).await?;
    stage::backend_says(context, Kube, |it| it.status == "True").await?;
    refused(context, &said.message).await?;

    // A running set stays, and what is added to it waits and says for what.
    let gone =
        |pods: &[PodState]| pods.iter().filter(|it| it.name.starts_with("first-kai-") && it.ready).count();
    ensure!(gone(&context.log.now(&context.namespace)) == 4, "pods of a running set are gone");
    scale::<PodCliqueScalingGroup>(context, "first-kai-0-x", 2).await?;
    stage::gang_says(context, "first-kai-0-x-0", SCHEDULED, |it| it.reason == BACKEND_NOT_READY).await?;
    let pods = context.log.now(&context.namespace);
    ensure!(gone(&pods) == 4, "pods of a running set are gone: {pods:?}");
    Ok(())
}

/// A new set is refused with the backend's reason; a change of one that is there passes.
async fn refused(context: &Context, why: &str) -> Result<()> {
    let mut new: PodCliqueSet = serde_json::from_value(set("new", Kai))?;
    new.metadata.namespace = Some(context.namespace.clone());
    match api::<PodCliqueSet>(context).create(&PostParams::default(), &new).await {
        Err(kube::Error::Api(status)) => {
            ensure!(status.message.contains(why), "it does not say why: {}", status.message);
        }
        other => bail!("a set of a scheduler that is not ready is taken: {other:?}"),
    }
    let note = serde_json::json!({ "metadata": { "annotations": { "edited": "yes" } } });
    let edited = crate::scenarios::operator::stage::patch::<PodCliqueSet>(context, "first-kai", &note).await;
    edited.context("a change that leaves the scheduler alone").map(drop)
}

async fn restore(context: &Context, definition: &CustomResourceDefinition) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(context.client());
    let mut fresh = definition.clone();
    fresh.metadata = kube::core::ObjectMeta { name: definition.metadata.name.clone(), ..Default::default() };
    fresh.metadata.annotations = definition.metadata.annotations.clone();
    fresh.status = None;
    eventually("the definition is there again", DEADLINE, || async {
        let there = definitions.get_opt(DEFINITION).await?;
        if there.is_none() {
            definitions.create(&PostParams::default(), &fresh).await?;
        }
        ensure!(there.is_none_or(|it| it.metadata.deletion_timestamp.is_none()), "it is still going");
        Ok(())
    })
    .await?;
    objects::until_crds_established(&context.client()).await
}

/// A role, and a group of which more can be had.
fn set(name: &str, scheduler: Scheduler) -> Value {
    let roles = [Role::new("a", 2, 2), Role::new("b", 2, 2)];
    let mut set = stage::set(&format!("{name}-{}", scheduler.name()), &roles);
    stage::group(&mut set, "x", &["b"], 1, 1);
    stage::on(&mut set, scheduler.pod_name());
    set
}
