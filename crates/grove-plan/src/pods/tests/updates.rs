//! Updates of pods with a past, and updates that are scaled in on the way.

use super::*;

fn replaced(ready_at_start: u32) -> impl Fn(u32) -> Want<'static> {
    move |replicas| Want { minimum: 1, outdated: Outdated::Replaced { ready_at_start }, ..want(replicas) }
}

/// What counts is who serves now: pods that crashed long ago do not go all at once.
#[test]
fn a_ready_pod_goes_in_its_turn_whatever_happened_to_it_before() {
    let rows = [
        (3, "0roe@1 1roe@2 2roe@3", "0", "0roe@1"),
        (3, "0roew 1roe 2r", "0", "0roew"),
        // One that crashed and is not back serves nobody.
        (3, "0ro 1noe 2roe", "1", "1noe"),
    ];
    check(&rows, replaced(3));
}

/// More were ready when it began than are wanted now: the rest is not waited for.
#[test]
fn an_update_that_is_scaled_in_goes_on() {
    let rows = [(2, "0ro@1 1ro@2", "0", "0ro@1"), (2, "0r 1ro", "1", "1ro"), (2, "0n 1ro", "", "")];
    check(&rows, replaced(3));
}
