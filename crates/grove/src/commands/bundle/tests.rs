//! Bundles of a cluster in memory: what is in them, and that no secret is.

use std::collections::BTreeMap;

use grove_scheduler::builtin::builtin;
use kube::{Client, client::Body};

use super::{
    archive::tests::unpacked,
    fixture::{CANARY, client, filled, logs, refusal},
    *,
};

const ROOT: &str = "grove-bundle-20270115T080000Z";

/// The files of a bundle without their folder, and what could not be read.
async fn bundle(client: Client, scope: &Scope) -> (BTreeMap<String, String>, Vec<String>) {
    let cluster = Cluster { client, server: "in memory".to_owned(), namespace: "default".to_owned() };
    let registry = builtin();
    let request = Request {
        cluster: &cluster,
        registry: &registry,
        scope,
        operator_namespace: "grove-system",
        log_lines: 100,
    };
    let contents = collect::collect(&request).await.unwrap();
    let problems = contents.problems().to_vec();
    let packed = packed(contents, scope, Timestamp::from_second(1_800_000_000).unwrap()).unwrap();
    let strip = |(path, text): (String, String)| {
        let path = path.strip_prefix(ROOT).and_then(|it| it.strip_prefix('/'));
        (path.unwrap().to_owned(), text)
    };
    (unpacked(&packed).into_iter().map(strip).collect(), problems)
}

fn names(files: &BTreeMap<String, String>) -> Vec<&str> {
    files.keys().map(String::as_str).collect()
}

const OBJECTS: [&str; 16] = [
    "README.txt",
    "cluster/clustertopologybindings.grove.io.yaml",
    "cluster/nodes.yaml",
    "cluster/schedulerbackends.grove.io.yaml",
    "namespaces/default/controllerrevisions.apps.yaml",
    "namespaces/default/events.events.k8s.io.yaml",
    "namespaces/default/podcliques.grove.io.yaml",
    "namespaces/default/podcliquesets.grove.io.yaml",
    "namespaces/default/podgangs.scheduler.grove.io.yaml",
    "namespaces/default/podgroups.scheduling.k8s.io.yaml",
    "namespaces/default/pods.yaml",
    "operator/configmaps.yaml",
    "operator/deployments.apps.yaml",
    "operator/logs/grove-operator-1/c.log",
    "operator/pods.yaml",
    "versions.yaml",
];

#[tokio::test]
async fn all_is_there_but_no_secret() {
    let server = filled().await;
    let (files, problems) = bundle(client(&server, logs), &Scope::Namespace("default".to_owned())).await;
    assert_eq!(problems, [""; 0]);
    assert_eq!(names(&files), OBJECTS);
    for (path, text) in &files {
        assert!(!text.contains(CANARY), "{path}: {text}");
    }
    let rows = [
        ("namespaces/default/podcliquesets.grove.io.yaml", &["name: chat", "name: other", "<redacted>"][..]),
        (
            "namespaces/default/pods.yaml",
            &["name: chat-0-a-x", "ephemeralContainers", "secretKeyRef", "image: registry"],
        ),
        ("namespaces/default/controllerrevisions.apps.yaml", &["name: chat-1", "revision: 1"]),
        (
            "namespaces/default/events.events.k8s.io.yaml",
            &["reason: Pulling", "https://<redacted>@host/image"],
        ),
        ("cluster/nodes.yaml", &["name: n0", "example.com/rack: r0"]),
        ("operator/configmaps.yaml", &["logLevel: debug", "tokenFile: /run/token"]),
        ("operator/logs/grove-operator-1/c.log", &["starting\n", "Authorization: <redacted>\n", "ready\n"]),
        ("versions.yaml", &["v1.37", "registry.example.com/c:1", env!("CARGO_PKG_VERSION")]),
        ("README.txt", &["from namespace default:", "podgroups.scheduling.volcano.sh"]),
    ];
    for (path, parts) in rows {
        for part in parts {
            assert!(files[path].contains(part), "{path} lacks {part:?}: {}", files[path]);
        }
    }
}

#[tokio::test]
async fn a_bundle_of_one_set_has_nothing_of_others() {
    let server = filled().await;
    let scope = Scope::Set { namespace: "default".to_owned(), name: "chat".to_owned() };
    let (files, problems) = bundle(client(&server, logs), &scope).await;
    assert_eq!(problems, [""; 0]);
    assert_eq!(names(&files), OBJECTS);
    for (path, text) in files.iter().filter(|it| it.0.starts_with("namespaces/")) {
        assert!(text.contains("chat") && !text.contains("other"), "{path}: {text}");
    }
}

#[tokio::test]
async fn all_namespaces_are_told_apart() {
    let server = filled().await;
    let (files, problems) = bundle(client(&server, logs), &Scope::Cluster).await;
    assert_eq!(problems, [""; 0]);
    assert!(files["namespaces/grove-system/pods.yaml"].contains("name: grove-operator-1"));
    assert!(!files["namespaces/default/pods.yaml"].contains("grove-operator-1"));
    assert!(files.values().all(|it| !it.contains(CANARY)));
}

/// A user of one namespace, who may not read what the cluster has.
#[tokio::test]
async fn what_may_not_be_read_is_told_and_ends_nothing() {
    let server = filled().await;
    let refuses = |uri: &str| {
        let is_own =
            uri.contains("/namespaces/default/") || !(uri.contains('?') || uri.contains("grove-system"));
        (!is_own).then(|| refusal(&format!("no, Bearer {CANARY}")))
    };
    let (files, problems) = bundle(client(&server, refuses), &Scope::Namespace("default".to_owned())).await;
    for what in ["nodes", "schedulerbackends.grove.io", "deployments.apps", "pods", "events.events.k8s.io"] {
        let line = format!("{what}: no, Bearer <redacted>");
        assert!(problems.contains(&line), "{what}: {problems:?}");
        assert!(files["errors.txt"].contains(&line), "{}", files["errors.txt"]);
    }
    assert!(files["README.txt"].contains("see errors.txt"));
    for own in ["podcliquesets.grove.io", "pods", "events.events.k8s.io"] {
        assert!(files.contains_key(&format!("namespaces/default/{own}.yaml")), "{own}");
    }
    assert!(files.values().all(|it| !it.contains(CANARY)));
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_an_error() {
    let answer = |_: http::Request<Body>| async move {
        Err::<http::Response<Body>, _>(io::Error::other("connection refused"))
    };
    let client = Client::new(tower::service_fn(answer), "default");
    let cluster = Cluster { client, server: "https://host".to_owned(), namespace: "default".to_owned() };
    let (registry, scope) = (builtin(), Scope::Cluster);
    let request = Request {
        cluster: &cluster,
        registry: &registry,
        scope: &scope,
        operator_namespace: "grove-system",
        log_lines: 1,
    };
    let error = collect::collect(&request).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot reach https://host: "), "{error}");
}

#[test]
fn sets_are_named_as_kubectl_does() {
    let rows = [
        ("chat", Some("chat")),
        ("pcs/chat", Some("chat")),
        ("podcliquesets.grove.io/chat", Some("chat")),
        ("pod/chat", None),
        ("pcs/", None),
        ("a/b/c", None),
    ];
    for (text, want) in rows {
        assert_eq!(set_name(text).ok().as_deref(), want, "{text}");
    }
}
