//! What Grove manages is protected, where that is asked for.

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{
    constants::annotations::DISABLE_PROTECTION,
    wire::{PodClique, PodCliqueSet},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::json;

use super::{asked, prepare, until_answered};
use crate::{
    nodes::Hall,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually},
};

const WEB: &str = r"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: web }
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec: { roleName: front, replicas: 2, podSpec: { containers: [{ name: main, image: none }] } }
";

/// Not even an admin changes a clique by hand, until the set says so; pods may be deleted; the operator works as ever, and
/// all of a set goes with it.
pub(super) async fn protects(context: &mut Context) -> Result<()> {
    prepare(context).await?;
    context.nodes(Hall::racks(1).nodes(1)).await?;
    context.start_operator(OperatorOptions { authorizer: true, ..asked() }).await?;
    until_answered(context).await?;
    context.apply(WEB).await?;
    let ready = |pods: &[crate::scenario::PodState]| pods.len() == 2 && pods.iter().all(|it| it.ready);
    context.expect("the operator makes and releases pods", ready).await?;

    let cliques: Api<PodClique> = Api::namespaced(context.client(), &context.namespace);
    let change = Patch::Merge(json!({ "metadata": { "labels": { "by-hand": "yes" } } }));
    let edit = async || cliques.patch("web-0-front", &PatchParams::default(), &change).await;
    match edit().await {
        Err(kube::Error::Api(status)) if status.code == 403 => {
            ensure!(status.message.contains("it is managed by PodCliqueSet \"web\""), "{}", status.message);
        }
        other => bail!("a clique was changed by hand: {other:?}"),
    }
    match cliques.delete("web-0-front", &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 403 => {}
        other => bail!("a clique was deleted by hand: {:?}", other.map(|_| ())),
    }
    let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let first = pods.list(&ListParams::default()).await?.items.remove(0);
    let name = first.metadata.name.unwrap_or_default();
    pods.delete(&name, &DeleteParams::default()).await.context("a pod may be deleted")?;
    context.expect("the pod is made again", ready).await?;

    let sets: Api<PodCliqueSet> = Api::namespaced(context.client(), &context.namespace);
    let let_go = json!({ "metadata": { "annotations": { DISABLE_PROTECTION: "true" } } });
    sets.patch("web", &PatchParams::default(), &Patch::Merge(&let_go)).await?;
    eventually("the clique may be changed", DEADLINE, || async { Ok(edit().await?) }).await?;
    let protect = json!({ "metadata": { "annotations": { DISABLE_PROTECTION: null } } });
    sets.patch("web", &PatchParams::default(), &Patch::Merge(&protect)).await?;

    sets.delete("web", &DeleteParams::default()).await?;
    context.expect("all pods are gone", <[_]>::is_empty).await?;
    eventually("all of the set is gone", DEADLINE, || async {
        ensure!(cliques.list(&ListParams::default()).await?.items.is_empty(), "cliques are left");
        ensure!(sets.get_opt("web").await?.is_none(), "the set is left");
        Ok(())
    })
    .await
}
