//! What is remembered is forgotten in the end.

use super::*;

/// Objects come and go, and each is noted once more by a reconcile that was under way when it went.
#[test]
fn memory_does_not_grow_over_many_lives() {
    let memory = Memory::default();
    let staying: BTreeSet<String> = (0..100).map(|it| format!("staying-{it}")).collect();
    for uid in &staying {
        memory.untell(uid);
    }
    for life in 0..20_000 {
        let uid = format!("life-{life}");
        memory.untell(&uid);
        memory.lines.waits(&uid, "gang", true, None);
        let is_due = memory.forget(&uid);
        memory.untell(&uid);
        memory.lines.waits(&uid, "gang", true, None);
        memory.creations.lost(&uid);
        if is_due {
            memory.sweep(|| staying.clone());
        }
        assert!(memory.by_uid.lock().len() <= 3 * (staying.len() + SPARE), "at life {life}");
        assert!(memory.lines.len() <= 3 * (staying.len() + SPARE), "at life {life}");
        assert!(memory.creations.len() <= 3 * (staying.len() + SPARE), "at life {life}");
    }
    // What is there is remembered.
    assert!(staying.iter().all(|it| memory.turn(it) == 1));
}

/// Where nothing is left over, nobody sweeps.
#[test]
fn a_sweep_is_due_only_where_notes_are_left_over() {
    let memory = Memory::default();
    for life in 0..10_000 {
        let uid = format!("life-{life}");
        memory.untell(&uid);
        assert!(!memory.forget(&uid), "at life {life}");
    }
}
