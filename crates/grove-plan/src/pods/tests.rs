//! What is created and deleted, row by row.

mod disruption_laws;
mod laws;
mod lost;
mod updates;

use super::*;
use crate::fixture::{HASH, at, pod, pods};

fn want(replicas: u32) -> Want<'static> {
    Want {
        replicas,
        minimum: 0,
        core: 0,
        hash: HASH,
        outdated: Outdated::Stay,
        may_complete: false,
        ended: Ended::Replaced,
        at_most: u32::MAX,
        restart_before: None,
        lost: &[],
    }
}

#[test]
fn pods_are_replaced_only_where_they_can_be_created_again() {
    for (allowed, limit, existing, expected) in [
        (3, 3, 3, true),
        (u32::MAX, u32::MAX, 3, true),
        // Its scheduler cannot be used.
        (0, 0, 3, false),
        // Under a quota, only the minimum of two may exist.
        (3, 2, 3, false),
        (3, 2, 2, true),
        (3, 0, 1, false),
    ] {
        assert_eq!(can_recreate(allowed, limit, existing), expected, "{allowed} {limit} {existing}");
    }
}

fn planned(want: Want<'_>, text: &str) -> PodPlan {
    plan(want, &pods(text).iter().collect::<Vec<_>>())
}

fn created(plan: &PodPlan) -> String {
    plan.create.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn deleted(plan: &PodPlan) -> String {
    plan.delete.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(" ")
}

/// Replicas, pods, then what is created and what is deleted.
type Row = (u32, &'static str, &'static str, &'static str);

fn check(rows: &[Row], want: impl Fn(u32) -> Want<'static>) {
    for (replicas, pods, create, delete) in rows {
        let plan = planned(want(*replicas), pods);
        assert_eq!(
            (created(&plan).as_str(), deleted(&plan).as_str()),
            (*create, *delete),
            "{replicas}: {pods}"
        );
    }
}

#[test]
fn lowest_free_indices_are_taken() {
    let rows = [
        (0, "", "", ""),
        (3, "", "0 1 2", ""),
        (3, "0r 2r", "1", ""),
        (3, "1r", "0 2", ""),
        (4, "0g 3b", "1 2", ""),
        // An index says who a pod is, not how many there are.
        (2, "5r 7r", "", ""),
        (3, "5r", "0 1", ""),
        (2, "-r", "0", ""),
    ];
    check(&rows, want);
}

/// A scheduler that counts the lowest indices needs these: without them, what replaces a lost pod would never be placed.
#[test]
fn pods_of_the_core_stay() {
    let rows = [
        (2, "0p 1g 2r", "", "2r"),
        (2, "0g 1p 2r 3r", "", "3r 2r"),
        // Above the core, value decides.
        (3, "0r 1r 2p 3r", "", "2p"),
    ];
    check(&rows, |replicas| Want { core: 2, ..want(replicas) });
    check(&[(2, "0p 1g 2r", "", "1g")], want);
}

/// One above the core does not stand for one of it: that one comes first, and then the other goes.
#[test]
fn a_hole_in_the_core_is_filled() {
    let core = |replicas| Want { core: 2, minimum: 2, ..want(replicas) };
    let rows = [
        (2, "0r 2r", "1", ""),
        (2, "0r 1g 2r", "", ""),
        (2, "0r 1r 2r", "", "2r"),
        (3, "0r 2r", "1", ""),
        (3, "0r 2r 3r", "1", ""),
        (1, "1r", "0", ""),
    ];
    check(&rows, core);
    check(&[(2, "0r 2r", "", "")], |replicas| Want { at_most: 1, ..core(replicas) });
    // Of a clique that is smaller than its core, the lowest index stays: else it would be deleted and created for ever.
    check(&[(1, "0r@500 1r@1", "", "1r@1")], |replicas| Want { minimum: 1, ..core(replicas) });
    check(&[(2, "0r 2r", "", "")], want);
}

/// Each pair differs in one rule, and in all later rules the other way round.
#[test]
fn less_valuable_goes_first() {
    let pairs = [
        ("unassigned before assigned", "0p@1", "1bo@9"),
        ("held back is unassigned", "0g@1", "1bo@9"),
        ("Pending before Unknown", "0b@1", "1uo@9"),
        ("Unknown before Running", "0u@1", "1no@9"),
        ("not ready before ready", "0n@1", "1ro@9"),
        ("old template before current", "0ro@1", "1r@9"),
        ("newer before older", "0r@9", "1r@1"),
        ("of one burst the highest index", "1r", "0r"),
    ];
    for (rule, less, more) in pairs {
        for text in [format!("{less} {more}"), format!("{more} {less}")] {
            let plan = planned(want(1), &text);
            assert_eq!(
                (deleted(&plan).as_str(), plan.create.as_slice()),
                (less, [].as_slice()),
                "{rule}: {text}"
            );
            assert_eq!(plan.delete[0].why, Why::Excess, "{rule}");
            assert_eq!(plan.delete[0].uid, format!("uid-{less}"), "{rule}");
        }
    }
}

#[test]
fn scale_in_takes_from_the_least_valuable_end() {
    let order = ["4p", "2b", "6u", "0n", "5ro", "1r@9", "3r@1"];
    let text = "0n 1r@9 2b 3r@1 4p 5ro 6u";
    for replicas in 0..=7 {
        let plan = planned(want(replicas), text);
        assert_eq!(deleted(&plan), order[..7 - replicas as usize].join(" "), "{replicas}");
        assert!(plan.create.is_empty(), "{replicas}");
    }
}

#[test]
fn ended_pods_are_replaced_by_policy() {
    check(
        &[(2, "0r 1F", "1", "1F"), (2, "0r 1S", "1", "1S"), (1, "0r 1F", "", "1F"), (0, "0S", "", "0S")],
        want,
    );
    let complete = |replicas| Want { may_complete: true, ..want(replicas) };
    check(
        &[
            (2, "0r 1S", "", ""),
            (2, "0r 1F", "1", "1F"),
            (2, "0S 1S", "", ""),
            (1, "0r 1S", "", "1S"),
            // What is done keeps its index.
            (2, "0S", "1", ""),
        ],
        complete,
    );
    assert_eq!(planned(want(1), "0F").delete[0].why, Why::Ended);
}

/// While the pause between two replacements lasts, what failed holds its place and its index; all else goes on.
#[test]
fn ended_pods_may_have_to_wait() {
    let rows = [
        (2, "0r 1F", "", ""),
        (3, "0r 1F", "2", ""),
        (2, "0F", "1", ""),
        (1, "0r 1r 2F", "", "1r"),
        (2, "0r 1F!", "1", ""),
    ];
    check(&rows, |replicas| Want { ended: Ended::Stay, ..want(replicas) });
    check(&rows, |replicas| Want { ended: Ended::FailedStay, ..want(replicas) });
    // What its restart policy does not speak of goes.
    check(&[(2, "0S 1F", "0", "0S")], |replicas| Want { ended: Ended::FailedStay, ..want(replicas) });
}

/// Also one that is stuck on a lost node.
#[test]
fn terminating_pods_count_nowhere() {
    let rows = [
        (2, "0r 1r!", "1", ""),
        (2, "0r! 1r!", "0 1", ""),
        (2, "0r 1r! 1r", "", ""),
        (1, "0r! 1r", "", ""),
        (0, "0r!", "", ""),
        (1, "0F!", "0", ""),
        (1, "0r 0u!", "", ""),
    ];
    check(&rows, want);
}

#[test]
fn of_two_pods_with_one_index_the_better_stays() {
    let rows = [
        (2, "0r 0n 1r", "", "0n"),
        (2, "0n 0r 1r", "", "0n"),
        (2, "0r@1 0r@9", "1", "0r@9"),
        (3, "1r 1p 1b", "0 2", "1b 1p"),
        (1, "0r 0p 1r@200", "", "0p 1r@200"),
    ];
    check(&rows, want);
    let plan = planned(want(1), "0r 0p 1r@200");
    assert_eq!(plan.delete.iter().map(|it| it.why).collect::<Vec<_>>(), [Why::SameIndex, Why::Excess]);
}

/// While another clique lacks its minimum, this one creates no more than its own; what is there stays.
#[test]
fn at_most_holds_creation_back_and_deletes_nothing() {
    let rows = [
        (4, "", "0 1", ""),
        (4, "1r", "0", ""),
        (4, "0r 1r 2r", "", ""),
        (1, "", "0", ""),
        (1, "0r 1n", "", "1n"),
    ];
    check(&rows, |replicas| Want { at_most: 2, ..want(replicas) });
    check(&[(3, "", "", "")], |replicas| Want { at_most: 0, ..want(replicas) });
}

/// One that serves is not taken from those that need it, however high its index.
#[test]
fn scale_in_waits_until_the_others_serve() {
    let rows = [
        (2, "0r 1r 2r", "", "2r"),
        (2, "0n 1r 2r", "", "0n"),
        (3, "0r 1r 2r 3r 4r", "", "4r 3r"),
        (1, "0r 1r", "", "1r"),
    ];
    check(&rows, |replicas| Want { minimum: 2, ..want(replicas) });
    let rows = [
        // The pod with index 0 stays for the scheduler's sake; 2 goes when 0 serves.
        (2, "0n 1r 2r", "", ""),
        (2, "0r 1r 2r", "", "2r"),
        // Both need not wait for each other.
        (2, "0n 1r 2r 3p", "", "3p"),
        // Fewer than the minimum are wanted.
        (1, "0n 2r", "", ""),
        (0, "0r 1r", "", "1r 0r"),
    ];
    check(&rows, |replicas| Want { minimum: 2, core: 2, ..want(replicas) });
}

#[test]
fn outdated_pods_are_replaced_one_after_the_other() {
    let replaced = |minimum| {
        move |replicas| {
            let outdated = Outdated::Replaced { ready_at_start: replicas };
            Want { minimum, outdated, ..want(replicas) }
        }
    };
    let rows = [
        (3, "0r 1r 2r", "", ""),
        // The oldest first.
        (3, "0ro@3 1ro@1 2ro@2", "1", "1ro@1"),
        (3, "0ro 1ro 2r", "0", "0ro"),
        // The new one has to be ready, whatever the minimum is.
        (3, "0ro 1ro 2n", "", ""),
        (3, "0ro 1ro 2p", "", ""),
        (3, "0ro 1ro 2g", "", ""),
        // All that were there have to be there.
        (3, "0ro 1ro", "2", ""),
        (3, "0ro 1ro 2ro!", "2", ""),
        // What does not serve goes at once, and first.
        (3, "0ro 1no 2po", "1 2", "1no 2po"),
        (3, "0bo 1uo 2go", "0 1 2", "0bo 1uo 2go"),
        // Too many: those of the old template go first, and nothing else meanwhile.
        (2, "0ro@2 1ro@1 2r", "", "0ro@2"),
    ];
    check(&rows, replaced(1));
    // All are needed: one is missing, and not before all are ready.
    check(&[(2, "0ro 1ro", "0", "0ro"), (2, "0r 1ro", "1", "1ro"), (2, "0n 1ro", "", "")], replaced(2));
    // Two of three are needed, and one is missing: the others stay.
    check(&[(3, "0ro 1ro 2no", "2", "2no"), (3, "0ro 1ro 2n", "", "")], replaced(2));
    assert_eq!(planned(replaced(1)(1), "0ro").delete[0].why, Why::Outdated);
    // Scaled in in the middle: the one that is too many serves for the one that is being replaced.
    let core = |replicas| Want { core: 2, ..replaced(2)(replicas) };
    check(&[(2, "0n 1ro 2ro", "", ""), (2, "0r 1ro 2ro", "", "2ro"), (2, "0r 1ro", "1", "1ro")], core);
    // What was not there before the update need not be there now: one that has no room, one that was scaled out.
    let two_of_three =
        |replicas| Want { outdated: Outdated::Replaced { ready_at_start: 2 }, ..want(replicas) };
    check(
        &[(3, "0ro 1ro 2p", "0", "0ro"), (3, "0n 1ro 2p", "", ""), (2, "0ro@2 1ro@1 2r", "", "0ro@2")],
        two_of_three,
    );
}

/// Also where an update that went wrong is taken back: what never got ready goes at once.
#[test]
fn a_template_that_is_set_back_gets_out_of_a_broken_one() {
    let replaced = |replicas| {
        let outdated = Outdated::Replaced { ready_at_start: 1 };
        Want { minimum: replicas, outdated, ..want(replicas) }
    };
    check(&[(3, "0r 1r 2no", "2", "2no"), (3, "0r 1po 2bo", "1 2", "1po 2bo")], replaced);
}

#[test]
fn outdated_pods_stay_where_it_is_not_their_turn() {
    let rows = [(3, "0ro 1no 2po", "", ""), (2, "0ro 1r", "", "")];
    check(&rows, want);
    let rows = [(3, "0ro 1no 2po", "2", "2po"), (3, "0ro 1bo 2go", "2", "2go")];
    check(&rows, |replicas| Want { outdated: Outdated::Unbound, ..want(replicas) });
}

/// Work that is done is not done again.
#[test]
fn what_has_completed_is_not_replaced() {
    let outdated = Outdated::Replaced { ready_at_start: 1 };
    let replaced = |replicas| Want { outdated, may_complete: true, ..want(replicas) };
    check(&[(2, "0So 1ro", "1", "1ro"), (2, "0So 1r", "", ""), (2, "0S 1ro", "1", "1ro")], replaced);
    // It served when the update began.
    let outdated = Outdated::Replaced { ready_at_start: 3 };
    let replaced = |replicas| Want { outdated, may_complete: true, minimum: 1, ..want(replicas) };
    check(&[(3, "0So 1ro 2ro", "1", "1ro"), (3, "0So 1n 2ro", "", "")], replaced);
}

/// Whatever state they are in, also those that have done their work or are kept; what is on its way out goes by itself.
#[test]
fn a_restart_replaces_what_was_there_before_it() {
    let rows = [
        (2, "0r@9 1g@9", "0 1", "0r@9 1g@9"),
        (2, "0r@9 1r@10", "0", "0r@9"),
        (2, "0r@10 1r@11", "", ""),
        (3, "0S@9 1F@9 2r!@9", "0 1 2", "0S@9 1F@9"),
        // Scaled in at the same time.
        (1, "0r@9 1r@9", "0", "0r@9 1r@9"),
    ];
    let restart = |replicas| Want {
        may_complete: true,
        ended: Ended::Stay,
        restart_before: Some(at(10)),
        ..want(replicas)
    };
    check(&rows, restart);
    assert_eq!(planned(restart(1), "0r@9").delete[0].why, Why::Restarted);
    // A server that takes no pods now still loses the old ones; they come back when it does.
    check(&[(1, "0r@9", "", "0r@9")], |replicas| Want { at_most: 0, ..restart(replicas) });
}
