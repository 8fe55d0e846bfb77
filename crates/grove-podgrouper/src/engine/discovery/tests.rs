use std::{
    future::{pending, ready},
    sync::atomic::{AtomicUsize, Ordering},
};

use grove_apiserver::{ApiServer, Resource, Resources};
use k8s_openapi::jiff::Timestamp;

use super::*;

fn discovery() -> Discovery {
    let resources = Resources::kubernetes().with(Resource::custom("example.com", "v1", "Thing", "things"));
    let server = ApiServer::new(resources, || Timestamp::UNIX_EPOCH, 1);
    Discovery::new(Client::new(server.service(), "ns"))
}

fn kind(api_version: &str, kind: &str) -> KindName {
    KindName { api_version: api_version.to_owned(), kind: kind.to_owned() }
}

#[tokio::test(start_paused = true)]
async fn kinds_are_found_with_their_plural_and_scope() {
    let discovery = discovery();
    let thing = discovery.find(&kind("example.com/v1", "Thing")).await.unwrap();
    assert_eq!((thing.resource.plural.as_str(), thing.is_namespaced), ("things", true));
    let node = discovery.find(&kind("v1", "Node")).await.unwrap();
    assert_eq!((node.resource.plural.as_str(), node.is_namespaced), ("nodes", false));
    for (api_version, name) in
        [("example.com/v1", "Other"), ("example.com/v2", "Thing"), ("v2", "Pod"), ("other/v1", "Thing")]
    {
        assert_eq!(
            discovery.find(&kind(api_version, name)).await,
            Err(NotRead::NoKind),
            "{api_version} {name}"
        );
    }
}

/// Whatever users write into owner references: what is kept is a part of what the API server serves.
#[tokio::test(start_paused = true)]
async fn ten_thousand_kinds_that_do_not_exist_leave_nothing_behind() {
    let discovery = discovery();
    for number in 0..10_000 {
        let (group, name) = (format!("g{number}.example.com/v1"), format!("Kind{number}"));
        for asked in
            [kind(&group, "Thing"), kind("example.com/v1", &name), kind(&format!("v{number}x"), "Pod")]
        {
            assert_eq!(discovery.find(&asked).await, Err(NotRead::NoKind));
        }
    }
    assert_eq!(discovery.size(), 1);
}

#[tokio::test(start_paused = true)]
async fn many_wait_for_one_answer() {
    let (answer, asked) = (Answer::<u32>::default(), AtomicUsize::new(0));
    let asking = || async {
        asked.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(7)
    };
    let all = tokio::join!(
        answer.or_ask(MISSING, asking()),
        answer.or_ask(MISSING, asking()),
        answer.or_ask(MISSING, asking())
    );
    assert_eq!((*all.0.unwrap(), *all.1.unwrap(), *all.2.unwrap()), (7, 7, 7));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// They do not wait one after the other for what does not answer.
#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_awaited_once() {
    let answer = Answer::<u32>::default();
    let began = Instant::now();
    let all = tokio::join!(
        answer.or_ask(MISSING, pending()),
        answer.or_ask(MISSING, pending()),
        answer.or_ask(MISSING, pending())
    );
    assert!(all.0.is_err() && all.1.is_err() && all.2.is_err());
    assert_eq!(began.elapsed(), super::super::circuit_breaker::READ_DEADLINE);
    assert_eq!(answer.or_ask(MISSING, ready(Ok(1))).await, Err(stalled()));
}
