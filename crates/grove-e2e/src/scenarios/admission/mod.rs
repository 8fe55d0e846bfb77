//! Admission through a real API server.

mod authorizer;
mod down;
pub(super) mod rotation;
mod scaling;
mod table;
mod users;

use anyhow::{Result, ensure};
use grove_api::wire::PodCliqueSet;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::json;

use crate::{
    objects,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, Scenario, eventually},
};

/// Scenarios of admission; those that take long come last.
pub(super) const TABLE: &[Scenario] = &[
    Scenario::on_kube("admission_users", |context| Box::pin(users::what_they_see(context))),
    Scenario::on_kube("admission_scaling", |context| Box::pin(scaling::is_told(context))),
    Scenario::on_kube("admission_authorizer", |context| Box::pin(authorizer::protects(context))),
    Scenario::on_kube("admission_operator_down", |context| Box::pin(down::nobody_answers(context))),
    Scenario::on_kube("admission_invalid_table", |context| Box::pin(table::invalid_table(context))),
    Scenario::on_kube("admission_rotation", |context| Box::pin(rotation::under_load(context))),
];

/// The topology that the tables know.
const RACKS: &str = "
apiVersion: grove.io/v1alpha1
kind: ClusterTopologyBinding
metadata: { name: racks }
spec:
  levels:
    - { domain: zone, key: topology.kubernetes.io/zone }
    - { domain: rack, key: example.com/rack }
    - { domain: host, key: kubernetes.io/hostname }
";

const PROBE: &str = "
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: probe }
spec:
  replicas: 1
  template:
    cliques:
      - name: one
        spec: { roleName: one, replicas: 1, podSpec: { containers: [{ name: main, image: none }] } }
";

/// An operator that the API server asks.
fn asked() -> OperatorOptions {
    OperatorOptions { webhooks: true, ..OperatorOptions::default() }
}

/// The kinds and the topology, which the operator knows from its start.
async fn prepare(context: &Context) -> Result<()> {
    objects::install_crds(&context.client()).await?;
    objects::apply_text(&context.client(), RACKS, None).await?;
    Ok(())
}

/// Waits until the API server asks the operator and trusts its answer: it reads webhook configurations as everybody does, by
/// watching.
pub(super) async fn until_answered(context: &Context) -> Result<()> {
    let sets: Api<PodCliqueSet> = Api::namespaced(context.client(), &context.namespace);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let probe = serde_json::from_value(objects::parse(PROBE)?.remove(0))?;
    eventually("the API server asks, and gets an answer", DEADLINE, || async {
        let made = sets.create(&dry, &probe).await?;
        ensure!(made.spec.template.termination_delay.is_some(), "nobody filled in the set");
        Ok(())
    })
    .await
}

/// Holds the lease of the operator: it answers questions, as a replica that does not lead has to, and changes nothing.
async fn keep_from_leading(context: &Context) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(context.client(), "kube-system");
    let now = k8s_openapi::jiff::Timestamp::now();
    let lease = json!({
        "metadata": { "name": "grove-operator-leader-election" },
        "spec": {
            "holderIdentity": "the-scenario",
            "leaseDurationSeconds": 3600,
            "acquireTime": format!("{now:.6}"),
            "renewTime": format!("{now:.6}"),
        },
    });
    let _ = leases.delete("grove-operator-leader-election", &DeleteParams::default()).await;
    leases.create(&PostParams::default(), &serde_json::from_value(lease)?).await?;
    Ok(())
}

/// Lets the next operator lead.
async fn let_lead(context: &Context) -> Result<()> {
    let leases: Api<Lease> = Api::namespaced(context.client(), "kube-system");
    leases.delete("grove-operator-leader-election", &DeleteParams::default()).await?;
    Ok(())
}
