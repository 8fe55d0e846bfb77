mod model;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A gang of three pods that has none yet, created in this second.
fn claim(name: &str, created: i64) -> Claim {
    Claim {
        name: name.to_owned(),
        uid: format!("uid-{name}"),
        created: at(created),
        base: None,
        initialized: false,
        running: false,
        missing: 3,
        lacking: 3,
        gated: 0,
        surplus: 0,
        refused_at: None,
    }
}

fn holding(gated: u32, claim: Claim) -> Claim {
    Claim { missing: 3 - gated, lacking: 3 - gated, gated, ..claim }
}

fn refused(second: i64, claim: Claim) -> Claim {
    Claim { refused_at: Some(at(second)), ..claim }
}

fn of_base(base: &str, claim: Claim) -> Claim {
    Claim { base: Some(base.to_owned()), ..claim }
}

/// A gang that runs, and lacks so many to its minimum and to its replicas.
fn running(missing: u32, lacking: u32, claim: Claim) -> Claim {
    Claim { initialized: true, running: true, missing, lacking, ..claim }
}

fn first(claims: &[Claim]) -> Option<String> {
    plan(&Ledger::default(), claims, at(100)).head.map(|it| it.trim_start_matches("uid-").to_owned())
}

#[test]
fn the_oldest_gang_that_lacks_pods_creates() {
    let rows: [(&str, Vec<Claim>, Option<&str>); 9] = [
        ("the oldest", vec![claim("b", 2), claim("a", 3), claim("c", 1)], Some("c")),
        ("by name in the same second", vec![claim("b", 1), claim("a", 1)], Some("a")),
        ("the base gang first", vec![of_base("z", claim("a", 1)), claim("z", 1)], Some("z")),
        (
            "also where it was made again later",
            vec![of_base("z", claim("a", 1)), claim("z", 5), claim("m", 6)],
            Some("z"),
        ),
        ("nobody waits for who has all", vec![running(0, 0, claim("a", 1)), claim("b", 2)], Some("b")),
        ("growth by age", vec![running(0, 2, claim("a", 1)), claim("b", 2)], Some("a")),
        ("growth does not overtake", vec![running(0, 2, claim("a", 2)), claim("b", 1)], Some("b")),
        ("repair overtakes", vec![claim("a", 1), running(1, 1, claim("b", 2))], Some("b")),
        ("nothing lacks", vec![running(0, 0, claim("a", 1))], None),
    ];
    for (row, claims, expected) in rows {
        assert_eq!(first(&claims).as_deref(), expected, "{row}");
        let reversed: Vec<Claim> = claims.into_iter().rev().collect();
        assert_eq!(first(&reversed).as_deref(), expected, "{row}, in another order");
    }
}

#[test]
fn everybody_else_waits_and_says_for_whom() {
    let claims = [
        claim("a", 1),
        claim("b", 2),
        of_base("b", claim("c", 2)),
        running(0, 2, claim("d", 3)),
        running(0, 0, claim("e", 4)),
    ];
    let plan = plan(&Ledger::default(), &claims, at(100));
    let words = |text: &str| format!("waiting for quota: {text}");
    for (name, share) in [
        ("a", Share::MinimumFirst),
        ("b", Share::Nothing(words("gang a is older"))),
        ("c", Share::Nothing(words("base gang b comes first"))),
        ("d", Share::Minimum(words("gang a is older"))),
        ("e", Share::All),
    ] {
        assert_eq!(plan.shares[&format!("uid-{name}")], share, "{name}");
    }
}

#[test]
fn running_gangs_restore_their_minimum_whoever_has_the_turn() {
    let claims = [running(1, 1, claim("a", 1)), running(1, 2, claim("b", 2)), claim("c", 0)];
    let plan = plan(&Ledger::default(), &claims, at(100));
    assert_eq!(plan.head.as_deref(), Some("uid-a"));
    assert!(matches!(&plan.shares["uid-b"], Share::Minimum(_)));
    let words = plan.shares["uid-c"].reason().unwrap();
    assert_eq!(words, "waiting for quota: gang a ran before and is restored first");
}

/// Pods above the minimum of one clique would take the quota that another clique of the same gang needs.
#[test]
fn within_a_gang_the_minimum_comes_first() {
    for (row, head, is_all) in [
        ("it lacks its minimum", Claim { missing: 1, lacking: 4, ..claim("a", 1) }, false),
        ("it runs and lacks its minimum", running(1, 4, claim("a", 1)), false),
        ("it has its minimum", running(0, 3, claim("a", 1)), true),
    ] {
        let plan = plan(&Ledger::default(), &[head, claim("b", 2)], at(100));
        assert_eq!(plan.head.as_deref(), Some("uid-a"), "{row}");
        assert_eq!(plan.shares["uid-a"] == Share::All, is_all, "{row}");
    }
}

