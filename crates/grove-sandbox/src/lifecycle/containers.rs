//! States of containers. The containers of a pod move together.

use k8s_openapi::{
    api::core::v1::{
        Container, ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
        ContainerStatus, PodSpec,
    },
    apimachinery::pkg::apis::meta::v1::Time,
};

use super::Lifecycle;

pub(super) const CRASH_LOOP: &str = "CrashLoopBackOff";

impl Lifecycle<'_> {
    /// Whether there is a status for each container.
    pub(super) fn has_all_containers(&self, spec: &PodSpec) -> bool {
        let count = |it: &Option<Vec<ContainerStatus>>| it.as_ref().map_or(0, Vec::len);
        let init = spec.init_containers.as_ref().map_or(0, Vec::len);
        count(&self.status.container_statuses) == spec.containers.len()
            && count(&self.status.init_container_statuses) == init
    }

    /// The first container, which stands for all.
    pub(super) fn first(&self) -> Option<&ContainerStatus> {
        self.status.container_statuses.as_ref()?.first()
    }

    pub(super) fn is_running(&self) -> bool {
        self.first().is_some_and(|it| state(it).running.is_some())
    }

    /// Whether containers ended and may start again.
    pub(super) fn is_in_back_off(&self) -> bool {
        let ended =
            |it: &ContainerStatus| state(it).terminated.is_some() || waits_for(it) == Some(CRASH_LOOP);
        self.first().is_some_and(ended)
    }

    /// Since when the containers run.
    pub(super) fn started_at(&self) -> Option<&Time> {
        self.first()?.state.as_ref()?.running.as_ref()?.started_at.as_ref()
    }
}

/// Why a container waits.
pub(super) fn waits_for(container: &ContainerStatus) -> Option<&str> {
    container.state.as_ref()?.waiting.as_ref()?.reason.as_deref()
}

/// The state of a container; an empty one where it is not known.
pub(super) fn state(container: &ContainerStatus) -> ContainerState {
    container.state.clone().unwrap_or_default()
}

/// The status of a container that has not started.
pub(super) fn not_started(container: &Container, reason: &str) -> ContainerStatus {
    ContainerStatus {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        started: Some(false),
        state: Some(waiting(reason, None)),
        ..ContainerStatus::default()
    }
}

pub(super) fn waiting(reason: &str, message: Option<String>) -> ContainerState {
    let waiting = ContainerStateWaiting { reason: Some(reason.to_owned()), message };
    ContainerState { waiting: Some(waiting), ..ContainerState::default() }
}

pub(super) fn running(started_at: Option<Time>) -> ContainerState {
    ContainerState { running: Some(ContainerStateRunning { started_at }), ..ContainerState::default() }
}

/// The state of a container that ended. It says when it had started.
pub(super) fn terminated(
    container: &ContainerStatus,
    exit_code: i32,
    finished_at: Option<Time>,
) -> ContainerState {
    let started_at = state(container).running.and_then(|it| it.started_at).or_else(|| finished_at.clone());
    let terminated = ContainerStateTerminated {
        container_id: container.container_id.clone(),
        exit_code,
        reason: Some(if exit_code == 0 { "Completed" } else { "Error" }.to_owned()),
        started_at,
        finished_at,
        ..ContainerStateTerminated::default()
    };
    ContainerState { terminated: Some(terminated), ..ContainerState::default() }
}

/// Starts a container.
pub(super) fn start(container: &mut ContainerStatus, uid: &str, now: Option<Time>) {
    container.container_id = Some(format!("sandbox://{uid}/{}/{}", container.name, container.restart_count));
    // Whatever is pulled has a digest; nobody looks for the image.
    container.image_id.clone_from(&container.image);
    container.started = Some(true);
    container.state = Some(running(now));
}
