//! Certificates with a life of seconds.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use futures::future::join_all;
use grove_api::wire::PodCliqueSet;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api,
    api::{DeleteParams, DynamicObject, PostParams},
};
use serde_json::json;

use super::{asked, keep_from_leading, let_lead, prepare, until_answered};
use crate::{
    objects,
    operator::{OperatorOptions, account},
    scenario::Context,
};

/// Arguments of an operator whose certificates live for seconds.
pub(in crate::scenarios) const LIVES: [&str; 2] = ["--certificate-lifetime=20s", "--authority-lifetime=60s"];
/// How long there is load: four lives of a leaf, and more than one of an authority.
const LOAD: Duration = Duration::from_secs(80);
/// Requests at a time. More than the 25 connections that an API server keeps: there are handshakes all the time.
const AT_ONCE: usize = 40;
const SECRET: &str = "grove-webhook-server-cert";

const SET: &str = r"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: load }
spec:
  replicas: 1
  template:
    cliques:
      - name: one
        spec: { roleName: one, replicas: 1, podSpec: { containers: [{ name: main, image: none }] } }
";

/// Leaf and authority of one operator change under load, and no request fails.
pub(super) async fn under_load(context: &mut Context) -> Result<()> {
    prepare(context).await?;
    keep_from_leading(context).await?;
    let result = rotate(context).await;
    let_lead(context).await?;
    // The next operator is to find nothing that ends within seconds.
    context.end_operator().await?;
    forget(&secrets(context)).await?;
    result
}

fn secrets(context: &Context) -> Api<Secret> {
    Api::namespaced(context.client(), account::NAMESPACE)
}

async fn forget(secrets: &Api<Secret>) -> Result<()> {
    if secrets.get_opt(SECRET).await?.is_some() {
        secrets.delete(SECRET, &DeleteParams::default()).await?;
    }
    Ok(())
}

async fn rotate(context: &mut Context) -> Result<()> {
    let arguments = LIVES.iter().map(|it| (*it).to_owned()).collect();
    // What an earlier operator left would live for years.
    forget(&secrets(context)).await?;
    context.start_operator(OperatorOptions { arguments, ..asked() }).await?;
    until_answered(context).await?;
    put_under_load(context).await
}

/// Has sets judged all the time, and reads the Secret. Fails if one request fails, or if leaf or authority did not change.
pub(in crate::scenarios) async fn put_under_load(context: &Context) -> Result<()> {
    let secrets = secrets(context);
    let mut object = objects::parse(SET)?.remove(0);
    object["metadata"]["namespace"] = json!(context.namespace);
    let set: DynamicObject = serde_json::from_value(object.clone())?;
    let sets = objects::api_for(&context.client(), &mut object, None).await?;
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let judged = async || -> Result<()> {
        let made: DynamicObject = sets.create(&dry, &set).await?;
        let made: PodCliqueSet = serde_json::from_value(serde_json::to_value(made)?)?;
        ensure!(made.spec.template.cliques[0].spec.min_available == Some(1), "nobody filled it in");
        Ok(())
    };
    let (started, mut asked, mut failed) = (Instant::now(), 0, Vec::new());
    let (mut leaves, mut authorities) = (BTreeSet::new(), BTreeSet::new());
    while started.elapsed() < LOAD {
        let answers = join_all((0..AT_ONCE).map(|_| judged())).await;
        asked += answers.len();
        failed.extend(answers.into_iter().filter_map(Result::err).map(|it| format!("{it:#}")));
        let data = secrets.get(SECRET).await?.data.unwrap_or_default();
        leaves.insert(data.get("tls.crt").map(|it| it.0.clone()));
        authorities.insert(data.get("ca.crt").map(|it| it.0.clone()));
    }
    let some: Vec<&String> = failed.iter().take(3).collect();
    ensure!(failed.is_empty(), "{} of {asked} requests failed, such as {some:?}", failed.len());
    ensure!(leaves.len() >= 4, "only {} certificates in {LOAD:?}", leaves.len());
    ensure!(authorities.len() >= 3, "only {} bundles in {LOAD:?}: no new authority", authorities.len());
    anstream::println!("     {asked} requests, {} certificates, {} bundles", leaves.len(), authorities.len());
    Ok(())
}
