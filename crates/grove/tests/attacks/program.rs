//! A program of Grove's as a process, with so much memory, on an API server of its own.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use grove_api::{schema::CRDS, wire::PodCliqueSet};
use grove_apiserver::{
    ApiServer, Authentication, Authorization, Resources, ServeOptions, ServerHandle, serve,
};
use k8s_openapi::{
    api::core::v1::{Namespace, Secret},
    jiff::Timestamp,
};
use kube::{Api, Client, api::PostParams};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Mutex, MutexGuard},
    time::{sleep, timeout},
};

use crate::client::{Kind, Port};

/// Megabytes of data that the operator may have, with its stacks and all that it knows. Its pod may have 1 GiB.
pub(crate) const OPERATOR_MEGABYTES: usize = 512;
/// Likewise the pod grouper, whose ports take no bodies.
pub(crate) const GROUPER_MEGABYTES: usize = 128;
/// No test waits for this long unless something is wrong.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
pub(crate) const NAMESPACE: &str = "grove-system";
/// Where the victim of forged reviews lives.
pub(crate) const TENANT: &str = "tenant-a";

/// One program is attacked at a time: on a small machine several attacks would keep each other's honest clients waiting, and two
/// floods would have more files open than a process may.
static TURN: Mutex<()> = Mutex::const_new(());

/// A program that runs until it is dropped.
pub(crate) struct Program {
    child: Child,
    log: PathBuf,
    pub(crate) server: ApiServer,
    pub(crate) ports: Vec<Port>,
    _handle: ServerHandle,
    _turn: MutexGuard<'static, ()>,
}

impl Program {
    /// The operator, with every port that it can open, and a PodCliqueSet that it manages.
    pub(crate) async fn operator(name: &str) -> Self {
        let turn = TURN.lock().await;
        let (folder, server, handle) = stage(name).await;
        let [admission, health, metrics, profiles] = free_ports();
        let config = folder.join("operator.yaml");
        fs::write(&config, configuration([admission, health, metrics, profiles])).unwrap();
        let arguments = ["operator", "--config", config.to_str().unwrap()];
        let child = start(&folder, &arguments, OPERATOR_MEGABYTES);
        let ports = vec![
            Port::new(Kind::Health, health),
            Port::new(Kind::Metrics, metrics),
            Port::new(Kind::Profiles, profiles),
        ];
        let mut program =
            Self { child, log: folder.join("log"), server, ports, _handle: handle, _turn: turn };
        program.until_ready().await;
        let secret = program.server.store().get("secrets", NAMESPACE, "grove-webhook-server-cert").unwrap();
        let secret: Secret = serde_json::from_value(secret.value().clone()).unwrap();
        let data = secret.data.unwrap();
        program.ports.push(Port::admission(admission, &data["ca.crt"].0));
        program
    }

    /// The pod grouper, with every port that it can open.
    pub(crate) async fn pod_grouper(name: &str) -> Self {
        let turn = TURN.lock().await;
        let (folder, server, handle) = stage(name).await;
        let [health, metrics] = free_ports();
        let [at_health, at_metrics] = [health, metrics].map(|it| format!("127.0.0.1:{it}"));
        let arguments = ["podgrouper", "--scheduler-name", "default-scheduler"];
        let addresses = ["--health-probe-bind-address", &at_health, "--metrics-bind-address", &at_metrics];
        let arguments: Vec<&str> = arguments.into_iter().chain(addresses).collect();
        let child = start(&folder, &arguments, GROUPER_MEGABYTES);
        let ports = vec![Port::new(Kind::Health, health), Port::new(Kind::Metrics, metrics)];
        let mut program =
            Self { child, log: folder.join("log"), server, ports, _handle: handle, _turn: turn };
        program.until_ready().await;
        program
    }

    /// The port of a kind.
    pub(crate) fn port(&self, kind: Kind) -> &Port {
        self.ports.iter().find(|it| it.kind == kind).unwrap()
    }

    /// Checks that it runs, is the process that it was, and that no part of it panicked.
    pub(crate) fn assert_unharmed(&mut self) {
        let log = fs::read_to_string(&self.log).unwrap();
        assert_eq!(self.child.try_wait().unwrap(), None, "the program ended:\n{}", tail(&log));
        assert!(!log.contains("panicked"), "a part of the program panicked:\n{}", tail(&log));
    }

