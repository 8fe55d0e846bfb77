//! What is written for an owner, and what is not.

mod forged;
mod listening;
mod planning;
mod recreation;
mod unwanted;

use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::*;
use crate::mock;

const MARK: &str = "example.com/applied";

fn resource(kind: &str, plural: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("example.com", "v1", kind), plural)
}

fn groups() -> ApiResource {
    resource("Group", "groups")
}

fn owner() -> Owner {
    Owner {
        api_version: "example.com/v1".to_owned(),
        kind: "Gang".to_owned(),
        namespace: "ns".to_owned(),
        name: "gang".to_owned(),
        uid: "owner".to_owned(),
    }
}

fn group(name: &str, spec: &Value) -> Rendered {
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Group", "metadata": { "name": name }, "spec": spec,
    });
    Rendered { resource: groups(), object, once: Vec::new(), immutable: Vec::new() }
}

struct Desk {
    applier: Arc<Applier>,
    calls: tokio::sync::mpsc::UnboundedReceiver<mock::Call>,
    version: u32,
}

impl Desk {
    fn new() -> Self {
        let (client, calls) = mock::server();
        let writer = Writer::new(client, "grove");
        let applier = Applier::new(writer, MARK, [groups()], &InformerMetrics::default());
        Self { applier: Arc::new(applier), calls, version: 0 }
    }

    /// Applies, and plays a server that takes everything and adds `server` to each object. Returns the requests.
    async fn apply(
        &mut self,
        rendered: Vec<Rendered>,
        server: impl Fn(&mut Value),
    ) -> (Result<Applied, ApplyError>, Vec<(String, Value)>) {
        // Newer than what a test puts there.
        let mut version = self.version;
        let applied = self.play(rendered, |line, body| {
            version += 1000;
            let mut answer = body.clone();
            if !line.starts_with("DELETE") {
                answer["metadata"]["uid"] = format!("uid-{}", answer["metadata"]["name"]).into();
                answer["metadata"]["resourceVersion"] = version.to_string().into();
                server(&mut answer);
            }
            Ok(answer)
        });
        let applied = applied.await;
        self.version = version;
        applied
    }

    /// Applies, and plays a server that answers as it is told, by the line and the body of each request.
    async fn play(
        &mut self,
        rendered: Vec<Rendered>,
        server: impl FnMut(&str, &Value) -> Result<Value, u16>,
    ) -> (Result<Applied, ApplyError>, Vec<(String, Value)>) {
        let applier = Arc::clone(&self.applier);
        self.serve(async move { applier.apply(&owner(), &rendered).await }, server).await
    }

    async fn serve(
        &mut self,
        work: impl Future<Output = Result<Applied, ApplyError>> + Send + 'static,
        mut server: impl FnMut(&str, &Value) -> Result<Value, u16>,
    ) -> (Result<Applied, ApplyError>, Vec<(String, Value)>) {
        let mut work = tokio::spawn(work);
        let mut requests = Vec::new();
        loop {
            tokio::select! {
                biased;
                Some(call) = self.calls.recv() => {
                    let path = call.target.split('?').next().unwrap_or_default().to_owned();
                    let line = format!("{} {path}", call.method);
                    requests.push((line.clone(), call.body.clone()));
                    match server(&line, &call.body) {
                        Ok(answer) => call.answer(&answer),
                        Err(code) => call.refuse(code, "", "no"),
                    }
                }
                done = &mut work => return (done.unwrap(), requests),
            }
        }
    }

    async fn takes(&mut self, rendered: Vec<Rendered>) -> Vec<(String, Value)> {
        let (applied, requests) = self.apply(rendered, |_| {}).await;
        assert_eq!(applied.unwrap().writes, requests.len());
        requests
    }

    fn there(&self, object: Value) {
        let cache = self.applier.cache(&groups()).unwrap();
        cache.observed(serde_json::from_value(object).unwrap());
    }
}

fn lines(requests: &[(String, Value)]) -> Vec<&str> {
    requests.iter().map(|(line, _)| line.as_str()).collect()
}

const COLLECTION: &str = "/apis/example.com/v1/namespaces/ns/groups";

