//! What the API server will refuse of a pod: the common rules of Kubernetes for pod templates, in its words.
//!
//! A template that breaks one of them would be found only when its pods are created, and in an update after the first old
//! pod is gone. The rules are Kubernetes' own (`pkg/apis/core/validation`), as far as they need no knowledge of the cluster
//! and of feature gates: what is not here is left to the API server, and nothing is refused that it would accept. A scenario
//! sends every row of `testdata/` that breaks one as a plain Pod and compares the verdicts.

mod actions;
mod containers;
mod environment;
mod placement;
mod resources;
mod security;
mod volumes;

use k8s_openapi::api::core::v1::PodSpec;

use super::kubernetes;
use crate::field::{Error, Errors, Path};

/// Checks a pod template.
pub(super) fn check(pod: &PodSpec, path: &Path, errors: &mut Errors) {
    containers::check(pod, path, errors);
    volumes::check(pod, path, errors);
    placement::check(pod, path, errors);
    security::of_pod(pod.security_context.as_ref(), &path.child("securityContext"), errors);
    if pod.ephemeral_containers.as_ref().is_some_and(|it| !it.is_empty()) {
        errors.push(Error::forbidden(path.child("ephemeralContainers"), "cannot be set on create"));
    }
    let one_of = |field: &str, value: Option<&String>, supported: &[&str], errors: &mut Errors| {
        if let Some(value) = value.filter(|it| !it.is_empty() && !supported.contains(&it.as_str())) {
            errors.push(Error::not_supported(path.child(field), value, supported));
        }
    };
    one_of("restartPolicy", pod.restart_policy.as_ref(), &["Always", "OnFailure", "Never"], errors);
    let policies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
    one_of("dnsPolicy", pod.dns_policy.as_ref(), &policies, errors);
    one_of("preemptionPolicy", pod.preemption_policy.as_ref(), &["PreemptLowerPriority", "Never"], errors);
    dns(pod, path, errors);
    if let Some(seconds) = pod.active_deadline_seconds.filter(|it| !(1..=i64::from(i32::MAX)).contains(it)) {
        let detail = between(1, i32::MAX.into());
        errors.push(Error::invalid(path.child("activeDeadlineSeconds"), seconds, detail));
    }
    if pod.share_process_namespace == Some(true) && pod.host_pid == Some(true) {
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(Error::invalid(path.child("shareProcessNamespace"), true, detail));
    }
    for (field, name) in [
        ("serviceAccountName", pod.service_account_name.as_deref()),
        ("runtimeClassName", pod.runtime_class_name.as_deref()),
    ] {
        if let Some(name) = name.filter(|it| !it.is_empty() && !kubernetes::is_dns_subdomain(it)) {
            errors.push(Error::invalid(path.child(field), name, SUBDOMAIN));
        }
    }
}

fn dns(pod: &PodSpec, path: &Path, errors: &mut Errors) {
    if pod.dns_policy.as_deref() != Some("None") {
        return;
    }
    let servers = pod.dns_config.as_ref().and_then(|it| it.nameservers.as_ref());
    if servers.is_none_or(Vec::is_empty) {
        let detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        let (config, detail) = match pod.dns_config {
            None => (path.child("dnsConfig"), "must provide `dnsConfig` when `dnsPolicy` is None"),
            Some(_) => (path.child("dnsConfig").child("nameservers"), detail),
        };
        errors.push(Error::required(config, detail));
    }
}

/// A name that has to be a DNS label.
fn label(name: &str, path: Path, errors: &mut Errors) {
    if name.is_empty() {
        errors.push(Error::required(path, ""));
    } else if name.len() > 63 {
        errors.push(Error::invalid(path, name, "must be no more than 63 bytes"));
    } else if !kubernetes::is_dns_label(name) {
        errors.push(Error::invalid(path, name, LABEL));
    }
}

/// A number that must not be negative.
fn not_negative(value: Option<i32>, path: Path, errors: &mut Errors) {
    if let Some(value) = value.filter(|it| *it < 0) {
        errors.push(Error::invalid(path, value, NEGATIVE));
    }
}

fn between(low: i64, high: i64) -> String {
    format!("must be between {low} and {high}, inclusive")
}

const NEGATIVE: &str = "must be greater than or equal to 0";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start \
     and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and \
     must start and end with an alphanumeric character (e.g. 'example.com')";
