//! Which cliques a restart is noted on.

use grove_api::constants::restarts;

use super::*;
use crate::fixture::{Deployed, at};

const SET: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=2/1:pre,dec";

fn set() -> Deployed {
    Deployed::new(2, SET).made(50).all("r").written()
}

fn begin(deployed: &Deployed, unit: Unit) -> Restart {
    Restart::begin(&deployed.states(), unit, restarts::GANG_TERMINATION, String::new(), at(999))
}

fn note(deployed: &mut Deployed, restart: &Restart, clique: &str) {
    let clique = deployed.cliques.get_mut(clique).unwrap();
    clique.status = Some(restart.noted(clique.status.as_ref()));
}

#[test]
fn a_unit_is_all_that_belongs_together() {
    let group = |group: &str, it| Unit::GroupReplica(group.to_owned(), it);
    let rows = [
        (Unit::SetReplica(1), "inf-1-fe inf-1-pd-0-dec inf-1-pd-0-pre inf-1-pd-1-dec inf-1-pd-1-pre"),
        (group("inf-0-pd", 1), "inf-0-pd-1-dec inf-0-pd-1-pre"),
        (Unit::Clique("inf-0-fe".to_owned()), "inf-0-fe"),
        (group("inf-0-pd", 7), ""),
    ];
    for (unit, cliques) in rows {
        assert_eq!(begin(&set(), unit).cliques.join(" "), cliques);
    }
    let leaving = set().leaving("inf-0-pd-1-pre");
    assert_eq!(begin(&leaving, group("inf-0-pd", 1)).cliques, ["inf-0-pd-1-dec"]);
    // A clique in no group is by itself what a group replica is for others.
    let of = |clique: &str, scope| Unit::of(&set().cliques[clique], scope);
    assert_eq!(of("inf-0-fe", RestartScope::GroupReplica), Some(Unit::Clique("inf-0-fe".to_owned())));
    assert_eq!(of("inf-1-pd-0-dec", RestartScope::GroupReplica), Some(group("inf-1-pd", 0)));
    assert_eq!(of("inf-1-pd-0-dec", RestartScope::Pod), Some(Unit::Clique("inf-1-pd-0-dec".to_owned())));
}

/// Every pod that is there is older than the restart, also one that failed; none of those that come after it is.
#[test]
fn the_time_is_that_of_the_last_pod() {
    let unit = || Unit::SetReplica(0);
    let before = |deployed: Deployed| begin(&deployed, unit()).before;
    assert_eq!(before(set()), at(101));
    assert_eq!(before(set().with("inf-0-pd-1-pre", "0r@300").with("inf-0-fe", "0r@5 1F@400")), at(401));
    assert_eq!(before(set().with("inf-0-fe", "0r@5 1F!@400")), at(101), "it goes by itself");
    assert_eq!(before(Deployed::new(2, SET).made(50).written()), at(50), "without pods, that of the cliques");
    assert_eq!(before(Deployed::new(2, SET).written()), at(999));
}

#[test]
fn a_note_changes_nothing_else() {
    let deployed = set();
    let restart = begin(&deployed, Unit::SetReplica(0));
    let status = deployed.cliques["inf-0-fe"].status.clone().unwrap();
    let noted = restart.noted(Some(&status));
    let text = serde_json::to_value(noted.restart.as_ref().unwrap()).unwrap();
    let want = serde_json::json!({
        "before": "1970-01-01T00:01:41Z", "reason": "GangTermination", "scope": "SetReplica",
    });
    assert_eq!(text, want);
    assert_eq!(PodCliqueStatus { restart: None, ..noted }, status);
}

#[test]
fn what_was_begun_is_finished() {
    let mut deployed = set();
    assert_eq!(unfinished(&deployed.states()), []);
    let restart = begin(&deployed, Unit::SetReplica(0));
    note(&mut deployed, &restart, "inf-0-pd-1-pre");
    let rest = unfinished(&deployed.states());
    let [rest] = rest.as_slice() else { panic!("{rest:?}") };
    assert_eq!((&rest.unit, rest.before, rest.reason.as_str()), (&restart.unit, at(101), "GangTermination"));
    assert_eq!(rest.cliques, ["inf-0-fe", "inf-0-pd-0-dec", "inf-0-pd-0-pre", "inf-0-pd-1-dec"]);
    // It does not matter that the first is back already.
    let recovered = deployed.with("inf-0-pd-1-pre", "0r@500").written_at(600);
    assert!(!is_open(&recovered.states()["inf-0-pd-1-pre"]));
    assert_eq!(unfinished(&recovered.states())[0].cliques.len(), 4);
    // What was made since has nothing to restart.
    let mut deployed = recovered;
    deployed.cliques.get_mut("inf-0-fe").unwrap().metadata.creation_timestamp = Some(Time(at(101)));
    assert_eq!(unfinished(&deployed.states())[0].cliques.len(), 3);
    for clique in ["inf-0-pd-0-dec", "inf-0-pd-0-pre", "inf-0-pd-1-dec"] {
        note(&mut deployed, &restart, clique);
    }
    assert_eq!(unfinished(&deployed.states()), []);
}

/// A restart of the whole set replica after one of a group replica, and the other way round.
#[test]
fn the_later_restart_counts() {
    let group = Unit::GroupReplica("inf-0-pd".to_owned(), 1);
    for (first, second, rest) in [
        (group.clone(), Unit::SetReplica(0), "inf-0-fe inf-0-pd-0-dec inf-0-pd-0-pre inf-0-pd-1-dec"),
        (Unit::SetReplica(0), group, "inf-0-pd-1-dec"),
    ] {
        let mut deployed = set();
        let restart = begin(&deployed, first);
        restart.cliques.iter().for_each(|it| note(&mut deployed, &restart, it));
        let mut deployed = deployed.with("inf-0-pd-1-pre", "0r@500");
        let restart = begin(&deployed, second);
        note(&mut deployed, &restart, "inf-0-pd-1-pre");
        let cliques: Vec<String> =
            unfinished(&deployed.states()).into_iter().flat_map(|it| it.cliques).collect();
        assert_eq!(cliques.join(" "), rest);
    }
}
