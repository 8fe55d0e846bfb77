//! Which parts of a set find room.

use super::*;
use crate::{fixture::set, layout, objects};

/// Three PodCliques in the base of a replica, two in each of two further replicas of the group.
const INF: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=3/1:pre,dec";

fn group(set: &PodCliqueSet, replica: u32, replicas: i32) -> PodCliqueScalingGroup {
    let context =
        objects::Context { set, default_scheduler: "", form: "", gang_names: &crate::gang_names::OurNames };
    let mut group = objects::group(context, replica, &set.spec.template.scaling_groups[0]);
    group.spec.replicas = replicas;
    group
}

/// Set replicas that have room, with the further replicas of their group: `0:1,2 1:`.
fn parts(allotment: &Allotment, set: &PodCliqueSet, groups: &Groups<'_>) -> String {
    let config = &set.spec.template.scaling_groups[0];
    let replicas = (0..count(set.spec.replicas)).filter(|it| allotment.has_base(*it));
    let part = |replica: u32| {
        let live = live_replicas(set, groups, replica, config);
        let further = allotment.further_replicas(set, replica, config, live);
        let further: Vec<String> = further.iter().map(ToString::to_string).collect();
        format!("{replica}:{}", further.join(","))
    };
    replicas.map(part).collect::<Vec<_>>().join(" ")
}

#[test]
fn lowest_indices_come_first_and_parts_are_whole() {
    // Replicas, those of the group in set replica 0, the caps, what has room.
    for (replicas, scaled, cliques, groups, want) in [
        (2, 3, 14, 9, "0:1,2 1:1,2"),
        (3, 3, 14, 9, "0:1,2 1:1,2"),
        (3, 3, 13, 9, "0:1,2 1:1"),
        (3, 3, 12, 9, "0:1,2 1:1"),
        (3, 3, 10, 9, "0:1,2 1:"),
        (3, 3, 9, 9, "0:1,2"),
        (3, 3, 2, 9, ""),
        (0, 3, 0, 0, ""),
        // What the template asks for comes before what a group was scaled to.
        (2, 5, 14, 9, "0:1,2 1:1,2"),
        (2, 5, 17, 9, "0:1,2,3 1:1,2"),
        (2, 5, 18, 9, "0:1,2,3,4 1:1,2"),
        (2, 2, 12, 9, "0:1 1:1,2"),
        (3, 3, 99, 2, "0:1,2 1:1,2"),
        (10_000, 10_000, 10, 9, "0:1,2 1:"),
    ] {
        let mut set = set(INF);
        set.spec.replicas = replicas;
        let group = group(&set, 0, scaled);
        let live = BTreeMap::from([("inf-0-pd", &group)]);
        let caps = Caps { cliques, groups };
        let allotment = Allotment::within(caps, &set, &live, Existing::default);
        assert_eq!(parts(&allotment, &set, &live), want, "{replicas} {scaled} {caps:?}");
        assert_eq!(allotment.message(&set).is_some(), allotment.is_over());
    }
}

/// The cliques of the parts `replica` and group replicas of it.
fn cliques(set: &PodCliqueSet, replica: u32, indices: &[u32]) -> Vec<PodClique> {
    let config = &set.spec.template.scaling_groups[0];
    let members = indices.iter().flat_map(|it| layout::members(set, replica, config, *it));
    let context =
        objects::Context { set, default_scheduler: "", form: "", gang_names: &crate::gang_names::OurNames };
    layout::standalone(set, replica).chain(members).map(|it| objects::clique(context, &it, None)).collect()
}

/// What exists counts first, and stays, wherever it is.
#[test]
fn what_exists_stays_and_counts() {
    let mut set = set(INF);
    set.spec.replicas = 3;
    let group = group(&set, 0, 9);
    let live = BTreeMap::from([("inf-0-pd", &group)]);
    let of_first = cliques(&set, 0, &[0, 1, 2, 7]);
    let of_last = cliques(&set, 2, &[]);
    for (existing, cap, want) in [
        (&of_first, 14, "0:1,2,7 1:1"),
        (&of_first, 12, "0:1,2,7 1:"),
        (&of_first, 9, "0:1,2,7"),
        (&of_first, 0, "0:1,2,7"),
        (&of_last, 3, "2:"),
        (&of_last, 6, "0: 2:"),
        (&of_last, 10, "0:1,2 2:"),
    ] {
        let caps = Caps { cliques: cap, groups: 99 };
        let allotment = Allotment::within(caps, &set, &live, || Existing::of(existing, []));
        assert_eq!(parts(&allotment, &set, &live), want, "{cap}");
    }
    let allotment =
        Allotment::within(Caps { cliques: 14, groups: 99 }, &set, &live, || Existing::of(&of_first, []));
    assert_eq!(
        allotment.message(&set).unwrap(),
        "14 of 33 PodCliques are created, nothing from replica 2 of PodCliqueScalingGroup inf-1-pd on: a set may have at most 14 \
         PodCliques and 99 PodCliqueScalingGroups. Lower replicas of the set or of its scaling groups, or split the set"
    );
}

/// The caps themselves, without a loop over all that is asked for: this would never end.
#[test]
fn a_set_that_asks_for_everything_is_cut_at_once() {
    let mut set = set(INF);
    set.spec.replicas = 10_000;
    set.spec.template.scaling_groups[0].replicas = Some(i32::MAX);
    let groups = BTreeMap::new();
    let allotment = Allotment::of(&set, &groups, Existing::default);
    let config = &set.spec.template.scaling_groups[0];
    let further = allotment.further_replicas(&set, 0, config, u32::MAX);
    assert_eq!(further.len(), (10_000 - 3) / 2);
    assert!(!allotment.has_base(1));
    assert!(!Allotment::is_certain(Caps::default(), &set, config, 1));
}
