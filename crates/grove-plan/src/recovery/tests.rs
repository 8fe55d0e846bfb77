//! What comes before what. What each part decides has its own tables.

use grove_api::wire::{LossReason, LostNode, Time, TopologyConstraint, TopologyLevel, TopologyPack};
use k8s_openapi::jiff::SignedDuration;
use serde_json::json;

use super::*;
use crate::{
    fixture::{Deployed, at},
    restart::Unit,
    status::{self, CliqueReport, TopologySeen},
    topology::Topology,
};

/// Two cliques that need all their pods, a group of which one replica is enough. A policy restarts cliques; the delay is ten
/// seconds, and so may pods be without a place.
fn running() -> Deployed {
    let policy = json!({ "scope": "Clique", "maxRestarts": 1, "backoff": { "initial": "1h" } });
    let mut deployed = Deployed::new(2, "fe=2/2 be=2/2 pre=1/1 | pd=2/1:pre").policy(policy);
    deployed.set.spec.template.termination_delay = Some("10s".into());
    let pack = TopologyPack { required: Some("rack".to_owned()), preferred: None };
    deployed.set.spec.template.topology_constraint =
        Some(TopologyConstraint { pack: Some(pack), ..TopologyConstraint::default() });
    deployed.made(0).all("r@10").written_at(60)
}

fn planned(deployed: &Deployed, second: i64) -> RecoveryPlan {
    let level = TopologyLevel { domain: "rack".to_owned(), key: "example.com/rack".to_owned() };
    let topology = Topology { name: "racks".to_owned(), levels: vec![level] };
    let observed = SetState { topology: TopologySeen::On(Some(&topology)), ..deployed.state_at(second) };
    let seconds = SignedDuration::from_secs(10);
    plan(&observed, Some(Patience { after: seconds, replace_unit_after: seconds }))
}

/// Such as `restart set:0 inf-0-fe`.
fn told(plan: &RecoveryPlan) -> String {
    let unit = |it: &Unit| match it {
        Unit::SetReplica(replica) => format!("set:{replica}"),
        Unit::GroupReplica(group, replica) => format!("{group}:{replica}"),
        Unit::Clique(name) => name.clone(),
    };
    let restarts = |what: &str, all: &[Restart]| {
        let all: Vec<_> = all.iter().map(|it| format!("{}/{}", unit(&it.unit), it.reason)).collect();
        format!("{what} {}", all.join(" "))
    };
    match plan {
        RecoveryPlan::Finish(all) => restarts("finish", all),
        RecoveryPlan::Restart(all) => restarts("restart", all),
        RecoveryPlan::Exhaust(all) => {
            format!("exhaust {}", all.iter().map(|it| unit(&it.unit)).collect::<Vec<_>>().join(" "))
        }
        RecoveryPlan::Wait(None) => "rest".to_owned(),
        RecoveryPlan::Wait(Some(next)) => format!("wait {}", next.as_second()),
    }
}

fn due(deployed: &Deployed, second: i64) -> String {
    told(&planned(deployed, second))
}

/// Writes the notes of what is due on the first `count` of its cliques.
fn noted(mut deployed: Deployed, second: i64, count: usize) -> Deployed {
    let (restarts, exhausted) = match planned(&deployed, second) {
        RecoveryPlan::Finish(all) | RecoveryPlan::Restart(all) => (all, Vec::new()),
        RecoveryPlan::Exhaust(all) => (Vec::new(), all),
        RecoveryPlan::Wait(_) => (Vec::new(), Vec::new()),
    };
    let notes =
        restarts.iter().flat_map(|it| it.cliques.iter().take(count).map(move |name| (name, Some(it), None)));
    let others =
        exhausted.iter().flat_map(|it| it.cliques.iter().take(count).map(move |name| (name, None, Some(it))));
    for (name, restart, exhausted) in notes.chain(others) {
        let clique = deployed.cliques.get_mut(name).unwrap();
        let status = clique.status.as_ref();
        clique.status = restart.map(|it| it.noted(status)).or_else(|| exhausted.map(|it| it.noted(status)));
    }
    deployed
}