#[tokio::test]
async fn an_object_is_created_once_owned_and_marked() {
    let mut desk = Desk::new();
    let requests = desk.takes(vec![group("a", &json!({ "min": 2 }))]).await;
    assert_eq!(lines(&requests), [format!("PATCH {COLLECTION}/a")]);
    let metadata = &requests[0].1["metadata"];
    assert_eq!(metadata["namespace"], "ns");
    assert_eq!(metadata["ownerReferences"][0]["uid"], "owner");
    assert_eq!(metadata["ownerReferences"][0]["controller"], true);
    assert_eq!(metadata["annotations"][MARK].as_str().unwrap().len(), 16);
    assert_eq!(requests[0].1["spec"], json!({ "min": 2 }));
    assert!(desk.takes(vec![group("a", &json!({ "min": 2 }))]).await.is_empty());
    assert_eq!(desk.applier.of_owner(&owner().key()).len(), 1);
}

#[tokio::test]
async fn a_change_is_applied_and_what_others_added_is_no_change() {
    let mut desk = Desk::new();
    desk.takes(vec![group("a", &json!({ "min": 2, "max": 3 }))]).await;
    let mut object = serde_json::to_value(&*desk.applier.of_owner(&owner().key())[0]).unwrap();
    object["metadata"]["resourceVersion"] = "1500".into();
    object["metadata"]["labels"] = json!({ "theirs": "x" });
    object["spec"]["backoff"] = 1.into();
    object["status"] = json!({ "phase": "Running" });
    desk.there(object);
    assert!(desk.takes(vec![group("a", &json!({ "min": 2, "max": 3 }))]).await.is_empty());

    let requests = desk.takes(vec![group("a", &json!({ "min": 3, "max": 3 }))]).await;
    assert_eq!(lines(&requests), [format!("PATCH {COLLECTION}/a")]);
    assert_eq!(requests[0].1["spec"], json!({ "min": 3, "max": 3 }));
    // A field that is no longer given is given up, although what is left is there as it should be.
    let requests = desk.takes(vec![group("a", &json!({ "min": 3 }))]).await;
    assert_eq!(lines(&requests), [format!("PATCH {COLLECTION}/a")]);
}

/// In lists of Kubernetes' own kinds, objects do not say of which kind they are.
#[tokio::test]
async fn an_object_from_a_list_is_no_change() {
    let mut desk = Desk::new();
    desk.takes(vec![group("a", &json!({ "min": 2 }))]).await;
    let mut object = serde_json::to_value(&*desk.applier.of_owner(&owner().key())[0]).unwrap();
    object["metadata"]["resourceVersion"] = "1500".into();
    object.as_object_mut().unwrap().retain(|key, _| key != "apiVersion" && key != "kind");
    desk.there(object);
    assert!(desk.takes(vec![group("a", &json!({ "min": 2 }))]).await.is_empty());
    let known = desk.applier.values_of_owner(&owner().key());
    assert_eq!((&known[0]["apiVersion"], &known[0]["kind"]), (&json!("example.com/v1"), &json!("Group")));
}

#[tokio::test]
async fn what_somebody_else_changed_is_mended() {
    let mut desk = Desk::new();
    desk.takes(vec![group("a", &json!({ "min": 2 }))]).await;
    let mut object = serde_json::to_value(&*desk.applier.of_owner(&owner().key())[0]).unwrap();
    object["metadata"]["resourceVersion"] = "1500".into();
    object["spec"]["min"] = 1.into();
    desk.there(object);
    assert_eq!(desk.takes(vec![group("a", &json!({ "min": 2 }))]).await.len(), 1);
}

#[tokio::test]
async fn a_value_that_the_server_writes_in_its_own_way_is_not_written_for_ever() {
    let mut desk = Desk::new();
    let wanted = || vec![group("a", &json!({ "cpu": "1000m" }))];
    let normalise = |object: &mut Value| object["spec"]["cpu"] = "1".into();
    let (_, requests) = desk.apply(wanted(), normalise).await;
    assert_eq!(requests.len(), 1);
    let (_, requests) = desk.apply(wanted(), normalise).await;
    assert_eq!(lines(&requests), Vec::<&str>::new());
}

