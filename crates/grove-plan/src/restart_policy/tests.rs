//! Which units are restarted. Lives of a set are told by what its pods were, and when the notes of a plan were written.

mod history;

use grove_api::wire::{PodCliqueSetUpdateProgress, ReplicaUpdateProgress};
use serde_json::json;

use super::*;
use crate::{
    fixture::{Deployed, at, conditions, message},
    restart::unfinished,
    status, termination,
};

const SET: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=2/1:pre,dec";

/// Two replicas that run. Their pods were created at 100. Two restarts, ten seconds apart.
fn healthy(scope: &str) -> Deployed {
    let policy = json!({ "scope": scope, "maxRestarts": 2, "backoff": { "initial": "10s" } });
    Deployed::new(2, SET).policy(policy).made(50).all("r").written_at(110)
}

fn planned(deployed: &Deployed, second: i64) -> PolicyPlan {
    plan(&deployed.state_at(second))
}

/// Such as `inf-0-fe next:120`, and `!` before what is over.
fn told(plan: &PolicyPlan) -> String {
    let unit = |it: &Unit| match it {
        Unit::SetReplica(replica) => format!("set:{replica}"),
        Unit::GroupReplica(group, replica) => format!("{group}:{replica}"),
        Unit::Clique(name) => name.clone(),
    };
    let due = plan.restarts.iter().map(|it| unit(&it.unit));
    let over = plan.exhausted.iter().map(|it| format!("!{}", unit(&it.unit)));
    let next = plan.next.map(|it| format!("next:{}", it.as_second()));
    due.chain(over).chain(next).collect::<Vec<_>>().join(" ")
}

fn due(deployed: &Deployed, second: i64) -> String {
    told(&planned(deployed, second))
}

/// Writes the notes of a plan.
fn noted_by(mut deployed: Deployed, plan: &PolicyPlan) -> Deployed {
    for restart in &plan.restarts {
        for name in &restart.cliques {
            let clique = deployed.cliques.get_mut(name).unwrap();
            clique.status = Some(restart.noted(clique.status.as_ref()));
        }
    }
    for exhausted in &plan.exhausted {
        for name in &exhausted.cliques {
            let clique = deployed.cliques.get_mut(name).unwrap();
            clique.status = Some(exhausted.noted(clique.status.as_ref()));
        }
    }
    deployed
}

/// Writes the notes of what is due then; the pods of what is restarted are new, and all is reported.
fn carried_out(deployed: Deployed, second: i64) -> Deployed {
    let plan = planned(&deployed, second);
    let mut deployed = noted_by(deployed, &plan);
    for name in plan.restarts.iter().flat_map(|it| &it.cliques) {
        let replicas = deployed.cliques[name].spec.replicas.unwrap();
        let pods: Vec<String> = (0..replicas).map(|it| format!("{it}r@{second}")).collect();
        deployed = deployed.with(name, &pods.join(" "));
    }
    deployed.written_at(second)
}

#[test]
fn a_failure_restarts_its_unit() {
    let rows = [
        ("Pod", "inf-0-fe", ""),
        ("Clique", "inf-0-fe", "inf-0-fe"),
        ("Clique", "inf-1-pd-0-pre", "inf-1-pd-0-pre"),
        ("GroupReplica", "inf-0-fe", "inf-0-fe"),
        ("GroupReplica", "inf-1-pd-1-pre", "inf-1-pd:1"),
        ("SetReplica", "inf-1-pd-1-pre", "set:1"),
    ];
    for (scope, clique, want) in rows {
        assert_eq!(due(&healthy(scope), 200), "", "{scope}: all is well");
        for failed in ["0F", "0ne", "0nx", "0rx", "0re"] {
            assert_eq!(due(&healthy(scope).with(clique, failed), 200), want, "{scope}: {failed}");
        }
        for fine in ["", "0g", "0p", "0b", "0n", "0S", "0F!"] {
            assert_eq!(due(&healthy(scope).with(clique, fine), 200), "", "{scope}: {fine}");
        }
    }
    let deployed = healthy("SetReplica").with("inf-0-fe", "0F 1ne").with("inf-0-pd-0-pre", "0rx");
    let plan = planned(&deployed, 200);
    let [restart] = plan.restarts.as_slice() else { panic!("not one restart: {plan:?}") };
    assert_eq!(restart.cliques.len(), 5, "every clique of the replica");
    assert_eq!((restart.reason.as_str(), restart.before), ("RestartPolicy", at(101)));
    let mut without = deployed;
    without.set.spec.template.restart_policy = None;
    assert_eq!(planned(&without, 200), PolicyPlan::default());
}

