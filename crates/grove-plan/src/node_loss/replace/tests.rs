//! When which unit is placed anew. Nodes are lost at 100, and pods may wait for ten seconds.

use grove_api::wire::{LossReason, LostNode, Time, TopologyConstraint, TopologyLevel, TopologyPack};

use super::*;
use crate::{
    fixture::{Deployed, at},
    status::{self, CliqueReport},
    topology::Topology,
};

/// `fe` may miss one pod; the group may miss two replicas, and a replica of it no pod. Replica 0 of it is in the base gang.
const SET: &str = "fe=3/2 pre=1/1 dec=2/2 | pd=3/1:pre,dec";

fn topology() -> Topology {
    let level = TopologyLevel { domain: "rack".to_owned(), key: "example.com/rack".to_owned() };
    Topology { name: "racks".to_owned(), levels: vec![level] }
}

fn required(domain: &str) -> TopologyConstraint {
    let pack = TopologyPack { required: Some(domain.to_owned()), preferred: None };
    TopologyConstraint { pack: Some(pack), ..TopologyConstraint::default() }
}

/// A set that ran and has to be in one rack.
fn running() -> Deployed {
    let mut deployed = Deployed::new(2, SET).made(0).all("r").written_at(60);
    deployed.set.spec.template.topology_constraint = Some(required("rack"));
    deployed
}

/// The pods of a clique are `before`, and their node is lost at 100; then they are `after`.
fn lose(mut deployed: Deployed, clique: &str, after: &str) -> Deployed {
    let lost = [LostNode {
        name: "n".to_owned(),
        reason: LossReason::Gone,
        since: Time(at(90)),
        lost_at: Some(Time(at(100))),
    }];
    let status = {
        let report = report_of(&deployed, clique, &lost, 100);
        status::clique(&report)
    };
    deployed.cliques.get_mut(clique).unwrap().status = Some(status);
    deployed.with(clique, after).written_at(101)
}

fn report_of<'a>(
    deployed: &'a Deployed,
    clique: &str,
    lost: &'a [LostNode],
    second: i64,
) -> CliqueReport<'a> {
    let tally = deployed.states()[clique].tally;
    CliqueReport {
        clique: &deployed.cliques[clique],
        tally,
        was_scheduled: false,
        refusal: None,
        set: "inf",
        generation_hash: crate::fixture::GENERATION,
        is_current: true,
        pace: rollout::Pace::Rolling,
        has_turn: false,
        replacing: None,
        restarts: None,
        lost,
        acted: Some(1),
        now: at(second),
    }
}

fn planned(deployed: &Deployed, second: i64) -> TerminationPlan {
    let topology = topology();
    let observed = SetState { topology: TopologySeen::On(Some(&topology)), ..deployed.state_at(second) };
    plan(&observed, SignedDuration::from_secs(10))
}

