//! Restarts after a backup was restored that says of a clique that it is below its minimum.

use super::*;

/// Longer than anything takes here.
const DELAY: &str = "10m";

impl Bench {
    fn serves(&self, serves: bool) {
        for pod in ["p0", "p1"] {
            self.ready(pod, serves);
        }
        self.referee.look();
    }

    /// A clique that was below its minimum for a minute and served since, and that is taken back.
    async fn restored() -> Self {
        let bench = Self::new().await;
        let spec = json!({ "spec": { "template": { "terminationDelay": DELAY } } });
        bench.cluster.patch("user", SETS, "s0", spec);
        bench.serves(false);
        sleep(LONG).await;
        let store = bench.cluster.server.store();
        let before = store.revision();
        bench.serves(true);
        sleep(LONG).await;
        let jumps = bench.cluster.server.restore(store.revision() - before, true);
        bench.referee.jump(&jumps);
        bench
    }

    /// The operator restarts the set replica.
    fn restarts(&self) -> Option<Rule> {
        let restart =
            json!({ "before": "2027-01-15T08:00:00Z", "scope": "SetReplica", "reason": "GangTermination" });
        self.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", json!({ "status": { "restart": restart } }));
        self.verdict()
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_backup_says_has_to_be_seen_for_a_while() {
    for (seconds, expected) in [(30, Some(Rule::Restart)), (65, None)] {
        let bench = Bench::restored().await;
        sleep(Duration::from_secs(seconds)).await;
        assert_eq!(bench.restarts(), expected, "after {seconds}s");
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_served_since_has_the_whole_delay_again() {
    let bench = Bench::restored().await;
    bench.serves(true);
    sleep(LONG).await;
    bench.serves(false);
    sleep(Duration::from_secs(65)).await;
    assert_eq!(bench.restarts(), Some(Rule::Restart));
}
