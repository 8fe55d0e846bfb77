//! Each rule is broken once by somebody who writes in the operator's name.

use std::time::Duration;

use grove_api::constants::{gates, labels};
use grove_apiserver::Action;
use serde_json::{Value, json};
use tokio::time::sleep;

mod backends;
mod faults;
mod nodes;
mod policy;
mod quota;
mod restored;
mod updates;

use super::*;
use crate::{
    cluster::SETS,
    plan::Weather,
    random::Random,
    rules::{Rule, rest},
};

/// Longer than anything may be believed.
const LONG: Duration = Duration::from_mins(1);

/// After this time a silent node is lost.
const LOST: Duration = Duration::from_secs(40);

/// So long may be between a decision and its note.
const TRIP: Duration = Duration::from_secs(2);

/// The name under which the operator writes.
const OPERATOR: &str = "grove-operator";

struct Bench {
    cluster: Cluster,
    lines: Arc<Lines>,
    referee: Referee,
}

impl Bench {
    /// A set of one clique with three pods, of which two are the minimum; all of them are ready for long.
    async fn new() -> Self {
        let bench = Self::young();
        sleep(LONG).await;
        bench
    }

    /// Likewise, and all that has just begun.
    fn young() -> Self {
        Self::under_quota(false)
    }

    /// Likewise, with or without a quota that may keep pods from being made.
    fn under_quota(limited: bool) -> Self {
        let cluster = Cluster::new(1);
        let lines = Lines::new(cluster.server.clone(), Weather::default(), Random::new(1, 2));
        let mut past = Past::new(Duration::from_secs(10), TRIP, Some(LOST));
        past.limited = limited;
        let referee = Referee::new(cluster.clone(), Arc::clone(&lines), past, true);
        let bench = Self { cluster, lines, referee };
        let spec =
            json!({ "spec": { "replicas": 1, "template": { "cliques": [], "terminationDelay": "30s" } } });
        bench.create("user", SETS, "s0", json!({}), spec);
        let of_set =
            json!({ labels::PART_OF: "s0", labels::SET_REPLICA_INDEX: "0", labels::POD_GANG: "s0-0" });
        let spec = json!({ "spec": { "replicas": 3, "minAvailable": 2 } });
        bench.create("user", CLIQUES, "s0-0-a", of_set, spec);
        let groups = json!([{ "name": "s0-0-a", "minReplicas": 2, "podReferences": [] }]);
        bench.create("user", GANGS, "s0-0", json!({}), json!({ "spec": { "podgroups": groups } }));
        for index in 0..3 {
            bench.pod("user", &format!("p{index}"), index);
            bench.ready(&format!("p{index}"), true);
        }
        bench.referee.look();
        bench
    }

    #[allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
    fn create(&self, manager: &str, resource: &str, name: &str, labels: Value, rest: Value) {
        let resources = self.cluster.server.resources();
        let known = resources.by_id(resource).unwrap();
        let mut object = json!({
            "apiVersion": known.api_version(), "kind": known.kind,
            "metadata": { "name": name, "namespace": crate::cluster::NAMESPACE, "labels": labels },
        });
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        self.cluster.write(manager, resource, "", None, Action::Create(object)).unwrap();
    }

    fn pod(&self, manager: &str, name: &str, index: u32) {
        self.pod_of(manager, "s0-0-a", name, index);
    }