/// Gated pods above the minimum go where a gang lacks its minimum: its own first, and before a younger gang deletes all.
#[test]
fn pods_above_the_minimum_go_before_those_below_it() {
    let surplus = |gated: u32, surplus: u32, it: Claim| Claim { gated, surplus, ..it };
    let lacks = |it: Claim| Claim { missing: 1, lacking: 2, ..it };
    for (row, head, other, trimmed, released) in [
        ("its own", surplus(3, 1, lacks(claim("a", 1))), holding(1, claim("b", 2)), Some("uid-a"), 0),
        ("it runs", surplus(1, 1, running(1, 2, claim("a", 1))), claim("b", 2), Some("uid-a"), 0),
        (
            "the last",
            surplus(3, 1, lacks(claim("a", 1))),
            surplus(3, 1, lacks(claim("b", 2))),
            Some("uid-b"),
            0,
        ),
        ("none above", surplus(2, 0, lacks(claim("a", 1))), holding(1, claim("b", 2)), None, 1),
        (
            "it has its minimum",
            surplus(2, 2, running(0, 1, claim("a", 1))),
            holding(1, claim("b", 2)),
            None,
            1,
        ),
    ] {
        let first = plan(&Ledger::default(), &[refused(99, head.clone()), other.clone()], at(100));
        assert_eq!(first.trim.as_deref(), trimmed, "{row}");
        assert_eq!(first.release.len(), released, "{row}");
        // What was freed is tried first.
        let again = plan(&first.ledger, &[refused(99, head.clone()), other.clone()], at(101));
        assert_eq!((again.trim, again.release.len()), (None, 0), "{row}, again");
        let calm = plan(&Ledger::default(), &[head, other], at(100));
        assert_eq!((calm.trim, calm.release.len()), (None, 0), "{row}, not refused");
    }
}

#[test]
fn without_lack_there_are_no_shares() {
    let plan = plan(&Ledger::default(), &[running(0, 0, claim("a", 1))], at(100));
    assert!(plan.shares.is_empty() && plan.release.is_empty() && plan.next.is_none());
}

/// Each time the head is refused, the youngest of those that hold pods deletes them.
#[test]
fn the_youngest_holder_releases_when_the_head_is_refused() {
    let claims = |refusal: Option<i64>, b: u32, c: u32| {
        let head = Claim { refused_at: refusal.map(at), ..holding(1, claim("a", 1)) };
        [head, holding(b, claim("b", 2)), holding(c, claim("c", 3)), claim("d", 4)]
    };
    let mut ledger = Ledger::default();
    for (now, refusal, b, c, expected) in [
        (100, Some(99), 1, 1, vec!["uid-c"]),
        (101, Some(99), 1, 1, vec![]),
        (102, Some(99), 1, 0, vec![]),
        (103, Some(103), 1, 0, vec!["uid-b"]),
        (104, Some(104), 0, 0, vec![]),
    ] {
        let plan = plan(&ledger, &claims(refusal, b, c), at(now));
        assert_eq!(plan.release, expected, "in second {now}");
        ledger = plan.ledger;
    }
}

#[test]
fn who_has_its_turn_tries_before_anybody_releases() {
    let rest = [holding(1, claim("b", 2)), holding(1, claim("c", 3))];
    let with = |first: Claim| -> Vec<Claim> { std::iter::once(first).chain(rest.clone()).collect() };
    // Nothing was released yet: the turn alone decides which refusals count.
    let before = plan(&Ledger::default(), &with(claim("a", 1)), at(100));
    assert_eq!((before.head.as_deref(), before.release.len()), (Some("uid-a"), 0));
    // It is complete, and the next was refused long ago.
    let mut claims = with(running(0, 0, claim("a", 1)));
    claims[1].refused_at = Some(at(98));
    let turn = plan(&before.ledger, &claims, at(110));
    assert_eq!((turn.head.as_deref(), turn.is_new_head), (Some("uid-b"), true));
    assert!(turn.release.is_empty());
    claims[1].refused_at = Some(at(111));
    let again = plan(&turn.ledger, &claims, at(112));
    assert_eq!((again.release, again.is_new_head), (vec!["uid-c".to_owned()], false));
}

#[test]
fn nobody_releases_what_runs_what_is_complete_or_what_is_older() {
    let head = || refused(99, holding(1, claim("a", 5)));
    let gated = |it: Claim| Claim { gated: 2, ..it };
    for (row, other) in [
        ("a pod runs", gated(Claim { running: true, missing: 1, lacking: 1, ..claim("b", 9) })),
        ("its minimum is there", gated(Claim { missing: 0, lacking: 1, ..claim("b", 9) })),
        ("it has no pods", claim("b", 9)),
    ] {
        let plan = plan(&Ledger::default(), &[head(), other], at(100));
        assert!(plan.release.is_empty(), "{row}");
    }
    let older = plan(&Ledger::default(), &[head(), refused(99, holding(2, claim("b", 1)))], at(100));
    assert_eq!((older.head.as_deref(), older.release), (Some("uid-b"), vec!["uid-a".to_owned()]));
}

