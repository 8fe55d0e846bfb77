//! Rules that the faults are judged by: a tenant, generations, a history with gaps, operators that overlap.

use std::sync::Arc;

use grove_apiserver::{ApiServer, PatchBody, Resources, Subresource, WriteRequest};

use super::*;
use crate::{
    clock,
    cluster::{NAMESPACE, SERVICES, Tenant},
};

/// Seven bits of a number choose what is forged; this one makes pods that stay.
const STAYS: u64 = 0;

impl Bench {
    /// A tenant has forged what there is.
    async fn forged() -> Self {
        let bench = Self::new().await;
        let tenant = Tenant::new(bench.cluster.clone());
        tenant.forge(STAYS);
        bench.referee.look();
        bench
    }

    /// Writes in the tenant's namespace.
    fn in_tenant(&self, kind: &str, name: &str, subresource: Option<Subresource>, action: Action) {
        let resource = Arc::clone(self.cluster.server.resources().by_id(kind).unwrap());
        let request = WriteRequest {
            namespace: TENANT.to_owned(),
            resource,
            name: name.to_owned(),
            subresource,
            manager: OPERATOR.to_owned(),
            dry_run: false,
            action,
        };
        self.cluster.server.write(request).unwrap();
    }

    fn forged_pod(&self) -> String {
        let pods = self.cluster.server.store().list(PODS, Some(TENANT));
        pods.first().unwrap().name().to_owned()
    }
}

fn merge(patch: Value) -> Action {
    Action::Patch(PatchBody::Merge(patch))
}

#[tokio::test(start_paused = true)]
async fn forged_pods_are_not_deleted_and_not_let_go() {
    let bench = Bench::forged().await;
    let delete = Action::Delete(grove_apiserver::DeleteOptions::default());
    bench.in_tenant(PODS, &bench.forged_pod(), None, delete);
    assert_eq!(bench.verdict(), Some(Rule::Tenant), "deleted");
    let bench = Bench::forged().await;
    let label = json!({ "metadata": { "labels": { "grove.io/podgang": "other" } } });
    bench.in_tenant(PODS, &bench.forged_pod(), None, merge(label));
    assert_eq!(bench.verdict(), Some(Rule::Tenant), "changed");
}

