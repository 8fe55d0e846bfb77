//! Undo, pause and resume on a cluster in memory.

use std::{cell::Cell, time::Duration};

use grove_api::{schema::CRDS, wire::PodCliqueSet};
use grove_apiserver::{ApiServer, Fault, Resources};
use k8s_openapi::{api::apps::v1::ControllerRevision, jiff::Timestamp};
use kube::{
    Api, Client, ResourceExt,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::*;

fn server() -> ApiServer {
    let mut resources = Resources::kubernetes();
    for crd in &CRDS {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), 1)
}

fn question(server: &ApiServer, set: &str) -> Question {
    Question {
        client: Client::new(server.service(), "default"),
        server: "in memory".to_owned(),
        namespace: Some("default".to_owned()),
        set: Some(set.to_owned()),
    }
}

fn template(image: &str, replicas: i32) -> Value {
    json!({ "cliques": [{ "name": "a", "spec": {
        "roleName": "a", "replicas": replicas, "minAvailable": 1,
        "podSpec": { "containers": [{ "name": "main", "image": image }] },
    } }] })
}

/// The set `chat` with the image x:2 and five pods, and the revisions 1 and 2, made when it had one.
async fn chat() -> ApiServer {
    let server = server();
    let ask = question(&server, "chat");
    let set: PodCliqueSet = serde_json::from_value(json!({
        "metadata": { "name": "chat" }, "spec": { "replicas": 1, "template": template("x:2", 5) },
    }))
    .unwrap();
    let set = ask.api::<PodCliqueSet>().create(&PostParams::default(), &set).await.unwrap();
    for (number, image) in [(2, "x:2"), (1, "x:1")] {
        keep(&ask, &format!("chat-h{number}"), &set.uid().unwrap(), number, image).await;
    }
    // Of a namesake that is gone.
    keep(&ask, "chat-h9", "other", 9, "x:9").await;
    let status = json!({ "status": { "currentGenerationHash": "h2" } });
    let params = PatchParams::default();
    ask.api::<PodCliqueSet>().patch_status("chat", &params, &Patch::Merge(status)).await.unwrap();
    server
}

async fn keep(ask: &Question, name: &str, owner: &str, number: i64, image: &str) {
    let revision: ControllerRevision = serde_json::from_value(json!({
        "metadata": {
            "name": name, "labels": { "app.kubernetes.io/part-of": "chat" },
            "ownerReferences": [{ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "chat",
                                  "uid": owner, "controller": true }],
        },
        "revision": number, "data": { "template": template(image, 1).to_string() },
    }))
    .unwrap();
    ask.api::<ControllerRevision>().create(&PostParams::default(), &revision).await.unwrap();
}

async fn get(server: &ApiServer) -> PodCliqueSet {
    let api: Api<PodCliqueSet> = question(server, "chat").api();
    api.get("chat").await.unwrap()
}

