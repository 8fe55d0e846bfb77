use grove_apiserver::{ApiServer, Resources};
use grove_scheduler::builtin::builtin;
use k8s_openapi::{api::core::v1::Namespace, jiff::Timestamp};
use kube::{Client, api::PostParams, client::Body};
use serde_json::{Value, json};

use super::*;
use crate::commands::why::{
    Target,
    workload::{
        facts::Found,
        fixture::{KAI, in_kai, kai, pod, with},
    },
};
use crate::findings::Format;

/// A kind that the server is to serve.
fn definition(group: &str, version: &str, kind: &str, plural: &str, short: &[&str]) -> Value {
    let any = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "kind": kind, "plural": plural, "singular": kind.to_lowercase(), "shortNames": short },
            "versions": [{ "name": version, "served": true, "storage": true, "schema": { "openAPIV3Schema": any } }],
        },
    })
}

async fn cluster() -> Cluster {
    let mut resources = Resources::kubernetes();
    for crd in [
        definition("batch", "v1", "Job", "jobs", &[]),
        definition("batch.volcano.sh", "v1alpha1", "Job", "jobs", &["vcjob"]),
        definition("apps", "v1", "Deployment", "deployments", &["deploy"]),
        definition("apps", "v1", "ReplicaSet", "replicasets", &["rs"]),
        definition("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups", &["pg"]),
    ] {
        resources = resources.with_crd(&crd).unwrap();
    }
    let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1);
    let client = Client::new(server.service(), "lab");
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some("lab".to_owned());
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    Cluster { client, server: "in memory".to_owned(), namespace: "lab".to_owned() }
}

/// Creates an object and says by which UID it goes.
async fn create(cluster: &Cluster, api_version: &str, kind: &str, plural: &str, more: &Value) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let gvk = kube::core::GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client.clone(), "lab", &resource);
    let object = with(json!({ "apiVersion": api_version, "kind": kind }), more);
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap().metadata.uid.unwrap()
}

fn owner(api_version: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!([{ "apiVersion": api_version, "kind": kind, "name": name, "uid": uid }])
}

/// A pod of KAI's with this owner.
async fn create_pod(cluster: &Cluster, name: &str, owners: &Value, more: &Value) -> String {
    let mut value = serde_json::to_value(pod(name, KAI, more)).unwrap();
    value["metadata"]["ownerReferences"] = owners.clone();
    value["metadata"].as_object_mut().unwrap().remove("uid");
    create(cluster, "v1", "Pod", "pods", &value).await
}

/// A Job with two pods in a group, a Deployment with one in none, and a pod of nobody in the group of the Job.
async fn filled() -> (Cluster, String) {
    let cluster = cluster().await;
    let named = |name: &str| json!({ "metadata": { "name": name }, "spec": {} });
    let job = create(&cluster, "batch/v1", "Job", "jobs", &named("train")).await;
    let web = create(&cluster, "apps/v1", "Deployment", "deployments", &named("web")).await;
    let mut set = named("web-1");
    set["metadata"]["ownerReferences"] = owner("apps/v1", "Deployment", "web", &web);
    let set = create(&cluster, "apps/v1", "ReplicaSet", "replicasets", &set).await;
    let of_job = owner("batch/v1", "Job", "train", &job);
    for name in ["train-0", "train-1"] {
        create_pod(&cluster, name, &of_job, &in_kai("pg-train", "")).await;
    }
    create_pod(&cluster, "guest", &json!([]), &in_kai("pg-train", "")).await;
    let lost =
        create_pod(&cluster, "web-1-a", &owner("apps/v1", "ReplicaSet", "web-1", &set), &json!({})).await;
    create_pod(&cluster, "far", &json!([]), &in_kai("pg-far", "")).await;
    for name in ["pg-train", "pg-far"] {
        let group = kai(name, &json!({ "minMember": 2 }));
        create(&cluster, "scheduling.run.ai/v2alpha2", "PodGroup", "podgroups", &group).await;
    }
    for (number, (reason, time)) in [
        ("PodGrouperWarning", "01"),
        ("PodGrouperWarning", "03"),
        ("PodGrouperWarning", "02"),
        ("Other", "09"),
    ]
    .into_iter()
    .enumerate()
    {
        let event = json!({
            "metadata": { "name": format!("e{number}") }, "reason": reason, "message": format!("at {time}"),
            "involvedObject": { "kind": "Pod", "name": "web-1-a", "uid": lost, "namespace": "lab" },
            "lastTimestamp": format!("2027-01-01T00:00:{time}Z"),
        });
        create(&cluster, "v1", "Event", "events", &event).await;
    }
    (cluster, lost)
}

