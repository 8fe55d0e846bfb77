//! When what is terminated. Lives of a set are told by what its pods were and when that was written down.

mod unwritten;

use super::*;
use crate::fixture::{Deployed, at, conditions};

/// `fe` may miss one pod; the group may miss two replicas, and a replica of it no pod.
const SET: &str = "fe=3/2 pre=1/1 dec=2/2 | pd=3/1:pre,dec";

/// A set that was made at 0 and healthy at 60. The delay is ten seconds.
fn healthy_as(text: &str) -> Deployed {
    pending_as(text).all("r").written_at(60)
}

/// A set that was made at 0 and got no place.
fn pending_as(text: &str) -> Deployed {
    let mut deployed = Deployed::new(1, text).made(0).all("g").written_at(1);
    deployed.set.spec.template.termination_delay = Some("10s".into());
    deployed
}

fn healthy() -> Deployed {
    healthy_as(SET)
}

fn planned(deployed: &Deployed, second: i64) -> TerminationPlan {
    plan(&deployed.state_at(second))
}

/// Such as `set:0 inf-0-pd:1 next:120`.
fn told(plan: &TerminationPlan) -> String {
    let due = plan.restarts.iter().map(|it| match &it.unit {
        Unit::SetReplica(replica) => format!("set:{replica}"),
        Unit::GroupReplica(group, replica) => format!("{group}:{replica}"),
        Unit::Clique(name) => name.clone(),
    });
    let next = plan.next.map(|it| format!("next:{}", it.as_second()));
    due.chain(next).collect::<Vec<_>>().join(" ")
}

fn due(deployed: &Deployed, second: i64) -> String {
    told(&planned(deployed, second))
}

/// Writes the notes of what is due; their pods are gone.
fn carried_out(mut deployed: Deployed, second: i64) -> Deployed {
    for restart in planned(&deployed, second).restarts {
        for name in &restart.cliques {
            let clique = deployed.cliques.get_mut(name).unwrap();
            clique.status = Some(restart.noted(clique.status.as_ref()));
            deployed.pods.remove(name);
        }
    }
    deployed.written_at(second)
}

/// As where etcd was restored from a backup: what is noted of the pods may be over for long.
#[test]
fn what_was_noted_before_this_operator_watched_is_seen_for_a_minute_first() {
    let deployed = healthy().with("inf-0-fe", "0r").written_at(100);
    let due = |watched_since, second| {
        let watched_since = at(watched_since);
        told(&plan(&SetState { watched_since, ..deployed.state_at(second) }))
    };
    assert_eq!([due(500, 500), due(500, 559)], ["next:560", "next:560"]);
    assert_eq!(due(500, 560), "set:0");
    assert_eq!(due(100, 110), "set:0", "it was seen from its beginning");
}

#[test]
fn a_clique_below_its_minimum_ends_its_set_replica_after_the_delay() {
    let deployed = healthy().with("inf-0-fe", "0r 1r").written_at(80);
    assert_eq!(due(&deployed, 900), "", "one may be missing");
    for (what, pods) in [
        ("pods are gone", "0r"),
        ("pods have no place", "0r 1g 2p"),
        ("pods fail", "0r 1ne 2ne"),
        ("pods run and are not ready", "0r 1nw 2nw"),
    ] {
        let deployed = healthy().with("inf-0-fe", pods).written_at(100);
        assert_eq!(due(&deployed, 100), "next:110", "{what}");
        assert_eq!(due(&deployed, 109), "next:110", "{what}");
        assert_eq!(due(&deployed, 110), "set:0", "{what}");
    }
    let plan = planned(&healthy().with("inf-0-fe", "0r").written_at(100), 110);
    assert_eq!(plan.restarts[0].cliques.len(), 7, "every clique of the replica, members of groups too");
    assert_eq!(plan.restarts[0].reason, "GangTermination");
    assert_eq!(plan.restarts[0].words, "below minAvailable for 10s");
    let starting = healthy().with("inf-0-fe", "0r 1b 2b").written_at(100);
    assert_eq!(due(&starting, 900), "", "pods that start are fine");
}

