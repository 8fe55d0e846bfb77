//! Gang termination by an operator that dies in the middle of it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use grove_apiserver::{Fault, WriteRequest};

use crate::{
    workload::{ALL, WHOLE, comes_back, created, full, lose, pods, restarted, set},
    world::World,
};

/// Lets the first `k` of the operator's writes that `counts` names through, and cuts everything after the k-th.
pub(crate) fn die_after(world: &World, k: usize, counts: fn(&WriteRequest) -> bool) -> Arc<AtomicBool> {
    let dead = Arc::new(AtomicBool::new(false));
    let (told, seen) = (Arc::clone(&dead), AtomicUsize::new(0));
    world.server.before_write(move |write| {
        if told.load(Ordering::SeqCst) {
            return Fault::Cut;
        }
        if counts(write) && seen.fetch_add(1, Ordering::SeqCst) == k {
            told.store(true, Ordering::SeqCst);
            return Fault::Cut;
        }
        Fault::None
    });
    dead
}

/// Killed after each of the notes and each of the deletes.
#[tokio::test(start_paused = true)]
async fn an_operator_that_dies_in_between_loses_and_repeats_nothing() {
    let is_note: fn(&WriteRequest) -> bool = |it| {
        matches!(&it.action, grove_apiserver::Action::Patch(grove_apiserver::PatchBody::Merge(patch))
            if patch.pointer("/status/restart/before").is_some())
    };
    let is_delete: fn(&WriteRequest) -> bool = |it| it.verb() == "delete" && it.resource.id() == "pods";
    // Before the first note nothing is decided.
    let points = (1..5).map(|k| (k, is_note)).chain((0..10).map(|k| (k, is_delete)));
    for (k, counts) in points {
        let mut world = full(12, set(ALL, 1)).await;
        let before = pods(&world);
        let made = created(&world);
        lose(&world, "w-0-a", 1);
        let dead = die_after(&world, k, counts);
        world.settle_unless(|| dead.load(Ordering::SeqCst)).await;
        assert!(dead.load(Ordering::SeqCst), "write {k} never comes");
        world.kill();
        // Long enough for the pods that are new already to be bound.
        world.nodes = true;
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(5)).await;
            world.simulate();
        }
        world.nodes = false;
        world.server.before_write(|_| Fault::None);
        world.start();
        world.settle().await;
        assert_eq!(restarted(&before, &world), WHOLE, "after write {k}");
        assert_eq!(created(&world), made + 1 + 10, "after write {k}");
        comes_back(world).await;
    }
}
