//! Users with Kubernetes' own roles can use our kinds.

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet};
use k8s_openapi::api::{
    authorization::v1::{ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
    rbac::v1::RoleBinding,
};
use kube::{
    Api, Client, Config,
    api::{Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::json;

use crate::{
    scenario::{Context, DEADLINE, eventually},
    scenarios::operator::{
        stage::{self, WEB, settled},
        wanted::Wanted,
    },
};

/// Who edits and who only looks; nobody else knows them.
const EDITOR: &str = "e2e-editor";
const VIEWER: &str = "e2e-viewer";

/// Verb, group and resource; whether who edits may, and whether who looks may.
const TABLE: &[(&str, &str, &str, bool, bool)] = &[
    ("create", "grove.io", "podcliquesets", true, false),
    ("delete", "grove.io", "podcliquesets", true, false),
    ("get", "grove.io", "podcliquesets", true, true),
    ("watch", "grove.io", "podcliques", true, true),
    ("list", "grove.io", "podcliquescalinggroups", true, true),
    ("get", "scheduler.grove.io", "podgangs", true, true),
    ("patch", "grove.io", "podcliques/scale", true, false),
    ("update", "grove.io", "podcliquescalinggroups/scale", true, false),
    ("get", "grove.io", "podcliques/scale", true, true),
    ("create", "grove.io", "podcliques", false, false),
    ("patch", "grove.io", "podcliques", false, false),
    ("delete", "scheduler.grove.io", "podgangs", false, false),
    ("patch", "grove.io", "podcliquesets/status", false, false),
    ("get", "", "secrets", true, false),
];

/// A user with the role `edit` in a namespace creates a set and scales it; one with `view` reads it and cannot create one.
pub(super) async fn built_in_roles(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    for (user, role) in [(EDITOR, "edit"), (VIEWER, "view")] {
        let binding: RoleBinding = serde_json::from_value(json!({
            "metadata": { "name": user, "namespace": context.namespace },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
        }))?;
        let bindings: Api<RoleBinding> = Api::namespaced(context.client(), &context.namespace);
        bindings.create(&PostParams::default(), &binding).await?;
    }
    // A controller of Kubernetes adds our rules to its roles.
    eventually("the rules are added to the roles of users", DEADLINE, || async {
        for (verb, group, resource, edits, views) in TABLE {
            for (user, expected) in [(EDITOR, edits), (VIEWER, views)] {
                let allowed = may(context, user, verb, group, resource).await?;
                ensure!(allowed == *expected, "{user} may {verb} {resource}: {allowed}");
            }
        }
        Ok(())
    })
    .await?;

    let (editor, viewer) = (as_user(context, EDITOR).await?, as_user(context, VIEWER).await?);
    let mut set = stage::set(WEB)?;
    set.metadata.namespace = Some(context.namespace.clone());
    let sets = |client: &Client| Api::<PodCliqueSet>::namespaced(client.clone(), &context.namespace);
    sets(&editor).create(&PostParams::default(), &set).await.context("a set, as one who edits")?;
    settled(context, &Wanted::of(&set)).await?;
    let three = Patch::Merge(json!({ "spec": { "replicas": 3 } }));
    let cliques: Api<PodClique> = Api::namespaced(editor.clone(), &context.namespace);
    cliques.patch_scale("web-0-front", &PatchParams::default(), &three).await.context("scale a clique")?;
    let groups: Api<PodCliqueScalingGroup> = Api::namespaced(editor.clone(), &context.namespace);
    groups.patch_scale("web-0-pd", &PatchParams::default(), &three).await.context("scale a group")?;
    settled(context, &Wanted::scaled(&set, &[("web-0-front", 3), ("web-0-pd", 3)])).await?;

    sets(&viewer).get("web").await.context("read a set, as one who looks")?;
    set.metadata.name = Some("other".to_owned());
    match sets(&viewer).create(&PostParams::default(), &set).await {
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(()),
        other => bail!("one who only looks creates a set: {other:?}"),
    }
}

async fn may(context: &Context, user: &str, verb: &str, group: &str, resource: &str) -> Result<bool> {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = ResourceAttributes {
        verb: Some(verb.to_owned()),
        group: Some(group.to_owned()),
        resource: Some(resource.to_owned()),
        subresource: Some(subresource.to_owned()),
        namespace: Some(context.namespace.clone()),
        ..ResourceAttributes::default()
    };
    let spec = SubjectAccessReviewSpec {
        user: Some(user.to_owned()),
        resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    };
    let reviews: Api<SubjectAccessReview> = Api::all(context.client());
    let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
    let answer = reviews.create(&PostParams::default(), &review).await?;
    Ok(answer.status.context("no answer")?.allowed)
}

/// A client that the API server takes for this user.
pub(super) async fn as_user(context: &Context, user: &str) -> Result<Client> {
    let file = Kubeconfig::read_from(&context.cluster.kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    config.auth_info.impersonate = Some(user.to_owned());
    Ok(Client::try_from(config)?)
}
