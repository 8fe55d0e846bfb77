//! Groups whose status is not, or not yet, what their pods show.

use super::*;

/// The group may miss one of two replicas.
const PAIR: &str = "pre=1/1 | pd=2/1:pre";

/// The status of a group could not be written: its cliques say since when it is below its minimum.
#[test]
fn a_group_that_cannot_say_so_is_judged_by_its_cliques() {
    let text = "pre=1/1 | pd=3/2:pre";
    let broken = |second: i64, group: Option<grove_api::wire::PodCliqueScalingGroupStatus>| {
        let mut deployed = healthy_as(text).with("inf-0-pd-0-pre", "").written_at(100);
        deployed = deployed.with("inf-0-pd-2-pre", "").written_at(second);
        deployed.groups.get_mut("inf-0-pd").unwrap().status = group;
        deployed
    };
    let said = |deployed: Deployed| deployed.groups["inf-0-pd"].status.clone();
    let well = said(healthy_as(text));
    let earlier = said(healthy_as(text).all("g").written_at(70));
    for (what, group) in [("nothing", None), ("that all is well", well), ("an earlier breach", earlier)] {
        assert_eq!(due(&broken(108, group.clone()), 117), "next:118", "it says {what}");
        assert_eq!(due(&broken(108, group), 118), "set:0", "it says {what}");
    }
}

/// What the cliques of a replica do not say yet has just happened: the delay does not count from an older breach.
#[test]
fn a_breach_that_is_not_written_yet_is_not_an_old_one() {
    let restarted = carried_out(healthy_as(PAIR).with("inf-0-pd-0-pre", "").written_at(100), 110);
    let second = restarted.with("inf-0-pd-1-pre", "");
    assert_eq!(due(&second, 112), "");
    let second = second.written_at(112);
    assert_eq!((due(&second, 121), due(&second, 122)), ("next:122".to_owned(), "set:0".to_owned()));
}

/// A scale-in takes the only healthy replica: the group is below its minimum from then on.
#[test]
fn a_scale_in_begins_the_delay_of_its_group() {
    let mut scaled = carried_out(healthy_as(PAIR).with("inf-0-pd-0-pre", "").written_at(100), 110);
    let group = scaled.groups.get_mut("inf-0-pd").unwrap();
    (group.spec.replicas, group.metadata.generation) = (1, Some(9));
    assert_eq!(due(&scaled, 112), "");
    // Also while its status cannot be written: from when the scale-in was seen.
    scaled.groups_changed.insert("inf-0-pd".to_owned(), at(112));
    assert_eq!((due(&scaled, 121), due(&scaled, 122)), ("next:122".to_owned(), "set:0".to_owned()));
}

/// The status of a clique could not be written: it counts from when the operator saw it, and only where the clique had its place.
#[test]
fn a_clique_that_cannot_say_so_is_judged_by_what_was_seen() {
    let seen = |mut deployed: Deployed, name: &str, second: i64| {
        deployed.breached_since.insert(name.to_owned(), at(second));
        deployed
    };
    let lost = || healthy_as("fe=2/2").with("inf-0-fe", "0r");
    assert_eq!(due(&lost(), 200), "", "nobody has seen it");
    let seen_at = |second| seen(lost(), "inf-0-fe", second);
    assert_eq!(
        (due(&seen_at(100), 109), due(&seen_at(100), 110)),
        ("next:110".to_owned(), "set:0".to_owned())
    );
    assert_eq!(
        due(&seen(lost().written_at(105), "inf-0-fe", 100), 110),
        "next:115",
        "its status goes before"
    );
    let waiting = seen(pending_as("fe=2/2"), "inf-0-fe", 1);
    assert_eq!(due(&waiting, 200), "", "it never had a place");
    let group = healthy_as(PAIR).with("inf-0-pd-0-pre", "").with("inf-0-pd-1-pre", "");
    let group = seen(seen(group, "inf-0-pd-0-pre", 90), "inf-0-pd-1-pre", 100);
    assert_eq!(due(&group, 109), "next:110");
    assert_eq!(due(&group, 110), "set:0");
}

/// A PodClique of the only healthy replica is deleted, and no status reflects that yet.
#[test]
fn a_clique_that_was_deleted_begins_the_delay_of_its_group() {
    let two = "pre=1/1 dec=1/1 | pd=2/1:pre,dec";
    let lost = "inf-0-pd-1-pre";
    for text in [PAIR, two] {
        let one = || carried_out(healthy_as(text).with("inf-0-pd-0-pre", "").written_at(100), 110);
        assert_eq!(due(&one().leaving(lost), 150), "", "it is being deleted");
        let mut again = one().without(lost);
        assert_eq!(due(&again, 150), "", "it is gone");
        let made = Deployed::new(1, text).made(150);
        again.cliques.insert(lost.to_owned(), made.cliques[lost].clone());
        let again = again.with(lost, "0g@150");
        assert_eq!(due(&again, 159), "next:160", "it is made again");
        assert_eq!(due(&again, 160), "set:0");
        assert_eq!(due(&again.written_at(152), 161), "next:162", "and the group says so");
    }
}
