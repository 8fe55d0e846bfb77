//! What is kept of a PodGroup that is there.

use crate::{
    cluster::{Kai, pod_group, queued, rendered},
    common::{gang, group, map},
    wanted::{labelled, leaf, one, spec},
};
use serde_json::{Value, json};

#[test]
fn lifted_minima_keep_what_the_scheduler_has() {
    let before = queued(gang(json!({ "podgroups": [group("a", 3, 3), group("b", 2, 2)] })));
    let before = rendered(Kai::V15, &before, &[]).value;
    for (minima, wanted) in [((0, 0), (3, 2)), ((0, 4), (3, 4)), ((1, 0), (1, 2))] {
        let lifted =
            json!({ "podgroups": [group("a", minima.0, 3), group("b", minima.1, 2), group("new", 0, 1)] });
        let object = rendered(Kai::V15, &queued(gang(lifted)), std::slice::from_ref(&before)).value;
        let sub_groups = vec![leaf("a", wanted.0), leaf("b", wanted.1), leaf("new", 1)];
        assert_eq!(object, pod_group(spec(wanted.0 + wanted.1 + 1, sub_groups)), "{minima:?}");
    }
}

#[test]
fn what_kai_owns_at_run_time_stays_as_it_is() {
    let mut there = rendered(Kai::V15, &one(), &[]).value;
    there["spec"]["queue"] = json!("moved");
    there["spec"]["markUnschedulable"] = json!(false);
    there["spec"]["schedulingBackoff"] = json!(1);
    there["metadata"]["labels"]["kai.scheduler/queue"] = json!("moved");
    there["metadata"]["labels"]["kai.scheduler/node-pool"] = json!("gpu");
    // Even where the set says nothing any longer, or contradicts itself.
    let mut now = gang(json!({ "podgroups": [group("a", 2, 2), group("b", 1, 1)] }));
    for (name, queue) in [("a", "x"), ("b", "y")] {
        let labels = map(&[("kai.scheduler/queue", queue), ("kai.scheduler/node-pool", queue)]);
        now.describe_group(name, labels, map(&[]));
    }
    let object = rendered(Kai::V15, &now, &[there]);
    let mut wanted = spec(3, vec![leaf("a", 2), leaf("b", 1)]);
    wanted["queue"] = json!("moved");
    assert_eq!(object.value["spec"], wanted);
    let labels = json!({
        "app.kubernetes.io/part-of": "web", "kai.scheduler/queue": "moved", "kai.scheduler/node-pool": "gpu",
    });
    assert_eq!(object.value["metadata"]["labels"], labels);
    let once =
        ["/spec/queue", "/metadata/labels/kai.scheduler~1node-pool", "/metadata/labels/kai.scheduler~1queue"];
    assert_eq!(object.once, once);
}

#[test]
fn a_node_pool_is_given_when_the_pod_group_is_made_and_never_later() {
    let pool = |object: &Value| {
        object["metadata"]["labels"].get("kai.scheduler/node-pool").and_then(Value::as_str).map(str::to_owned)
    };
    let of_set = labelled(one(), &[("kai.scheduler/node-pool", "gpu")]);
    let mut of_template = one();
    of_template.describe_group("a", map(&[("kai.scheduler/node-pool", "gpu")]), map(&[]));
    for gang in [of_set, of_template] {
        assert_eq!(pool(&rendered(Kai::V15, &gang, &[]).value).as_deref(), Some("gpu"));
        let without = rendered(Kai::V15, &one(), &[]).value;
        assert_eq!(pool(&rendered(Kai::V15, &gang, &[without]).value), None);
    }
}

#[test]
fn a_pod_group_of_upstream_grove_is_kept_and_no_second_one_made() {
    let mut upstream = pod_group(spec(3, vec![leaf("a", 3)]));
    upstream["metadata"]["name"] = json!("web-0");
    let lifted = queued(gang(json!({ "podgroups": [group("a", 0, 3)] })));
    let object = rendered(Kai::V15, &lifted, std::slice::from_ref(&upstream)).value;
    assert_eq!(object["metadata"]["name"], "web-0");
    assert_eq!(object["spec"], spec(3, vec![leaf("a", 3)]));

    // KAI's pod grouper moved the pods to its own already.
    let own = pod_group(spec(2, vec![leaf("a", 2)]));
    let object = rendered(Kai::V15, &lifted, &[upstream.clone(), own]).value;
    assert_eq!(object["metadata"]["name"], "pg-web-0-u1");
    assert_eq!(object["spec"], spec(2, vec![leaf("a", 2)]));

    // An object of another API is not it.
    upstream["apiVersion"] = json!("scheduling.volcano.sh/v1beta1");
    assert_eq!(rendered(Kai::V15, &one(), &[upstream]).value["metadata"]["name"], "pg-web-0-u1");
}