#[test]
fn one_restart_for_each_failure_until_the_budget_is_spent() {
    for (scope, unit) in [("Clique", "inf-0-fe"), ("GroupReplica", "inf-0-fe"), ("SetReplica", "set:0")] {
        let deployed = carried_out(healthy(scope).with("inf-0-fe", "0ne 1r"), 200);
        assert_eq!(due(&deployed, 300), "", "{scope}: the new pods are fine");
        let deployed = deployed.with("inf-0-fe", "0r@200 1rx@200");
        assert_eq!(due(&deployed, 205), "next:210", "{scope}");
        assert_eq!(due(&deployed, 210), unit, "{scope}");
        let deployed = carried_out(deployed, 210).with("inf-0-fe", "0F@210 1r@210");
        assert_eq!(due(&deployed, 215), format!("!{unit}"), "{scope}");
        let deployed = carried_out(deployed, 215);
        assert_eq!(due(&deployed, 90_000), "", "{scope}: that is written once");
        // Other units have their own budget.
        let other = deployed.with("inf-1-fe", "0F");
        assert_eq!(planned(&other, 215).restarts.len(), 1, "{scope}");
        assert_eq!(due(&other.reset("again"), 90_000).split(' ').count(), 2, "{scope}: both");
    }
}

/// What failed before the restart is gone with it, although it is still seen.
#[test]
fn what_the_restart_replaces_asks_for_no_other() {
    let clique = "inf-0-pd-0-dec";
    let failing = healthy("Clique").with(clique, "0ne 1r");
    let plan = planned(&failing, 200);
    let deployed = noted_by(failing, &plan).written_at(201);
    assert_eq!(due(&deployed, 900), "", "they are on their way out");
    let pending = deployed.with(clique, "0F@200 1p@200").written_at(202);
    assert_eq!(due(&pending, 900), "", "its minimum has no place yet");
    let placed = pending.with(clique, "0r@200 1r@200").written_at(203);
    assert_eq!(due(&placed, 900), "");
    assert_eq!(due(&placed.with(clique, "0F@100 1r@200"), 900), "", "one of before");
}

/// A pod that fails before anybody saw its minimum bound had its place, too: else nothing would ever restart its unit.
#[test]
fn a_restart_is_over_although_a_new_pod_failed_at_once() {
    let clique = "inf-0-pd-0-dec";
    let restarted = || {
        let failing = healthy("Clique").with(clique, "0ne 1r");
        let plan = planned(&failing, 200);
        noted_by(failing, &plan).written_at(201)
    };
    for pods in ["0F@200 1r@200", "0F@200 1b@200", "0F@200 1F@200"] {
        let failed = restarted().with(clique, pods).written_at(202);
        assert_eq!(due(&failed, 205), "next:210", "{pods}: not before the pause is over");
        assert_eq!(due(&failed, 900), clique, "{pods}");
    }
    // The other one was lost meanwhile: it is held back below the minimum, and the one that failed stays.
    for pods in ["0F@200", "0F@200 1g@300"] {
        let failed = restarted().with(clique, pods).written_at(302);
        assert_eq!(due(&failed, 900), clique, "{pods}");
    }
    // Enough others can come.
    let more = |pods: &str| {
        let mut deployed = restarted();
        deployed.cliques.get_mut(clique).unwrap().spec.replicas = Some(3);
        due(&deployed.with(clique, pods).written_at(302), 900)
    };
    assert_eq!(more("0F@200 1g@300 2g@300"), "");
    assert_eq!(more("0F@200 1F@200 2g@300"), clique);
    assert_eq!(more("0F@200 1r@200 2p@200"), clique, "two had their place");
    // Without a policy of its unit failed pods are replaced one by one: the place is still to come.
    let mut alone = restarted().with(clique, "0F@200 1g@300");
    alone.set.spec.template.restart_policy = None;
    assert!(restart::is_open(&alone.written_at(302).states()[clique]));
}

/// Each row has a reason to stay quiet, and would restart otherwise.
#[test]
fn guards() {
    let failing = || healthy("SetReplica").with("inf-0-fe", "0F 1r");
    assert_eq!(due(&failing(), 200), "set:0");
    assert_eq!(due(&failing().leaving("inf-0-fe"), 200), "", "it goes anyway");
    let mut scaled = healthy("SetReplica").with("inf-1-fe", "0F 1r");
    scaled.set.spec.replicas = 1;
    assert_eq!(due(&scaled, 200), "", "nobody wants it any more");

    let mut updating = failing();
    let turn = ReplicaUpdateProgress { replica_index: 0, ..ReplicaUpdateProgress::default() };
    let progress = PodCliqueSetUpdateProgress { currently_updating: vec![turn], ..Default::default() };
    updating.set.status.get_or_insert_default().update_progress = Some(progress);
    assert_eq!(due(&updating, 200), "", "an update has its turn there");
    assert_eq!(due(&updating.with("inf-1-fe", "0F 1r"), 200), "set:1", "and not there");

    let mut restarted = healthy("SetReplica");
    let unit = Unit::GroupReplica("inf-0-pd".to_owned(), 1);
    let other = Restart::begin(&restarted.states(), unit, "GangTermination", String::new(), at(150));
    let status = &mut restarted.cliques.get_mut("inf-0-pd-1-pre").unwrap().status;
    *status = Some(other.noted(status.as_ref()));
    assert_eq!(
        due(&restarted.with("inf-0-fe", "0r 1r").with("inf-0-pd-1-pre", "0F@150"), 200),
        "",
        "it is being restarted"
    );
}

