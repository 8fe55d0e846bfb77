//! The row of a pod: READY, STATUS and RESTARTS are put together from all containers, in the real server's order.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::text::{NONE, age, condition, list, number, or, text};
use super::{AGE, NAME, Printer, age as time, string, wide};
use crate::object::Object;
use crate::resource::Resource;

pub(super) const PRINTER: Printer = Printer {
    columns: &[
        NAME,
        string("Ready").about("The aggregate readiness state of this pod for accepting traffic."),
        string("Status").about("The aggregate status of the containers in this pod."),
        string("Restarts").about("The number of times the containers in this pod have been restarted and when the last container in this pod has restarted."),
        AGE,
        wide("IP").about("podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated."),
        wide("Node").about(NODE),
        wide("Nominated Node").about(NOMINATED),
        wide("Readiness Gates").about(GATES),
    ],
    cells,
};

const NODE: &str = "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename";
const NOMINATED: &str = "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.";
const GATES: &str = "If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to \"True\" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates";

/// What the containers of a pod come to.
struct Summary {
    reason: String,
    restarts: i64,
    /// When the last container ended that was started again.
    last_restart: Option<Timestamp>,
    ready: usize,
    total: usize,
}

fn cells(object: &Object, now: Timestamp) -> Vec<Value> {
    let pod = object.value();
    let summary = summary(object);
    let restarts = match summary.last_restart {
        Some(last) if summary.restarts != 0 => {
            let ago = time::duration(now.as_second() - last.as_second());
            format!("{} ({ago} ago)", summary.restarts)
        }
        _ => summary.restarts.to_string(),
    };
    vec![
        object.name().into(),
        format!("{}/{}", summary.ready, summary.total).into(),
        summary.reason.into(),
        restarts.into(),
        age(object, now),
        or(list(pod, "/status/podIPs").first().map_or("", |it| text(it, "/ip")), NONE).into(),
        or(text(pod, "/spec/nodeName"), NONE).into(),
        or(text(pod, "/status/nominatedNodeName"), NONE).into(),
        readiness_gates(pod).into(),
    ]
}

/// What a row of a pod that is over says besides.
pub(super) fn row_condition(resource: &Resource, object: &Object) -> Option<Value> {
    if !resource.is("pods") {
        return None;
    }
    let (reason, message) = match text(object.value(), "/status/phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!({"type": "Completed", "status": "True", "reason": reason, "message": message}))
}

fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let is_true =
        |gate: &&Value| condition(pod, text(gate, "/conditionType")).is_some_and(|it| it["status"] == "True");
    format!("{}/{}", gates.iter().filter(is_true).count(), gates.len())
}

fn summary(object: &Object) -> Summary {
    let pod = object.value();
    let phase = text(pod, "/status/phase");
    let mut reason = or(text(pod, "/status/reason"), phase).to_owned();
    if condition(pod, "PodScheduled").is_some_and(|it| it["reason"] == "SchedulingGated") {
        "SchedulingGated".clone_into(&mut reason);
    }
    let init_containers = list(pod, "/spec/initContainers");
    let sidecars = init_containers.iter().filter(|it| is_sidecar(it)).count();
    let total = list(pod, "/spec/containers").len() + sidecars;
    let mut out = Summary { reason, restarts: 0, last_restart: None, ready: 0, total };
    let of_sidecars = init(pod, init_containers, &mut out);
    let is_initialized = condition(pod, "Initialized").is_some_and(|it| it["status"] == "True");
    if of_sidecars.done || is_initialized {
        (out.restarts, out.last_restart) = (of_sidecars.restarts, of_sidecars.last_restart);
        main(pod, &mut out);
    }
    if object.is_terminating() {
        if text(pod, "/status/reason") == "NodeLost" {
            "Unknown".clone_into(&mut out.reason);
        } else if !matches!(phase, "Succeeded" | "Failed") {
            "Terminating".clone_into(&mut out.reason);
        }
    }
    out
}

/// What the init containers come to.
struct Init {
    /// None of them is in the way of the others.
    done: bool,
    restarts: i64,
    last_restart: Option<Timestamp>,
}

/// An init container that goes on beside the others.
fn is_sidecar(container: &Value) -> bool {
    container["restartPolicy"] == "Always"
}

/// Looks at the init containers up to the first one that is not through.
fn init(pod: &Value, containers: &[Value], out: &mut Summary) -> Init {
    let mut sidecars = Init { done: true, restarts: 0, last_restart: None };
    for (at, status) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
        let is_sidecar = containers.iter().any(|it| it["name"] == status["name"] && is_sidecar(it));
        let (restarts, last) = (number(status, "/restartCount"), last_end(status));
        out.restarts += restarts;
        out.last_restart = out.last_restart.max(last);
        if is_sidecar {
            sidecars.restarts += restarts;
            sidecars.last_restart = sidecars.last_restart.max(last);
        }
        let ended = status.pointer("/state/terminated").filter(|it| it.is_object());
        let waiting = text(status, "/state/waiting/reason");
        match ended {
            Some(ended) if number(ended, "/exitCode") == 0 => continue,
            _ if is_sidecar && status["started"] == true => {
                out.ready += usize::from(status["ready"] == true);
                continue;
            }
            Some(ended) => out.reason = format!("Init:{}", end_reason(ended)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => {
                out.reason = format!("Init:{waiting}");
            }
            None => out.reason = format!("Init:{at}/{}", containers.len()),
        }
        sidecars.done = false;
        break;
    }
    sidecars
}

/// Looks at the other containers; the first one that has something to say has the last word.
fn main(pod: &Value, out: &mut Summary) {
    let (mut is_running, mut error) = (false, String::new());
    for status in list(pod, "/status/containerStatuses").iter().rev() {
        out.restarts += number(status, "/restartCount");
        out.last_restart = out.last_restart.max(last_end(status));
        let waiting = text(status, "/state/waiting/reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut out.reason);
        } else if let Some(ended) = status.pointer("/state/terminated").filter(|it| it.is_object()) {
            out.reason = end_reason(ended);
            if number(ended, "/exitCode") != 0 {
                error.clone_from(&out.reason);
            }
        } else if status["ready"] == true && status.pointer("/state/running").is_some_and(Value::is_object) {
            is_running = true;
            out.ready += 1;
        }
    }
    if out.reason == "Completed" {
        let is_ready = condition(pod, "Ready").is_some_and(|it| it["status"] == "True");
        if is_running && is_ready {
            "Running".clone_into(&mut out.reason);
        } else if !error.is_empty() {
            out.reason = error;
        } else if is_running {
            "NotReady".clone_into(&mut out.reason);
        }
    }
}

/// Why a container ended.
fn end_reason(ended: &Value) -> String {
    match (text(ended, "/reason"), number(ended, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(ended, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// When the run before this one ended.
fn last_end(status: &Value) -> Option<Timestamp> {
    text(status, "/lastState/terminated/finishedAt").parse().ok()
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
mod tests;