async fn facts(cluster: &Cluster, kind: &str, name: &str) -> Option<Facts> {
    let place = Place { cluster, namespace: "lab" };
    let asked = place.asked(kind, name).await.unwrap()?;
    Some(place.facts(asked, &builtin()).await.unwrap())
}

fn members(facts: &Facts) -> Vec<(&str, bool)> {
    facts.members.iter().map(|it| (it.pod.metadata.name.as_deref().unwrap(), it.is_asked)).collect()
}

#[tokio::test]
async fn what_belongs_to_a_workload() {
    let (cluster, _) = filled().await;
    let job = facts(&cluster, "job", "train").await.unwrap();
    assert_eq!(members(&job), [("guest", false), ("train-0", true), ("train-1", true)]);
    let groups: Vec<&str> = job.groups.iter().map(|it| it.key.name.as_str()).collect();
    assert_eq!(groups, ["pg-train"]);
    assert!(matches!(job.groups[0].found, Found::Seen(_)));
    assert_eq!(job.asked.api_version, "batch/v1");
    assert_eq!(job.notes, Vec::<String>::new());

    let web = facts(&cluster, "deploy", "web").await.unwrap();
    assert_eq!(members(&web), [("web-1-a", true)]);
    assert_eq!(web.members[0].warning.as_deref(), Some("at 03"));

    let group = facts(&cluster, "podgroup.scheduling.run.ai", "pg-far").await.unwrap();
    assert_eq!(members(&group), [("far", true)]);

    assert!(facts(&cluster, "job", "other").await.is_none());
    assert!(facts(&cluster, "job.batch.volcano.sh", "train").await.is_none());
}

#[tokio::test]
async fn a_pod_and_the_others_of_its_group() {
    let (cluster, _) = filled().await;
    let facts = facts(&cluster, "pods", "train-0").await.unwrap();
    assert_eq!(members(&facts), [("guest", false), ("train-0", true), ("train-1", false)]);
    assert_eq!(facts.groups.len(), 1);
}

#[tokio::test]
async fn a_group_goes_with_its_owner_before_it_has_pods() {
    let cluster = cluster().await;
    let suspended = json!({ "metadata": { "name": "train" }, "spec": { "suspend": true } });
    let job = create(&cluster, "batch/v1", "Job", "jobs", &suspended).await;
    let mut group = kai("pg", &json!({ "minMember": 2 }));
    group["metadata"]["ownerReferences"] = owner("batch/v1", "Job", "train", &job);
    create(&cluster, "scheduling.run.ai/v2alpha2", "PodGroup", "podgroups", &group).await;
    let facts = facts(&cluster, "jobs.batch", "train").await.unwrap();
    assert_eq!((facts.groups.len(), facts.members.len()), (1, 0));
    assert_eq!(facts.asked.idle, Some("it is suspended"));
}

#[tokio::test]
async fn what_cannot_be_asked_about_is_told() {
    let (cluster, _) = filled().await;
    let place = Place { cluster: &cluster, namespace: "lab" };
    let rows = [
        ("jbo", "the cluster serves no kind \"jbo\"; did you mean \"job\"?"),
        ("job.apps", "the cluster serves no kind \"job.apps\"; `kubectl api-resources` lists what there is"),
        ("node", "nodes have no namespace: they are no workload with pods"),
    ];
    for (kind, want) in rows {
        assert_eq!(place.asked(kind, "x").await.unwrap_err().to_string(), want);
    }
}

/// From the words of a user to what is printed: a pod of nobody's, a workload, and what is not there.
#[tokio::test]
async fn the_command_tells_it() {
    let (cluster, _) = filled().await;
    let told = async |target: &str, output: Format| {
        let target: Target = target.parse().unwrap();
        super::super::super::told(&cluster, "lab", &builtin(), &target, output).await.unwrap()
    };
    let text = told("pod/web-1-a", Format::Text).await.unwrap();
    assert!(text.contains("the pod grouper cannot group it: at 03"), "{text}");
    let json: Value = serde_json::from_str(&told("job/train", Format::Json).await.unwrap()).unwrap();
    assert_eq!((&json["kind"], &json["groups"][0]["name"]), (&json!("Job"), &json!("pg-train")));
    assert_eq!((told("pod/none", Format::Text).await, told("job/none", Format::Text).await), (None, None));
}

