//! What must hold at rest: a cluster comes to rest, and then each single thing that is wrong is told.

use grove_apiserver::Object;
use serde_json::{Value, json};

use super::{
    settle::{PATIENCE, QUIET},
    *,
};
use crate::{
    cluster::{CLIQUES, GANGS, GROUPS, PODS, SERVICES},
    plan::Cut,
};

/// A set with a scaling group in fine weather, which is made and left alone.
fn quiet() -> Plan {
    let is_rich = |it: &Plan| {
        let set = &it.sets[0];
        it.sets.len() == 1
            && !set.groups.is_empty()
            && !set.on_delete
            && set.cliques.iter().any(|it| it.replicas > 1)
    };
    let plan = (0..100).map(|seed| Plan::with(seed, &[].into())).find(is_rich).unwrap();
    let without = crate::plan::DIALS.map(str::to_owned).into();
    plan.cut(&Cut { steps: Some([0].into()), without })
}

/// The rule that is broken, where an object is changed behind everybody's back.
fn broken_by(stage: &Stage, kind: &str, change: &Value) -> Option<Rule> {
    let object = stage.cluster.list(kind).first().cloned().unwrap();
    let verdict = || rest::at_rest(&stage.cluster).err().map(|it| it.rule);
    assert_eq!(verdict(), None, "before {change}");
    stage.cluster.patch("somebody", kind, object.name(), change.clone());
    let broken = verdict();
    // And back, as far as it can be.
    let part = change.as_object().unwrap().keys().next().unwrap();
    let mut before = json!({ part: object.value()[part] });
    for field in change[part].as_object().into_iter().flatten().map(|it| it.0) {
        before[part][field] = object.value()[part][field].clone();
    }
    if let Some(metadata) = before.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in ["resourceVersion", "managedFields"] {
            metadata.remove(field);
        }
    }
    stage.cluster.patch("somebody", kind, object.name(), before);
    broken
}

/// The conditions of the first object of a kind, with one of them turned round.
fn turned(stage: &Stage, kind: &str, type_: &str) -> Value {
    let object = stage.cluster.list(kind).first().cloned().unwrap();
    let mut conditions = object.field("/status/conditions").cloned().unwrap();
    let all = conditions.as_array_mut().unwrap();
    let found = all.iter_mut().find(|it| it["type"] == type_).unwrap();
    found["status"] = if found["status"] == "True" { "False" } else { "True" }.into();
    json!({ "status": { "conditions": conditions } })
}

/// The conditions of the first object of a kind, and one more.
fn with_condition(stage: &Stage, kind: &str, condition: Value) -> Value {
    let object = stage.cluster.list(kind).first().cloned().unwrap();
    let mut conditions = object.field("/status/conditions").cloned().unwrap();
    conditions.as_array_mut().unwrap().push(condition);
    json!({ "status": { "conditions": conditions } })
}

