//! How an object is made anew, against a server that keeps it or does not.

use super::*;

fn level(level: &str) -> Vec<Rendered> {
    let rendered = group("a", &json!({ "level": level }));
    vec![Rendered { immutable: vec!["/spec/level".to_owned()], ..rendered }]
}

/// A server that has one object and lets go of it as its finalizers say.
struct Server {
    object: Value,
    version: u32,
    /// Finalizers that a deleted object has.
    finalizers: Vec<&'static str>,
}

impl Server {
    fn new(finalizers: Vec<&'static str>) -> Self {
        Self { object: Value::Null, version: 100, finalizers }
    }

    fn answer(&mut self, line: &str, body: &Value) -> Result<Value, u16> {
        self.version += 1;
        let version = self.version.to_string();
        if line.starts_with("DELETE") {
            assert_eq!(body["preconditions"]["uid"], self.object["metadata"]["uid"]);
            if self.finalizers.is_empty() {
                self.object = Value::Null;
                return Ok(json!({ "kind": "Status", "status": "Success" }));
            }
            self.object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            self.object["metadata"]["finalizers"] = self.finalizers.clone().into();
        } else if body["metadata"].get("finalizers").is_some() {
            // A conflict, if it is not the version that was read.
            if body["metadata"]["resourceVersion"] != self.object["metadata"]["resourceVersion"] {
                return Err(409);
            }
            assert_eq!(body["metadata"]["finalizers"], Value::Null);
            let mut last = self.object.take();
            last["metadata"]["finalizers"] = Value::Null;
            return Ok(last);
        } else {
            assert!(self.object.is_null(), "the successor is created when the name is free");
            self.object = body.clone();
            self.object["metadata"]["uid"] = format!("uid-{version}").into();
        }
        self.object["metadata"]["resourceVersion"] = version.into();
        Ok(self.object.clone())
    }
}

/// With an object that has the level `rack`.
async fn desk(server: &mut Server) -> Desk {
    let mut desk = Desk::new();
    let (applied, _) = desk.play(level("rack"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 1, waiting: false });
    desk
}

fn delete() -> String {
    format!("DELETE {COLLECTION}/a")
}

fn patch() -> String {
    format!("PATCH {COLLECTION}/a")
}

#[tokio::test]
async fn an_object_that_nothing_keeps_is_made_anew_in_one_go() {
    let mut server = Server::new(Vec::new());
    let mut desk = desk(&mut server).await;
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 2, waiting: false });
    assert_eq!(lines(&requests), [delete(), patch()]);
    assert_eq!(requests[1].1["spec"]["level"], "zone");
    // Settled: the successor is what is wanted.
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied::default());
    assert!(requests.is_empty());
}

#[tokio::test]
async fn what_its_own_api_keeps_is_let_go_and_made_anew() {
    let mut server = Server::new(vec!["example.com/protection"]);
    let mut desk = desk(&mut server).await;
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 3, waiting: false });
    assert_eq!(lines(&requests), [delete(), patch(), patch()]);
    assert_eq!(requests[2].1["spec"]["level"], "zone");
    assert!(requests[2].1["metadata"].get("resourceVersion").is_none());
    assert_eq!(
        desk.applier.of_owner(&owner().key())[0].metadata.uid,
        server.object["metadata"]["uid"].as_str().map(str::to_owned)
    );
    assert_eq!(desk.applier.of_owner(&owner().key()).len(), 1);
}

#[tokio::test]
async fn what_others_keep_is_waited_for() {
    let mut server = Server::new(vec!["else.com/cleanup"]);
    let mut desk = desk(&mut server).await;
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 1, waiting: true });
    assert_eq!(lines(&requests), [delete()]);
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 0, waiting: true });
    assert!(requests.is_empty());
    // They are done with it.
    let last = serde_json::from_value(server.object.take()).unwrap();
    desk.applier.cache(&groups()).unwrap().deleted(&last);
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 1, waiting: false });
    assert_eq!(lines(&requests), [patch()]);
}