#[test]
fn other_set_replicas_are_left_alone() {
    let mut deployed = Deployed::new(3, SET).made(0).all("r").written_at(60);
    deployed.set.spec.template.termination_delay = Some("10s".into());
    let deployed = deployed.with("inf-1-fe", "0r").written_at(100).with("inf-2-fe", "0r").written_at(105);
    assert_eq!(due(&deployed, 110), "set:1 next:115");
    let cliques = planned(&deployed, 110).restarts.remove(0).cliques;
    assert!(cliques.iter().all(|it| it.starts_with("inf-1-")), "{cliques:?}");
    // What is no longer wanted is not looked at.
    let mut deployed = deployed;
    deployed.set.spec.replicas = 1;
    assert_eq!(due(&deployed, 900), "");
}

/// Each row has a reason not to terminate, and would otherwise.
#[test]
fn guards() {
    let breached = || healthy().with("inf-0-fe", "0r").written_at(100);
    assert_eq!(due(&breached(), 900), "set:0");

    let mut off = breached();
    off.set.spec.template.gang_termination = Some(GangTermination::Disabled);
    assert_eq!(due(&off, 900), "", "switched off");
    off.set.spec.template.gang_termination = Some(GangTermination::Enabled);
    assert_eq!(due(&off, 900), "set:0", "switched on");

    let mut endless = breached();
    for delay in [None, Some("later".into()), Some("-1s".into()), Some("2562047h".into())] {
        endless.set.spec.template.termination_delay = delay.clone();
        assert_eq!(planned(&endless, 900).restarts, [], "{delay:?} is not over");
    }

    let mut missing = healthy_as("fe=3/2 be=1/1 pre=1/1 dec=2/2 | pd=3/1:pre,dec");
    missing = missing.with("inf-0-fe", "0r").written_at(100);
    assert_eq!(due(&missing, 900), "set:0");
    assert_eq!(due(&missing.without("inf-0-be"), 900), "", "a clique is still to be made");

    let mut updating = breached();
    let clique = updating.cliques.get_mut("inf-0-fe").unwrap();
    for condition in &mut clique.status.as_mut().unwrap().conditions {
        if condition.type_ == "MinAvailableBreached" {
            condition.status = "Unknown".to_owned();
        }
    }
    assert_eq!(due(&updating, 900), "", "an update suspends judgement");

    assert_eq!(
        due(&breached().with("inf-0-fe", "0r 1r"), 900),
        "",
        "it is back, nobody has written it down yet"
    );
    assert_eq!(due(&breached().leaving("inf-0-fe"), 900), "", "it goes anyway");
    let unsaid = Deployed { cliques: Deployed::new(1, SET).made(0).cliques, ..breached() };
    assert_eq!(due(&unsaid, 900), "", "nobody has said anything yet");
}

/// What never had a place would be made anew for ever.
#[test]
fn what_was_never_placed_is_left_to_wait() {
    assert_eq!(due(&pending_as(SET), 90_000), "");
    // Also where somebody looked at it late, after a long outage say.
    let late = |text| {
        let mut deployed = Deployed::new(1, text).made(0).all("g").written_at(700);
        deployed.set.spec.template.termination_delay = Some("10s".into());
        deployed
    };
    assert_eq!(due(&late(SET), 90_000), "");
    assert_eq!(due(&late("fe=1/1"), 90_000), "");
    // Only the group never was well: the set replica has nothing else that is not.
    let half = pending_as(SET).with("inf-0-fe", "0r 1r 2r").written_at(60);
    assert_eq!(due(&half, 90_000), "");
    // Placed later than that, then lost.
    let lost = pending_as("fe=1/1").all("r").written_at(300).all("g").written_at(400);
    assert_eq!(due(&lost, 409), "next:410");
}

