//! The life of pods by the second, without a cluster.

#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

mod crashes;
mod ends;
mod images;
mod starts;
mod terminations;

use k8s_openapi::api::core::v1::{ContainerStatus, PodCondition};
use serde_json::{Value, json};

use super::*;

/// When the pod is bound: in the middle of a second, which a status does not show.
const BOUND: i64 = 1_000_750;

/// A pod on its node.
struct Played {
    pod: Pod,
    memory: Memory,
    /// Milliseconds since it was bound.
    now: i64,
    /// When the status was written, and a summary of it.
    writes: Vec<(i64, String)>,
    events: Vec<String>,
    next: Next,
}

impl Played {
    fn new(annotations: Value, spec: Value) -> Self {
        let mut pod = json!({
            "metadata": {
                "name": "p", "namespace": "ns", "uid": "u", "generation": 2, "annotations": annotations,
            },
            "spec": { "nodeName": "n", "containers": [{ "name": "c", "image": "i" }] },
            "status": { "phase": "Pending", "conditions": [{ "type": "PodScheduled", "status": "True" }] },
        });
        for (field, value) in spec.as_object().into_iter().flatten() {
            pod["spec"][field] = value.clone();
        }
        let pod = serde_json::from_value(pod).unwrap();
        Self {
            pod,
            memory: Memory::default(),
            now: 0,
            writes: Vec::new(),
            events: Vec::new(),
            next: Next::Rest,
        }
    }

    fn annotated(annotations: Value) -> Self {
        Self::new(annotations, json!({}))
    }

    /// Plays on until so many milliseconds after it was bound.
    fn until(&mut self, end: i64) -> &mut Self {
        loop {
            self.look();
            match self.next {
                Next::Wait(at) if at.as_millisecond() - BOUND <= end => {
                    assert!(at.as_millisecond() - BOUND > self.now, "it waits for what has passed");
                    self.now = at.as_millisecond() - BOUND;
                }
                _ => break,
            }
        }
        self.now = end;
        self.look();
        self
    }

    /// One look at this time.
    fn look(&mut self) {
        let (behaviour, invalid) = Behaviour::of(&self.pod, &Behaviour::default());
        assert!(invalid.is_empty(), "{invalid:?}");
        let input = Input {
            pod: &self.pod,
            behaviour: &behaviour,
            host_address: "172.16.0.1",
            pod_address: "10.64.0.1",
            now: Timestamp::from_millisecond(BOUND + self.now).unwrap(),
        };
        let plan = plan(input, self.memory.clone());
        if self.pod.status.as_ref() != Some(&plan.status) {
            // As a server stores it: in whole seconds.
            let stored = serde_json::to_value(&plan.status).unwrap();
            self.pod.status = serde_json::from_value(stored).unwrap();
            self.writes.push((self.now, self.summary()));
        }
        if plan.has_crashed
            && let (Some(key), Some(annotations)) = (&behaviour.crash, self.pod.metadata.annotations.as_mut())
        {
            annotations.remove(key);
        }
        self.memory = plan.memory;
        self.next = plan.next;
        let line =
            |it: PodEvent| format!("{} {}", if it.is_warning { "Warning" } else { "Normal" }, it.reason);
        self.events.extend(plan.events.into_iter().map(line));
    }

    fn annotate(&mut self, key: &str, value: Option<&str>) -> &mut Self {
        let annotations = self.pod.metadata.annotations.get_or_insert_default();
        match value {
            Some(value) => drop(annotations.insert(key.to_owned(), value.to_owned())),
            None => drop(annotations.remove(key)),
        }
        self
    }

    /// A kubelet that knows nothing takes over.
    fn restart_kubelet(&mut self) -> &mut Self {
        self.memory = Memory::default();
        self
    }

    fn status(&self) -> &PodStatus {
        self.pod.status.as_ref().unwrap()
    }

    fn condition(&self, type_: &str) -> &PodCondition {
        self.status().conditions.iter().flatten().find(|it| it.type_ == type_).unwrap()
    }

    fn container(&self) -> &ContainerStatus {
        &self.status().container_statuses.as_ref().unwrap()[0]
    }

    fn is_ready(&self) -> bool {
        self.condition("Ready").status == "True"
    }

    /// Phase, states of the containers, and whether it is ready.
    fn summary(&self) -> String {
        let status = self.status();
        let init = status.init_container_statuses.iter().flatten();
        let containers: Vec<String> =
            init.chain(status.container_statuses.iter().flatten()).map(describe).collect();
        let ready = if self.is_ready() { " ready" } else { "" };
        format!("{} {}{ready}", status.phase.as_deref().unwrap_or_default(), containers.join(" "))
    }

    fn history(&self) -> Vec<(i64, &str)> {
        self.writes.iter().map(|it| (it.0, it.1.as_str())).collect()
    }
}

fn describe(container: &ContainerStatus) -> String {
    let state = container.state.clone().unwrap_or_default();
    let what = match (state.waiting, state.running, state.terminated) {
        (Some(waiting), None, None) => waiting.reason.unwrap_or_default(),
        (None, Some(_), None) => "running".to_owned(),
        (None, None, Some(ended)) => format!("exit-{}", ended.exit_code),
        _ => "?".to_owned(),
    };
    let restarts =
        if container.restart_count > 0 { format!("#{}", container.restart_count) } else { String::new() };
    format!("{}={what}{restarts}", container.name)
}
