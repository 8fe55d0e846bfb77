//! What an installation contains: rights that are enough and not more, pods that any namespace takes, objects that can be
//! applied again and again.

mod pod_changes;
mod users;

use std::{path::Path, process::Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::{
    authentication::v1::SelfSubjectReview,
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    core::v1::{Namespace, Pod},
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::{
    cluster, objects,
    operator::{
        OperatorOptions,
        account::{self, NAMESPACE, USER},
        program,
    },
    scenario::{Context, DEADLINE, Scenario, eventually},
};

/// Scenarios of the installation.
pub(super) const TABLE: &[Scenario] = &[
    Scenario::on_kube("rights_and_no_more", |context| Box::pin(and_no_more(context))),
    Scenario::on_kube("rights_users_have_built_in_roles", |context| Box::pin(users::built_in_roles(context))),
    Scenario::on_kube("rights_pod_changes", |context| Box::pin(pod_changes::pod_changes(context))),
    Scenario::on_kube("rights_manifests_apply", |context| Box::pin(manifests_apply(context))),
];

/// Verb, group, resource, namespace, name: what an operator that is broken into must not be able to do.
const FORBIDDEN: &[(&str, &str, &str, &str, &str)] = &[
    ("list", "", "secrets", "", ""),
    ("get", "", "secrets", "kube-system", "any"),
    ("get", "", "secrets", NAMESPACE, "other"),
    ("list", "", "secrets", NAMESPACE, ""),
    ("delete", "", "secrets", NAMESPACE, "grove-webhook-server-cert"),
    ("create", "", "secrets", "default", ""),
    ("get", "", "configmaps", NAMESPACE, "any"),
    ("patch", "", "nodes", "", "any"),
    ("create", "", "serviceaccounts", "default", ""),
    ("create", "", "serviceaccounts/token", NAMESPACE, "grove-operator"),
    ("create", "", "pods/exec", "default", "any"),
    ("patch", "", "pods/ephemeralcontainers", "default", "any"),
    ("create", "rbac.authorization.k8s.io", "roles", "default", ""),
    ("create", "rbac.authorization.k8s.io", "rolebindings", "default", ""),
    ("patch", "rbac.authorization.k8s.io", "clusterroles", "", "grove:system:grove-operator"),
    ("create", "grove.io", "podcliquesets", "default", ""),
    ("delete", "grove.io", "podcliquesets", "default", "any"),
    ("patch", "apiextensions.k8s.io", "customresourcedefinitions", "", "podcliquesets.grove.io"),
    ("patch", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "other"),
    ("create", "admissionregistration.k8s.io", "validatingwebhookconfigurations", "", ""),
    ("update", "coordination.k8s.io", "leases", "kube-system", "other"),
    ("create", "coordination.k8s.io", "leases", "default", ""),
    ("impersonate", "", "users", "", "admin"),
];

/// The operator runs with its own account, and this account cannot do what an attacker would want.
async fn and_no_more(context: &mut Context) -> Result<()> {
    context.start_operator(OperatorOptions::default()).await?;
    let client =
        cluster::client(&account::kubeconfig(&context.cluster, account::ACCOUNT, "rights").await?).await?;
    let review = Api::all(client.clone());
    let me = review.create(&PostParams::default(), &SelfSubjectReview::default()).await?;
    let user = me.status.and_then(|it| it.user_info).and_then(|it| it.username);
    ensure!(user.as_deref() == Some(USER), "the token is {user:?}'s");
    ensure!(may(&client, ("list", "", "pods", "", "")).await?, "it may not even list pods");
    let mut allowed = Vec::new();
    for asked in FORBIDDEN {
        if may(&client, *asked).await? {
            allowed.push(format!("{asked:?}"));
        }
    }
    ensure!(allowed.is_empty(), "the account may {}", allowed.join(", "));
    Ok(())
}

async fn may(client: &Client, asked: (&str, &str, &str, &str, &str)) -> Result<bool> {
    let (verb, group, resource, namespace, name) = asked;
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = ResourceAttributes {
        verb: Some(verb.to_owned()),
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource: Some(subresource.to_owned()),
        namespace: Some(namespace.to_owned()),
        name: Some(name.to_owned()),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(attributes),
        ..SelfSubjectAccessReviewSpec::default()
    };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let reviews: Api<SelfSubjectAccessReview> = Api::all(client.clone());
    let answer = reviews.create(&PostParams::default(), &review).await?;
    Ok(answer.status.context("no answer")?.allowed)
}

/// `grove manifests | kubectl apply --server-side -f -` works on an empty cluster, changes nothing the second time, and its
/// pods are taken where Pod Security "restricted" is enforced.
async fn manifests_apply(context: &mut Context) -> Result<()> {
    let namespace = format!("{}-system", context.namespace);
    let text = account::manifests(&program()?, &["--namespace", &namespace]).await?;
    // What an operator before us left, which the next one installs again.
    remove_cluster_wide(&context.client(), &text).await?;
    let result = apply_twice(context, &namespace, &text).await;
    // Whatever happened: nobody serves these webhooks.
    remove_cluster_wide(&context.client(), &text).await?;
    result
}

/// What does not go with a namespace, but for the CRDs.
async fn remove_cluster_wide(client: &Client, text: &str) -> Result<()> {
    account::remove_webhooks(client).await?;
    for object in objects::parse(text)? {
        let kind = object["kind"].as_str().unwrap_or_default();
        if ["ClusterRole", "ClusterRoleBinding", "PriorityClass"].contains(&kind)
            || kind.starts_with("ValidatingAdmissionPolicy")
        {
            delete(client, object).await?;
        }
    }
    Ok(())
}

async fn apply_twice(context: &Context, namespace: &str, text: &str) -> Result<()> {
    let kubectl = context.cluster.programs.get("kubernetes", "kubectl");
    kubectl_apply(&kubectl, &context.cluster.kubeconfig, text).await?;
    let objects = objects::parse(text)?;
    let before = contents(&context.client(), &objects).await?;
    kubectl_apply(&kubectl, &context.cluster.kubeconfig, text).await?;
    let after = contents(&context.client(), &objects).await?;
    for ((object, before), after) in objects.iter().zip(&before).zip(&after) {
        let (kind, name) = (&object["kind"], &object["metadata"]["name"]);
        ensure!(before == after, "the second time, {kind} {name} was changed");
    }

    let namespaces: Api<Namespace> = Api::all(context.client());
    let enforce = json!({ "metadata": { "labels": {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/enforce-version": "latest",
    } } });
    namespaces.patch(namespace, &PatchParams::default(), &Patch::Merge(&enforce)).await?;
    let deployment = objects.iter().find(|it| it["kind"] == "Deployment").context("no Deployment")?;
    let mut pod = deployment["spec"]["template"].clone();
    pod["metadata"]["name"] = "operator".into();
    let pods: Api<Pod> = Api::namespaced(context.client(), namespace);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let good: Pod = serde_json::from_value(pod.clone())?;
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = true.into();
    let bad: Pod = serde_json::from_value(pod)?;
    // The server sees the label a little after it was written.
    eventually("Pod Security is enforced", DEADLINE, || async {
        match pods.create(&dry, &bad).await {
            Err(kube::Error::Api(status)) if status.code == 403 => Ok(()),
            other => bail!("a pod that is not restricted: {other:?}"),
        }
    })
    .await?;
    pods.create(&dry, &good).await.context("Pod Security refuses the pod").map(drop)
}

async fn kubectl_apply(kubectl: &Path, kubeconfig: &Path, text: &str) -> Result<()> {
    let mut child = tokio::process::Command::new(kubectl)
        .args(["apply", "--server-side", "--filename=-"])
        .env("KUBECONFIG", kubeconfig)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut stdin = child.stdin.take().context("no input")?;
    let (written, output) = tokio::join!(
        async move {
            stdin.write_all(text.as_bytes()).await?;
            // Closed, so that it knows the end.
            drop(stdin);
            Ok::<(), std::io::Error>(())
        },
        child.wait_with_output()
    );
    let output = output?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "kubectl apply: {}: {told}", output.status);
    written?;
    Ok(())
}

/// What each object says, without what the server and controllers note on it.
async fn contents(client: &Client, objects: &[Value]) -> Result<Vec<Value>> {
    let mut contents = Vec::new();
    for object in objects {
        let mut object = object.clone();
        let name = object["metadata"]["name"].as_str().context("no name")?.to_owned();
        let api = objects::api_for(client, &mut object, None).await?;
        let mut found = api.get(&name).await.with_context(|| name.clone())?;
        found.metadata.managed_fields = None;
        found.metadata.resource_version = None;
        found.metadata.annotations = None;
        let mut content = serde_json::to_value(found)?;
        content["status"] = Value::Null;
        contents.push(content);
    }
    Ok(contents)
}

async fn delete(client: &Client, mut object: Value) -> Result<()> {
    let name = object["metadata"]["name"].as_str().context("no name")?.to_owned();
    let api = objects::api_for(client, &mut object, None).await?;
    match api.delete(&name, &DeleteParams::default()).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        answer => {
            answer?;
            Ok(())
        }
    }
}