/// A clique some of whose pods are bound, one by one, never had its minimum.
#[test]
fn a_part_of_the_minimum_is_no_place() {
    let half = pending_as("fe=3/3").with("inf-0-fe", "0r 1r 2p").written_at(60);
    assert_eq!(due(&half, 90_000), "");
    assert_eq!(due(&half.with("inf-0-fe", "0r 1p 2p").written_at(100), 90_000), "", "it has even fewer");
    // It wanted none, which is no place either.
    let mut none = pending_as("fe=3/3");
    let clique = none.cliques.get_mut("inf-0-fe").unwrap();
    (clique.spec.replicas, clique.spec.min_available) = (Some(0), None);
    let mut more = none.with("inf-0-fe", "").written_at(60);
    more.cliques.get_mut("inf-0-fe").unwrap().spec.replicas = Some(3);
    assert_eq!(due(&more.with("inf-0-fe", "0g 1g 2g").written_at(100), 90_000), "");
}

/// Pods are scheduled in less than a second, and may be gone in the next.
#[test]
fn what_breaks_at_once_is_terminated_too() {
    let young = |clique: &str, pods: &str, second: i64| {
        let mut deployed = Deployed::new(1, SET).made(0).all("r").written_at(second);
        deployed.set.spec.template.termination_delay = Some("10s".into());
        deployed.with(clique, pods).written_at(second)
    };
    for second in 0..5 {
        for (clique, pods, want) in [
            ("inf-0-fe", "", "set:0"),
            ("inf-0-pd-2-dec", "0r", "inf-0-pd:2"),
            ("inf-0-pd-0-pre", "0ne", "inf-0-pd:0"),
        ] {
            let lost = young(clique, pods, second);
            assert_eq!(due(&lost, second + 9), format!("next:{}", second + 10), "{clique} after {second} s");
            assert_eq!(due(&lost, second + 10), want, "{clique} after {second} s");
        }
        // The whole group.
        let mut lost = young("inf-0-pd-0-dec", "", second);
        for replica in 1..3 {
            lost = lost.with(&format!("inf-0-pd-{replica}-dec"), "");
        }
        assert_eq!(due(&lost.written_at(second), second + 10), "set:0", "the group after {second} s");
    }
}

/// What other versions wrote has no record.
#[test]
fn without_a_record_a_bound_pod_means_that_there_was_a_place() {
    let adopted = |pods: &str| {
        let mut deployed = pending_as("fe=3/2").with("inf-0-fe", pods).written_at(2);
        let status = deployed.cliques.get_mut("inf-0-fe").unwrap().status.as_mut().unwrap();
        status.was_scheduled = None;
        deployed
    };
    assert_eq!(due(&adopted("0g 1g 2g"), 90_000), "", "nothing says so");
    assert_eq!(due(&adopted("0r 1g 2g"), 12), "set:0");
    assert_eq!(due(&adopted("0F 1g 2g"), 12), "set:0", "also one that failed there");
    // It is recorded with the next write, and stays when the last of them is gone.
    let later = adopted("0r 1g 2g").with("inf-0-fe", "0r 1p 2g").written_at(5).with("inf-0-fe", "0g 1g 2g");
    assert_eq!(due(&later.written_at(6), 12), "set:0");
    // A group that another version wrote about has members that say it.
    let mut group = healthy_as("pre=1/1 | pd=2/1:pre").all("g").written_at(100);
    for clique in group.cliques.values_mut() {
        clique.status.as_mut().unwrap().was_scheduled = None;
    }
    assert_eq!(due(&group, 110), "", "nothing is bound");
    assert_eq!(due(&group.with("inf-0-pd-1-pre", "0ne"), 110), "set:0");
}

/// The wait for a place is no part of the delay, even where nobody saw the clique well in between.
#[test]
fn the_delay_counts_from_the_place() {
    let deployed = pending_as("fe=1/1").with("inf-0-fe", "0ne").written_at(700);
    assert_eq!(due(&deployed, 709), "next:710");
    assert_eq!(due(&deployed, 710), "set:0");
}

