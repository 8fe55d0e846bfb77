//! Conditions of a pod.

use k8s_openapi::api::core::v1::{PodCondition, PodSpec};

use super::{Lifecycle, time};

pub(super) const READY_TO_START_CONTAINERS: &str = "PodReadyToStartContainers";
pub(super) const INITIALIZED: &str = "Initialized";
pub(super) const CONTAINERS_READY: &str = "ContainersReady";
pub(super) const READY: &str = "Ready";

/// What a condition is to be.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    pub(super) holds: bool,
    pub(super) reason: Option<&'static str>,
    pub(super) message: Option<String>,
}

impl Said {
    pub(super) fn yes() -> Self {
        Self { holds: true, ..Self::default() }
    }

    pub(super) fn no(reason: &'static str, message: impl Into<Option<String>>) -> Self {
        Self { holds: false, reason: Some(reason), message: message.into() }
    }
}

impl Lifecycle<'_> {
    pub(super) fn condition(&self, type_: &str) -> Option<&PodCondition> {
        self.status.conditions.iter().flatten().find(|it| it.type_ == type_)
    }

    pub(super) fn holds(&self, type_: &str) -> bool {
        self.condition(type_).is_some_and(|it| it.status == "True")
    }

    /// Sets a condition; those of others stay. Whether it was different.
    pub(super) fn set_condition(&mut self, type_: &str, said: Said) -> bool {
        let status = if said.holds { "True" } else { "False" };
        let reason = said.reason.map(str::to_owned);
        let now = time(self.input.now);
        let conditions = self.status.conditions.get_or_insert_default();
        let Some(known) = conditions.iter_mut().find(|it| it.type_ == type_) else {
            conditions.push(PodCondition {
                type_: type_.to_owned(),
                status: status.to_owned(),
                reason,
                message: said.message,
                last_transition_time: now,
                ..PodCondition::default()
            });
            return true;
        };
        let empty = |it: &Option<String>| it.clone().unwrap_or_default();
        let is_same = known.status == status
            && empty(&known.reason) == empty(&reason)
            && empty(&known.message) == empty(&said.message);
        if known.status != status {
            known.last_transition_time = now;
            status.clone_into(&mut known.status);
        }
        if !is_same {
            known.reason = reason;
            known.message = said.message;
        }
        !is_same
    }

    /// Sets whether the containers are ready, and with them the pod. Whether anything was different.
    pub(super) fn set_ready(&mut self, spec: &PodSpec, ready: bool) -> bool {
        let mut changed = false;
        for container in self.status.container_statuses.iter_mut().flatten() {
            changed |= container.ready != ready;
            container.ready = ready;
        }
        let unready = || {
            let names: Vec<&str> = spec.containers.iter().map(|it| it.name.as_str()).collect();
            Said::no("ContainersNotReady", format!("containers with unready status: [{}]", names.join(" ")))
        };
        let (containers, pod) = match (ready, self.open_gates(spec)) {
            (false, _) => (unready(), unready()),
            (true, gates) if gates.is_empty() => (Said::yes(), Said::yes()),
            (true, gates) => (Said::yes(), Said::no("ReadinessGatesNotReady", gates.join(", "))),
        };
        changed |= self.set_condition(READY, pod);
        changed | self.set_condition(CONTAINERS_READY, containers)
    }

    /// What each readiness gate lacks that somebody else has not opened yet.
    fn open_gates(&self, spec: &PodSpec) -> Vec<String> {
        let gates = spec.readiness_gates.iter().flatten().map(|it| it.condition_type.as_str());
        let lacks = |gate: &str| match self.condition(gate) {
            Some(it) if it.status == "True" => None,
            Some(_) => Some(format!("the status of pod readiness gate \"{gate}\" is not \"True\"")),
            None => Some(format!("corresponding condition of pod readiness gate \"{gate}\" does not exist.")),
        };
        gates.filter_map(lacks).collect()
    }
}
