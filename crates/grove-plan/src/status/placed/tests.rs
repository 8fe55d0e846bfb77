//! When a place is recorded.

use super::*;
use crate::{
    fixture::{Deployed, at},
    status::{CliqueReport, Urgency, clique, status_patch, urgency},
};

/// A clique that needs two of its three pods; nothing is written of it.
fn new() -> Deployed {
    Deployed::new(1, "fe=3/2").made(0)
}

fn status(deployed: &Deployed) -> &PodCliqueStatus {
    deployed.cliques["inf-0-fe"].status.as_ref().unwrap()
}

#[test]
fn a_place_is_recorded_with_the_minimum_and_stays() {
    for (pods, want) in
        [("", false), ("0g 1g 2g", false), ("0b 1p 2p", false), ("0b 1b 2p", true), ("0r 1ne", true)]
    {
        let once = new().with("inf-0-fe", pods).written_at(1);
        assert_eq!(status(&once).was_scheduled, Some(want), "{pods}");
        let lost = once.with("inf-0-fe", "").written_at(2);
        assert_eq!(status(&lost).was_scheduled, Some(want), "{pods}, then lost");
        assert_eq!(lost.states()["inf-0-fe"].was_placed(), want, "{pods}, then lost");
    }
}

/// Seen between two writes, and lost before the second of them.
#[test]
fn what_was_seen_is_recorded_although_it_is_over() {
    let pending = new().with("inf-0-fe", "0g 1g 2g").written_at(1);
    let states = pending.states();
    let report = |was_scheduled: bool| CliqueReport {
        was_scheduled,
        now: at(2),
        ..pending.clique(&states["inf-0-fe"])
    };
    let (same, seen) = (clique(&report(false)), clique(&report(true)));
    assert_eq!(urgency(Some(status(&pending)), &same), Urgency::Same);
    assert_eq!(seen, PodCliqueStatus { was_scheduled: Some(true), ..same });
    assert_eq!(urgency(Some(status(&pending)), &seen), Urgency::Soon);
}

/// An upgrade of the operator writes nothing for it.
#[test]
fn a_missing_record_comes_with_another_change() {
    let rows = [
        ("0r 1r 2r", "0r 1r", Some(true)),
        ("0g 1g 2g", "0g 1g", Some(false)),
        ("0b 1p 2p", "0b 1p", Some(true)),
    ];
    for (pods, other, want) in rows {
        let mut adopted = new().with("inf-0-fe", pods).written_at(1);
        adopted.cliques.get_mut("inf-0-fe").unwrap().status.as_mut().unwrap().was_scheduled = None;
        let adopted = adopted.written_at(9);
        assert_eq!(status(&adopted).was_scheduled, None, "{pods}");
        assert_eq!(status(&adopted.with("inf-0-fe", other).written_at(10)).was_scheduled, want, "{pods}");
    }
}

/// An older version knows nothing of the record; what it writes leaves it as it is.
#[test]
fn a_patch_of_others_leaves_the_record() {
    let placed = new().all("r").written_at(1);
    let lost = placed.with("inf-0-fe", "").written_at(2);
    let without = |it: &PodCliqueStatus| PodCliqueStatus { was_scheduled: None, ..it.clone() };
    let patch =
        status_patch(Some(&without(status(&new().all("r").written_at(1)))), &without(status(&lost)), "1");
    assert_eq!(patch.pointer("/status/wasScheduled"), None, "{patch}");
}
