//! Tables for the rules of the cache, and one law: whatever arrives in whatever order, the end is the truth.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;

use super::*;

mod laws;

/// `"ns/name uid@version"`, with the version also as data so that content can be told apart.
pub(super) fn map(text: &str) -> ConfigMap {
    let (place, form) = text.split_once(' ').unwrap();
    let (namespace, name) = place.split_once('/').unwrap();
    let (uid, version) = form.split_once('@').unwrap();
    ConfigMap {
        metadata: ObjectMeta {
            namespace: Some(namespace.into()),
            name: Some(name.into()),
            uid: Some(uid.into()),
            resource_version: Some(version.into()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("form".into(), form.into())])),
        ..ConfigMap::default()
    }
}

fn form(object: &ConfigMap) -> String {
    let meta = &object.metadata;
    format!("{}@{}", meta.uid.as_deref().unwrap(), meta.resource_version.as_deref().unwrap())
}

/// A cache and what its listener heard, as `"a@1>a@2"`.
fn listened() -> (Cache<ConfigMap>, Arc<Mutex<Vec<String>>>) {
    let (cache, heard) = (Cache::new(), Arc::new(Mutex::new(Vec::new())));
    let sink = heard.clone();
    cache.listen(move |change| {
        let text = |side: Option<&Arc<ConfigMap>>| side.map(|o| form(o)).unwrap_or_default();
        sink.lock().push(format!("{}>{}", text(change.old), text(change.new)));
    });
    (cache, heard)
}

/// Plays `"w:"` watch, `"o:"` own write, `"d:"` watched deletion, `"g:uid"` own deletion, `"["` and `"]"` a list.
fn play(news: &[&str]) -> (Cache<ConfigMap>, Vec<String>, Vec<String>) {
    let (cache, heard) = listened();
    let mut unconfirmed = Vec::new();
    for one in news {
        match one.split_once(':') {
            None if *one == "[" => cache.relist_started(),
            None => unconfirmed = cache.relist_ended().iter().map(|u| u.uid.clone()).collect(),
            Some(("w", form)) => cache.observed(map(&format!("ns/x {form}"))),
            Some(("o", form)) => drop(cache.written(map(&format!("ns/x {form}")))),
            Some(("d", form)) => cache.deleted(&map(&format!("ns/x {form}"))),
            Some((_, uid)) => cache.gone("ns", "x", uid),
        }
    }
    let heard = heard.lock().clone();
    (cache, heard, unconfirmed)
}

#[test]
fn rules() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        ("appears, changes, goes", &["w:a@1", "w:a@2", "d:a@3"], &[">a@1", "a@1>a@2", "a@2>"]),
        ("own echo costs nothing", &["o:a@1", "w:a@1", "o:a@2", "w:a@2"], &[">a@1", "a@1>a@2"]),
        ("the watch is late", &["w:a@1", "o:a@5", "w:a@3"], &[">a@1", "a@1>a@5"]),
        ("the write is late", &["w:a@10", "o:a@9"], &[">a@10"]),
        ("numbers, not text", &["w:a@9", "w:a@10"], &[">a@9", "a@9>a@10"]),
        ("no numbers: arrival decides", &["w:a@x", "w:a@b", "w:a@b"], &[">a@x", "a@x>a@b"]),
        ("successor of the same name", &["w:a@1", "w:b@5"], &[">a@1", "a@1>", ">b@5"]),
        ("predecessor comes late", &["w:b@5", "w:a@4", "o:a@3"], &[">b@5"]),
        ("deletion of the predecessor comes late", &["o:b@5", "d:a@4"], &[">b@5"]),
        (
            "predecessor after its successor is gone",
            &["w:a@1", "o:b@5", "d:b@6", "w:a@2"],
            &[">a@1", "a@1>", ">b@5", "b@5>"],
        ),
        ("a late write does not resurrect", &["w:a@1", "d:a@3", "o:a@2"], &[">a@1", "a@1>"]),
        ("nor does it create what was deleted unseen", &["d:a@3", "o:a@2"], &[]),
        ("a late deletion does not hit what is newer", &["w:a@1", "o:a@9", "d:a@8"], &[">a@1", "a@1>a@9"]),
        ("matches the selector again", &["w:a@1", "d:a@2", "w:a@3"], &[">a@1", "a@1>", ">a@3"]),
        ("stale watch after a deletion", &["w:a@1", "d:a@3", "w:a@2"], &[">a@1", "a@1>"]),
        ("own deletion", &["w:a@1", "g:a", "w:a@2", "d:a@3"], &[">a@1", "a@1>"]),
        ("own deletion before the write's answer", &["g:a", "o:a@1", "w:a@1"], &[]),
        ("own deletion of a predecessor", &["w:a@1", "w:b@4", "g:a"], &[">a@1", "a@1>", ">b@4"]),
        ("a dead successor in the list", &["[", "w:a@1", "]", "g:b", "[", "w:b@3", "]"], &[">a@1", "a@1>"]),
        ("a dead successor's late write", &["w:a@1", "g:b", "o:b@3"], &[">a@1", "a@1>"]),
        ("only the end of a successor is seen", &["w:a@1", "d:b@3"], &[">a@1", "a@1>"]),
        ("not in the list", &["[", "w:a@1", "]", "[", "]"], &[">a@1", "a@1>"]),
        ("still in the list", &["[", "w:a@1", "]", "[", "w:a@1", "]"], &[">a@1"]),
        ("replaced in the list", &["[", "w:a@1", "]", "[", "w:b@3", "]"], &[">a@1", "a@1>", ">b@3"]),
        ("a list starts over", &["[", "w:a@1", "[", "]"], &[">a@1", "a@1>"]),
        ("not in the list, answer comes after", &["[", "w:a@1", "]", "[", "]", "o:a@2"], &[">a@1", "a@1>"]),
        ("not in a stale list", &["[", "w:a@5", "]", "[", "]", "w:a@5"], &[">a@5", "a@5>", ">a@5"]),
        ("written during the list", &["[", "o:a@1", "]"], &[">a@1"]),
        ("changed during the list", &["[", "w:a@1", "]", "[", "o:a@2", "]"], &[">a@1", "a@1>a@2"]),
        ("written before the list, never confirmed", &["[", "]", "o:a@1", "[", "]"], &[">a@1"]),
    ];
    for (name, news, want) in cases {
        let (cache, heard, _) = play(news);
        assert_eq!(&heard, want, "{name}");
        let last = heard.last().and_then(|step| step.split_once('>')).map_or("", |(_, new)| new);
        assert_eq!(cache.get("ns", "x").map(|o| form(&o)).unwrap_or_default(), last, "{name}");
        assert_eq!(cache.len(), usize::from(!last.is_empty()), "{name}");
    }
}