#[tokio::test]
async fn finalizers_are_taken_off_the_version_that_was_seen_and_no_other() {
    let mut server = Server::new(vec!["example.com/protection"]);
    let mut desk = desk(&mut server).await;
    let overtake = |line: &str, body: &Value, server: &mut Server| {
        let answer = server.answer(line, body);
        if line.starts_with("DELETE") {
            server.object["metadata"]["resourceVersion"] = "150".into();
            server.version = 150;
        }
        answer
    };
    let (applied, requests) = desk.play(level("zone"), |line, body| overtake(line, body, &mut server)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 1, waiting: true });
    assert_eq!(lines(&requests), [delete(), patch()]);
    // The watch brings what is there, and the next look ends it.
    desk.there(server.object.clone());
    let (applied, requests) = desk.play(level("zone"), |line, body| server.answer(line, body)).await;
    assert_eq!(applied.unwrap(), Applied { writes: 2, waiting: false });
    assert_eq!(requests[0].1["metadata"]["resourceVersion"], "150");
    assert_eq!(server.object["spec"]["level"], "zone");
}

#[tokio::test]
async fn a_delete_by_hand_ends_what_is_named_and_there_once() {
    let mut server = Server::new(vec!["else.com/cleanup"]);
    let mut desk = desk(&mut server).await;
    let named = [level("zone"), vec![group("absent", &json!({}))]].concat();
    let mut undeclared = group("a", &json!({}));
    undeclared.resource = resource("Secret", "secrets");
    for (what, namespace, rendered, writes, waiting) in [
        ("one is not ours to delete", "ns", Some(undeclared), 0, None),
        ("another namespace", "other", None, 0, Some(false)),
        ("there", "ns", None, 1, Some(true)),
        ("going already", "ns", None, 0, Some(true)),
    ] {
        let shared = Arc::clone(&desk.applier);
        let rendered: Vec<Rendered> = named.iter().cloned().chain(rendered).collect();
        let work = async move { shared.delete(namespace, &rendered).await };
        let (applied, requests) = desk.serve(work, |line, body| server.answer(line, body)).await;
        assert_eq!(requests.len(), writes, "{what}");
        assert_eq!(applied.ok(), waiting.map(|waiting| Applied { writes, waiting }), "{what}");
    }
}

/// What a former owner of the same name had is in the way of its successor: nobody else needs it, and what refers to it by
/// name is served by the new one.
#[tokio::test]
async fn what_a_former_owner_had_is_made_anew() {
    let reference = |name: &str| json!({ "apiVersion": "example.com/v1", "kind": "Gang", "name": name, "uid": "former", "controller": true });
    let there = |owner: &str, going: bool| {
        let mut object = json!({
            "apiVersion": "example.com/v1", "kind": "Group", "spec": { "level": "rack" },
            "metadata": {
                "name": "a", "namespace": "ns", "uid": "old", "resourceVersion": "1",
                "finalizers": ["example.com/protection"], "ownerReferences": [reference(owner)],
            },
        });
        if going {
            object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
        object
    };
    for (going, want) in [(true, vec![patch(), patch()]), (false, vec![delete(), patch(), patch()])] {
        let mut server = Server::new(vec!["example.com/protection"]);
        server.object = there("gang", going);
        let mut desk = Desk::new();
        desk.there(server.object.clone());
        let (applied, requests) = desk.play(level("rack"), |line, body| server.answer(line, body)).await;
        assert!(!applied.unwrap().waiting);
        assert_eq!(lines(&requests), want);
        assert_eq!(requests.last().unwrap().1["metadata"]["ownerReferences"][0]["uid"], "owner");
    }
    // That of another owner is not ours, and is waited for.
    let mut desk = Desk::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    desk.applier.on_change(move |owner, _| heard.lock().push(owner.uid().to_owned()));
    desk.there(there("other", false));
    let (applied, requests) = desk.apply(level("rack"), |_| {}).await;
    assert_eq!(applied.unwrap_err().to_string(), "Group \"a\" exists and has another owner");
    assert!(requests.is_empty());
    told.lock().clear();
    let cache = desk.applier.cache(&groups()).unwrap();
    cache.deleted(&serde_json::from_value(there("other", false)).unwrap());
    assert_eq!(*told.lock(), ["former", "owner"]);
}
