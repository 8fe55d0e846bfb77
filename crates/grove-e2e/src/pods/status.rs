//! The status of a pod, as it is written to the API server.

use std::net::Ipv4Addr;

use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};
use serde_json::{Value, json};

/// How the container is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It cannot be started, or not again yet: reason and message.
    Waiting(&'static str, String),
    /// It runs and is not ready: why.
    Unready(String),
    /// It runs and is ready.
    Ready,
}

/// How a container has ended.
#[derive(Clone, Debug)]
pub(super) struct Exit {
    /// None: ended by a signal.
    pub(super) code: Option<i32>,
    /// Why the liveness probe had it killed.
    pub(super) killed_for: Option<String>,
    /// The end of its log.
    pub(super) message: String,
}

impl Exit {
    fn to_state(&self) -> Value {
        // 128 + SIGKILL: the only signal that is sent while a container should run.
        let code = self.code.unwrap_or(137);
        let reason = if code == 0 { "Completed" } else { "Error" };
        json!({ "terminated": { "exitCode": code, "reason": reason, "message": self.message, "finishedAt": now() } })
    }
}

/// The change of a pod's status.
pub(super) fn patch(
    pod: &Pod,
    address: Option<Ipv4Addr>,
    state: &State,
    restarts: i32,
    last: Option<&Exit>,
) -> Value {
    let container = pod.spec.as_ref().and_then(|it| it.containers.first());
    let (name, image) = container
        .map_or((String::new(), String::new()), |it| (it.name.clone(), it.image.clone().unwrap_or_default()));
    let (is_ready, why) = match state {
        State::Ready => (true, String::new()),
        State::Unready(why) => (false, why.clone()),
        State::Waiting(_, message) => (false, message.clone()),
    };
    let shown = match state {
        State::Waiting(reason, message) => json!({ "waiting": { "reason": reason, "message": message } }),
        _ => json!({ "running": { "startedAt": now() } }),
    };
    let is_running = !matches!(state, State::Waiting(..));
    let ready = json!({
        "status": if is_ready { "True" } else { "False" },
        "reason": if is_ready { "" } else { "ContainersNotReady" },
        // A kubelet tells this in an Event.
        "message": why,
        "lastTransitionTime": now(),
    });
    let condition = |type_: &str| {
        let mut condition = ready.clone();
        condition["type"] = type_.into();
        condition
    };
    let mut status = json!({
        "phase": if is_running || restarts > 0 { "Running" } else { "Pending" },
        "conditions": [
            { "type": "Initialized", "status": "True", "lastTransitionTime": now() },
            condition("ContainersReady"),
            condition("Ready"),
        ],
        "containerStatuses": [{
            "name": name, "image": image, "imageID": "", "ready": is_ready, "started": is_running,
            "restartCount": restarts, "state": shown, "lastState": last.map(Exit::to_state),
        }],
    });
    if let Some(address) = address {
        status["podIP"] = address.to_string().into();
        status["podIPs"] = json!([{ "ip": address.to_string() }]);
    }
    json!({ "metadata": { "uid": pod.metadata.uid }, "status": status })
}

fn now() -> String {
    // Kubernetes' times have whole seconds.
    Timestamp::from_second(Timestamp::now().as_second()).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status_of(state: &State, restarts: i32, last: Option<&Exit>) -> Value {
        let pod = json!({ "metadata": { "uid": "u" }, "spec": { "containers": [{ "name": "c", "image": "i:1" }] } });
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let patch = patch(&pod, Some(Ipv4Addr::new(10, 128, 0, 1)), state, restarts, last);
        assert_eq!(patch["metadata"]["uid"], "u");
        patch["status"].clone()
    }

    #[test]
    fn readiness_is_in_conditions_and_container_status() {
        for (state, want) in [(State::Ready, true), (State::Unready("no".to_owned()), false)] {
            let status = status_of(&state, 0, None);
            let conditions = status["conditions"].as_array().unwrap();
            for type_ in ["ContainersReady", "Ready"] {
                let found = conditions.iter().find(|it| it["type"] == type_).unwrap();
                assert_eq!(found["status"], if want { "True" } else { "False" });
            }
            assert_eq!(status["containerStatuses"][0]["ready"], want);
            assert_eq!(
                (&status["phase"], &status["podIPs"][0]["ip"]),
                (&json!("Running"), &json!("10.128.0.1"))
            );
        }
    }

    #[test]
    fn a_failed_container_has_its_exit_code_and_message() {
        let end = Exit { code: Some(2), killed_for: None, message: "no such file".to_owned() };
        let status = status_of(&State::Waiting("CrashLoopBackOff", String::new()), 1, Some(&end));
        let container = &status["containerStatuses"][0];
        assert_eq!(container["state"]["waiting"]["reason"], "CrashLoopBackOff");
        assert_eq!(container["lastState"]["terminated"]["exitCode"], 2);
        assert_eq!(container["lastState"]["terminated"]["message"], "no such file");
        assert_eq!((&container["restartCount"], &status["phase"]), (&json!(1), &json!("Running")));
        assert_eq!(status_of(&State::Waiting("x", String::new()), 0, None)["phase"], "Pending");
    }
}