#[test]
fn a_group_replica_is_restarted_alone_where_enough_others_are_left() {
    let one = healthy().with("inf-0-pd-2-dec", "0r").written_at(100);
    assert_eq!(due(&one, 109), "next:110");
    assert_eq!(due(&one, 110), "inf-0-pd:2");
    assert_eq!(planned(&one, 110).restarts[0].cliques, ["inf-0-pd-2-dec", "inf-0-pd-2-pre"]);
    let two = one.with("inf-0-pd-0-pre", "0ne").written_at(105);
    assert_eq!(due(&two, 110), "inf-0-pd:2 next:115");
    assert_eq!(due(&two, 115), "inf-0-pd:0 inf-0-pd:2");
    // With the third, the group itself is below its minimum, since 108. Those before it wait for it.
    let three = two.with("inf-0-pd-1-dec", "").written_at(108);
    assert_eq!(due(&three, 117), "next:118");
    assert_eq!(due(&three, 118), "set:0");
    // One of them is back: it is a matter of the others again.
    let back = three.with("inf-0-pd-0-pre", "0r").written_at(112);
    assert_eq!(due(&back, 118), "inf-0-pd:1 inf-0-pd:2");
}

#[test]
fn two_of_three_needed() {
    let text = "pre=1/1 dec=2/2 | pd=3/2:pre,dec";
    let one = healthy_as(text).with("inf-0-pd-0-dec", "0r").written_at(100);
    assert_eq!(due(&one, 110), "inf-0-pd:0");
    let two = one.with("inf-0-pd-1-dec", "0r").written_at(101);
    assert_eq!(due(&two, 110), "next:111");
    assert_eq!(due(&two, 111), "set:0");
    let mut without = two;
    without.groups.get_mut("inf-0-pd").unwrap().spec.min_available = None;
    assert_eq!(due(&without.written_at(102), 111), "inf-0-pd:0 inf-0-pd:1", "then one is needed");
}

/// The one that was restarted is not back: with another, too few are left.
#[test]
fn a_group_replica_that_is_not_back_counts_as_down() {
    let text = "pre=1/1 dec=2/2 | pd=2/1:pre,dec";
    let one = healthy_as(text).with("inf-0-pd-0-dec", "0r").written_at(100);
    let restarted = carried_out(one, 110);
    assert_eq!(due(&restarted, 900), "");
    let both = restarted.with("inf-0-pd-1-dec", "0r").written_at(1000);
    assert_eq!(due(&both, 1009), "next:1010");
    assert_eq!(due(&both, 1010), "set:0");
}

#[test]
fn an_update_of_the_group_suspends_judgement_on_its_replicas() {
    let mut one = healthy().with("inf-0-pd-2-dec", "0r").written_at(100);
    let status = one.groups.get_mut("inf-0-pd").unwrap().status.as_mut().unwrap();
    status.conditions[0].status = "Unknown".to_owned();
    assert_eq!(due(&one, 900), "");
}

#[test]
fn what_was_restarted_has_to_get_its_place_first() {
    let breached = healthy().with("inf-0-fe", "0ne 1ne 2ne").written_at(100);
    let restarted = carried_out(breached, 110);
    assert_eq!(due(&restarted, 9_000), "", "its pods are gone");
    let pending = restarted.all("g@200").written_at(200);
    assert_eq!(due(&pending, 9_000), "", "its new pods have no place");
    // Old pods that are still there are not its new place.
    let old = pending.all("r@100").written_at(300);
    assert_eq!(due(&old.with("inf-0-fe", "0ne@100 1ne@100 2ne@100").written_at(400), 9_000), "");
    // Placed at once, and failing from the first moment that anybody looks.
    let placed = pending_again().with("inf-0-fe", "0ne@200 1ne@200 2ne@200").written_at(1_000);
    assert_eq!(due(&placed, 1_009), "next:1010");
    assert_eq!(due(&placed, 1_010), "set:0");
}