/// A replica that was scaled out may be without a place for ever: the others of its unit are restarted all the same.
#[test]
fn a_part_without_a_place_holds_up_nobody() {
    let deployed = carried_out(healthy("SetReplica").with("inf-0-fe", "0F 1r"), 200);
    let mut waiting = deployed.with("inf-0-pd-1-pre", "0g@200").with("inf-0-pd-1-dec", "0g@200 1g@200");
    for name in ["inf-0-pd-1-pre", "inf-0-pd-1-dec"] {
        let status = waiting.cliques.get_mut(name).unwrap().status.as_mut().unwrap();
        status.restart.as_mut().unwrap().scheduled_at = None;
    }
    let waiting = waiting.written_at(201);
    assert_eq!(due(&waiting, 300), "", "nothing failed");
    let failing = waiting.with("inf-0-fe", "0F@200 1r@200").written_at(300);
    assert_eq!(due(&failing, 300), "set:0");
}

/// Whoever finds only a part of the notes goes on with the same count.
#[test]
fn what_was_begun_is_counted_once() {
    let failing = healthy("SetReplica").with("inf-0-fe", "0F 1r");
    let plan = planned(&failing, 200);
    let mut deployed = failing;
    let clique = deployed.cliques.get_mut("inf-0-pd-1-pre").unwrap();
    clique.status = Some(plan.restarts[0].noted(clique.status.as_ref()));
    let rest = unfinished(&deployed.states());
    assert_eq!(rest[0].count, plan.restarts[0].count);
    assert_eq!(rest[0].cliques.len(), 4);
    for name in &rest[0].cliques {
        let clique = deployed.cliques.get_mut(name).unwrap();
        clique.status = Some(rest[0].noted(clique.status.as_ref()));
    }
    let counts: Vec<i32> = deployed.states().values().filter_map(restart::count).map(|it| it.count).collect();
    assert_eq!(counts, [1; 5]);

    // The same for the end of it: the one that says so is right, and the others follow.
    let policy = json!({ "scope": "SetReplica", "maxRestarts": 0 });
    let mut deployed = healthy("SetReplica").policy(policy).with("inf-0-fe", "0F 1r");
    let plan = planned(&deployed, 400);
    assert_eq!(told(&plan), "!set:0");
    let clique = deployed.cliques.get_mut("inf-0-fe").unwrap();
    clique.status = Some(plan.exhausted[0].noted(clique.status.as_ref()));
    let plan = planned(&deployed, 500);
    assert_eq!(plan.exhausted[0].cliques.len(), 4);
}

fn spent() -> Deployed {
    let policy = json!({ "scope": "Clique", "maxRestarts": 0, "window": "30m" });
    let deployed = healthy("Clique").policy(policy).with("inf-0-fe", "0ne 1ne");
    carried_out(deployed, 200)
}

#[test]
fn the_end_is_told_until_it_is_reset() {
    let type_ = "RestartBudgetExhausted";
    let says = |deployed: &Deployed| {
        let set = status::set(&deployed.report()).conditions;
        let clique = deployed.cliques["inf-0-fe"].status.clone().unwrap().conditions;
        [set, clique]
            .map(|it| conditions(&it).iter().any(|it| it == &format!("{type_}=True/TooManyRestarts")))
    };
    let deployed = spent();
    assert_eq!(says(&deployed), [true, true]);
    let set = status::set(&deployed.report()).conditions;
    let words = message(&set, type_);
    assert!(
        words.starts_with("clique inf-0-fe was restarted 0 times within 30m and failed again"),
        "{words}"
    );
    assert!(!words.contains("more"), "{words}");
    let both = carried_out(deployed.with("inf-1-fe", "0F"), 300);
    assert!(message(&status::set(&both.report()).conditions, type_).ends_with("; and 1 more"));

    let reset = both.reset("1").written_at(400);
    assert_eq!(says(&reset), [false, false]);
    assert!(reset.states().values().all(|it| restart::count(it).is_none()), "it is forgotten");
    let mut without = spent();
    without.set.spec.template.restart_policy = None;
    assert_eq!(says(&without.written_at(400)), [false, false]);
}

