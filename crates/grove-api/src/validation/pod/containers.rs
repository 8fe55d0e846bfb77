//! Containers: names, images, ports.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, ContainerPort, PodSpec};

use super::{actions, between, environment, label, resources, security, volumes};
use crate::field::{Error, Errors, Path};

const PORTS: std::ops::RangeInclusive<i32> = 1..=65_535;

pub(super) fn check(pod: &PodSpec, path: &Path, errors: &mut Errors) {
    let list = path.child("containers");
    if pod.containers.is_empty() {
        errors.push(Error::required(list.clone(), "a pod needs at least one container"));
    }
    let mut names = BTreeSet::new();
    for (index, container) in pod.containers.iter().enumerate() {
        let path = list.index(index);
        common(pod, container, &path, errors);
        actions::check(pod, container, &path, errors);
        unique(container, &mut names, &path, errors);
    }
    host_ports(pod, &pod.containers, &list, errors);
    let list = path.child("initContainers");
    for (index, container) in pod.init_containers.iter().flatten().enumerate() {
        let path = list.index(index);
        common(pod, container, &path, errors);
        if container.restart_policy.as_deref() == Some("Always") {
            actions::check(pod, container, &path, errors);
        } else {
            actions::forbid(container, &path, errors);
        }
        unique(container, &mut names, &path, errors);
    }
}

const PROTOCOLS: &[&str] = &["SCTP", "TCP", "UDP"];

/// What holds for all containers of a pod.
fn common(pod: &PodSpec, container: &Container, path: &Path, errors: &mut Errors) {
    label(&container.name, path.child("name"), errors);
    if container.image.as_deref().unwrap_or_default().is_empty() {
        errors.push(Error::required(path.child("image"), ""));
    }
    for (field, value, supported) in [
        ("imagePullPolicy", &container.image_pull_policy, &["Always", "IfNotPresent", "Never"] as &[&str]),
        (
            "terminationMessagePolicy",
            &container.termination_message_policy,
            &["File", "FallbackToLogsOnError"],
        ),
        ("restartPolicy", &container.restart_policy, &["Always", "Never", "OnFailure"]),
    ] {
        if let Some(value) = value.as_ref().filter(|it| !it.is_empty() && !supported.contains(&it.as_str())) {
            errors.push(Error::not_supported(path.child(field), value, supported));
        }
    }
    ports(container.ports.as_deref().unwrap_or_default(), &path.child("ports"), errors);
    environment::check(container, path, errors);
    volumes::mounts(pod, container, path, errors);
    if let Some(requirements) = &container.resources {
        resources::check(requirements, &path.child("resources"), errors);
    }
    security::of_container(container.security_context.as_ref(), &path.child("securityContext"), errors);
}

/// Names are unique among all containers of a pod.
fn unique<'a>(container: &'a Container, names: &mut BTreeSet<&'a str>, path: &Path, errors: &mut Errors) {
    if !container.name.is_empty() && !names.insert(&container.name) {
        errors.push(Error::duplicate(path.child("name"), &container.name));
    }
}

fn ports(ports: &[ContainerPort], path: &Path, errors: &mut Errors) {
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.index(index);
        if let Some(name) = port.name.as_deref().filter(|it| !it.is_empty()) {
            let wrong = port_name(name);
            if wrong.is_none() && !names.insert(name) {
                errors.push(Error::duplicate(path.child("name"), name));
            }
            errors.extend(wrong.map(|it| Error::invalid(path.child("name"), name, it)));
        }
        if port.container_port == 0 {
            errors.push(Error::required(path.child("containerPort"), ""));
        } else {
            number(port.container_port, path.child("containerPort"), errors);
        }
        if let Some(port) = port.host_port.filter(|it| *it != 0) {
            number(port, path.child("hostPort"), errors);
        }
        if let Some(protocol) = port.protocol.as_ref().filter(|it| !PROTOCOLS.contains(&it.as_str())) {
            errors.push(Error::not_supported(path.child("protocol"), protocol, PROTOCOLS));
        }
    }
}

/// A port's number.
pub(super) fn number(port: i32, path: Path, errors: &mut Errors) {
    if !PORTS.contains(&port) {
        errors.push(Error::invalid(path, port, between(1, 65_535)));
    }
}

/// What is wrong with a port's name.
pub(super) fn port_name(name: &str) -> Option<&'static str> {
    let is_letter = |it: char| it.is_ascii_lowercase();
    if name.len() > 15 {
        Some("must be no more than 15 characters")
    } else if name.is_empty() || !name.chars().all(|it| is_letter(it) || it.is_ascii_digit() || it == '-') {
        Some("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    } else if !name.contains(is_letter) {
        Some("must contain at least one letter (a-z)")
    } else if name.contains("--") {
        Some("must not contain consecutive hyphens")
    } else if name.starts_with('-') || name.ends_with('-') {
        Some("must not begin or end with a hyphen")
    } else {
        None
    }
}

/// Ports of the node: taken once, and with hostNetwork those of the container.
fn host_ports(pod: &PodSpec, containers: &[Container], path: &Path, errors: &mut Errors) {
    let mut taken = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        for (number, port) in container.ports.iter().flatten().enumerate() {
            let path = path.index(index).child("ports").index(number).child("hostPort");
            let Some(host_port) = port.host_port.filter(|it| *it != 0) else { continue };
            let protocol = port.protocol.as_deref().unwrap_or("TCP");
            let text = format!("{protocol}/{}/{host_port}", port.host_ip.as_deref().unwrap_or_default());
            if pod.host_network == Some(true) && host_port != port.container_port {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(Error::invalid(path, host_port, detail));
            } else if !taken.insert(text.clone()) {
                errors.push(Error::duplicate(path, text));
            }
        }
    }
}
