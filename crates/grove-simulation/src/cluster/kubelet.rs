//! What happens to a pod on its node.

use std::time::Duration;

use grove_api::constants::annotations;
use grove_apiserver::Object;
use serde_json::{Value, json};

use super::{Hall, PODS, hall::Stage, is_ready, number, text, users::now};
use crate::plan::BAD_IMAGE;

impl Hall {
    /// Where a pod is in its life, and whether anything happens next by itself.
    pub(super) fn stage(&self, pod: &Object) -> Stage {
        let node = text(pod, "/spec/nodeName");
        let is_gated =
            pod.field("/spec/schedulingGates").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        if node.is_empty() {
            return if is_gated || pod.is_terminating() { Stage::Still } else { Stage::Unbound };
        }
        match text(pod, "/status/phase") {
            _ if !self.is_alive(node) => Stage::Still,
            _ if pod.is_terminating() => Stage::Leaving,
            "Pending" if may_start(pod) => Stage::Bound,
            "Running" if !is_ready(pod) && !self.is_crashed(pod.uid()) && !is_broken(pod) => Stage::Started,
            _ => Stage::Still,
        }
    }

    pub(super) fn advance(&self, pod: &Object, stage: Stage) {
        match stage {
            Stage::Unbound => self.bind(pod),
            Stage::Bound => self.start(pod),
            Stage::Started => self.say_ready(pod, true),
            Stage::Leaving => self.cluster.delete("kubelet", PODS, pod.name(), Some(0)),
            Stage::Still => {}
        }
    }

    fn start(&self, pod: &Object) {
        let container = if is_broken(pod) {
            json!({
                "name": "main", "ready": false, "started": false, "restartCount": 1,
                "state": { "waiting": { "reason": "CrashLoopBackOff" } },
                "lastState": { "terminated": { "exitCode": 1, "finishedAt": now() } },
            })
        } else {
            json!({ "name": "main", "ready": false, "started": false, "restartCount": 0, "state": { "running": {} } })
        };
        let conditions =
            with(pod, json!({ "type": "Ready", "status": "False", "lastTransitionTime": now() }));
        let status =
            json!({ "phase": "Running", "conditions": conditions, "containerStatuses": [container] });
        self.cluster.patch("kubelet", PODS, pod.name(), json!({ "status": status }));
    }

    /// A pod that runs becomes ready, or is not ready any more.
    pub(super) fn say_ready(&self, pod: &Object, ready: bool) {
        if text(pod, "/status/phase") != "Running" || (ready && is_broken(pod)) {
            return;
        }
        let status = if ready { "True" } else { "False" };
        let conditions = with(pod, json!({ "type": "Ready", "status": status, "lastTransitionTime": now() }));
        let mut status = json!({ "conditions": conditions });
        if ready {
            let change = json!({ "ready": true, "started": true, "state": { "running": {} } });
            status["containerStatuses"] = container_with(pod, &change);
        }
        self.cluster.patch("kubelet", PODS, pod.name(), json!({ "status": status }));
    }

    /// A container that runs fails its probe for a while.
    pub(crate) fn unready(&self, pod: &Object, back: Duration) {
        self.recover_after(pod.uid(), back);
        let conditions =
            with(pod, json!({ "type": "Ready", "status": "False", "lastTransitionTime": now() }));
        let status = json!({ "conditions": conditions, "containerStatuses": container_with(pod, &json!({ "ready": false })) });
        self.cluster.patch("kubelet", PODS, pod.name(), json!({ "status": status }));
    }

    pub(super) fn say_condition(&self, pod: &Object, condition: Value) {
        let conditions = with(pod, condition);
        self.cluster.patch("scheduler", PODS, pod.name(), json!({ "status": { "conditions": conditions } }));
    }

    /// A pod ends for good.
    pub(crate) fn fail(&self, pod: &Object) {
        let conditions =
            with(pod, json!({ "type": "Ready", "status": "False", "lastTransitionTime": now() }));
        let status = json!({ "phase": "Failed", "conditions": conditions });
        self.cluster.patch("kubelet", PODS, pod.name(), json!({ "status": status }));
    }

    /// A container ends with an error, and comes back later.
    pub(crate) fn crash(&self, pod: &Object, back: Duration) {
        self.recover_after(pod.uid(), back);
        let conditions =
            with(pod, json!({ "type": "Ready", "status": "False", "lastTransitionTime": now() }));
        let restarts = number(pod, "/status/containerStatuses/0/restartCount").unwrap_or_default() + 1;
        let container = json!({
            "name": "main", "ready": false, "started": false, "restartCount": restarts,
            "state": { "waiting": { "reason": "CrashLoopBackOff" } },
            "lastState": { "terminated": { "exitCode": 1, "finishedAt": now() } },
        });
        let status = json!({ "conditions": conditions, "containerStatuses": [container] });
        self.cluster.patch("kubelet", PODS, pod.name(), json!({ "status": status }));
    }
}

/// Whether nothing keeps the containers of a pod from starting.
fn may_start(pod: &Object) -> bool {
    let told =
        pod.field("/metadata/annotations").is_some_and(|it| it.get(annotations::PARENTS_READY).is_some());
    told || pod.field("/spec/initContainers").is_none()
}

/// Whether its image never gets ready.
fn is_broken(pod: &Object) -> bool {
    text(pod, "/spec/containers/0/image") == BAD_IMAGE
}

/// The containers of a pod with some fields changed. What happened before stays written.
fn container_with(pod: &Object, change: &Value) -> Value {
    let mut container = pod.field("/status/containerStatuses/0").cloned().unwrap_or_default();
    for (field, value) in change.as_object().into_iter().flatten() {
        container[field] = value.clone();
    }
    json!([container])
}

/// The conditions of a pod with one of them set.
fn with(pod: &Object, condition: Value) -> Vec<Value> {
    let present = pod.field("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut conditions: Vec<Value> =
        present.into_iter().filter(|it| it["type"] != condition["type"]).collect();
    conditions.push(condition);
    conditions
}
