//! Terms of leadership: a grouper that loses its lease follows, and leads again.

use grove_runtime::Term;

use crate::world::World;

#[tokio::test(start_paused = true)]
async fn only_a_leader_groups() {
    let mut world = World::new();
    world.follow();
    let job = world.job("first");
    world.pod("p", Some(job));
    world.settle().await;
    assert_eq!(world.writes(), (0, 0), "a follower");

    let term = Term::default();
    world.lead(term.clone());
    world.settle().await;
    assert_eq!(world.groups().len(), 1, "what came before it led");
    let written = world.writes();

    term.lost().cancel();
    let job = world.job("second");
    world.pod("q", Some(job));
    world.settle().await;
    assert_eq!(world.writes(), written, "the term is lost");

    world.lead(Term::default());
    world.settle().await;
    assert_eq!(world.groups().len(), 2, "and comes again");
    assert!(world.group_of("q").0.is_some());
}
