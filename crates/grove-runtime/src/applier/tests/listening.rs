//! Which owners are told of a change, and when everything was seen.

use super::*;

fn object(name: &str, version: u32, owner: &str) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Group",
        "metadata": {
            "name": name, "namespace": "ns", "uid": name, "resourceVersion": version.to_string(),
            "ownerReferences": [{ "apiVersion": "v", "kind": "k", "name": "n", "uid": owner }],
        },
    })
}

fn told(applier: &Applier) -> impl Fn() -> Vec<String> + use<> {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let mine = Arc::clone(&told);
    applier.on_change(move |owner, _| mine.lock().push(owner.uid().to_owned()));
    move || std::mem::take(&mut *told.lock())
}

#[tokio::test]
async fn owners_of_before_and_after_are_told() {
    let desk = Desk::new();
    let told = told(&desk.applier);
    desk.there(object("a", 1, "first"));
    assert_eq!(told(), ["first"]);
    desk.there(object("a", 2, "first"));
    assert_eq!(told(), ["first"]);
    desk.there(object("a", 3, "second"));
    assert_eq!(told(), ["first", "second"]);
    desk.applier.cache(&groups()).unwrap().gone("ns", "a", "a");
    assert_eq!(told(), ["second"]);
}

/// Whoever has told a scheduler need not tell it again because it answers.
#[tokio::test]
async fn a_status_is_told_apart_from_the_rest() {
    let desk = Desk::new();
    let told: Arc<Mutex<Vec<Changed>>> = Arc::default();
    let mine = Arc::clone(&told);
    desk.applier.on_change(move |_, changed| mine.lock().push(changed));
    let with = |version: u32, spec: u32, status: u32, finalizer: &str| {
        let mut object = object("a", version, "owner");
        object["spec"] = json!({ "min": spec });
        object["status"] = json!({ "phase": status });
        object["metadata"]["finalizers"] = json!([finalizer]);
        object
    };
    for (next, want) in [
        (with(1, 1, 1, "x"), Changed::Object),
        (with(2, 1, 2, "x"), Changed::Status),
        (with(3, 2, 2, "x"), Changed::Object),
        (with(4, 2, 3, "y"), Changed::Object),
    ] {
        desk.there(next);
        assert_eq!(std::mem::take(&mut *told.lock()), [want]);
    }
}

#[tokio::test]
async fn who_waits_for_a_name_is_told_when_its_holder_is_gone() {
    let mut desk = Desk::new();
    let told = told(&desk.applier);
    let mut going = object("a", 1, "predecessor");
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    desk.there(going);
    let (applied, requests) = desk.apply(vec![group("a", &json!({}))], |_| {}).await;
    assert_eq!(applied.unwrap(), Applied { writes: 0, waiting: true });
    assert!(requests.is_empty());
    assert_eq!(told(), ["predecessor"]);
    desk.applier.cache(&groups()).unwrap().gone("ns", "a", "a");
    assert_eq!(told(), ["predecessor", "owner"]);
    // Once.
    desk.there(object("a", 2, "predecessor"));
    assert_eq!(told(), Vec::<String>::new(), "what is dead does not come back");
    assert_eq!(desk.takes(vec![group("a", &json!({}))]).await.len(), 1);
}

#[tokio::test]
async fn all_kinds_are_followed_and_synced_when_each_was_listed() {
    let (client, mut calls) = mock::server();
    let herds = resource("Herd", "herds");
    let writer = Writer::new(client.clone(), "grove");
    let applier = Arc::new(Applier::new(writer, MARK, [groups(), herds], &InformerMetrics::default()));
    let (stop, running) = (CancellationToken::new(), Arc::clone(&applier));
    let follow = tokio::spawn({
        let stop = stop.clone();
        async move { running.run(client, stop).await }
    });
    let mut lists = [calls.recv().await.unwrap(), calls.recv().await.unwrap()];
    lists.sort_by_key(|it| it.target.clone());
    let [first, second] = lists;
    assert!(first.target.starts_with("/apis/example.com/v1/groups?"), "{}", first.target);
    assert!(second.target.starts_with("/apis/example.com/v1/herds?"), "{}", second.target);
    let list = |items: Vec<Value>| json!({ "metadata": { "resourceVersion": "5" }, "items": items });
    first.answer(&list(vec![object("a", 1, "first")]));
    applier.cache(&groups()).unwrap().synced().await;
    assert!(futures::FutureExt::now_or_never(applier.synced()).is_none(), "one kind is still to be listed");
    second.answer(&list(Vec::new()));
    applier.synced().await;
    assert_eq!(applier.of_owner(&OwnerKey::new("ns", "v", "k", "first")).len(), 1);
    stop.cancel();
    follow.await.unwrap();
}
