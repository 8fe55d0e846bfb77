//! A cluster in memory, in which a secret is planted wherever one may be.

use grove_api::schema::CRDS;
use grove_apiserver::{ApiServer, Resource, Resources};
use k8s_openapi::jiff::Timestamp;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, PostParams},
    client::Body,
    core::GroupVersionKind,
};
use serde_json::{Value, json};

/// It must not be in any file of a bundle.
pub(super) const CANARY: &str = "c4n4ry-7f3a";

/// The resources of these tests: those that are always there, and some that only clusters have.
fn server() -> ApiServer {
    let cluster = Resources::cluster();
    let mut resources = Resources::kubernetes();
    for id in ["deployments.apps", "podgroups.scheduling.k8s.io"] {
        let mut resource = Resource::clone(cluster.by_id(id).unwrap());
        resource.strict = false;
        resources = resources.with(resource);
    }
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1)
}

/// A client of the server, for which `answer` answers some requests instead.
pub(super) fn client(
    server: &ApiServer,
    answer: impl Fn(&str) -> Option<(u16, String)> + Clone + Send + Sync + 'static,
) -> Client {
    let inner = Client::new(server.service(), "default");
    let service = move |request: http::Request<Body>| {
        let (inner, answer) = (inner.clone(), answer(&request.uri().to_string()));
        async move {
            match answer {
                Some((code, text)) => http::Response::builder()
                    .status(code)
                    .body(Body::from(text.into_bytes()))
                    .map_err(kube::Error::HttpError),
                None => inner.send(request).await,
            }
        }
    };
    Client::new(tower::service_fn(service), "default")
}

/// The API server of these tests has no logs.
pub(super) fn logs(uri: &str) -> Option<(u16, String)> {
    uri.contains("/log?").then(|| {
        (
            200,
            format!(
                "starting\nGET /apis Authorization: Bearer {CANARY}\nurl=https://me:{CANARY}@host/\nready\n"
            ),
        )
    })
}

pub(super) fn refusal(message: &str) -> (u16, String) {
    let status =
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": 403 });
    (403, status.to_string())
}

async fn create(client: &Client, plural: &str, object: Value) {
    let text = |key: &str| object[key].as_str().unwrap().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version.as_str()));
    let resource = ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, &kind), plural);
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let created = api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await;
    created.unwrap_or_else(|error| panic!("{plural}: {error}"));
}

fn secret_container() -> Value {
    json!({
        "name": "c", "image": "registry.example.com/c:1", "command": ["sh", "-c", format!("serve --key {CANARY}")],
        "env": [{ "name": "KEY", "value": CANARY }, { "name": "REF", "valueFrom": { "secretKeyRef": { "name": "keys", "key": "key" } } }],
    })
}

fn metadata(namespace: &str, name: &str, labels: &Value) -> Value {
    json!({ "namespace": namespace, "name": name, "labels": labels })
}

/// What belongs to a set, each object with a secret where it can have one.
async fn create_set(client: &Client, set: &str) {
    let of_set =
        || json!({ "app.kubernetes.io/part-of": set, "app.kubernetes.io/managed-by": "grove-operator" });
    let pod = json!({
        "initContainers": [secret_container()], "containers": [secret_container()],
    });
    let clique = json!({ "roleName": "a", "replicas": 1, "minAvailable": 1, "podSpec": pod });
    let manifest = json!({ "spec": { "template": { "cliques": [{ "name": "a", "spec": clique }] } } });
    create(
        client,
        "podcliquesets",
        json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet",
            "metadata": { "namespace": "default", "name": set, "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": manifest.to_string(),
                "example.com/original": manifest.to_string(),
            } },
            "spec": { "replicas": 1, "template": { "cliques": [{ "name": "a", "spec": clique }] } },
        }),
    )
    .await;
    create(
        client,
        "podcliques",
        json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "PodClique",
            "metadata": metadata("default", &format!("{set}-0-a"), &of_set()), "spec": clique,
        }),
    )
    .await;
    create(
        client,
        "podgangs",
        json!({
            "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
            "metadata": metadata("default", &format!("{set}-0"), &of_set()), "spec": { "podgroups": [] },
        }),
    )
    .await;
    create(
        client,
        "podgroups",
        json!({
            "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
            "metadata": metadata("default", &format!("{set}-0"), &json!({})), "spec": {},
        }),
    )
    .await;
    create(
        client,
        "controllerrevisions",
        json!({
            "apiVersion": "apps/v1", "kind": "ControllerRevision", "revision": 1,
            "metadata": metadata("default", &format!("{set}-1"), &of_set()), "data": { "form": CANARY },
        }),
    )
    .await;
    let mut spec = pod;
    spec["ephemeralContainers"] = json!([secret_container()]);
    create(
        client,
        "pods",
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": metadata("default", &format!("{set}-0-a-x"), &of_set()), "spec": spec,
        }),
    )
    .await;
    create(client, "events", json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "namespace": "default", "name": format!("{set}.1") },
        "eventTime": "2027-01-01T00:00:00.000000Z", "action": "a", "reason": "Pulling", "type": "Normal",
        "reportingController": "kubelet", "reportingInstance": "n0", "note": format!("pulling https://me:{CANARY}@host/image"),
        "regarding": { "kind": "Pod", "namespace": "default", "name": format!("{set}-0-a-gone") },
    })).await;
}

async fn create_operator(client: &Client) {
    let labels =
        || json!({ "app.kubernetes.io/part-of": "grove", "app.kubernetes.io/name": "grove-operator" });
    let volumes = json!([{ "name": "operator-config", "configMap": { "name": "config" } }]);
    let spec = json!({ "containers": [secret_container()], "volumes": volumes });
    create(
        client,
        "namespaces",
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "grove-system" } }),
    )
    .await;
    create(client, "configmaps", json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "namespace": "grove-system", "name": "config" },
        "data": { "config.yaml": format!("logLevel: debug\nbearerToken: {CANARY}\ntokenFile: /run/token\n") },
    })).await;
    create(client, "deployments", json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("grove-system", "grove-operator", &labels()),
        "spec": {
            "selector": { "matchLabels": labels() },
            "template": { "metadata": { "labels": labels() }, "spec": spec },
        },
    })).await;
    create(client, "pods", json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata("grove-system", "grove-operator-1", &labels()), "spec": spec,
    })).await;
}

/// Two sets, the operator, a node, and secrets that must not be in the bundle.
pub(super) async fn filled() -> ApiServer {
    let server = server();
    let client = Client::new(server.service(), "default");
    create_set(&client, "chat").await;
    create_set(&client, "other").await;
    create_operator(&client).await;
    create(&client, "schedulerbackends", json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "SchedulerBackend", "metadata": { "name": "volcano" }, "spec": {},
    })).await;
    create(
        &client,
        "clustertopologybindings",
        json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "dc" },
            "spec": { "levels": [{ "domain": "rack", "key": "example.com/rack" }] },
        }),
    )
    .await;
    create(&client, "nodes", json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "n0", "labels": { "example.com/rack": "r0", "example.com/key": CANARY }, "annotations": { "a": CANARY } },
        "spec": {},
    })).await;
    create(&client, "secrets", json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "namespace": "default", "name": "keys" }, "stringData": { "key": CANARY },
    })).await;
    create(&client, "configmaps", json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "namespace": "default", "name": "settings" }, "data": { "key": CANARY },
    })).await;
    server
}
