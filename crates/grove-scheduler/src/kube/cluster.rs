//! What the API server serves of the scheduler's API, and which of its fields it keeps.
//!
//! Whether the scheduler itself works with these objects cannot be asked for.

use kube::core::{ApiResource, GroupVersionResource};
use serde_json::{Value, json};

use super::{capabilities::NOT_SERVED, form::Form, objects};
use crate::{
    backend::Example,
    probe::{Probe, Probed},
};

/// Name of the dry run.
const POD_GROUP: &str = "podgroup";

pub(super) fn probes() -> Vec<Probe> {
    vec![
        Probe::Served(place(&objects::pod_groups())),
        Probe::Served(place(&objects::composite_pod_groups())),
        Probe::DryRun { name: POD_GROUP, resource: place(&objects::pod_groups()), object: sample() },
    ]
}

/// A PodGroup with a field that a closed gate drops. `preemptionPolicy` is not sent: where its gate is open the API
/// server fills it in, and a value other than that of the default PriorityClass would be refused.
fn sample() -> Value {
    let resource = objects::pod_groups();
    json!({
        "apiVersion": resource.api_version, "kind": resource.kind,
        "metadata": { "generateName": "grove-probe-" },
        "spec": {
            "schedulingPolicy": { "gang": { "minCount": 1 } },
            "schedulingConstraints": { "topology": [{ "key": "kubernetes.io/hostname" }] },
            "disruptionMode": { "all": {} },
        },
    })
}

fn place(resource: &ApiResource) -> GroupVersionResource {
    GroupVersionResource::gvr(&resource.group, &resource.version, &resource.plural)
}

/// One API server for each form.
pub(super) fn examples() -> Vec<Example> {
    let (whole, mut bare) = (sample(), sample());
    if let Some(spec) = bare["spec"].as_object_mut() {
        spec.remove("schedulingConstraints");
    }
    let serves = |kept: Value| {
        Probed::default().with_served(&place(&objects::pod_groups()), true).with_dry_run(POD_GROUP, Ok(kept))
    };
    let tree = serves(whole.clone()).with_served(&place(&objects::composite_pod_groups()), true);
    let example = |title, cluster| Example { title, cluster };
    vec![
        example("tree", tree),
        example("flat with topology", serves(whole)),
        example("flat", serves(bare)),
        example("plain", Probed::default()),
    ]
}

/// What there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The best form that it allows.
    pub(super) form: Form,
    /// Whether groups have a preemption policy of their own.
    pub(super) preemption_policy: bool,
}

impl Found {
    /// A refused dry run is an error: then the objects of gangs would be refused too.
    pub(super) fn of(cluster: &Probed) -> Result<Self, String> {
        // The scheduler reads PodGroups in this version only: without it, the rest is worth nothing.
        if !cluster.serves(&place(&objects::pod_groups())) {
            return Ok(Self { form: Form::Plain(NOT_SERVED), preemption_policy: false });
        }
        let kept = match cluster.dry_run(POD_GROUP) {
            Some(Ok(kept)) => kept,
            Some(Err(why)) => return Err(format!("the API server refuses PodGroups: {why}")),
            None => &Value::Null,
        };
        let is_kept = |pointer| kept.pointer(pointer).is_some_and(|it| !it.is_null());
        let form = if cluster.serves(&place(&objects::composite_pod_groups())) {
            // Its gate needs that of topology constraints.
            Form::Tree
        } else {
            Form::Flat { topology: is_kept("/spec/schedulingConstraints/topology/0/key") }
        };
        Ok(Self { form, preemption_policy: is_kept("/spec/preemptionPolicy") })
    }

    /// The API in use.
    pub(super) fn version(self) -> Option<String> {
        let mut parts = vec![match self.form {
            Form::Tree => "v1beta1 PodGroup, v1alpha3 CompositePodGroup",
            Form::Flat { topology: true } => "v1beta1 PodGroup with topology",
            Form::Flat { topology: false } => "v1beta1 PodGroup",
            Form::Plain(_) => return None,
        }];
        parts.extend(self.preemption_policy.then_some("preemptionPolicy"));
        Some(format!("scheduling.k8s.io {}", parts.join(", ")))
    }
}