/// An API server that serves `jobs` and pods, and refuses what has this in its address.
fn refusing(what: &'static str, code: u16) -> Cluster {
    let answer = move |request: http::Request<Body>| async move {
        let path = request.uri().path().to_owned();
        let row = |name: &str, kind: &str| json!({ "name": name, "singularName": "", "namespaced": true, "kind": kind, "verbs": [] });
        let item = |kind: &str, more: &Value| json!({ "apiVersion": "v1", "kind": format!("{kind}List"), "metadata": {}, "items": [more] });
        let of_set = owner("apps/v1", "ReplicaSet", "r", "r");
        let mut pod = serde_json::to_value(pod("p", KAI, &json!({}))).unwrap();
        pod["metadata"]["ownerReferences"] = of_set;
        let (code, body) = if path.contains(what) {
            (
                code,
                json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no", "code": code }),
            )
        } else if path == "/apis" {
            let version = |group: &str| json!({ "groupVersion": format!("{group}/v1"), "version": "v1" });
            let group =
                |it: &str| json!({ "name": it, "versions": [version(it)], "preferredVersion": version(it) });
            (200, json!({ "groups": [group("batch"), group("apps")] }))
        } else if path == "/api/v1" {
            (200, json!({ "groupVersion": "v1", "resources": [row("pods", "Pod")] }))
        } else if path == "/apis/batch/v1" {
            (200, json!({ "groupVersion": "batch/v1", "resources": [row("jobs", "Job")] }))
        } else if path == "/apis/apps/v1" {
            (200, json!({ "groupVersion": "apps/v1", "resources": [row("replicasets", "ReplicaSet")] }))
        } else if path.ends_with("/jobs") {
            (
                200,
                item(
                    "Job",
                    &json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "train", "uid": "job" } }),
                ),
            )
        } else if path.ends_with("/pods") {
            let mut own = pod.clone();
            own["metadata"]["name"] = json!("q");
            own["metadata"]["ownerReferences"] = owner("batch/v1", "Job", "train", "job");
            let mut list = item("Pod", &pod);
            list["items"] = json!([pod, own]);
            (200, list)
        } else {
            (200, json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": [] }))
        };
        http::Response::builder().status(code).body(Body::from(body.to_string().into_bytes()))
    };
    Cluster {
        client: Client::new(tower::service_fn(answer), "lab"),
        server: "in memory".to_owned(),
        namespace: "lab".to_owned(),
    }
}

/// What is needed stops it, with a sentence; what would only say more is noted.
#[tokio::test]
async fn reads_that_are_refused() {
    let needed = [
        ("/jobs", 403, "in memory: jobs.batch: no"),
        ("/pods", 403, "in memory: pods: no"),
        ("/podgroups", 500, "in memory: podgroups.scheduling.k8s.io: no"),
        ("/events", 500, "in memory: events: no"),
        ("/apis", 403, "in memory: no"),
        (
            "/apis/batch/v1",
            503,
            "the cluster serves no kind \"job\"; batch/v1 did not answer; `kubectl api-resources` lists what there is",
        ),
    ];
    for (what, code, want) in needed {
        let cluster = refusing(what, code);
        let place = Place { cluster: &cluster, namespace: "lab" };
        let asking = async {
            let asked = place.asked("job", "train").await?.unwrap();
            place.facts(asked, &builtin()).await
        };
        assert_eq!(asking.await.unwrap_err().to_string(), want, "{what}");
    }
    let noted = [
        ("/events", 403, vec!["the pod grouper's warnings could not be read: no"]),
        (
            "/replicasets",
            403,
            vec!["replicasets.apps could not be read, so that pods behind them are not counted: no"],
        ),
        ("/podgroups", 403, vec![]),
        ("/podgroups", 404, vec![]),
        ("/nothing", 403, vec![]),
    ];
    for (what, code, want) in noted {
        let facts = facts(&refusing(what, code), "job", "train").await.unwrap();
        assert_eq!(facts.notes, want, "{what}");
        assert_eq!(members(&facts), [("q", true)], "{what}");
    }
}

#[tokio::test]
async fn a_workload_that_is_not_there_has_a_similar_name() {
    let cluster = cluster().await;
    create(&cluster, "batch/v1", "Job", "jobs", &json!({ "metadata": { "name": "train" } })).await;
    let similar = async |target: &str| target.parse::<Target>().unwrap().similar(&cluster, "lab").await;
    assert_eq!(similar("job/trian").await.as_deref(), Some("train"));
    assert_eq!(similar("job/other").await, None);
    assert_eq!(similar("deploy/trian").await, None, "it is of another kind");
}