fn said(done: Done) -> (bool, Option<i64>, String) {
    match done {
        Done::Said(action) => (action.changed, action.revision, action.message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn undo_puts_the_image_back_and_leaves_the_replicas() {
    let server = chat().await;
    let ask = question(&server, "chat");
    let done = said(act::undo(&ask, None).await.unwrap());
    assert_eq!(done, (true, Some(1), "chat rolled back to revision 1".to_owned()));
    let clique = get(&server).await.spec.template.cliques[0].clone();
    assert_eq!(clique.spec.pod_spec.containers[0].image.as_deref(), Some("x:1"));
    assert_eq!(clique.spec.replicas, Some(5));

    // And back again, by number; a second time there is nothing to do.
    let done = said(act::undo(&ask, Some(2)).await.unwrap());
    assert_eq!(done, (true, Some(2), "chat rolled back to revision 2".to_owned()));
    let before = get(&server).await.metadata.resource_version;
    let done = said(act::undo(&ask, Some(2)).await.unwrap());
    assert_eq!(done, (false, Some(2), "chat already has the template of revision 2".to_owned()));
    assert_eq!(get(&server).await.metadata.resource_version, before);

    let none = act::undo(&ask, Some(9)).await.unwrap();
    assert_eq!(none, Done::Refused("no revision 9; available: 1, 2".to_owned()), "it is of a namesake");
    assert_eq!(act::undo(&question(&server, "other"), None).await.unwrap(), Done::NoSet);
}

/// What somebody else has changed meanwhile is not written over.
#[tokio::test]
async fn undo_does_not_write_over_the_change_of_another() {
    let server = chat().await;
    let old = get(&server).await;
    let ask = question(&server, "chat");
    let note = json!({ "metadata": { "annotations": { "seen": "1" } } });
    let params = PatchParams::default();
    ask.api::<PodCliqueSet>().patch("chat", &params, &Patch::Merge(note)).await.unwrap();
    let patch = undo::patch(&old.resource_version().unwrap(), &template("x:1", 5));
    let answer = ask.api::<PodCliqueSet>().patch("chat", &params, &Patch::Merge(patch)).await;
    assert!(matches!(answer, Err(kube::Error::Api(status)) if status.is_conflict()));

    // And that is told.
    server.before_write(|_| Fault::refuse(409, "Conflict", "the object has been modified"));
    let want = "the set was changed concurrently; check it and try again";
    assert_eq!(act::undo(&ask, None).await.unwrap(), Done::Refused(want.to_owned()));
}

#[tokio::test]
async fn pause_and_resume_set_the_field_once() {
    let server = chat().await;
    let ask = question(&server, "chat");
    let done = said(act::pause(&ask, false).await.unwrap());
    assert_eq!(done, (false, None, "chat is not paused".to_owned()));
    assert_eq!(get(&server).await.spec.update_strategy, None, "nothing was written");
    let done = said(act::pause(&ask, true).await.unwrap());
    assert_eq!(done, (true, None, "chat is paused".to_owned()));
    assert!(get(&server).await.spec.update_strategy.unwrap().paused);
    let done = said(act::pause(&ask, true).await.unwrap());
    assert_eq!(done, (false, None, "chat is already paused".to_owned()));

    let done = said(act::undo(&ask, None).await.unwrap());
    let want = "chat rolled back to revision 1; updates are paused: `grove rollout resume` replaces pods";
    assert_eq!(done.2, want);
    let done = said(act::pause(&ask, false).await.unwrap());
    assert_eq!(done, (true, None, "chat is resumed".to_owned()));
    assert!(!get(&server).await.spec.update_strategy.unwrap().paused);
    assert_eq!(act::pause(&question(&server, "other"), true).await.unwrap(), Done::NoSet);
}

async fn tell(server: &ApiServer, status: Value) {
    let api: Api<PodCliqueSet> = question(server, "chat").api();
    let patch = Patch::Merge(json!({ "status": status }));
    api.patch_status("chat", &PatchParams::default(), &patch).await.unwrap();
}

/// An update that runs, and one that gets no further.
fn running(reason: &str) -> Value {
    json!({
        "observedGeneration": 1,
        "updateProgress": { "updateStartedAt": "2027-01-01T00:00:00Z", "updateEndedAt": null },
        "conditions": [{ "type": "UpdateInProgress", "status": "True", "reason": reason, "message": "m",
                         "lastTransitionTime": "2027-01-01T00:00:00Z" }],
    })
}

#[tokio::test(start_paused = true)]
async fn an_update_is_followed_to_its_end() {
    let server = chat().await;
    let follow = |set: &'static str| {
        let ask = question(&server, set);
        async move { status(&ask, Format::Json, true).await.unwrap() }
    };
    assert_eq!(follow("other").await, Outcome::Findings, "there is no such set");
    tell(&server, running("ReplacingPods")).await;
    let ended = Cell::new(false);
    let following = async {
        let outcome = follow("chat").await;
        ended.set(true);
        outcome
    };
    let ending = async {
        // Time is virtual: it moves on when everybody waits.
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(!ended.get());
        tell(&server, json!({ "updateProgress": { "updateEndedAt": "2027-01-01T00:01:00Z" } })).await;
    };
    assert_eq!(tokio::join!(following, ending).0, Outcome::Success);

    tell(&server, running("ProgressDeadlineExceeded")).await;
    assert_eq!(follow("chat").await, Outcome::Findings, "it makes no progress");
    assert_eq!(status(&question(&server, "chat"), Format::Json, false).await.unwrap(), Outcome::Findings);
    tell(&server, running("ReplacingPods")).await;
    assert_eq!(status(&question(&server, "chat"), Format::Json, false).await.unwrap(), Outcome::Success);
}

#[tokio::test]
async fn a_history_is_of_this_set_and_in_the_order_of_numbers() {
    let server = chat().await;
    let read = read::read(&question(&server, "chat")).await.unwrap().unwrap();
    let history = History::of(&read.set, &read.revisions);
    let rows: Vec<(i64, bool)> = history.revisions.iter().map(|it| (it.number, it.current)).collect();
    assert_eq!(rows, [(1, false), (2, true)]);
    assert_eq!(history.revisions[0].changes, None);
    let change = &history.revisions[1].changes.as_ref().unwrap()[0];
    assert_eq!(change.field, "a.containers[main].image");
    assert_eq!((change.from.as_deref(), change.to.as_deref()), (Some("x:1"), Some("x:2")));
}

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[tokio::test]
async fn restart_notes_the_time_on_every_clique() {
    let server = chat().await;
    let ask = question(&server, "chat");
    let (changed, _, message) = said(act::restart(&ask, time(1_800_000_000)).await.unwrap());
    assert!(changed && message.starts_with("chat restarts: every pod is replaced"), "{message}");
    let clique = get(&server).await.spec.template.cliques[0].clone();
    let noted = clique.annotations.get("kubectl.kubernetes.io/restartedAt").map(String::as_str);
    assert_eq!(noted, Some("2027-01-15T08:00:00Z"));
    assert_eq!(clique.spec.pod_spec.containers[0].image.as_deref(), Some("x:2"));
    assert_eq!(clique.spec.replicas, Some(5));
    let again = said(act::restart(&ask, time(1_800_000_000)).await.unwrap());
    assert!(!again.0, "{}", again.2);
    assert_eq!(act::restart(&question(&server, "other"), time(0)).await.unwrap(), Done::NoSet);
}

#[tokio::test]
async fn restart_is_refused_where_nothing_would_be_replaced() {
    let server = chat().await;
    let ask = question(&server, "chat");
    said(act::pause(&ask, true).await.unwrap());
    let before = get(&server).await.metadata.resource_version;
    let Done::Refused(why) = act::restart(&ask, time(1_800_000_000)).await.unwrap() else {
        panic!("not refused")
    };
    assert!(why.contains("`grove rollout resume chat` first"), "{why}");
    assert_eq!(get(&server).await.metadata.resource_version, before, "nothing is written");
}
