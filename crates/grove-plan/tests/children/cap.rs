//! Sets that ask for more PodCliques than they may have, and plans that are made batch by batch.

use std::collections::BTreeSet;

use grove_api::size::clique_bytes;
use grove_plan::{
    allotment::Caps,
    children::{Action, Batch, Child, ChildPlan, Kind},
};
use proptest::prelude::*;

use crate::common::{World, name_of, set};

/// Three PodCliques in the base of a replica, two in each of two further replicas of the group.
const INF: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=3/1:pre,dec";

fn world(replicas: i32, cliques: u64) -> World {
    let mut world = World::new(set(INF));
    world.set.spec.replicas = replicas;
    world.caps = Caps { cliques, ..Caps::default() };
    world
}

fn names(world: &World) -> BTreeSet<String> {
    world.objects.iter().map(|it| format!("{} {}", it.kind().as_str(), name_of(it.metadata()))).collect()
}

fn scale(world: &mut World, group: &str, to: i32) {
    let Some(Child::Group(it)) = world.get_mut(Kind::Group, group) else { panic!("no {group}") };
    it.spec.replicas = to;
}

#[test]
fn no_more_than_the_cap_is_created_and_nothing_is_half_there() {
    let mut world = world(5, 16);
    world.settle();
    assert_eq!(world.cliques().count(), 14, "two whole replicas; the base of a third does not fit");
    assert!(!names(&world).iter().any(|it| it.contains("inf-2")), "{:?}", names(&world));
    assert!(world.allotment().is_over());
    world.set.spec.replicas = 2;
    world.settle();
    assert!(!world.allotment().is_over());
    assert_eq!(world.cliques().count(), 14);
}

/// Ten replicas are admitted, and then the set is scaled: the planner is what holds.
#[test]
fn no_more_bytes_than_the_cap_are_created() {
    let mut world = world(10, 10_000);
    let each = clique_bytes(&world.set.spec.template);
    world.caps.bytes = 12 * each;
    world.settle();
    assert!(!world.allotment().is_over());
    world.set.spec.replicas = 10_000;
    world.settle();
    assert!(world.allotment().is_over());
    assert_eq!(world.cliques().count(), 12 * 7, "twelve whole replicas");
    scale(&mut world, "inf-0-pd", 99);
    world.settle();
    assert_eq!(world.cliques().count(), 12 * 7, "nor by a group");
}

#[test]
fn a_group_is_scaled_up_to_the_cap_and_further_when_there_is_room() {
    let mut world = world(2, 20);
    world.settle();
    scale(&mut world, "inf-0-pd", 9);
    world.settle();
    assert_eq!(world.cliques().count(), 20);
    assert!(names(&world).contains("PodGang inf-0-pd-4") && !names(&world).contains("PodGang inf-0-pd-5"));
    scale(&mut world, "inf-1-pd", 1);
    world.settle();
    assert_eq!(world.cliques().count(), 20, "what the other gave back");
    assert!(names(&world).contains("PodGang inf-0-pd-6"));
}

#[test]
fn nothing_is_deleted_because_of_the_cap() {
    let mut world = world(3, 99);
    world.settle();
    scale(&mut world, "inf-2-pd", 6);
    world.settle();
    let before = names(&world);
    for cap in [20, 7, 0] {
        world.caps.cliques = cap;
        world.settle();
        assert_eq!(names(&world), before, "{cap}");
    }
    // And what is scaled in goes, as ever.
    scale(&mut world, "inf-2-pd", 1);
    world.settle();
    assert_eq!(world.cliques().count(), 7 + 7 + 3);
}

fn created(plan: &ChildPlan) -> usize {
    plan.actions.iter().filter(|it| matches!(it, Action::Create(_) | Action::CreateClique(_))).count()
}

/// Plans and does batch after batch; the number of batches.
fn by_batches(world: &mut World, size: usize) -> usize {
    world.batch = Batch { size, skip: 0 };
    for round in 0..10_000 {
        let mut is_done = true;
        let mut step = |world: &mut World, plan: ChildPlan| {
            assert!(created(&plan) <= size, "{} in a batch of {size}", created(&plan));
            assert!(!plan.more || !plan.actions.is_empty(), "there is more, and nothing is done");
            is_done &= !plan.more && plan.actions.is_empty();
            world.apply(plan);
        };
        let plan = world.plan_set();
        step(world, plan);
        for group in world.group_names() {
            let plan = world.plan_group(&group);
            step(world, plan);
        }
        if is_done {
            return round;
        }
    }
    panic!("no end");
}

#[test]
fn what_failed_does_not_keep_others_from_their_turn() {
    let mut world = world(3, 99);
    world.batch = Batch { size: 2, skip: 0 };
    let (mut seen, mut last) = (BTreeSet::new(), None);
    // Everything fails. Far more turns than there are actions.
    for skip in (0..1000).step_by(2) {
        world.batch.skip = skip;
        let plan = world.plan_set();
        if plan.actions.is_empty() {
            last = Some(plan);
            break;
        }
        seen.extend(crate::common::lines(&plan));
    }
    assert!(last.expect("every action has had its turn").more, "they are still to be created");
    world.batch = Batch::default();
    assert_eq!(seen, crate::common::lines(&world.plan_set()).into_iter().collect());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// However it is cut into batches, what is there in the end is the same.
    #[test]
    fn batches_lead_to_the_same_objects(
        replicas in 0..4_i32, then in 0..4_i32, scaled in 0..6_i32, size in 1..9_usize, cap in 0..40_u64,
    ) {
        let mut whole = world(replicas, cap);
        let mut cut = world(replicas, cap);
        whole.settle();
        by_batches(&mut cut, size);
        prop_assert_eq!(names(&whole), names(&cut));
        for world in [&mut whole, &mut cut] {
            world.set.spec.replicas = then;
            if world.get(Kind::Group, "inf-0-pd").is_some() {
                scale(world, "inf-0-pd", scaled);
            }
        }
        whole.settle();
        by_batches(&mut cut, size);
        prop_assert_eq!(names(&whole), names(&cut));
    }

    /// The cap holds for what is new, and takes nothing away.
    #[test]
    fn the_cap_holds(replicas in 0..5_i32, scaled in 0..9_i32, high in 0..60_u64, low in 0..60_u64) {
        let mut world = world(replicas, high);
        world.settle();
        if world.get(Kind::Group, "inf-0-pd").is_some() {
            scale(&mut world, "inf-0-pd", scaled);
        }
        world.settle();
        prop_assert!(world.cliques().count() as u64 <= high);
        let before = names(&world);
        world.caps.cliques = low;
        world.settle();
        prop_assert!(names(&world).is_superset(&before), "something went");
        prop_assert!(low > high || names(&world) == before);
    }
}