#[test]
fn only_what_nobody_has_confirmed_is_asked_about() {
    for (news, want) in [
        (&["[", "o:a@1", "]"][..], &["a"][..]),
        (&["[", "o:a@1", "w:a@1", "]"], &[]),
        (&["[", "]", "o:a@1", "[", "]"], &["a"]),
        (&["[", "]", "o:a@1", "w:a@1", "[", "o:a@2", "]"], &["a"]),
    ] {
        let (_, _, unconfirmed) = play(news);
        assert_eq!(unconfirmed, want, "{news:?}");
    }
}

#[test]
fn an_absent_object_goes_unless_it_was_written_since() {
    let (cache, heard) = listened();
    cache.relist_started();
    cache.written(map("ns/x a@1"));
    let asked = cache.relist_ended();
    cache.written(map("ns/x a@2"));
    cache.absent(&asked[0]);
    assert_eq!(cache.len(), 1, "the question was about another version");
    let asked = cache.unconfirmed(Duration::ZERO);
    cache.absent(&asked[0]);
    assert_eq!(*heard.lock(), [">a@1", "a@1>a@2", "a@2>"]);
    assert!(cache.unconfirmed(Duration::ZERO).is_empty());
}

#[tokio::test(start_paused = true)]
async fn doubts_need_time_and_end_with_the_echo() {
    let cache = Cache::new();
    cache.written(map("ns/x a@1"));
    assert!(cache.unconfirmed(Duration::from_secs(30)).is_empty());
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!(cache.unconfirmed(Duration::from_secs(30)).len(), 1);
    cache.observed(map("ns/x a@1"));
    assert!(cache.unconfirmed(Duration::from_secs(30)).is_empty());
}

#[test]
fn written_returns_what_readers_see() {
    let cache = Cache::new();
    assert_eq!(form(&cache.written(map("ns/x a@2"))), "a@2");
    assert_eq!(form(&cache.written(map("ns/x a@1"))), "a@2", "the watch was faster");
    let read = cache.get("ns", "x").unwrap();
    assert!(Arc::ptr_eq(&read, &cache.written(map("ns/x a@2"))), "nothing is kept twice");
    cache.gone("ns", "x", "a");
    assert_eq!(form(&cache.written(map("ns/x a@9"))), "a@9");
    assert!(cache.is_empty());
}

#[test]
fn indexes_follow_every_change() {
    let cache = Cache::new();
    cache.observed(map("z/x a@1"));
    let by_form = cache.index(|o: &ConfigMap| o.data.iter().flat_map(BTreeMap::values).cloned().collect());
    let by_uid = cache.index(|o: &ConfigMap| o.metadata.uid.iter().cloned().chain(["all".into()]).collect());
    let names = |index: &Index<ConfigMap>, key: &str| -> Vec<_> {
        index.get(key).iter().map(|o| o.metadata.namespace.clone().unwrap()).collect()
    };
    assert_eq!(by_form.count("a@1"), 1, "what was there before the index");
    cache.observed(map("b/x b@2"));
    cache.written(map("a/x c@3"));
    assert_eq!(names(&by_uid, "all"), ["a", "b", "z"]);
    cache.written(map("z/x a@4"));
    assert_eq!((by_form.count("a@1"), by_form.count("a@4"), by_uid.count("a")), (0, 1, 1));
    assert_eq!(form(&by_uid.get("a")[0]), "a@4", "an entry that stays holds the new object");
    cache.observed(map("z/x d@5"));
    assert_eq!((by_uid.count("a"), by_uid.count("d")), (0, 1));
    cache.deleted(&map("b/x b@6"));
    cache.gone("a", "x", "c");
    assert_eq!(names(&by_uid, "all"), ["z"]);
    assert!(by_uid.get("b").is_empty());
    assert!(by_uid.get("B").is_empty());
}

