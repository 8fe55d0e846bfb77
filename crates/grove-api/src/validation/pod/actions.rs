//! Probes and lifecycle handlers of a container.

use k8s_openapi::{
    api::core::v1::{
        Container, ExecAction, GRPCAction, HTTPGetAction, LifecycleHandler, PodSpec, Probe, SleepAction,
        TCPSocketAction,
    },
    apimachinery::pkg::util::intstr::IntOrString,
};

use super::{
    containers::{number, port_name},
    not_negative,
};
use crate::field::{Error, Errors, Path};

/// Checks what a container that runs with its pod may have.
pub(super) fn check(pod: &PodSpec, container: &Container, path: &Path, errors: &mut Errors) {
    let grace = pod.termination_grace_period_seconds;
    for (field, it) in probes(container) {
        let Some(it) = it else { continue };
        let path = path.child(field);
        probe(it, &path, errors);
        if field == "readinessProbe" {
            if let Some(seconds) = it.termination_grace_period_seconds {
                let path = path.child("terminationGracePeriodSeconds");
                errors.push(Error::invalid(path, seconds, "must not be set for readinessProbes"));
            }
        } else if let Some(count) = it.success_threshold.filter(|it| !(0..=1).contains(it)) {
            errors.push(Error::invalid(path.child("successThreshold"), count, "must be 1"));
        }
    }
    let lifecycle = container.lifecycle.as_ref();
    for (field, it) in [
        ("postStart", lifecycle.and_then(|it| it.post_start.as_ref())),
        ("preStop", lifecycle.and_then(|it| it.pre_stop.as_ref())),
    ] {
        if let Some(it) = it {
            handler(Handler::of_lifecycle(it), grace, &path.child("lifecycle").child(field), errors);
        }
    }
}

/// An init container that ends before the others start has none.
pub(super) fn forbid(container: &Container, path: &Path, errors: &mut Errors) {
    let probes = probes(container).into_iter().map(|(field, it)| (field, it.is_some()));
    for (field, _) in probes.chain([("lifecycle", container.lifecycle.is_some())]).filter(|it| it.1) {
        let detail = "may not be set for init containers without restartPolicy=Always";
        errors.push(Error::forbidden(path.child(field), detail));
    }
}

fn probes(container: &Container) -> [(&'static str, Option<&Probe>); 3] {
    [
        ("livenessProbe", container.liveness_probe.as_ref()),
        ("readinessProbe", container.readiness_probe.as_ref()),
        ("startupProbe", container.startup_probe.as_ref()),
    ]
}

fn probe(probe: &Probe, path: &Path, errors: &mut Errors) {
    let Probe { exec, http_get, tcp_socket, grpc, .. } = probe;
    let (exec, http, tcp, grpc) = (exec.as_ref(), http_get.as_ref(), tcp_socket.as_ref(), grpc.as_ref());
    handler(Handler { exec, http, tcp, grpc, sleep: None }, None, path, errors);
    for (field, value) in [
        ("initialDelaySeconds", probe.initial_delay_seconds),
        ("timeoutSeconds", probe.timeout_seconds),
        ("periodSeconds", probe.period_seconds),
        ("successThreshold", probe.success_threshold),
        ("failureThreshold", probe.failure_threshold),
    ] {
        not_negative(value, path.child(field), errors);
    }
    if let Some(seconds) = probe.termination_grace_period_seconds.filter(|it| *it <= 0) {
        let path = path.child("terminationGracePeriodSeconds");
        errors.push(Error::invalid(path, seconds, "must be greater than 0"));
    }
}

const SCHEMES: &[&str] = &["HTTP", "HTTPS"];

/// What is done; exactly one of these.
#[derive(Clone, Copy)]
struct Handler<'a> {
    exec: Option<&'a ExecAction>,
    http: Option<&'a HTTPGetAction>,
    tcp: Option<&'a TCPSocketAction>,
    grpc: Option<&'a GRPCAction>,
    sleep: Option<&'a SleepAction>,
}

impl<'a> Handler<'a> {
    fn of_lifecycle(it: &'a LifecycleHandler) -> Self {
        let (exec, http, tcp) = (it.exec.as_ref(), it.http_get.as_ref(), it.tcp_socket.as_ref());
        Self { exec, http, tcp, grpc: None, sleep: it.sleep.as_ref() }
    }
}

fn handler(it: Handler<'_>, grace: Option<i64>, path: &Path, errors: &mut Errors) {
    let fields = [
        ("exec", it.exec.is_some()),
        ("httpGet", it.http.is_some()),
        ("tcpSocket", it.tcp.is_some()),
        ("grpc", it.grpc.is_some()),
        ("sleep", it.sleep.is_some()),
    ];
    let mut there = fields.iter().filter(|it| it.1).map(|it| it.0);
    if there.next().is_none() {
        errors.push(Error::required(path.clone(), "must specify a handler type"));
    }
    for more in there {
        errors.push(Error::forbidden(path.child(more), "may not specify more than 1 handler type"));
    }
    if it.exec.is_some_and(|it| it.command.as_ref().is_none_or(Vec::is_empty)) {
        errors.push(Error::required(path.child("exec").child("command"), ""));
    }
    if let Some(http) = it.http {
        let path = path.child("httpGet");
        port(&http.port, path.child("port"), errors);
        if let Some(scheme) =
            http.scheme.as_ref().filter(|it| !it.is_empty() && !SCHEMES.contains(&it.as_str()))
        {
            errors.push(Error::not_supported(path.child("scheme"), scheme, SCHEMES));
        }
    }
    if let Some(tcp) = it.tcp {
        port(&tcp.port, path.child("tcpSocket").child("port"), errors);
    }
    if let Some(grpc) = it.grpc {
        number(grpc.port, path.child("grpc").child("port"), errors);
    }
    if let Some((sleep, grace)) = it.sleep.zip(grace)
        && !(0..=grace.max(0)).contains(&sleep.seconds)
    {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        errors.push(Error::invalid(path.child("sleep"), sleep.seconds, detail));
    }
}

fn port(port: &IntOrString, path: Path, errors: &mut Errors) {
    match port {
        IntOrString::Int(port) => number(*port, path, errors),
        IntOrString::String(name) => {
            errors.extend(port_name(name).map(|it| Error::invalid(path, name, it)));
        }
    }
}