/// A set replica that was terminated; its new pods wait.
fn pending_again() -> Deployed {
    let breached = healthy().with("inf-0-fe", "0ne 1ne 2ne").written_at(100);
    carried_out(breached, 110).all("g@200").written_at(200)
}

#[test]
fn groups_say_that_they_are_terminated_until_they_are_back() {
    let flags = |deployed: &Deployed| {
        let all = conditions(&deployed.groups["inf-0-pd"].status.as_ref().unwrap().conditions);
        all.into_iter().filter(|it| it.starts_with("Gang")).collect::<Vec<_>>().join(" ")
    };
    let active = "GangTerminationInProgress=True/GangTerminationActive";
    let breached = healthy().with("inf-0-fe", "0r").written_at(100);
    assert_eq!(flags(&breached), "");
    let restarted = carried_out(breached, 110);
    assert_eq!(flags(&restarted), active);
    assert_eq!(
        due(&restarted.with("inf-0-fe", "0r@200 1r@200").written_at(200), 9_000),
        "",
        "the group is not back"
    );

    // One replica is enough to be back. When that one is lost too, the group is a candidate again.
    let back = pending_again()
        .with("inf-0-pd-1-dec", "0r@200 1r@200")
        .with("inf-0-pd-1-pre", "0r@200")
        .written_at(300);
    assert_eq!(flags(&back), "");
    let lost = back.with("inf-0-fe", "0r@200 1r@200").with("inf-0-pd-1-pre", "").written_at(400);
    assert_eq!(flags(&lost), "");
    assert_eq!(due(&lost, 410), "set:0");
}

/// An autoscaler wants more of a group whose set replica was terminated: that is no reason to terminate it again.
#[test]
fn replicas_that_never_had_a_place_are_none_that_are_back() {
    const ONE: &str = "fe=1/1 dec=2/2 | pd=1/1:dec";
    let breached = healthy_as(ONE).with("inf-0-pd-0-dec", "0ne 1ne").written_at(100);
    let mut restarted = carried_out(breached, 110);
    restarted.groups.get_mut("inf-0-pd").unwrap().spec.replicas = 2;
    assert_eq!(due(&restarted, 9_000), "", "its clique is still to be made");

    let more = Deployed::new(1, "fe=1/1 dec=2/2 | pd=2/1:dec").made(150);
    let new = "inf-0-pd-1-dec";
    restarted.cliques.insert(new.to_owned(), more.cliques[new].clone());
    let restarted = restarted.with(new, "0g@150 1g@150").written_at(151);
    assert_eq!(due(&restarted, 9_000), "", "its pods wait");

    // It had its place and failed, and the others never came back: the whole delay is over for every one of them.
    let failed =
        restarted.with(new, "0r@150 1r@150").written_at(200).with(new, "0ne@150 1ne@150").written_at(300);
    assert_eq!(due(&failed, 309), "next:310");
    assert_eq!(due(&failed, 310), "set:0");
}

/// What upstream Grove terminated before it was replaced: it left a flag, and no notes.
#[test]
fn a_flag_of_others_stands_until_the_group_is_well() {
    let mut taken_over = healthy().with("inf-0-fe", "0r 1r").written_at(80);
    let flag = grove_api::wire::Condition {
        type_: "GangTerminationInProgress".to_owned(),
        status: "True".to_owned(),
        ..taken_over.groups["inf-0-pd"].status.as_ref().unwrap().conditions[0].clone()
    };
    let status = taken_over.groups.get_mut("inf-0-pd").unwrap().status.as_mut().unwrap();
    status.conditions.push(flag);
    for replica in 0..3 {
        taken_over = taken_over.with(&format!("inf-0-pd-{replica}-pre"), "0g");
    }
    let taken_over = taken_over.written_at(100);
    assert_eq!(due(&taken_over, 900), "");
    let well = taken_over.with("inf-0-pd-0-pre", "0r").written_at(1_000);
    assert_eq!(due(&well.with("inf-0-pd-0-pre", "0g").written_at(1_100), 1_110), "set:0");
}
