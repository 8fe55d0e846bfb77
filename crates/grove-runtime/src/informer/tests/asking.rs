//! Questions about what only our own writes have shown.

use std::collections::BTreeSet;

use super::questions::AT_A_TIME;
use super::*;

fn asks_for(call: &Call) -> Option<String> {
    let (_, name) = call.target.split_once("metadata.name%3D")?;
    name.split('%').next().map(str::to_owned)
}

/// The watch goes on meanwhile, and no more questions are under way than agreed.
#[tokio::test(start_paused = true)]
async fn the_server_is_asked_beside_the_watch_a_few_at_a_time() {
    let mut world = World::start(false);
    let call = world.calls.recv().await.unwrap();
    for number in 0..10 {
        let name = format!("n{number}");
        world.cache.written(serde_json::from_value(object(&name, &name, 4)).unwrap());
        world.hears(&format!(">{name}@4")).await;
    }
    call.answer(&list(5, &[]));
    let (mut open, mut asked) = (Vec::new(), BTreeSet::new());
    for _ in 0..AT_A_TIME {
        let call = world.calls.recv().await.unwrap();
        assert!(asked.insert(asks_for(&call).expect("a question")));
        open.push(call);
    }
    // No answer yet, and the watch is there and heard.
    let events = world.watches(5).await;
    events.send(event("ADDED", &object("x", "a", 6))).unwrap();
    world.hears(">a@6").await;
    assert!(world.calls.try_recv().is_err(), "more questions than agreed");
    while let Some(call) = open.pop() {
        let name = asks_for(&call).unwrap();
        call.answer(&list(9, &[]));
        world.hears(&format!("{name}@4>")).await;
        if asked.len() < 10 {
            let call = world.calls.recv().await.unwrap();
            assert!(asked.insert(asks_for(&call).expect("a question")));
            open.push(call);
        }
    }
    assert_eq!(world.cache.len(), 1);
}

/// A list answers everything: an answer from before it must not hide what it shows.
#[tokio::test(start_paused = true)]
async fn answers_from_before_a_list_do_not_count() {
    let mut world = World::start(false);
    let call = world.calls.recv().await.unwrap();
    world.cache.written(serde_json::from_value(object("x", "a", 4)).unwrap());
    world.hears(">a@4").await;
    call.answer(&list(5, &[]));
    let question = world.calls.recv().await.unwrap();
    let events = world.watches(5).await;
    events.send(event("ERROR", &json!({"code": 410, "reason": "Expired", "message": "too old"}))).unwrap();
    world.lists(9, &[object("x", "a", 4)]).await;
    let events = world.watches(9).await;
    question.answer(&list(5, &[]));
    events.send(event("MODIFIED", &object("x", "a", 10))).unwrap();
    world.hears("a@4>a@10").await;
}
