//! What the operator may do because of a node.

use super::*;
use crate::cluster::NODES;

/// Grace of a pod, and what it may take longer.
const STUCK: Duration = Duration::from_mins(1);

impl Bench {
    /// A node with all the pods on it.
    fn on_a_node(&self) {
        self.create("kubelet", NODES, "node-0", json!({}), json!({}));
        self.bind_all();
        self.referee.look();
    }

    async fn silent(&self, is_silent: bool, time: Duration) {
        let taint = json!([{ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" }]);
        let taints = if is_silent { taint } else { Value::Null };
        self.cluster.patch("node-controller", NODES, "node-0", json!({ "spec": { "taints": taints } }));
        self.referee.look();
        sleep(time).await;
    }
}

#[tokio::test(start_paused = true)]
async fn pods_go_because_of_their_node_only_once_it_is_lost() {
    for (silent, back, expected) in [
        (LOST, None, None),
        (LOST / 2, None, Some(Rule::Wanted)),
        (LOST, Some(Duration::from_secs(5)), None),
        (LOST, Some(LONG), Some(Rule::Wanted)),
    ] {
        let bench = Bench::new().await;
        bench.on_a_node();
        bench.silent(true, silent).await;
        if let Some(time) = back {
            bench.silent(false, time).await;
        }
        bench.delete(PODS, "p2");
        assert_eq!(bench.verdict(), expected, "silent for {silent:?}, back for {back:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn pods_are_removed_by_force_only_where_nobody_ends_them() {
    for (is_silent, asked, expected) in [
        (true, Some(STUCK), None),
        (true, Some(STUCK / 2), Some(Rule::Force)),
        (true, None, Some(Rule::Force)),
        (false, Some(STUCK), Some(Rule::Force)),
    ] {
        let bench = Bench::new().await;
        bench.on_a_node();
        bench.silent(is_silent, LOST).await;
        if let Some(time) = asked {
            bench.cluster.delete("user", PODS, "p2", None);
            bench.referee.look();
            sleep(time).await;
        }
        bench.cluster.delete(OPERATOR, PODS, "p2", Some(0));
        assert_eq!(bench.verdict(), expected, "silent: {is_silent}, asked to go for {asked:?}");
    }
}
