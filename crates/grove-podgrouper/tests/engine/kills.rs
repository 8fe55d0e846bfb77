//! A grouper that is killed in the middle loses nothing and repeats nothing.

use crate::world::World;

const JOBS: usize = 6;
const PODS: usize = 3;

/// Whatever write is its last one, the next grouper does the rest, and nothing twice.
#[tokio::test(start_paused = true)]
async fn killed_after_each_write() {
    for last in 1..=JOBS + JOBS * PODS {
        let mut world = World::new();
        for number in 0..JOBS {
            let job = world.job(&format!("j{number}"));
            for pod in 0..PODS {
                world.pod(&format!("j{number}-{pod}"), Some(job.clone()));
            }
        }
        world.start();
        let done = |world: &World| world.writes().0 + world.writes().1;
        while done(&world) < last {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        world.kill();
        world.start();
        world.settle().await;
        assert_eq!(world.writes(), (JOBS, JOBS * PODS), "killed after write {last}");
        for number in 0..JOBS {
            let group = world.group_of(&format!("j{number}-0"));
            assert!(
                group.0.is_some()
                    && (1..PODS).all(|pod| world.group_of(&format!("j{number}-{pod}")) == group)
            );
        }
    }
}
