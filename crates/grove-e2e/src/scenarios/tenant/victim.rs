//! What a tenant can know of its victim: everything but how to get at it. Objects are copied from here, with their UIDs.

use anyhow::{Context as _, Result};
use kube::api::ListParams;
use serde_json::{Value, json};

use crate::{objects, scenario::Context, scenarios::backends::stage::kinds};

/// API versions and kinds that the operator watches in every cluster.
pub(super) const GROVE: &str = "grove.io/v1alpha1";
pub(super) const GANG: &str = "scheduler.grove.io/v1alpha1";
const KINDS: &[(&str, &str)] = &[
    (GROVE, "PodCliqueSet"),
    (GROVE, "PodCliqueScalingGroup"),
    (GROVE, "PodClique"),
    (GANG, "PodGang"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("apps/v1", "ControllerRevision"),
];

/// The objects of the victim's namespace.
pub(super) struct Victim {
    pub(super) namespace: String,
    objects: Vec<Value>,
}

/// How a copy says to whom it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owned {
    /// To the owner of the original. The garbage collector will see that this one is in another namespace.
    Rightly,
    /// To the UID of that owner, of a kind that does not exist: the garbage collector cannot tell.
    Bogus,
    /// To nothing.
    No,
}

impl Victim {
    pub(super) async fn read(context: &Context) -> Result<Self> {
        let mut found = Vec::new();
        for (api_version, kind) in KINDS.iter().chain(kinds(context.scheduler(), context.gates())) {
            let mut object = json!({ "apiVersion": api_version, "kind": kind });
            let api = objects::api_for(&context.client(), &mut object, Some(&context.namespace)).await?;
            for item in api.list(&ListParams::default()).await?.items {
                let mut value = serde_json::to_value(item)?;
                value["apiVersion"] = (*api_version).into();
                value["kind"] = (*kind).into();
                found.push(value);
            }
        }
        Ok(Self { namespace: context.namespace.clone(), objects: found })
    }

    /// An object of a kind; the first where `name` is empty, or the first pod of a clique that has this name.
    pub(super) fn object(&self, kind: &str, name: &str) -> Result<&Value> {
        let is_it = |it: &&Value| {
            let metadata = &it["metadata"];
            let is_named = if kind == "Pod" {
                metadata["labels"]["grove.io/podclique"] == name
            } else {
                metadata["name"] == name
            };
            it["kind"] == kind && (name.is_empty() || is_named)
        };
        self.objects.iter().find(is_it).with_context(|| format!("the victim has no {kind} {name}"))
    }

    pub(super) fn uid(&self, kind: &str, name: &str) -> Result<&str> {
        self.object(kind, name)?["metadata"]["uid"].as_str().context("no UID")
    }

    /// A copy of an object for another namespace: name, labels, annotations, finalizers and content. A pod stays on its
    /// node, and will run there.
    pub(super) fn copy(&self, kind: &str, name: &str, owned: Owned) -> Result<Value> {
        let original = self.object(kind, name)?;
        let metadata = &original["metadata"];
        let mut copy = original.clone();
        if let Some(fields) = copy.as_object_mut() {
            fields.remove("status");
        }
        copy["metadata"] = json!({ "name": metadata["name"] });
        for field in ["labels", "annotations", "finalizers"] {
            if !metadata[field].is_null() {
                copy["metadata"][field] = metadata[field].clone();
            }
        }
        let mut owners = metadata["ownerReferences"].clone();
        for owner in owners.as_array_mut().into_iter().flatten() {
            if owned == Owned::Bogus {
                owner["apiVersion"] = "example.com/v1".into();
                owner["kind"] = "Forged".into();
            }
        }
        if owned != Owned::No && !owners.is_null() {
            copy["metadata"]["ownerReferences"] = owners;
        }
        Ok(copy)
    }
}
