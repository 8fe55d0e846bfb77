//! Owners that end while their objects are written.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Applies, while the owner is wanted for so many questions. Returns what was done, and the requests.
async fn apply(
    desk: &mut Desk,
    rendered: Vec<Rendered>,
    wanted: usize,
) -> (Option<Applied>, Vec<(String, Value)>) {
    let (applier, left) = (Arc::clone(&desk.applier), Arc::new(AtomicUsize::new(wanted)));
    let ended = Arc::new(Mutex::new(false));
    let notes = Arc::clone(&ended);
    let work = async move {
        let is_wanted =
            || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1)).is_ok();
        let outcome = applier.apply_while(&owner(), &rendered, &is_wanted).await?;
        *notes.lock() = outcome.is_none();
        Ok(outcome.unwrap_or_default())
    };
    let mut version = 100;
    let server = |line: &str, body: &Value| {
        version += 1;
        if line.starts_with("DELETE") {
            return Ok(json!({ "kind": "Status", "status": "Success" }));
        }
        let mut answer = body.clone();
        answer["metadata"]["uid"] = format!("uid-{version}").into();
        answer["metadata"]["resourceVersion"] = version.to_string().into();
        Ok(answer)
    };
    let (result, requests) = desk.serve(work, server).await;
    let ended = *ended.lock();
    (result.ok().filter(|_| !ended), requests)
}

fn level(level: &str) -> Vec<Rendered> {
    let rendered = group("a", &json!({ "level": level }));
    vec![Rendered { immutable: vec!["/spec/level".to_owned()], ..rendered }]
}

#[tokio::test]
async fn nothing_is_written_after_the_owner_has_ended() {
    let rendered = || vec![group("a", &json!({ "n": 1 })), group("b", &json!({ "n": 1 }))];
    for (wanted, writes) in [(0, 0), (1, 1), (2, 2)] {
        let (applied, requests) = apply(&mut Desk::new(), rendered(), wanted).await;
        assert_eq!((applied.is_some(), requests.len()), (wanted == 2, writes), "wanted {wanted} times");
    }
}

/// What has to make room for its successor is deleted, and nothing comes after it.
#[tokio::test]
async fn no_successor_is_made_after_the_owner_has_ended() {
    let mut desk = Desk::new();
    assert!(apply(&mut desk, level("rack"), 9).await.0.is_some());
    let (applied, requests) = apply(&mut desk, level("zone"), 0).await;
    assert_eq!((applied, requests.len()), (None, 0));
    let (applied, requests) = apply(&mut desk, level("zone"), 1).await;
    let lines: Vec<_> = requests.iter().map(|it| it.0.split(' ').next().unwrap_or_default()).collect();
    assert_eq!((applied, lines), (None, vec!["DELETE"]));
}