/// Such as `set:0 inf-0-pd:1 next:120`.
fn due(deployed: &Deployed, second: i64) -> String {
    let plan = planned(deployed, second);
    let due = plan.restarts.iter().map(|it| match &it.unit {
        Unit::SetReplica(replica) => format!("set:{replica}"),
        Unit::GroupReplica(group, replica) => format!("{group}:{replica}"),
        Unit::Clique(name) => name.clone(),
    });
    let next = plan.next.map(|it| format!("next:{}", it.as_second()));
    due.chain(next).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_unit_that_does_not_fit_any_more_moves_as_a_whole() {
    let deployed = lose(running(), "inf-0-fe", "0r 1p@101 2p@101");
    assert_eq!(due(&deployed, 105), "next:111");
    assert_eq!(due(&deployed, 110), "next:111");
    assert_eq!(due(&deployed, 111), "set:0");
    let plan = planned(&deployed, 111);
    assert_eq!(plan.restarts[0].cliques.len(), 7, "every clique of the replica");
    assert_eq!(plan.restarts[0].reason, "NodeLost");
    assert_eq!(
        plan.restarts[0].words,
        "pods on n (Gone) count as lost, and what replaces them found no place for 10s"
    );
}

#[test]
fn it_stays_quiet() {
    for (what, pods) in [
        ("the minimum has its place", "0r 1r 2p@101"),
        ("they are held back", "0r 1g@101 2g@101"),
        ("they do not exist", "0r"),
        ("they start", "0r 1b@101 2p@101"),
    ] {
        assert_eq!(due(&lose(running(), "inf-0-fe", pods), 900), "", "{what}");
    }
    let unplaced = running().with("inf-0-fe", "0r 1p@101 2p@101").written_at(101);
    assert_eq!(due(&unplaced, 900), "", "no node is lost");
    let lost = || lose(running(), "inf-0-fe", "0r 1p@101 2p@101");
    let mut free = lost();
    free.set.spec.template.topology_constraint = None;
    assert_eq!(due(&free, 900), "", "it may be anywhere");
    free.set.spec.template.topology_constraint = Some(required("galaxy"));
    assert_eq!(due(&free, 900), "", "there is no such domain");
    let mut never = lost();
    never.set.spec.template.gang_termination = Some(GangTermination::Disabled);
    assert_eq!(due(&never, 900), "", "the user wants none");
    assert_eq!(due(&lost().without("inf-0-fe"), 900), "");
    let off = lost();
    assert_eq!(
        plan(&off.state_at(900), SignedDuration::from_secs(10)),
        TerminationPlan::default(),
        "topology is off"
    );
    assert_eq!(due(&lost(), 900), "set:0", "but for all that it is not");
}

#[test]
fn only_once_for_each_loss() {
    let mut deployed = lose(running(), "inf-0-fe", "0r 1p@101 2p@101");
    for restart in planned(&deployed, 111).restarts {
        for name in &restart.cliques {
            let clique = deployed.cliques.get_mut(name).unwrap();
            clique.status = Some(restart.noted(clique.status.as_ref()));
            deployed.pods.remove(name);
        }
    }
    let deployed = deployed.all("p@120").written_at(121);
    assert_eq!(due(&deployed, 900), "", "it waits");
    let deployed = deployed.all("r@120").written_at(130);
    let deployed = deployed.with("inf-0-fe", "0r@120 1p@140 2p@140").written_at(140);
    assert_eq!(due(&deployed, 900), "", "that is another story");
    let deployed = lose(deployed.all("r@120").written_at(150), "inf-0-fe", "0r@120 1p@160 2p@160");
    assert_eq!(due(&deployed, 900), "set:0", "another loss");
}

/// A replica that was scaled out may be without a place for ever: the others move all the same.
#[test]
fn a_part_without_a_place_holds_up_nobody() {
    let mut deployed = lose(running(), "inf-0-fe", "0r 1p@101 2p@101");
    for restart in planned(&deployed, 111).restarts {
        for name in &restart.cliques {
            let clique = deployed.cliques.get_mut(name).unwrap();
            clique.status = Some(restart.noted(clique.status.as_ref()));
        }
    }
    let deployed =
        deployed.all("r@120").with("inf-0-pd-2-pre", "0p@120").with("inf-0-pd-2-dec", "0p@120 1p@120");
    let deployed = deployed.written_at(130);
    assert_eq!(due(&deployed, 900), "");
    let again = lose(deployed, "inf-0-fe", "0r@120 1p@160 2p@160");
    assert_eq!(due(&again, 900), "set:0");
}

#[test]
fn a_group_replica_moves_alone_where_it_may() {
    let lost = |it: &str| lose(running(), it, "0r 1p@101");
    assert_eq!(due(&lost("inf-0-pd-2-dec"), 900), "inf-0-pd:2", "a gang of its own");
    assert_eq!(due(&lost("inf-1-pd-2-dec"), 900), "inf-1-pd:2");
    assert_eq!(due(&lost("inf-0-pd-0-dec"), 900), "set:0", "the constraint is on the whole base gang");
    let mut own = lost("inf-0-pd-0-dec");
    own.set.spec.template.topology_constraint = None;
    assert_eq!(due(&own, 900), "");
    own.set.spec.template.scaling_groups[0].topology_constraint = Some(required("rack"));
    assert_eq!(due(&own, 900), "inf-0-pd:0");
    own.set.spec.template.scaling_groups[0].topology_constraint = None;
    own.set.spec.template.cliques[2].topology_constraint = Some(required("rack"));
    assert_eq!(due(&own, 900), "inf-0-pd:0");
    // Too few others are left.
    let all = lose(lose(lost("inf-0-pd-2-dec"), "inf-0-pd-1-dec", "0p@101 1p@101"), "inf-0-pd-0-dec", "");
    assert_eq!(due(&all, 900), "set:0");
    // Two losses at once are one move each.
    let two = lose(lost("inf-0-pd-2-dec"), "inf-0-pd-1-dec", "0p@101 1p@101");
    assert_eq!(due(&two, 900), "inf-0-pd:1 inf-0-pd:2");
    let both = lose(lost("inf-0-pd-2-dec"), "inf-0-fe", "0p@101 1p@101 2p@101");
    assert_eq!(due(&both, 900), "set:0", "with the set replica its parts move too");
}
