//! Objects of schedulers that stand for gangs.

use grove_apiserver::Subresource;

use super::*;
use crate::{
    cluster::{KAI_POD_GROUPS, KAI_TOPOLOGIES, POD_GROUPS},
    plan::Backend,
    rules::backends,
};

/// A gang of two groups, and its scheduler's objects.
fn synced(backend: Backend) -> Cluster {
    let cluster = Cluster::with(1, Some(backend));
    let make = |kind: &str, name: &str, rest: Value| {
        let resources = cluster.server.resources();
        let known = resources.by_id(kind).unwrap();
        let mut object = json!({
            "apiVersion": known.api_version(), "kind": known.kind, "metadata": { "name": name },
        });
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        cluster.write("operator", kind, "", None, Action::Create(object)).unwrap();
    };
    let groups = json!([{ "name": "a", "minReplicas": 2 }, { "name": "b", "minReplicas": 1 }]);
    make(GANGS, "g", json!({ "spec": { "podgroups": groups } }));
    let uid = cluster.get(GANGS, "g").unwrap().uid().to_owned();
    let owned = |name: &str, spec: Value| {
        let owner = json!([{ "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "name": "g", "uid": uid }]);
        json!({ "metadata": { "name": name, "ownerReferences": owner }, "spec": spec })
    };
    if backend == Backend::KubeFlat {
        make(POD_GROUPS, "g", owned("g", json!({ "schedulingPolicy": { "gang": { "minCount": 3 } } })));
    } else {
        let name = format!("pg-g-{uid}");
        let groups = json!([{ "name": "a", "minMember": 2 }, { "name": "b", "minMember": 1 }]);
        make(KAI_POD_GROUPS, &name, owned(&name, json!({ "minMember": 3, "subGroups": groups })));
        let levels = json!([{ "nodeLabel": "example.com/block" }, { "nodeLabel": "example.com/rack" }]);
        make(KAI_TOPOLOGIES, "fabric", json!({ "spec": { "levels": levels } }));
    }
    cluster
}

#[tokio::test(start_paused = true)]
async fn backend_objects_match_their_gangs_at_rest() {
    for (backend, kind) in [(Backend::KubeFlat, POD_GROUPS), (Backend::Kai, KAI_POD_GROUPS)] {
        let rule = |cluster: &Cluster| backends::at_rest(cluster, backend).err().map(|it| it.rule);
        let cluster = synced(backend);
        assert_eq!(backends::at_rest(&cluster, backend), Ok(()));
        let name = cluster.list(kind)[0].name().to_owned();
        let more = json!({ "spec": { "podgroups": [{ "name": "a", "minReplicas": 3 }, { "name": "b", "minReplicas": 1 }] } });
        cluster.patch("user", GANGS, "g", more);
        assert_eq!(rule(&cluster), Some(Rule::Backend), "another minimum");
        let cluster = synced(backend);
        cluster.delete("user", kind, &name, None);
        assert_eq!(rule(&cluster), Some(Rule::Backend), "no object");
        let cluster = synced(backend);
        cluster.delete("user", GANGS, "g", None);
        assert_eq!(rule(&cluster), Some(Rule::Backend), "no gang");
    }
    let cluster = synced(Backend::Kai);
    cluster.patch("user", KAI_TOPOLOGIES, "fabric", json!({ "spec": { "levels": [] } }));
    assert_eq!(backends::at_rest(&cluster, Backend::Kai).err().map(|it| it.rule), Some(Rule::Backend));
}

#[tokio::test(start_paused = true)]
async fn gates_wait_for_the_backend_object() {
    for (is_told, expected) in [(true, None), (false, Some(Rule::Backend))] {
        let bench = Bench::new().await;
        let initialized =
            json!({ "status": { "conditions": [{ "type": "Initialized", "status": "True" }] } });
        bench.cluster.patch("user", GANGS, "s0-0", initialized);
        bench.referee.look();
        let uid = bench.cluster.get(GANGS, "s0-0").unwrap().uid().to_owned();
        {
            let past = &mut bench.referee.state.lock().past;
            past.has_backend = true;
            if is_told {
                past.backend_objects.insert((uid, "s0-0".to_owned()), crate::past::Track::new(true));
            }
        }
        bench.cluster.patch(OPERATOR, PODS, "p0", json!({ "spec": { "schedulingGates": null } }));
        assert_eq!(bench.verdict(), expected);
    }
}

/// Where a scheduler has gangs, a pod above the minimum waits until the minimum of its gang is bound, however long that takes, and then
/// for other gangs of the set for some minutes.
#[tokio::test(start_paused = true)]
async fn pods_above_the_minimum_wait_for_the_place_of_their_gang() {
    for (bound, minutes, expected) in [(true, 9, Some(Rule::Lacking)), (true, 6, None), (false, 60, None)] {
        let bench = Bench::new().await;
        bench.referee.state.lock().past.has_backend = true;
        let initialized =
            json!({ "status": { "conditions": [{ "type": "Initialized", "status": "True" }] } });
        bench.cluster.patch("user", GANGS, "s0-0", initialized);
        for name in ["p0", "p1"] {
            bench.cluster.patch("user", PODS, name, json!({ "spec": { "schedulingGates": null } }));
            if bound {
                let target = json!({ "target": { "kind": "Node", "name": "node-0" } });
                let part = Some(Subresource::Binding);
                bench.cluster.write("scheduler", PODS, name, part, Action::Create(target)).unwrap();
            }
        }
        bench.referee.look();
        sleep(Duration::from_mins(minutes)).await;
        bench.referee.overdue();
        let broken = bench.referee.broken().map(|it| it.rule);
        assert_eq!(broken, expected, "bound: {bound}, {minutes} minutes");
    }
}