    fn pod_of(&self, manager: &str, clique: &str, name: &str, index: u32) {
        let owner = self.cluster.get(CLIQUES, clique).unwrap();
        let owner = json!([{
            "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": owner.name(), "uid": owner.uid(),
            "controller": true,
        }]);
        let metadata = json!({
            "name": name, "namespace": crate::cluster::NAMESPACE, "ownerReferences": owner,
            "labels": {
                labels::POD_GANG: "s0-0", labels::POD_CLIQUE: clique, labels::POD_INDEX: index.to_string(),
            },
        });
        let spec = json!({ "schedulingGates": [{ "name": gates::POD_GANG_PENDING }], "containers": [] });
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec });
        self.cluster.write(manager, PODS, "", None, Action::Create(pod)).unwrap();
    }

    /// Every pod has a node.
    fn bind_all(&self) {
        for pod in self.cluster.list(PODS) {
            self.cluster.patch("scheduler", PODS, pod.name(), json!({ "spec": { "nodeName": "node-0" } }));
        }
    }

    fn ready(&self, name: &str, ready: bool) {
        let status = if ready { "True" } else { "False" };
        let conditions = json!([{ "type": "Ready", "status": status }]);
        let status = json!({ "phase": "Running", "conditions": conditions });
        self.cluster.patch("kubelet", PODS, name, json!({ "status": status }));
    }

    fn scale(&self, resource: &str, name: &str, replicas: u32) {
        self.cluster.patch("user", resource, name, json!({ "spec": { "replicas": replicas } }));
    }

    /// The last write came from the operator.
    fn operator_wrote(&self, heard: bool) {
        let write = self.cluster.server.store().write_count();
        self.lines.note(write, Sent { process: 1, heard });
    }

    fn delete(&self, resource: &str, name: &str) {
        self.cluster.delete(OPERATOR, resource, name, None);
    }

    /// The rule that is broken now, after the operator's last write.
    fn verdict(&self) -> Option<Rule> {
        self.operator_wrote(true);
        self.referee.look();
        self.referee.broken().map(|it| it.rule)
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_wanted_is_not_deleted() {
    let bench = Bench::new().await;
    bench.delete(PODS, "p2");
    assert_eq!(bench.verdict(), Some(Rule::Wanted));
}

/// What is new to the operator was never unwanted.
#[tokio::test(start_paused = true)]
async fn nothing_that_is_wanted_is_deleted_from_its_beginning() {
    for (resource, name) in [(PODS, "p2"), (CLIQUES, "s0-0-a"), (GANGS, "s0-0")] {
        let bench = Bench::young();
        sleep(Duration::from_secs(1)).await;
        bench.delete(resource, name);
        assert_eq!(bench.verdict(), Some(Rule::Wanted), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_scaled_stays_scaled() {
    let bench = Bench::new().await;
    bench.scale(CLIQUES, "s0-0-a", 5);
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", json!({ "spec": { "replicas": 3 } }));
    assert_eq!(bench.verdict(), Some(Rule::Wanted));
}

/// A pod that is on its way out has no replacement, for a while and for good.
#[tokio::test(start_paused = true)]
async fn what_is_lacking_is_made() {
    for (time, made, expected) in [
        (Duration::from_mins(2), false, None),
        (Duration::from_mins(3), false, Some(Rule::Lacking)),
        (Duration::from_mins(3), true, None),
    ] {
        let bench = Bench::new().await;
        bench.bind_all();
        bench.cluster.delete("user", PODS, "p2", None);
        bench.referee.look();
        sleep(Duration::from_secs(5)).await;
        if made {
            bench.pod("user", "p3", 2);
        }
        bench.referee.look();
        sleep(time).await;
        bench.referee.overdue();
        assert_eq!(bench.referee.broken().map(|it| it.rule), expected, "{time:?} {made}");
    }
}

/// A gang that is complete for long lets everybody go; one that is not may hold everybody back.
#[tokio::test(start_paused = true)]
async fn who_may_go_is_let_go() {
    let lift = json!({ "spec": { "schedulingGates": null } });
    for (initialized, there, held, expected) in [
        ("True", 3, 1, Some(Rule::Lacking)),
        ("True", 3, 0, None),
        ("False", 3, 1, None),
        ("True", 1, 1, None),
    ] {
        let bench = Bench::new().await;
        let conditions = json!([{ "type": "Initialized", "status": initialized }]);
        bench.cluster.patch("user", GANGS, "s0-0", json!({ "status": { "conditions": conditions } }));
        for index in 0..3 {
            let name = format!("p{index}");
            if index >= there {
                bench.scale(CLIQUES, "s0-0-a", there);
                bench.cluster.delete("user", PODS, &name, Some(0));
            } else if index >= held {
                bench.cluster.patch("user", PODS, &name, lift.clone());
            }
        }
        bench.referee.look();
        sleep(Duration::from_mins(3)).await;
        bench.referee.overdue();
        let broken = bench.referee.broken().map(|it| it.rule);
        assert_eq!(broken, expected, "{initialized}, {there} there, {held} held");
    }
}

/// A clique that may be below its minimum for thirty seconds says that it is, and nothing happens.
#[tokio::test(start_paused = true)]
async fn what_stays_below_its_minimum_is_restarted() {
    for (breached, seconds, restarted, expected) in [
        ("True", 180, false, Some(Rule::Lacking)),
        ("True", 150, false, None),
        ("True", 180, true, None),
        ("False", 180, false, None),
    ] {
        let bench = Bench::new().await;
        let conditions = json!([
            { "type": "PodCliqueScheduled", "status": "True" },
            { "type": "MinAvailableBreached", "status": breached },
        ]);
        bench.cluster.patch("user", CLIQUES, "s0-0-a", json!({ "status": { "conditions": conditions } }));
        bench.referee.look();
        sleep(Duration::from_secs(40)).await;
        if restarted {
            let restart = json!({ "before": "2027-01-15T08:00:00Z", "scope": "SetReplica" });
            bench.cluster.patch("user", CLIQUES, "s0-0-a", json!({ "status": { "restart": restart } }));
            bench.referee.look();
        }
        sleep(Duration::from_secs(seconds - 40)).await;
        bench.referee.overdue();
        let broken = bench.referee.broken().map(|it| it.rule);
        assert_eq!(broken, expected, "{breached} for {seconds}s, restarted: {restarted}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_too_much_may_be_deleted() {
    let bench = Bench::new().await;
    bench.scale(CLIQUES, "s0-0-a", 2);
    bench.delete(PODS, "p2");
    assert_eq!(bench.verdict(), None);
}

#[tokio::test(start_paused = true)]
async fn what_was_wanted_a_moment_ago_may_be_deleted_and_not_later() {
    for (time, expected) in [(Duration::from_secs(5), None), (LONG, Some(Rule::Wanted))] {
        let bench = Bench::new().await;
        bench.scale(CLIQUES, "s0-0-a", 2);
        bench.referee.look();
        bench.scale(CLIQUES, "s0-0-a", 3);
        bench.referee.look();
        sleep(time).await;
        bench.delete(PODS, "p2");
        assert_eq!(bench.verdict(), expected, "after {time:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn pods_that_are_not_ready_go_first() {
    let bench = Bench::new().await;
    bench.ready("p0", false);
    bench.referee.look();
    sleep(LONG).await;
    bench.scale(CLIQUES, "s0-0-a", 2);
    bench.delete(PODS, "p2");
    assert_eq!(bench.verdict(), Some(Rule::Budget));
}

#[tokio::test(start_paused = true)]
async fn a_clique_that_is_wanted_is_not_deleted() {
    let bench = Bench::new().await;
    bench.delete(CLIQUES, "s0-0-a");
    assert_eq!(bench.verdict(), Some(Rule::Wanted));
    let bench = Bench::new().await;
    bench.scale(SETS, "s0", 0);
    bench.delete(CLIQUES, "s0-0-a");
    assert_eq!(bench.verdict(), None);
}

#[tokio::test(start_paused = true)]
async fn a_gang_that_is_wanted_is_not_deleted() {
    let bench = Bench::new().await;
    bench.delete(GANGS, "s0-0");
    assert_eq!(bench.verdict(), Some(Rule::Wanted));
    let bench = Bench::new().await;
    bench.cluster.delete("user", SETS, "s0", None);
    bench.delete(GANGS, "s0-0");
    assert_eq!(bench.verdict(), None);
}

#[tokio::test(start_paused = true)]
async fn gates_wait_for_the_gang() {
    let lift = json!({ "spec": { "schedulingGates": null } });
    let initialized = json!({ "status": { "conditions": [{ "type": "Initialized", "status": "True" }] } });
    let bench = Bench::new().await;
    bench.cluster.patch(OPERATOR, PODS, "p0", lift.clone());
    assert_eq!(bench.verdict(), Some(Rule::Gates), "the gang is not initialised");
    let bench = Bench::new().await;
    bench.cluster.patch("user", GANGS, "s0-0", initialized.clone());
    bench.cluster.patch(OPERATOR, PODS, "p0", lift.clone());
    assert_eq!(bench.verdict(), None);
    let bench = Bench::new().await;
    bench.cluster.patch("user", GANGS, "s0-0", initialized);
    for pod in ["p1", "p2"] {
        bench.cluster.delete("user", PODS, pod, Some(0));
    }
    bench.referee.look();
    sleep(LONG).await;
    bench.cluster.patch(OPERATOR, PODS, "p0", lift);
    assert_eq!(bench.verdict(), Some(Rule::Gates), "one pod of at least two");
}

#[tokio::test(start_paused = true)]
async fn an_index_is_given_once() {
    for (heard, expected) in [(true, Some(Rule::Indices)), (false, None)] {
        let bench = Bench::new().await;
        for name in ["q0", "q1"] {
            bench.pod(OPERATOR, name, 7);
            bench.operator_wrote(heard);
        }
        bench.referee.look();
        let broken = bench.referee.broken().map(|it| it.rule);
        assert_eq!(broken, expected, "heard of the first: {heard}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_in_vain() {
    let bench = Bench::new().await;
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", json!({ "spec": { "replicas": 3 } }));
    assert_eq!(bench.verdict(), Some(Rule::NoEffect));
    let bench = Bench::new().await;
    bench.scale(CLIQUES, "s0-0-a", 4);
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", json!({ "spec": { "replicas": 4 } }));
    assert_eq!(bench.verdict(), None, "somebody else did the same just before");
}

/// And not when something else happens, which may be long after.
#[tokio::test(start_paused = true)]
async fn what_is_written_in_vain_is_judged_when_it_is_written() {
    let bench = Bench::new().await;
    let following = tokio::spawn(bench.referee.clone().run());
    bench.scale(CLIQUES, "s0-0-a", 4);
    tokio::time::sleep(Duration::from_millis(1)).await;
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", json!({ "spec": { "replicas": 4 } }));
    bench.operator_wrote(true);
    tokio::time::sleep(Duration::from_mins(10)).await;
    following.abort();
    bench.referee.look();
    assert_eq!(bench.referee.broken(), None);
}

#[tokio::test(start_paused = true)]
async fn a_cluster_at_rest_is_complete_and_has_nothing_else() {
    let bench = Bench::new().await;
    let rule = |bench: &Bench| rest::at_rest(&bench.cluster).err().map(|it| it.rule);
    bench.create("user", GROUPS, "s0-0-g", json!({}), json!({ "spec": { "replicas": 1 } }));
    assert_eq!(rule(&bench), Some(Rule::Orphans), "a group that the set does not have");
    bench.cluster.delete("user", GROUPS, "s0-0-g", None);
    bench.cluster.delete("user", CLIQUES, "s0-0-a", None);
    assert_eq!(rule(&bench), Some(Rule::Convergence), "a Service is missing");
}