/// The second replica of the set has been below its minimum since 100, and lost a node then.
fn broken() -> Deployed {
    let mut deployed = running();
    let lost = [LostNode {
        name: "n".to_owned(),
        reason: LossReason::Gone,
        since: Time(at(90)),
        lost_at: Some(Time(at(100))),
    }];
    for name in ["inf-1-fe", "inf-1-be"] {
        deployed = deployed.with(name, "0r@10 1p@100");
        let states = deployed.states();
        let report = CliqueReport { lost: &lost, now: at(100), ..deployed.clique(&states[name]) };
        let lossy = status::clique(&report);
        deployed.cliques.get_mut(name).unwrap().status = Some(lossy);
    }
    deployed.written_at(100)
}

#[test]
fn nothing_is_done_where_nothing_is_wrong() {
    assert_eq!(due(&running(), 900), "rest");
    assert_eq!(due(&broken(), 105), "wait 110", "the first of all that may come");
}

#[test]
fn the_cause_that_is_known_best_comes_first() {
    let deployed = broken();
    assert_eq!(due(&deployed, 110), "restart set:1/GangTermination", "it moves with that, too");
    let failed = deployed.with("inf-0-fe", "0r@10 1ne@10").with("inf-1-pd-0-pre", "0ne@10");
    assert_eq!(due(&failed, 110), "restart inf-0-fe/RestartPolicy inf-1-pd-0-pre/RestartPolicy");
    // One of two notes is written: the other follows before anything else is decided.
    let restarted = noted(failed, 110, 1);
    assert_eq!(due(&restarted, 110), "restart set:1/GangTermination", "a clique is a unit of one note");
    let begun = noted(restarted, 110, 1);
    assert_eq!(due(&begun, 110), "finish set:1/GangTermination");
    let finished = noted(begun, 110, 9);
    assert_eq!(due(&finished, 110), "rest");
}

#[test]
fn what_is_over_is_noted_before_what_is_terminated() {
    let failed = noted(broken().with("inf-0-fe", "0r@10 1ne@10"), 101, 9);
    let again = failed.with("inf-0-fe", "0r@102 1ne@102").written_at(103);
    assert_eq!(due(&again, 110), "exhaust inf-0-fe");
    assert_eq!(due(&noted(again, 110, 9), 110), "restart set:1/GangTermination");
}

#[test]
fn units_move_where_nothing_else_restarts_them() {
    let mut deployed = broken();
    deployed.set.spec.template.termination_delay = Some("4h".into());
    assert_eq!(due(&deployed, 109), "wait 110");
    assert_eq!(due(&deployed, 110), "restart set:1/NodeLost");
    let blind = plan(&deployed.state_at(110), None);
    assert_eq!(told(&blind), format!("wait {}", 100 + 4 * 3600), "nobody looks at nodes");
}

/// Times have whole seconds: a pod that replaces another within the second of its creation would look as old as that.
#[test]
fn no_restart_begins_within_the_second_of_the_newest_pod() {
    let within = |deployed: &Deployed, millis: i64| {
        let mut observed = deployed.state_at(0);
        observed.now = k8s_openapi::jiff::Timestamp::from_millisecond(millis).unwrap();
        told(&plan(&observed, None))
    };
    let failed = running().with("inf-0-fe", "0r@10 1ne@200");
    assert_eq!(within(&failed, 200_100), "wait 201");
    assert_eq!(within(&failed, 200_999), "wait 201");
    assert_eq!(within(&failed, 201_000), "restart inf-0-fe/RestartPolicy");
    // Others do not wait for it.
    let both = failed.with("inf-0-be", "0r@10 1ne@199");
    assert_eq!(within(&both, 200_100), "restart inf-0-be/RestartPolicy");
    // Gang termination and node loss likewise: a pod of the unit was just made.
    let young = broken().with("inf-1-pd-0-pre", "0r@110");
    assert_eq!(due(&young, 110), "wait 111");
    assert_eq!(due(&young, 111), "restart set:1/GangTermination");
    let mut moves = young;
    moves.set.spec.template.termination_delay = Some("4h".into());
    assert_eq!(due(&moves, 110), "wait 111");
    assert_eq!(due(&moves, 111), "restart set:1/NodeLost");
}
