//! Objects of an installation, and how they are printed.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use clap::ValueEnum;
use k8s_openapi::{api::core::v1::Namespace, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::Serialize;
use serde_json::Value;

use super::invalid;
use crate::cli::Outcome;

/// Kinds of objects, in an order in which they can be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "PascalCase")]
pub(super) enum Kind {
    Namespace,
    CustomResourceDefinition,
    PriorityClass,
    NetworkPolicy,
    PodDisruptionBudget,
    ServiceAccount,
    ClusterRole,
    ClusterRoleBinding,
    Role,
    RoleBinding,
    ConfigMap,
    Service,
    Deployment,
    ServiceMonitor,
    PrometheusRule,
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
}

/// An object to print.
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) value: Value,
}

impl Object {
    pub(super) fn new(kind: Kind, object: &impl Serialize) -> io::Result<Self> {
        Ok(Self { kind, value: serde_json::to_value(object).map_err(io::Error::other)? })
    }
}

pub(super) fn print(objects: Vec<Object>) -> io::Result<Outcome> {
    if objects.is_empty() {
        return Err(invalid("no object of the chosen kinds belongs to this installation"));
    }
    let mut out = io::stdout().lock();
    for object in objects {
        let text = serde_saphyr::to_string(&object.value).map_err(io::Error::other)?;
        write!(out, "---\n{text}")?;
    }
    Ok(Outcome::Success)
}

/// All pods of an installation satisfy Pod Security "restricted"; a pod that does not has no business beside them.
pub(super) fn namespace(name: &str) -> Namespace {
    let enforced = ("pod-security.kubernetes.io/enforce".to_owned(), "restricted".to_owned());
    Namespace {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(BTreeMap::from([enforced])),
            ..ObjectMeta::default()
        },
        ..Namespace::default()
    }
}
