//! A KAI that is newer than the one we can run, as far as its API goes: a CRD of our own with the fields it has more.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{DeleteParams, ListParams},
};
use serde_json::{Value, json};

use super::stage::{self, Role};
use crate::{
    cluster::Scheduler,
    nodes::Hall,
    objects,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually},
};

const DEFINITIONS: [&str; 2] = ["podgroups.scheduling.run.ai", "topologies.kai.scheduler"];

/// The newer form is found out from the CRD, and the server keeps every field of it.
pub(super) async fn form(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(1).gpus(8)).await?;
    objects::apply_text(&context.client(), include_str!("kai-newer.yaml"), None).await?;
    objects::until_crds_established(&context.client()).await?;
    stage::start(context, OperatorOptions::on(Scheduler::Kai)).await?;
    let mut set = stage::set("newer", &[Role::new("a", 1, 1), Role::new("b", 2, 1), Role::new("c", 1, 1)]);
    stage::group(&mut set, "x", &["b", "c"], 2, 2);
    let template = &mut set["spec"]["template"];
    template["topologyConstraint"] = json!({ "topologyName": "floor", "pack": { "required": "block" } });
    template["podCliqueScalingGroups"][0]["topologyConstraint"] = json!({ "pack": { "required": "rack" } });
    context.apply(&set.to_string()).await?;
    let spec = rendered(context).await;
    let definitions: Api<CustomResourceDefinition> = Api::all(context.client());
    for name in DEFINITIONS {
        definitions.delete(name, &DeleteParams::default()).await?;
    }
    let spec = spec?;

    // One of `a`, and of `b` and `c` in each copy.
    ensure!(spec["minMember"] == 5, "the root is {spec:#}");
    let groups = spec["subGroups"].as_array().context("no sub-groups")?;
    let of = |name: &str| groups.iter().find(|it| it["name"] == name).with_context(|| name.to_owned());
    for copy in ["newer-0-x-0", "newer-0-x-1"] {
        let bundle = of(copy)?;
        ensure!(bundle["minSubGroup"] == 2, "{copy} is {bundle:#}");
        ensure!(
            bundle["topologyConstraint"]["requiredTopologyLevel"] == "topology.kubernetes.io/rack",
            "{copy} is {bundle:#}"
        );
        ensure!(of(&format!("{copy}-b"))?["parent"] == copy, "{groups:#?}");
    }
    ensure!(of("newer-0-a")?.get("parent").is_none(), "{groups:#?}");
    Ok(())
}

/// What the server has stored for the gang.
async fn rendered(context: &Context) -> Result<Value> {
    eventually("the gang has its PodGroup", DEADLINE, || async {
        let mut kind = json!({ "apiVersion": "scheduling.run.ai/v2alpha2", "kind": "PodGroup" });
        let api = objects::api_for(&context.client(), &mut kind, Some(&context.namespace)).await?;
        let groups = api.list(&ListParams::default()).await?.items;
        let group = groups.into_iter().next().context("there is none")?;
        Ok(group.data["spec"].clone())
    })
    .await
}
