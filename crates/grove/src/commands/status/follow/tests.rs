use std::sync::atomic::{AtomicUsize, Ordering};

use grove_api::schema::CRDS;
use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::jiff::Timestamp;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::*;
use crate::commands::status::{
    fixture::{clique, pod, ready, set},
    read,
    screen::Screen,
};

fn server() -> ApiServer {
    let mut resources = Resources::kubernetes();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1)
}

fn client(server: &ApiServer) -> Client {
    Client::new(server.service(), "default")
}

fn question(server: &ApiServer, set: Option<&str>) -> Question {
    Question {
        client: client(server),
        server: "in memory".to_owned(),
        namespace: Some("default".to_owned()),
        set: set.map(str::to_owned),
    }
}

fn api<K: Kind>(server: &ApiServer) -> Api<K> {
    Api::default_namespaced(client(server))
}

/// A set of one role with one pod, which is not ready.
async fn one_pod() -> ApiServer {
    let server = server();
    let params = PostParams::default();
    api(&server).create(&params, &set(1, json!(null))).await.unwrap();
    api(&server).create(&params, &clique("chat-0-a", "chat-0", 1, 1)).await.unwrap();
    api(&server).create(&params, &pod("chat-0-a", 0, &json!({}))).await.unwrap();
    let mut stranger = pod("other-0-a", 0, &json!({}));
    stranger.metadata.labels = None;
    api(&server).create(&params, &stranger).await.unwrap();
    server
}

fn ready_pods(seen: &Seen) -> Option<usize> {
    Screen::of(seen, "chat").map(|it| it.roles.iter().map(|it| it.ready_pods).sum())
}

#[tokio::test]
async fn once_reads_what_belongs_to_the_set() {
    let server = one_pod().await;
    let seen = read::once(&question(&server, Some("chat"))).await.unwrap();
    assert_eq!((seen.sets.len(), seen.cliques.len(), seen.pods.len()), (1, 1, 1));
    assert!(read::once(&question(&server, Some("other"))).await.unwrap().sets.is_empty());
    let all = read::once(&question(&server, None)).await.unwrap();
    assert_eq!((all.sets.len(), all.cliques.len(), all.pods.len()), (1, 1, 0), "pods may be very many");
}

#[tokio::test]
async fn a_cluster_without_our_kinds_is_told_apart_from_a_missing_set() {
    let server = ApiServer::new(Resources::kubernetes(), || Timestamp::UNIX_EPOCH, 1);
    for set in [None, Some("chat")] {
        let error = read::once(&question(&server, set)).await.unwrap_err().to_string();
        assert!(error.contains("grove crds | kubectl apply"), "{error}");
        let mut show = |_: &Seen| Ok(ControlFlow::Continue(()));
        let error = follow(&question(&server, set), &mut show).await.unwrap_err().to_string();
        assert!(error.contains("grove crds | kubectl apply"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_shown_and_the_end_too() {
    let server = one_pod().await;
    let shown = AtomicUsize::new(0);
    let mut seen_ready = Vec::new();
    let mut show = |seen: &Seen| {
        shown.fetch_add(1, Ordering::SeqCst);
        seen_ready.push(ready_pods(seen));
        Ok(if seen.sets.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    let until = async |count: usize| {
        while shown.load(Ordering::SeqCst) < count {
            tokio::time::sleep(PAUSE).await;
        }
    };
    let changing = async {
        until(1).await;
        let patch = Patch::Merge(json!({ "status": ready()["status"] }));
        api::<Pod>(&server).patch_status("chat-0-a-0", &PatchParams::default(), &patch).await.unwrap();
        until(2).await;
        api::<PodCliqueSet>(&server).delete("chat", &DeleteParams::default()).await.unwrap();
    };
    let question = question(&server, Some("chat"));
    let (followed, ()) = futures::future::join(follow(&question, &mut show), changing).await;
    followed.unwrap();
    assert_eq!(seen_ready, [Some(0), Some(1), None]);
}

#[test]
fn a_list_that_comes_again_replaces_the_old_one() {
    let (mut now, mut coming) = (Objects::new(), Objects::new());
    let (one, two) = (pod("a", 1, &json!({})), pod("a", 2, &json!({})));
    let mut take = |event| {
        let listed = apply(&mut now, &mut coming, event);
        (listed, now.keys().map(|it| it.1.clone()).collect::<Vec<_>>())
    };
    assert_eq!(take(Event::Init), (false, vec![]));
    assert_eq!(take(Event::InitApply(one.clone())), (false, vec![]), "half a list is not shown");
    assert_eq!(take(Event::InitDone), (true, vec!["a-1".to_owned()]));
    assert_eq!(take(Event::Apply(two.clone())), (false, vec!["a-1".to_owned(), "a-2".to_owned()]));
    take(Event::Init);
    take(Event::InitApply(two.clone()));
    assert_eq!(take(Event::InitDone), (true, vec!["a-2".to_owned()]), "the other went meanwhile");
    assert_eq!(take(Event::Delete(two)), (false, vec![]));
}
