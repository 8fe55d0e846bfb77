//! Flags that change the cluster: each has its effect. Times are lower bounds, which a slow machine keeps, too; each is longer than the
//! flag's default by more than a second, because Kubernetes' timestamps are whole seconds.

use std::{collections::BTreeSet, path::Path, pin::pin, time::Duration};

use futures::{StreamExt as _, TryStreamExt as _};
use k8s_openapi::{
    api::core::v1::{Node, Pod},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Config, ResourceExt as _,
    api::ListParams,
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{WatchStreamExt as _, wait::await_condition, watcher},
};
use tokio::net::TcpSocket;

use crate::{Folder, grove, text, up};

const START_DELAY: i64 = 3;
const NODE_GRACE: i64 = 7;
/// What whole seconds may hide.
const ROUNDING: i64 = 1;
/// Ends the test where nothing happens any more.
const TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) async fn client(kubeconfig: &Path) -> Client {
    let file = Kubeconfig::read_from(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// A port reserved until its socket is dropped. The socket does not listen, so on Linux the program under test can.
fn kept_port() -> (TcpSocket, u16) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    (socket, port)
}

fn seconds(from: Timestamp, to: Timestamp) -> i64 {
    to.as_second() - from.as_second()
}

/// When a pod was taken by its kubelet, when its container was started, and when it was ready.
fn start(pod: &Pod) -> [Timestamp; 3] {
    let status = pod.status.as_ref().unwrap();
    let container = &status.container_statuses.as_ref().unwrap()[0];
    let running = container.state.as_ref().unwrap().running.as_ref().unwrap();
    let ready = status.conditions.as_ref().unwrap().iter().find(|it| it.type_ == "Ready").unwrap();
    [&status.start_time, &running.started_at, &ready.last_transition_time].map(|it| it.as_ref().unwrap().0)
}

/// When a node was marked because its kubelet is silent.
fn silent_since(node: &Node) -> Option<Timestamp> {
    let ready = node.status.as_ref()?.conditions.as_ref()?.iter().find(|it| it.type_ == "Ready")?;
    let since = ready.last_transition_time.as_ref().filter(|_| ready.status == "Unknown");
    since.map(|it| it.0)
}

#[tokio::test]
async fn port_start_delay_and_node_grace_have_their_effect() {
    let folder = Folder::new("options");
    let (_kept, port) = kept_port();
    let flags = [
        format!("--port={port}"),
        format!("--start-delay={START_DELAY}s"),
        format!("--node-grace={NODE_GRACE}s"),
    ];
    let mut arguments =
        vec!["--detach", "--topology", "hosts=2,gpus=8", "--sample", "samples/01-single-role.yaml"];
    arguments.extend(flags.iter().map(String::as_str));
    let output = up(&folder, &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));

    let at_port = format!("127.0.0.1:{port}");
    assert!(text(&output).contains(&format!("API server is listening on {at_port}\n")), "{}", text(&output));
    let client = client(&folder.kubeconfig()).await;
    let config = std::fs::read_to_string(folder.kubeconfig()).unwrap();
    assert!(config.contains(&format!("https://{at_port}")), "{config}");

    let pods: Api<Pod> = Api::default_namespaced(client.clone());
    let started = pods.list(&ListParams::default()).await.unwrap().items;
    assert_eq!(started.len(), 2);
    for pod in &started {
        let [taken, running, ready] = start(pod);
        for (what, delay) in
            [("is pulled", seconds(taken, running)), ("becomes ready", seconds(running, ready))]
        {
            assert!(delay >= START_DELAY - ROUNDING, "{} {what} within {delay} s", pod.name_any());
        }
    }

    let node = started[0].spec.as_ref().unwrap().node_name.clone().unwrap();
    let before = Timestamp::now();
    let kubeconfig = folder.kubeconfig().display().to_string();
    let lost = grove(&["sandbox", "node", "lose", &node, "--kubeconfig", &kubeconfig]);
    assert_eq!(lost.status.code(), Some(0), "{}", text(&lost));
    let is_marked = |node: Option<&Node>| node.and_then(silent_since).is_some();
    let marked = tokio::time::timeout(TIMEOUT, await_condition(Api::all(client), &node, is_marked)).await;
    let marked = silent_since(&marked.expect("the node is never NotReady").unwrap().unwrap()).unwrap();
    assert!(seconds(before, marked) >= NODE_GRACE - ROUNDING, "NotReady after {} s", seconds(before, marked));

    let known: BTreeSet<Option<String>> = started.iter().map(kube::ResourceExt::uid).collect();
    let shown = watcher(pods, watcher::Config::default()).default_backoff().applied_objects();
    let mut new = pin!(shown.try_filter(|pod| std::future::ready(!known.contains(&pod.uid()))));
    let new = tokio::time::timeout(TIMEOUT, new.next()).await.expect("its pods are never replaced");
    let replaced = new.unwrap().unwrap().creation_timestamp().unwrap().0;
    assert!(seconds(marked, replaced) >= NODE_GRACE - ROUNDING, "after {} s", seconds(marked, replaced));
}
