//! Scaling through the API server: who is told what, and that nobody is held up.

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{PodClique, PodCliqueSet};
use http::Request;
use kube::{Resource, client::Body};
use serde_json::{Value, json};

use super::{asked, until_answered};
use crate::{
    nodes::Hall,
    scenario::{Context, DEADLINE, eventually},
    scenarios::operator::stage::{self, WEB, create_and_settle},
};

/// What the API server answered: its status, and the warnings that `kubectl` prints.
struct Answer {
    status: u16,
    warnings: Vec<String>,
    body: Value,
}

/// A change as a dry run.
async fn patch<K: Resource<DynamicType = ()>>(context: &Context, name: &str, body: Value) -> Result<Answer> {
    let (plural, namespace) = (K::plural(&()), &context.namespace);
    let path = format!("/apis/grove.io/v1alpha1/namespaces/{namespace}/{plural}/{name}?dryRun=All");
    let request = Request::patch(path)
        .header("Content-Type", "application/merge-patch+json")
        .body(Body::from(serde_json::to_vec(&body)?))?;
    let answer = context.client().send(request).await?;
    let status = answer.status().as_u16();
    let warnings = answer.headers().get_all("Warning").iter();
    let warnings = warnings.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned()).collect();
    let body = answer.into_body().collect_bytes().await.context("the answer")?;
    Ok(Answer { status, warnings, body: serde_json::from_slice(&body)? })
}

/// A member of a group, a clique of its own, the template of a set; then with the operator down.
pub(super) async fn is_told(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
    context.start_operator(asked()).await?;
    until_answered(context).await?;
    create_and_settle(context, &stage::set(WEB)?).await?;

    let to = |replicas: i32| json!({ "spec": { "replicas": replicas } });
    let told = |answer: &Answer, text: &str| answer.warnings.iter().any(|it| it.contains(text));
    for path in ["web-0-pd-0-work/scale", "web-0-pd-0-work"] {
        eventually("who scales one member is told of the others", DEADLINE, || async {
            let answer = patch::<PodClique>(context, path, to(3)).await?;
            let (status, warnings) = (answer.status, &answer.warnings);
            ensure!(
                status == 200 && told(&answer, "only this replica of scaling group web-0-pd changes"),
                "{path}: {status}, {warnings:?}, {}",
                answer.body
            );
            Ok(())
        })
        .await?;
        let zero = patch::<PodClique>(context, path, to(0)).await?;
        let message = zero.body["message"].as_str().unwrap_or_default();
        ensure!(
            zero.status == 403 && message.contains("kubectl scale pcsg/web-0-pd --replicas=0"),
            "{path}: {} {message}",
            zero.status
        );
    }
    for (what, name, body) in [
        ("a clique of its own", "web-0-front/scale", to(3)),
        ("what is not a size", "web-0-pd-0-work", json!({ "metadata": { "labels": { "a": "b" } } })),
    ] {
        let answer = patch::<PodClique>(context, name, body).await?;
        ensure!(answer.status == 200 && answer.warnings.is_empty(), "{what}: {:?}", answer.warnings);
    }
    let mut cliques = json!(stage::api::<PodCliqueSet>(context).get("web").await?.spec.template.cliques);
    cliques[0]["spec"]["replicas"] = 4.into();
    let answer =
        patch::<PodCliqueSet>(context, "web", json!({ "spec": { "template": { "cliques": cliques } } }))
            .await?;
    ensure!(told(&answer, "kubectl scale pclq/web-0-front --replicas=4"), "{:?}", answer.warnings);

    context.operator()?.stop().await?;
    let answer = patch::<PodClique>(context, "web-0-pd-0-work/scale", to(3)).await?;
    ensure!(answer.status == 200, "an operator that is down is in the way: {}", answer.body);
    Ok(())
}