#[tokio::test(start_paused = true)]
async fn a_forged_clique_has_a_status_of_its_own() {
    let bench = Bench::forged().await;
    let name = bench.cluster.server.store().list(CLIQUES, Some(TENANT)).first().unwrap().name().to_owned();
    let status = json!({ "status": { "replicas": 7 } });
    bench.in_tenant(CLIQUES, &name, Some(Subresource::Status), merge(status));
    assert_eq!(bench.verdict(), None);
    bench.in_tenant(CLIQUES, &name, None, merge(json!({ "spec": { "replicas": 7 } })));
    assert_eq!(bench.verdict(), Some(Rule::Tenant));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_created_in_the_tenants_namespace_for_the_victim() {
    let bench = Bench::forged().await;
    let make = |owner: &str| {
        let owner = json!([{ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "s0", "uid": owner }]);
        Action::Create(json!({
            "apiVersion": "v1", "kind": "Service", "spec": {},
            "metadata": { "generateName": "x", "namespace": TENANT, "ownerReferences": owner },
        }))
    };
    bench.in_tenant(SERVICES, "", None, make("unknown"));
    assert_eq!(bench.verdict(), None);
    let uid = bench.cluster.get(SETS, "s0").unwrap().uid().to_owned();
    bench.in_tenant(SERVICES, "", None, make(&uid));
    assert_eq!(bench.verdict(), Some(Rule::Tenant));
}

/// What a tenant forges is nothing that the past of the victim knows.
#[tokio::test(start_paused = true)]
async fn forged_pods_do_not_count() {
    let bench = Bench::forged().await;
    for pod in ["p0", "p1"] {
        bench.cluster.delete("user", PODS, pod, Some(0));
    }
    bench.referee.look();
    sleep(LONG).await;
    bench.delete(PODS, "p2");
    assert_eq!(bench.verdict(), Some(Rule::Wanted));
}

#[tokio::test(start_paused = true)]
async fn observed_generations_are_true_and_never_go_back() {
    for (first, second, expected) in
        [(1, 1, None), (1, 2, None), (2, 1, Some(Rule::Generation)), (1, 3, Some(Rule::Generation))]
    {
        let bench = Bench::new().await;
        bench.scale(CLIQUES, "s0-0-a", 4);
        let generation = bench.cluster.get(CLIQUES, "s0-0-a").unwrap();
        assert_eq!(number(&generation, "/metadata/generation"), Some(2));
        bench.referee.look();
        for observed in [first, second] {
            let status = json!({ "status": { "observedGeneration": observed, "replicas": observed } });
            bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", status);
            bench.operator_wrote(true);
            bench.referee.look();
        }
        assert_eq!(bench.referee.broken().map(|it| it.rule), expected, "{first}, then {second}");
    }
}

#[tokio::test(start_paused = true)]
async fn history_that_was_trimmed_fails_the_run() {
    let bench = Bench::new().await;
    bench.scale(CLIQUES, "s0-0-a", 4);
    bench.cluster.server.compact();
    bench.referee.look();
    assert_eq!(bench.referee.broken().map(|it| it.rule), Some(Rule::History));
}

/// As it is where more happens between two looks than the server remembers.
#[tokio::test(start_paused = true)]
async fn writes_that_were_forgotten_fail_the_run() {
    clock::begin();
    let server = ApiServer::with_ring(Resources::kubernetes(), clock::now, 1, 3);
    let cluster = Cluster { server };
    let lines = Lines::new(cluster.server.clone(), Weather::default(), Random::new(1, 2));
    let past = Past::new(Duration::from_secs(10), TRIP, None);
    let referee = Referee::new(cluster.clone(), lines, past, false);
    for number in 0..9 {
        // Refused, so that there is a write and no event.
        cluster.patch("user", SERVICES, &number.to_string(), json!({ "metadata": {} }));
    }
    referee.look();
    assert_eq!(referee.broken().map(|it| it.rule), Some(Rule::History));
}

/// A former operator does not know what the new one deleted, and cannot be judged by it; one that is alone knows.
#[tokio::test(start_paused = true)]
async fn operators_that_overlap_are_judged_by_what_each_of_them_knows() {
    for (overlaps, process, expected) in
        [(false, 2, Some(Rule::Wanted)), (true, 1, Some(Rule::Wanted)), (true, 2, None)]
    {
        let bench = Bench::new().await;
        bench.referee.state.lock().past.overlaps = overlaps;
        bench.scale(CLIQUES, "s0-0-a", 2);
        bench.referee.look();
        sleep(LONG).await;
        bench.delete(PODS, "p2");
        bench.operator_wrote(true);
        bench.referee.look();
        assert_eq!(bench.referee.broken(), None);
        bench.delete(PODS, "p1");
        let write = bench.cluster.server.store().write_count();
        bench.lines.note(write, Sent { process, heard: true });
        bench.referee.look();
        let broken = bench.referee.broken().map(|it| it.rule);
        assert_eq!(broken.map(|_| Rule::Wanted), expected, "overlap {overlaps}, operator {process}");
    }
}

/// A watch that is silent for long is no reason to take the pods of a node that is back.
#[tokio::test(start_paused = true)]
async fn nodes_are_looked_at_before_pods_go_because_of_them() {
    for (node_staleness, expected) in
        [(Duration::from_mins(20), None), (Duration::from_secs(10), Some(Rule::Wanted))]
    {
        let bench = Bench::new().await;
        {
            let mut state = bench.referee.state.lock();
            state.past.staleness = Duration::from_mins(20);
            state.past.node_staleness = node_staleness;
        }
        // For so long that nothing of the beginning can be believed.
        sleep(Duration::from_mins(30)).await;
        bench.create("kubelet", crate::cluster::NODES, "node-0", json!({}), json!({}));
        bench.bind_all();
        let taint = json!([{ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" }]);
        for (taints, time) in [(taint, LOST), (Value::Null, Duration::from_mins(5))] {
            let patch = json!({ "spec": { "taints": taints } });
            bench.cluster.patch("node-controller", crate::cluster::NODES, "node-0", patch);
            bench.referee.look();
            sleep(time).await;
        }
        bench.delete(PODS, "p2");
        assert_eq!(bench.verdict(), expected, "{node_staleness:?}");
    }
}

/// No operator is judged for a restored backup, and the past knows what is there again.
#[tokio::test(start_paused = true)]
async fn a_restored_backup_is_no_write_of_the_operator() {
    let bench = Bench::new().await;
    bench.cluster.delete("user", PODS, "p2", Some(0));
    bench.referee.look();
    let jumps = bench.cluster.server.restore(2, false);
    bench.referee.jump(&jumps);
    assert_eq!(bench.referee.broken(), None);
    assert!(bench.cluster.get(PODS, "p2").is_some_and(|it| it.meta("namespace") == Some(NAMESPACE)));
    sleep(LONG).await;
    bench.delete(PODS, "p2");
    assert_eq!(bench.verdict(), Some(Rule::Wanted), "it is there again, and wanted");
}

/// What had the name before the jump is gone, although its name is there.
#[tokio::test(start_paused = true)]
async fn an_object_that_took_the_name_of_a_restored_one_is_gone() {
    let bench = Bench::new().await;
    let before = bench.cluster.get(CLIQUES, "s0-0-a").unwrap();
    let labels = before.field("/metadata/labels").cloned().unwrap();
    bench.cluster.delete("user", CLIQUES, "s0-0-a", Some(0));
    bench.create("user", CLIQUES, "s0-0-a", labels, json!({ "spec": { "replicas": 3, "minAvailable": 2 } }));
    bench.referee.look();
    let jumps = bench.cluster.server.restore(2, false);
    bench.referee.jump(&jumps);
    sleep(LONG * 60).await;
    bench.referee.overdue();
    assert_eq!(bench.referee.broken(), None, "the later one lacks no pods");
}

/// The operator may go by what it saw before a jump, and corrects it afterwards.
#[tokio::test(start_paused = true)]
async fn an_observed_generation_of_before_a_jump_is_corrected() {
    let bench = Bench::new().await;
    bench.scale(CLIQUES, "s0-0-a", 4);
    bench.referee.look();
    let jumps = bench.cluster.server.restore(1, false);
    bench.referee.jump(&jumps);
    for observed in [2, 1] {
        let status = json!({ "status": { "observedGeneration": observed } });
        bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", status);
        bench.operator_wrote(true);
        bench.referee.look();
        assert_eq!(bench.referee.broken(), None, "{observed}");
    }
    sleep(LONG).await;
    let status = json!({ "status": { "observedGeneration": 2 } });
    bench.cluster.patch(OPERATOR, CLIQUES, "s0-0-a", status);
    bench.operator_wrote(true);
    bench.referee.look();
    assert_eq!(bench.referee.broken().map(|it| it.rule), Some(Rule::Generation), "long after the jump");
}
