//! Kueue's Topologies, in a cluster whose Kueue comes and goes while the operator runs.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::{
    conditions::topology_levels_unavailable as levels, finalizers::TOPOLOGY_PROTECTION,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject},
};
use serde_json::{Value, json};

use crate::{
    cluster::Scheduler,
    nodes::{BLOCK, HOST, Hall, RACK},
    objects,
    scenario::{Context, eventually},
    scenarios::{
        backends::stage::{self, Role, SOON},
        operator::stage::api,
    },
};

const DEFINITION: &str = "topologies.kueue.x-k8s.io";

/// A definition with what Grove reads; Kueue's own has more.
const KUEUE: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: topologies.kueue.x-k8s.io }
spec:
  group: kueue.x-k8s.io
  scope: Cluster
  names: { kind: Topology, plural: topologies, singular: topology, listKind: TopologyList }
  versions:
    - name: v1beta1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                levels:
                  type: array
                  items: { type: object, properties: { nodeLabel: { type: string } } }
";

/// A set names a Topology: it is refused before Kueue is there, packed by the Topology afterwards, and keeps it from being
/// deleted.
pub(super) async fn comes_and_goes(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    stage::start(context, stage::asked(context)).await?;
    stage::until_answered(context).await?;
    let mut set = stage::set("gang", &[Role::new("a", 4, 4)]);
    set["spec"]["template"]["schedulingPolicyConfig"] = json!({
        "topologyName": "halls", "groupingConstraints": { "required": { "topologyKey": RACK } },
    });
    refused(context, &set).await?;

    objects::apply_text(&context.client(), KUEUE, None).await?;
    objects::until_crds_established(&context.client()).await?;
    let topology = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology", "metadata": { "name": "halls" },
        "spec": { "levels": [{ "nodeLabel": BLOCK }, { "nodeLabel": RACK }, { "nodeLabel": HOST }] },
    });
    objects::apply(&context.client(), topology, None).await?;
    eventually("the operator has found Kueue", SOON, || async {
        let (refused, _) = stage::send(context, &set).await?;
        ensure!(refused.is_none(), "{refused:?}");
        Ok(())
    })
    .await?;
    // What neither kind has is asked for once more, and is refused then.
    let mut unknown = stage::set("lonely", &[Role::new("a", 1, 1)]);
    unknown["spec"]["template"]["schedulingPolicyConfig"] = json!({ "topologyName": "halls-of-nobody" });
    refused(context, &unknown).await?;
    let pods = stage::ready(context, "gang-", 4).await?;
    let racks: BTreeSet<&str> =
        pods.iter().filter_map(|it| it.node.as_deref()?.rsplit_once("-node-")).map(|it| it.0).collect();
    ensure!(racks.len() == 1, "not in one rack: {racks:?}");
    stage::set_says(context, "gang", levels::TYPE, |it| it.reason == levels::ALL_AVAILABLE).await?;
    let gang = api::<grove_api::wire::PodGang>(context).get("gang-0").await?;
    let pack = gang.spec.topology_constraint.and_then(|it| it.pack_constraint).context("no constraint")?;
    ensure!(pack.required.as_deref() == Some(RACK), "required is {:?}", pack.required);
    ensure!(pack.preferred.as_deref() == Some(HOST), "preferred is {:?}", pack.preferred);
    if context.scheduler() == Scheduler::Kai {
        let mut kind = json!({ "apiVersion": "kai.scheduler/v1alpha1", "kind": "Topology" });
        let mirrored = objects::api_for(&context.client(), &mut kind, None).await?.get("halls").await?;
        let keys: Vec<&Value> = mirrored.data["spec"]["levels"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| &it["nodeLabel"])
            .collect();
        ensure!(keys == [BLOCK, RACK, HOST], "KAI was told of {keys:?}");
    }

    eventually("the Topology is protected", SOON, || async {
        let held = topologies(context).await?.get("halls").await?;
        ensure!(held.finalizers().iter().any(|it| it == TOPOLOGY_PROTECTION), "{:?}", held.finalizers());
        Ok(())
    })
    .await?;
    topologies(context).await?.delete("halls", &DeleteParams::default()).await?;
    let told = stage::told_by_event(context, "default", "halls", "TopologyInUse").await?;
    let (words, user) = (told.message.unwrap_or_default(), format!("{}/gang", context.namespace));
    ensure!(words.contains(&user), "{words}");
    ensure!(topologies(context).await?.get_opt("halls").await?.is_some(), "it was deleted under the set");

    api::<grove_api::wire::PodCliqueSet>(context).delete("gang", &DeleteParams::default()).await?;
    eventually("the Topology goes after the set", SOON, || async {
        let left = topologies(context).await?.get_opt("halls").await?;
        ensure!(left.is_none(), "it is held: {:?}", left.map(|it| it.finalizers().to_vec()));
        Ok(())
    })
    .await?;
    let definitions: Api<CustomResourceDefinition> = Api::all(context.client());
    definitions.delete(DEFINITION, &DeleteParams::default()).await?;
    eventually("Kueue is gone", SOON, || async {
        ensure!(definitions.get_opt(DEFINITION).await?.is_none(), "it is there");
        Ok(())
    })
    .await?;
    refused(context, &set).await
}

/// A set is refused, because of its topology's name.
async fn refused(context: &Context, set: &Value) -> Result<()> {
    let (refused, _) = stage::send(context, set).await?;
    let words = refused.context("the set was taken")?.message;
    let path = "spec.template.schedulingPolicyConfig.topologyName";
    ensure!(words.contains(path) && words.contains("halls"), "{words}");
    Ok(())
}

async fn topologies(context: &Context) -> Result<Api<DynamicObject>> {
    let mut kind = json!({ "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology" });
    objects::api_for(&context.client(), &mut kind, None).await
}
