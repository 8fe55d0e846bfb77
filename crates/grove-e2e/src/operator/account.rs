//! The operator's own account: installed as `grove manifests` prints it, and used by a token, so that the operator may do
//! what a user's operator may do and nothing else.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use k8s_openapi::api::{
    admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
    authentication::v1::{TokenRequest, TokenRequestSpec},
    authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
    core::v1::ServiceAccount,
};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, PostParams},
    config::Kubeconfig,
};
use serde_json::Value;

use crate::{cluster::Cluster, objects};

/// Where the operator is installed.
pub(crate) const NAMESPACE: &str = "grove-system";
/// Its service account.
pub(crate) const ACCOUNT: &str = "grove-operator";
/// How the API server calls whoever uses the account.
pub(crate) const USER: &str = "system:serviceaccount:grove-system:grove-operator";

/// What selects the webhook configurations of an installation.
const OURS: &str = "app.kubernetes.io/part-of=grove";
/// Longer than any run.
const TOKEN_SECONDS: i64 = 24 * 60 * 60;
/// How long the API server may take to know new roles.
const DEADLINE: Duration = Duration::from_mins(2);

/// Installs the account, its rights and, if asked for, the webhooks of an operator that serves them at `url`.
pub(super) async fn install(
    client: &Client,
    program: &Path,
    config: &Path,
    url: &str,
    webhooks: bool,
) -> Result<()> {
    let config = config.display().to_string();
    let text = manifests(program, &["--no-crds", "--config", &config, "--webhook-url", url]).await?;
    let all = objects::parse(&text)?;
    let is_webhook = |it: &Value| it["kind"].as_str().is_some_and(|it| it.ends_with("WebhookConfiguration"));
    for object in all.iter().filter(|it| webhooks || !is_webhook(it)) {
        objects::apply(client, object.clone(), None).await?;
    }
    until_granted(client, ACCOUNT, &all).await
}

/// What `grove manifests` prints.
pub(crate) async fn manifests(program: &Path, arguments: &[&str]) -> Result<String> {
    let output = tokio::process::Command::new(program)
        .arg("manifests")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .await
        .with_context(|| program.display().to_string())?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "grove manifests {arguments:?}: {}: {told}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Takes the webhooks of an installation away: nobody answers them any more.
pub(crate) async fn remove_webhooks(client: &Client) -> Result<()> {
    let (at_once, ours) = (DeleteParams::default(), ListParams::default().labels(OURS));
    let mutating: Api<MutatingWebhookConfiguration> = Api::all(client.clone());
    mutating.delete_collection(&at_once, &ours).await?;
    let validating: Api<ValidatingWebhookConfiguration> = Api::all(client.clone());
    validating.delete_collection(&at_once, &ours).await?;
    Ok(())
}

/// Writes a kubeconfig with a token of an account.
pub(crate) async fn kubeconfig(cluster: &Cluster, account: &str, name: &str) -> Result<PathBuf> {
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    let spec = TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let answer = accounts.create_token_request(account, &PostParams::default(), &request).await?;
    let token = answer.status.and_then(|it| it.token).context("no token")?;
    let admin = Kubeconfig::read_from(&cluster.kubeconfig)?;
    let server = admin.clusters.into_iter().next().and_then(|it| it.cluster).context("no cluster")?;
    let address = server.server.context("no address")?;
    let authority = server.certificate_authority.context("no authority")?;
    let file = cluster.kubeconfig.with_file_name(format!("{name}-account.kubeconfig"));
    std::fs::write(
        &file,
        format!(
            "apiVersion: v1\n\
             kind: Config\n\
             clusters: [{{ name: e2e, cluster: {{ server: \"{address}\", certificate-authority: \"{authority}\" }} }}]\n\
             users: [{{ name: {account}, user: {{ token: \"{token}\" }} }}]\n\
             contexts: [{{ name: e2e, context: {{ cluster: e2e, user: {account}, namespace: {NAMESPACE} }} }}]\n\
             current-context: e2e\n"
        ),
    )?;
    Ok(file)
}

/// Waits until the API server knows the roles: it reads them as everybody does, by watching.
pub(crate) async fn until_granted(client: &Client, account: &str, objects: &[Value]) -> Result<()> {
    let reviews: Api<SubjectAccessReview> = Api::all(client.clone());
    // Those that are added to roles of users are nothing to the account.
    let is_of_users =
        |it: &Value| it["metadata"]["labels"].get("rbac.authorization.k8s.io/aggregate-to-edit").is_some();
    let roles = objects.iter().filter(|it| it["kind"].as_str().is_some_and(|it| it.ends_with("Role")));
    let roles = roles.filter(|it| !is_of_users(it));
    for role in roles {
        for rule in role["rules"].as_array().into_iter().flatten() {
            let review = review(account, role["metadata"]["namespace"].as_str(), rule);
            let asking = async {
                let params = PostParams::default();
                while !reviews.create(&params, &review).await?.status.is_some_and(|it| it.allowed) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Ok::<(), kube::Error>(())
            };
            match tokio::time::timeout(DEADLINE, asking).await {
                Ok(answer) => answer?,
                Err(_) => bail!("the account was not granted {rule} within {DEADLINE:?}"),
            }
        }
    }
    Ok(())
}

/// Asks for the first thing that a rule allows.
fn review(account: &str, namespace: Option<&str>, rule: &Value) -> SubjectAccessReview {
    let first = |field: &str| rule[field][0].as_str().map(str::to_owned);
    let resource = first("resources").unwrap_or_default();
    let (resource, subresource) = match resource.split_once('/') {
        Some((resource, sub)) => (resource.to_owned(), Some(sub.to_owned())),
        None => (resource, None),
    };
    let groups = [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{NAMESPACE}"),
        "system:authenticated".to_owned(),
    ];
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(format!("system:serviceaccount:{NAMESPACE}:{account}")),
            groups: Some(groups.to_vec()),
            resource_attributes: Some(ResourceAttributes {
                namespace: namespace.map(str::to_owned),
                group: first("apiGroups"),
                resource: Some(resource),
                subresource,
                verb: first("verbs"),
                name: first("resourceNames"),
                ..ResourceAttributes::default()
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    }
}