#[test]
fn cluster_scoped_objects_have_no_namespace() {
    let cache = Cache::new();
    let mut object = map("ns/x a@1");
    object.metadata.namespace = None;
    cache.observed(object);
    assert!(cache.get("", "x").is_some());
    assert!(cache.get("ns", "x").is_none());
}

#[tokio::test]
async fn synced_waits_for_the_first_list() {
    let cache: Cache<ConfigMap> = Cache::new();
    let waiting = tokio::spawn({
        let cache = cache.clone();
        async move { cache.synced().await }
    });
    cache.relist_started();
    cache.observed(map("ns/x a@1"));
    tokio::task::yield_now().await;
    assert!(!cache.is_synced() && !waiting.is_finished());
    cache.relist_ended();
    waiting.await.unwrap();
    cache.relist_started();
    assert!(cache.is_synced(), "a later list does not undo it");
    cache.synced().await;
}

#[test]
fn objects_are_pruned_whichever_way_they_come() {
    let cache = Cache::new();
    cache.prune_with(|object: &mut ConfigMap| object.data = None);
    cache.observed(map("ns/x a@1"));
    cache.written(map("ns/y b@2"));
    assert!(cache.list().iter().all(|object| object.data.is_none()));
}

#[test]
fn a_listener_sees_the_change_in_cache_and_index_and_may_use_both() {
    let cache = Cache::new();
    let index = cache.index(|o: &ConfigMap| o.metadata.uid.iter().cloned().collect());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (inner, sink) = (cache.clone(), seen.clone());
    cache.listen(move |change| {
        let Some(new) = change.new else { return };
        let uid = new.metadata.uid.clone().unwrap();
        sink.lock().push((inner.get("ns", "x").map(|o| form(&o)), index.count(&uid)));
        // A write from inside a listener is delivered after this one.
        inner.written(map("ns/x a@2"));
    });
    cache.observed(map("ns/x a@1"));
    assert_eq!(*seen.lock(), [(Some("a@1".into()), 1), (Some("a@2".into()), 1)]);
}

#[test]
fn a_listener_that_panics_does_not_silence_the_others() {
    let (cache, heard) = listened();
    cache.listen(|change| assert!(change.old.is_some(), "the first change"));
    let first = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| cache.observed(map("ns/x a@1"))));
    assert!(first.is_err());
    cache.observed(map("ns/x a@2"));
    assert_eq!(*heard.lock(), [">a@1", "a@1>a@2"]);
}

#[test]
fn only_one_thread_at_a_time_tells_the_listeners() {
    let (cache, heard) = (Cache::new(), Arc::new(Mutex::new(Vec::new())));
    let (entered, inside) = std::sync::mpsc::channel();
    let (leave, left) = std::sync::mpsc::channel();
    let (sink, left) = (heard.clone(), Mutex::new(left));
    cache.listen(move |change| {
        let form = change.new.map(|o| form(o)).unwrap();
        // The first change is being told while the second one happens.
        if form == "a@1" {
            entered.send(()).unwrap();
            left.lock().recv().unwrap();
        }
        sink.lock().push(form);
    });
    std::thread::scope(|scope| {
        scope.spawn(|| cache.observed(map("ns/x a@1")));
        inside.recv().unwrap();
        cache.written(map("ns/x a@2"));
        assert_eq!(form(&cache.get("ns", "x").unwrap()), "a@2", "readers do not wait for listeners");
        leave.send(()).unwrap();
    });
    assert_eq!(*heard.lock(), ["a@1", "a@2"]);
}

#[test]
fn steps_of_one_object_are_heard_in_order_from_many_threads() {
    let (cache, heard) = listened();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let cache = cache.clone();
            scope.spawn(move || (1..=500).for_each(|v| drop(cache.written(map(&format!("ns/x a@{v}"))))));
        }
    });
    let heard = heard.lock();
    assert_eq!(heard.first().map(String::as_str).map(|s| s.starts_with(">a@")), Some(true));
    for pair in heard.windows(2) {
        let (before, after) = (pair[0].split_once('>').unwrap().1, pair[1].split_once('>').unwrap().0);
        assert_eq!(before, after, "each step starts where the one before it ended");
    }
    assert!(heard.last().unwrap().ends_with(">a@500"));
}
