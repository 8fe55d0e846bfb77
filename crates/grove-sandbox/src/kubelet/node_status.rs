//! What a kubelet says of its node.

use k8s_openapi::{
    api::core::v1::{Node, NodeAddress, NodeCondition, NodeStatus, NodeSystemInfo},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};

/// The release of Kubernetes whose kubelets are simulated.
const VERSION: &str = "v1.37.0";

/// Conditions of a node that is well, apart from Ready: type, reason and message.
const PRESSURES: [[&str; 3]; 3] = [
    ["MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"],
    ["DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"],
    ["PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"],
];

/// The status of a node that is well. What others say there stays.
pub(super) fn node_status(node: &Node, free_address: impl FnOnce() -> String, now: Timestamp) -> NodeStatus {
    let mut status = node.status.clone().unwrap_or_default();
    let name = node.metadata.name.clone().unwrap_or_default();
    for [type_, reason, message] in PRESSURES {
        set_condition(&mut status, condition(type_, "False", reason, message, now));
    }
    set_condition(
        &mut status,
        condition("Ready", "True", "KubeletReady", "kubelet is posting ready status", now),
    );
    if address(node).is_none() {
        let row = |type_: &str, address: String| NodeAddress { type_: type_.to_owned(), address };
        status.addresses = Some(vec![row("InternalIP", free_address()), row("Hostname", name.clone())]);
    }
    if status.allocatable.is_none() {
        status.allocatable.clone_from(&status.capacity);
    }
    if status.node_info.is_none() {
        status.node_info = Some(NodeSystemInfo {
            architecture: "amd64".to_owned(),
            operating_system: "linux".to_owned(),
            os_image: "Grove sandbox".to_owned(),
            kubelet_version: VERSION.to_owned(),
            container_runtime_version: "sandbox://1".to_owned(),
            machine_id: name.clone(),
            system_uuid: name,
            ..NodeSystemInfo::default()
        });
    }
    status
}

/// The condition Ready of a node.
pub(crate) fn ready_condition(node: &Node) -> Option<&NodeCondition> {
    node.status.as_ref()?.conditions.as_ref()?.iter().find(|it| it.type_ == "Ready")
}

/// The address by which pods know their node.
pub(super) fn address(node: &Node) -> Option<&str> {
    let addresses = node.status.as_ref()?.addresses.as_ref()?;
    addresses.iter().find(|it| it.type_ == "InternalIP").map(|it| it.address.as_str())
}

fn condition(type_: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> NodeCondition {
    NodeCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_heartbeat_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
    }
}

/// Sets a condition if it has another status.
fn set_condition(status: &mut NodeStatus, new: NodeCondition) {
    let conditions = status.conditions.get_or_insert_default();
    match conditions.iter_mut().find(|it| it.type_ == new.type_) {
        Some(known) if known.status == new.status => {}
        Some(known) => *known = new,
        None => conditions.push(new),
    }
}