    async fn until_ready(&mut self) {
        let asking = async {
            loop {
                self.assert_unharmed();
                if self.ports[0].ask(Ipv4Addr::LOCALHOST).await.is_ok() {
                    return;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(PATIENCE, asking).await.expect("the program does not become ready");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", tail(&fs::read_to_string(&self.log).unwrap_or_default()));
        }
    }
}

fn tail(log: &str) -> String {
    let lines: Vec<&str> = log.lines().rev().take(20).collect();
    let lines = lines.into_iter().rev().map(|it| it.get(..400).unwrap_or(it));
    lines.collect::<Vec<_>>().join("\n")
}

/// A folder with a kubeconfig, for an API server with a PodCliqueSet.
async fn stage(name: &str) -> (PathBuf, ApiServer, ServerHandle) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("attacks-{name}"));
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).unwrap();
    let mut resources = Resources::cluster().with_definitions();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    let server = ApiServer::new(resources, Timestamp::now, 7);
    let client = Client::new(server.service(), NAMESPACE);
    for name in [NAMESPACE, TENANT] {
        let namespace: Namespace = serde_json::from_value(json!({ "metadata": { "name": name } })).unwrap();
        Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    }
    let victim: PodCliqueSet = serde_json::from_value(set("victim", TENANT)).unwrap();
    Api::namespaced(client, TENANT).create(&PostParams::default(), &victim).await.unwrap();
    let options = ServeOptions {
        authentication: Authentication::anonymous(),
        authorization: Authorization::AlwaysAllow,
        ..ServeOptions::default()
    };
    let handle = serve(TcpListener::bind("127.0.0.1:0").await.unwrap(), server.clone(), options).unwrap();
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "here",
        "clusters": [{ "name": "c", "cluster": { "server": format!("http://{}", handle.address()) } }],
        "users": [{ "name": "u", "user": {} }],
        "contexts": [{ "name": "here", "context": { "cluster": "c", "user": "u", "namespace": NAMESPACE } }],
    });
    fs::write(folder.join("kubeconfig"), kubeconfig.to_string()).unwrap();
    (folder, server, handle)
}

/// A set with one clique of one pod.
pub(crate) fn set(name: &str, namespace: &str) -> Value {
    let containers = json!([{ "name": "main", "image": "engine:1" }]);
    let spec = json!({ "roleName": "worker", "replicas": 1, "minAvailable": 1, "podSpec": { "containers": containers } });
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": name, "namespace": namespace },
        "spec": { "replicas": 1, "template": { "cliques": [{ "name": "worker", "spec": spec }] } },
    })
}

/// Starts a program whose data may have so many megabytes.
fn start(folder: &Path, arguments: &[&str], megabytes: usize) -> Child {
    let log = File::create(folder.join("log")).unwrap();
    Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -d {}; exec \"$0\" \"$@\"", megabytes << 10))
        .arg(env!("CARGO_BIN_EXE_grove"))
        .args(arguments)
        .arg("--kubeconfig")
        .arg(folder.join("kubeconfig"))
        .env("GROVE_OPERATOR_SERVICE_ACCOUNT_NAME", "grove-operator")
        // As in the images, whose allocator has one arena.
        .env("MALLOC_ARENA_MAX", "1")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

fn configuration([admission, health, metrics, profiles]: [u16; 4]) -> String {
    json!({
        "apiVersion": "operator.config.grove.io/v1alpha1",
        "kind": "OperatorConfiguration",
        "server": {
            "webhooks": { "bindAddress": "127.0.0.1", "port": admission },
            "healthProbes": { "bindAddress": "127.0.0.1", "port": health },
            "metrics": { "bindAddress": "127.0.0.1", "port": metrics },
        },
        "debugging": { "enableProfiling": true, "pprofBindPort": profiles },
        "authorizer": { "enabled": true },
    })
    .to_string()
}

/// Ports that are free now.
fn free_ports<const N: usize>() -> [u16; N] {
    // All at once, so that they differ.
    let listeners = [(); N].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|it| it.local_addr().map(|it: SocketAddr| it.port()).unwrap())
}

/// Whether the limit is one at all.
#[tokio::test]
async fn a_program_that_wants_more_memory_ends() {
    let (folder, _server, _handle) = stage("limit").await;
    let config = folder.join("operator.yaml");
    fs::write(&config, configuration(free_ports())).unwrap();
    let mut child = start(&folder, &["operator", "--config", config.to_str().unwrap()], 16);
    let ending = async {
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    let status = timeout(PATIENCE, ending).await;
    let _ = child.kill();
    assert!(!status.expect("it runs with 16 MB").success());
}