#[tokio::test]
async fn what_is_given_once_belongs_to_others_afterwards() {
    let mut desk = Desk::new();
    let once = |min: u32, queue: &str| {
        let mut rendered = group("a", &json!({ "min": min, "queue": queue }));
        rendered.object["metadata"]["labels"] = json!({ "example.com/queue": queue });
        rendered.once = vec!["/spec/queue".to_owned(), "/metadata/labels/example.com~1queue".to_owned()];
        vec![rendered]
    };
    let requests = desk.takes(once(1, "first")).await;
    assert_eq!(requests[0].1["spec"]["queue"], "first");
    assert_eq!(requests[0].1["metadata"]["labels"]["example.com/queue"], "first");
    assert!(desk.takes(once(1, "second")).await.is_empty());
    // Given as it is by now, so that it is not taken away, and only if nobody changes it meanwhile.
    let mut object = serde_json::to_value(&*desk.applier.of_owner(&owner().key())[0]).unwrap();
    object["metadata"]["resourceVersion"] = "1500".into();
    object["spec"]["queue"] = "theirs".into();
    desk.there(object);
    let requests = desk.takes(once(2, "second")).await;
    assert_eq!(requests[0].1["spec"], json!({ "min": 2, "queue": "theirs" }));
    assert_eq!(requests[0].1["metadata"]["labels"]["example.com/queue"], "first");
    assert_eq!(requests[0].1["metadata"]["resourceVersion"], "1500");
    assert_eq!(requests[0].1["metadata"]["uid"], "uid-\"a\"");
}

#[tokio::test]
async fn an_owner_reference_that_somebody_wrote_in_another_way_is_still_ours() {
    let mut desk = Desk::new();
    desk.takes(vec![group("a", &json!({}))]).await;
    let mut object = serde_json::to_value(&*desk.applier.of_owner(&owner().key())[0]).unwrap();
    object["metadata"]["resourceVersion"] = "1500".into();
    let reference = json!({ "apiVersion": "example.com/v1", "kind": "Gang", "name": "gang", "uid": "owner" });
    object["metadata"]["ownerReferences"] = json!([reference, { "uid": "another" }]);
    desk.there(object);
    assert!(desk.takes(vec![group("a", &json!({}))]).await.is_empty());
}

#[tokio::test]
async fn what_is_no_longer_rendered_goes_after_the_rest_is_there() {
    let mut desk = Desk::new();
    desk.takes(vec![group("a", &json!({}))]).await;
    let requests = desk.takes(vec![group("b", &json!({}))]).await;
    assert_eq!(lines(&requests), [format!("PATCH {COLLECTION}/b"), format!("DELETE {COLLECTION}/a")]);
    assert_eq!(requests[1].1["preconditions"]["uid"], "uid-\"a\"");
    assert_eq!(desk.applier.of_owner(&owner().key()).len(), 1);
}

#[tokio::test]
async fn a_successor_waits_until_its_predecessor_is_gone() {
    let mut desk = Desk::new();
    desk.there(json!({
        "apiVersion": "example.com/v1", "kind": "Group",
        "metadata": {
            "name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1",
            "deletionTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [owner().reference()],
        },
    }));
    let (applied, requests) = desk.apply(vec![group("a", &json!({}))], |_| {}).await;
    assert!(applied.unwrap().waiting);
    assert!(requests.is_empty());
}

#[tokio::test]
async fn what_is_not_ours_to_write_is_refused() {
    let mut desk = Desk::new();
    desk.there(json!({
        "apiVersion": "example.com/v1", "kind": "Group",
        "metadata": { "name": "theirs", "namespace": "ns", "uid": "u", "resourceVersion": "1" },
    }));
    let mut elsewhere = group("a", &json!({}));
    elsewhere.object["metadata"]["namespace"] = "other".into();
    let mut undeclared = group("a", &json!({}));
    undeclared.resource = resource("Secret", "secrets");
    let mut liar = group("a", &json!({}));
    liar.object["kind"] = "Secret".into();
    for (rendered, why) in [
        (vec![group("theirs", &json!({}))], "Group \"theirs\" exists and has another owner"),
        (vec![elsewhere], "Group \"a\" is outside of its owner's namespace"),
        (vec![undeclared], "Secret \"a\" is of a kind that was not declared"),
        (vec![liar], "Group \"a\" says that it is of another kind"),
        (vec![group("", &json!({}))], "Group \"\" has no name"),
        (vec![group("a", &json!({})), group("a", &json!({}))], "Group \"a\" is rendered twice"),
    ] {
        let (applied, requests) = desk.apply(rendered, |_| {}).await;
        assert_eq!(applied.unwrap_err().to_string(), why);
        assert!(requests.is_empty(), "{why}");
    }
}
