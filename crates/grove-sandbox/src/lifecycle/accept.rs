//! A kubelet takes a pod that was bound to its node.

use k8s_openapi::api::core::v1::{HostIP, PodIP, PodSpec};

use super::{
    Lifecycle, Step,
    conditions::{INITIALIZED, READY_TO_START_CONTAINERS, Said},
    containers::not_started,
    time,
};

impl Lifecycle<'_> {
    pub(super) fn accept(&mut self, spec: &PodSpec) -> Step {
        let host = self.input.host_address.to_owned();
        let is_on_host = spec.host_network.unwrap_or_default();
        let own = if is_on_host { host.clone() } else { self.input.pod_address.to_owned() };
        let status = &mut self.status;
        status.start_time = status.start_time.take().or(time(self.input.now));
        status.host_ip = Some(host.clone());
        status.host_ips = Some(vec![HostIP { ip: host }]);
        if status.pod_ip.is_none() {
            status.pod_ips = Some(vec![PodIP { ip: own.clone() }]);
            status.pod_ip = Some(own);
        }
        status.phase = Some("Pending".to_owned());
        let init: Vec<_> = spec.init_containers.iter().flatten().collect();
        let reason = if init.is_empty() { "ContainerCreating" } else { "PodInitializing" };
        status.container_statuses = Some(spec.containers.iter().map(|it| not_started(it, reason)).collect());
        status.init_container_statuses =
            (!init.is_empty()).then(|| init.iter().map(|it| not_started(it, "PodInitializing")).collect());
        self.set_condition(READY_TO_START_CONTAINERS, Said::yes());
        let initialized = if init.is_empty() { Said::yes() } else { Self::not_initialized(&self.status) };
        self.set_condition(INITIALIZED, initialized);
        self.set_ready(spec, false);
        Step::Changed
    }

    pub(super) fn is_initialized(&self) -> bool {
        self.holds(INITIALIZED)
    }
}