#[test]
fn each_single_thing_that_is_wrong_is_told() {
    played(async |stage, plan| {
        assert_eq!(stage.play(&plan).await, Ok(()));
        stage.kill(PATIENCE);
        let status = |field: &str, value: Value| json!({ "status": { field: value } });
        let mut rows = Vec::new();
        for (kind, fields) in [
            (CLIQUES, &["replicas", "readyReplicas", "scheduledReplicas", "scheduleGatedReplicas"][..]),
            (CLIQUES, &["updatedReplicas", "observedGeneration"]),
            (GROUPS, &["replicas", "scheduledReplicas", "availableReplicas", "observedGeneration"]),
            (GROUPS, &["updatedReplicas"]),
            (SETS, &["replicas", "availableReplicas", "updatedReplicas", "observedGeneration"]),
        ] {
            rows.extend(fields.iter().map(|it| (kind, status(it, json!(77)))));
        }
        for (kind, type_) in [
            (CLIQUES, "MinAvailableBreached"),
            (CLIQUES, "PodCliqueScheduled"),
            (GROUPS, "MinAvailableBreached"),
            (GANGS, "Initialized"),
            (GANGS, "Scheduled"),
            (PODS, "Ready"),
        ] {
            rows.push((kind, turned(stage, kind, type_)));
        }
        let lost = json!([{ "name": "node-0", "reason": "Unreachable", "since": "2027-01-01T00:00:00Z" }]);
        rows.push((CLIQUES, status("lostNodes", lost)));
        let exhausted = json!({ "type": "RestartBudgetExhausted", "status": "True" });
        rows.push((CLIQUES, with_condition(stage, CLIQUES, exhausted)));
        rows.push((GANGS, status("phase", json!("Pending"))));
        rows.push((SETS, status("updateProgress", json!({ "updateStartedAt": "2027-01-01T00:00:00Z" }))));
        rows.push((GANGS, json!({ "spec": { "podgroups": [{ "name": "s0-0-a0", "minReplicas": 1, "podReferences": [] }] } })));
        rows.push((PODS, json!({ "metadata": { "labels": { "grove.io/pod-template-hash": "other" } } })));
        for (kind, change) in rows {
            assert_eq!(broken_by(stage, kind, &change), Some(Rule::Convergence), "{kind} {change}");
        }
        let nobody =
            json!([{ "apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x", "controller": true }]);
        let orphan = json!({ "metadata": { "ownerReferences": nobody } });
        assert_eq!(broken_by(stage, SERVICES, &orphan), Some(Rule::Orphans));
        // What leaves traces comes last.
        let image =
            json!({ "spec": { "podSpec": { "containers": [{ "name": "main", "image": "other" }] } } });
        assert_eq!(broken_by(stage, CLIQUES, &image), Some(Rule::Convergence), "another template");
        let clique = stage.cluster.list(CLIQUES).first().cloned().unwrap();
        stage.user.delete(CLIQUES, clique.name());
        assert_eq!(
            rest::at_rest(&stage.cluster).err().map(|it| it.rule),
            Some(Rule::Convergence),
            "not gone"
        );
    });
}

#[test]
fn a_pod_too_few_and_two_of_one_index_are_told() {
    played(async |stage, plan| {
        assert_eq!(stage.play(&plan).await, Ok(()));
        stage.kill(PATIENCE);
        let pods = stage.cluster.list(PODS);
        let (one, other) = pods
            .iter()
            .flat_map(|one| pods.iter().map(move |other| (one, other)))
            .find(|(one, other)| one.name() < other.name() && owner(one) == owner(other))
            .unwrap();
        let index = one.field("/metadata/labels/grove.io~1podclique-pod-index").cloned().unwrap();
        let same = json!({ "metadata": { "labels": { "grove.io/podclique-pod-index": index } } });
        stage.cluster.patch("somebody", PODS, other.name(), same);
        assert_eq!(rest::at_rest(&stage.cluster).err().map(|it| it.rule), Some(Rule::Indices));
        stage.cluster.delete("somebody", PODS, other.name(), Some(0));
        assert_eq!(rest::at_rest(&stage.cluster).err().map(|it| it.rule), Some(Rule::Convergence));
    });
}

#[test]
fn a_panic_is_told() {
    played(async |stage, _| {
        assert_eq!(stage.wait(QUIET).await, Ok(()));
        tokio::spawn(async { panic!("the operator does this on purpose") }).await.unwrap_err();
        assert_eq!(stage.wait(QUIET).await.err().map(|it| it.rule), Some(Rule::Panic));
    });
}

#[test]
fn who_never_stops_writing_is_told() {
    played(async |stage, plan| {
        let cluster = stage.cluster.clone();
        let mut restless = JoinSet::new();
        restless.spawn(async move {
            for number in 0_u64.. {
                tokio::time::sleep(QUIET / 2).await;
                let label = json!({ "metadata": { "labels": { "number": number.to_string() } } });
                cluster.patch("somebody", "nodes", "node-0", label);
            }
        });
        assert_eq!(stage.play(&plan).await.err().map(|it| it.rule), Some(Rule::Rest));
    });
}

fn owner(object: &Object) -> Option<&Value> {
    object.owner_references().first()
}

fn played(test: impl AsyncFnOnce(&mut Stage, Plan)) {
    let plan = quiet();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let mut stage = Stage::new(&plan, false).unwrap();
        test(&mut stage, plan).await;
    });
}
