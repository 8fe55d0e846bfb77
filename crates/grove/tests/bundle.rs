//! `grove bundle` as a user runs it, on an API server of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod without_cluster;

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use flate2::read::GzDecoder;
use grove_api::{schema::CRDS, wire::PodCliqueSet};
use grove_apiserver::{
    ApiServer, Authentication, Authorization, Resource, Resources, ServeOptions, ServerHandle, serve,
};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client, api::PostParams};
use serde_json::json;
use tar::Archive;
use tokio::net::TcpListener;

const CANARY: &str = "c4n4ry-7f3a";

/// A server with a set, a kubeconfig for it, and a folder to write to.
struct Stage {
    handle: ServerHandle,
    folder: PathBuf,
}

impl Stage {
    async fn new(name: &str) -> Self {
        let mut deployments = Resource::clone(Resources::cluster().by_id("deployments.apps").unwrap());
        deployments.strict = false;
        let mut resources = Resources::kubernetes().with(deployments);
        for crd in &CRDS {
            resources = resources.with_crd(&crd.to_value()).unwrap();
        }
        let server = ApiServer::new(resources, Timestamp::now, 7);
        let container = json!({ "name": "c", "image": "i", "env": [{ "name": "KEY", "value": CANARY }] });
        let spec = json!({ "roleName": "a", "replicas": 1, "podSpec": { "containers": [container] } });
        let set = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "chat" },
            "spec": { "replicas": 1, "template": { "cliques": [{ "name": "a", "spec": spec }] } },
        });
        let set: PodCliqueSet = serde_json::from_value(set).unwrap();
        let client = Client::new(server.service(), "default");
        Api::default_namespaced(client).create(&PostParams::default(), &set).await.unwrap();
        let options = ServeOptions {
            authentication: Authentication::anonymous(),
            authorization: Authorization::AlwaysAllow,
            ..ServeOptions::default()
        };
        let handle = serve(TcpListener::bind("127.0.0.1:0").await.unwrap(), server, options).unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bundle-{name}"));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
             clusters: [{{ name: c, cluster: {{ server: 'http://{}' }} }}]\n\
             users: [{{ name: u, user: {{}} }}]\n\
             contexts: [{{ name: here, context: {{ cluster: c, user: u }} }}]\n",
            handle.address()
        );
        fs::write(folder.join("kubeconfig"), text).unwrap();
        Self { handle, folder }
    }

    /// Exit code, stdout and stderr.
    async fn grove(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_grove"));
        command.arg("bundle").args(arguments).args(["--kubeconfig", "kubeconfig"]).current_dir(&self.folder);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    fn archives(&self) -> Vec<String> {
        let names =
            fs::read_dir(&self.folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap());
        names.filter(|it| it != "kubeconfig").collect()
    }

    fn files(&self, archive: &str) -> BTreeMap<String, String> {
        let mut archive = Archive::new(GzDecoder::new(fs::File::open(self.folder.join(archive)).unwrap()));
        let mut files = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().components().skip(1).collect::<PathBuf>();
            files.insert(path.display().to_string(), io::read_to_string(&mut entry).unwrap());
        }
        files
    }
}

#[tokio::test]
async fn a_bundle_is_written() {
    let stage = Stage::new("written").await;
    let (code, text, errors) = stage.grove(&[]).await;
    // No operator runs here, which a bundle tells.
    assert_eq!(code, Some(1), "{errors}");
    let archives = stage.archives();
    assert_eq!(text, format!("{}: 1 object, 1 not read\n", archives[0]));
    assert!(archives.len() == 1 && archives[0].starts_with("grove-bundle-2"), "{archives:?}");
    assert!(errors.contains("podcliquesets.grove.io: 1\n"), "{errors}");
    assert!(
        errors.contains("not read: operator: no Deployment of Grove in namespace \"grove-system\""),
        "{errors}"
    );
    let files = stage.files(&archives[0]);
    let sets = &files["namespaces/default/podcliquesets.grove.io.yaml"];
    assert!(sets.contains("name: chat") && sets.contains("<redacted>"), "{sets}");
    assert!(files.contains_key("README.txt") && files.contains_key("errors.txt"));
    assert!(files.values().all(|it| !it.contains(CANARY)));
    stage.handle.shutdown().await;
}

#[tokio::test]
async fn a_file_is_overwritten_only_by_force() {
    let stage = Stage::new("force").await;
    let arguments = ["pcs/chat", "-n", "default", "--output", "report.tar.gz"];
    assert_eq!(stage.grove(&arguments).await.0, Some(1));
    let (code, text, errors) = stage.grove(&arguments).await;
    assert_eq!((code, text.as_str()), (Some(2), ""));
    assert_eq!(errors, "grove: report.tar.gz exists; --force overwrites it\n");
    fs::write(stage.folder.join("report.tar.gz"), "old").unwrap();
    assert_eq!(stage.grove(&[&arguments[..], &["--force"]].concat()).await.0, Some(1));
    assert!(stage.files("report.tar.gz").contains_key("README.txt"));
    stage.handle.shutdown().await;
}

#[tokio::test]
async fn a_set_that_is_not_there_has_no_bundle() {
    let stage = Stage::new("missing").await;
    let (code, text, errors) = stage.grove(&["chta"]).await;
    assert_eq!((code, text.as_str()), (Some(1), ""));
    assert_eq!(errors, "grove: no PodCliqueSet \"chta\" in namespace \"default\"; did you mean \"chat\"?\n");
    assert_eq!(stage.archives(), [""; 0]);
    stage.handle.shutdown().await;
}

#[test]
fn arguments_that_cannot_be_used() {
    let rows: [&[&str]; 5] = [
        &["pod/x"],
        &["-A", "-n", "ml"],
        &["-A", "chat"],
        &["--log-lines", "many"],
        &["--operator-namespace", "a/b"],
    ];
    for row in rows {
        let (code, text) = without_cluster::grove("bundle", row);
        assert_eq!(code, Some(2), "{row:?}");
        assert!(text.starts_with("error: "), "{row:?}: {text}");
    }
    let (code, text) = without_cluster::grove("bundle", &["chat"]);
    assert_eq!(code, Some(2));
    assert!(text.starts_with("grove: no usable kubeconfig: "), "{text}");
}