/// A scaled gang may have been complete for a moment, before its base gang was.
#[test]
fn a_scaled_gang_gives_back_what_its_base_gang_needs() {
    let base = refused(99, holding(2, claim("a", 1)));
    let scaled = of_base("a", Claim { initialized: true, ..holding(2, claim("b", 2)) });
    let plan = plan(&Ledger::default(), &[base, scaled], at(100));
    assert_eq!(plan.head.as_deref(), Some("uid-a"));
    assert_eq!(plan.release, ["uid-b"]);
}

/// A gang that was complete once and lost all of its pods comes before those that never were, and gives way to an older one
/// of its kind.
#[test]
fn of_two_gangs_that_are_restarted_the_older_is_completed() {
    let restarted = |it: Claim| Claim { initialized: true, ..it };
    let claims = [
        holding(2, claim("new", 0)),
        restarted(refused(99, holding(1, claim("a", 1)))),
        restarted(holding(2, claim("b", 2))),
    ];
    let plan = plan(&Ledger::default(), &claims, at(100));
    assert_eq!(plan.head.as_deref(), Some("uid-a"));
    assert_eq!(plan.release, ["uid-new"], "the last in the order");
}

/// The first fits in no way: after a while the second has its turn, and the first comes back when the quota is raised.
#[test]
fn who_makes_no_progress_is_parked_while_others_wait() {
    let claims = [refused(99, holding(2, claim("a", 1))), claim("b", 2)];
    let begun = plan(&Ledger::default(), &claims, at(100));
    assert_eq!(begun.next, Some(at(400)));
    let waiting = plan(&begun.ledger, &claims, at(399));
    assert_eq!((waiting.head.as_deref(), waiting.release.len()), (Some("uid-a"), 0));
    let parked = plan(&waiting.ledger, &claims, at(400));
    assert_eq!(parked.head.as_deref(), Some("uid-b"));
    assert_eq!(parked.release, ["uid-a"]);
    assert!(
        parked.shares["uid-a"].reason().unwrap().contains("tried again when the ResourceQuota is raised")
    );

    let claims = [claim("a", 1), claim("b", 2)];
    let head = |ledger: &Ledger, now: i64| plan(ledger, &claims, at(now)).head.unwrap();
    let with = |freed: Option<i64>, raised: Option<i64>| {
        let mut ledger = parked.ledger.clone();
        for (change, second) in [(Change::Freed, freed), (Change::Raised, raised)] {
            if let Some(second) = second {
                ledger.note(change, at(second));
            }
        }
        ledger
    };
    for (row, ledger, now, expected) in [
        ("nothing happened", with(None, None), 450, "uid-b"),
        ("it was raised", with(None, Some(401)), 402, "uid-a"),
        ("it was raised before", with(None, Some(399)), 402, "uid-b"),
        ("its own pods were freed", with(Some(405), None), 500, "uid-b"),
        ("others were freed, in its pause", with(Some(420), None), 459, "uid-b"),
        ("others were freed", with(Some(420), None), 460, "uid-a"),
        ("nothing happened for long", with(None, None), 1000, "uid-a"),
    ] {
        assert_eq!(head(&ledger, now), expected, "{row}");
    }
}

#[test]
fn who_waits_alone_keeps_its_turn_and_its_pods() {
    let claims = [refused(99, holding(2, claim("a", 1))), running(0, 0, claim("b", 2))];
    let mut ledger = Ledger::default();
    for now in [100, 1_000, 100_000] {
        let plan = plan(&ledger, &claims, at(now));
        assert_eq!((plan.head.as_deref(), plan.release.len()), (Some("uid-a"), 0), "in second {now}");
        ledger = plan.ledger;
    }
}

#[test]
fn who_makes_progress_is_not_parked() {
    let mut ledger = Ledger::default();
    for (now, gated) in [(100, 0), (399, 1), (600, 1), (698, 1)] {
        let claims = [refused(now - 1, holding(gated, claim("a", 1))), claim("b", 2)];
        let plan = plan(&ledger, &claims, at(now));
        assert_eq!(plan.head.as_deref(), Some("uid-a"), "in second {now}");
        ledger = plan.ledger;
    }
    let claims = [refused(698, holding(1, claim("a", 1))), claim("b", 2)];
    assert_eq!(plan(&ledger, &claims, at(699)).head.as_deref(), Some("uid-b"));
}

#[test]
fn pauses_of_parked_gangs_double_up_to_a_limit() {
    let minutes = |times: u32, pause| {
        let parked = Parked { at: at(0), times, active: true };
        parked.pause(pause).as_second() / 60
    };
    assert_eq!([1, 2, 3, 7, 99].map(|it| minutes(it, FREED_PAUSE)), [1, 2, 4, 60, 60]);
    assert_eq!([1, 2, 3, 7, 99].map(|it| minutes(it, PARKED_PAUSE)), [10, 20, 40, 360, 360]);
}