/// What is over is over, also for gang termination.
#[test]
fn nobody_else_restarts_it_then() {
    let mut deployed = spent();
    deployed.set.spec.template.termination_delay = Some("10s".into());
    let terminated = |deployed: &Deployed| termination::plan(&deployed.state_at(900)).restarts.len();
    assert_eq!(terminated(&deployed), 0);
    let reset = deployed.reset("1").written_at(400);
    assert_eq!(terminated(&reset), 1);

    let policy = json!({ "scope": "GroupReplica", "maxRestarts": 0 });
    let group = healthy("GroupReplica").policy(policy).with("inf-0-pd-1-dec", "0ne 1ne");
    let mut group = carried_out(group, 200);
    group.set.spec.template.termination_delay = Some("10s".into());
    assert_eq!(terminated(&group), 0);
    assert_eq!(terminated(&group.reset("1").written_at(400)), 1);
}

/// A group that was below its minimum for long, because nobody restarted a replica of it, is not terminated the moment that
/// somebody does.
#[test]
fn a_restart_has_the_whole_delay_to_help() {
    let policy = json!({ "scope": "GroupReplica", "maxRestarts": 0, "backoff": { "initial": "20s" } });
    let deployed = Deployed::new(1, "fe=2/1 pre=1/1 dec=2/2 | pd=2/2:pre,dec").policy(policy);
    let deployed = deployed.made(50).all("r").written_at(110).with("inf-0-pd-1-dec", "0ne 1r");
    let mut deployed = carried_out(deployed, 200);
    deployed.set.spec.template.termination_delay = Some("10s".into());
    let more = json!({ "scope": "GroupReplica", "maxRestarts": 1, "backoff": { "initial": "20s" } });
    let deployed = deployed.written_at(300).policy(more);
    assert_eq!(due(&deployed, 1000), "inf-0-pd:1");
    let plan = planned(&deployed, 1000);
    let deployed = noted_by(deployed, &plan).with("inf-0-pd-1-dec", "").with("inf-0-pd-1-pre", "");
    let deployed = deployed.written_at(1001);
    let terminated = |second: i64| termination::plan(&deployed.state_at(second)).restarts.len();
    assert_eq!((terminated(1029), terminated(1030)), (0, 1), "the pause of the policy, and the delay");
}

/// Nor does one replica that is restarted again and again give a group more time that is below its minimum without it.
#[test]
fn restarts_of_one_replica_are_no_delay_for_the_others() {
    let policy = json!({ "scope": "GroupReplica", "backoff": { "initial": "5s" } });
    let mut deployed = Deployed::new(1, "pre=1/1 | pd=4/2:pre").policy(policy);
    deployed.set.spec.template.termination_delay = Some("10s".into());
    let deployed = deployed.made(0).all("r@10").written_at(60);
    let lost = deployed.with("inf-0-pd-0-pre", "").with("inf-0-pd-1-pre", "").with("inf-0-pd-2-pre", "");
    let failing = lost.written_at(100).with("inf-0-pd-3-pre", "0ne@10");
    let due_at = |deployed: &Deployed, second: i64| {
        let plan = termination::plan(&deployed.state_at(second));
        (plan.restarts.iter().map(|it| it.unit.clone()).collect::<Vec<_>>(), plan.next)
    };
    let restarted = carried_out(failing, 105);
    let note = restarted.cliques["inf-0-pd-3-pre"].status.clone().unwrap();
    assert_eq!(note.restarts.unwrap().next_at.0, at(110));
    assert_eq!(note.restart.unwrap().scheduled_at.unwrap().0, at(105));
    assert_eq!(due_at(&restarted, 109), (vec![], Some(at(110))));
    assert_eq!(due_at(&restarted, 110), (vec![Unit::SetReplica(0)], None));
    let restarted = restarted.with("inf-0-pd-3-pre", "0ne@105");
    assert_eq!(due_at(&restarted, 110), (vec![Unit::SetReplica(0)], None), "it fails again");
    // One of the three was restarted too, and it is the one that is one too many.
    let mut later = restarted.with("inf-0-pd-3-pre", "0r@105");
    let counted = later.cliques["inf-0-pd-3-pre"].status.clone().unwrap().restarts;
    later.cliques.get_mut("inf-0-pd-1-pre").unwrap().status.as_mut().unwrap().restarts = counted;
    assert_eq!(due_at(&later, 110), (vec![], Some(at(120))));
}
