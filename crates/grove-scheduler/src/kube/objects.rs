//! PodGroup and CompositePodGroup as they are created.

use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::{
    backend::{Object, RenderError},
    tree::Gang,
};
use grove_api::limits::MAX_NAME_LENGTH;

const GROUP: &str = "scheduling.k8s.io";

pub(super) fn pod_groups() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, "v1beta1", "PodGroup"), "podgroups")
}

pub(super) fn composite_pod_groups() -> ApiResource {
    let kind = GroupVersionKind::gvk(GROUP, "v1alpha3", "CompositePodGroup");
    ApiResource::from_gvk_with_plural(&kind, "compositepodgroups")
}

/// Where an object stands in the tree.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    /// The CompositePodGroup above; none for a root.
    pub(super) parent: Option<&'a str>,
    /// Label key of the required topology level.
    pub(super) level: Option<&'a str>,
}

/// A PodGroup. Its minimum is all of it that can be changed later.
pub(super) fn pod_group(gang: &Gang, place: Place<'_>, min_count: u64) -> Result<Object, RenderError> {
    let policy = json!({ "gang": { "minCount": min_count } });
    // A group below another has to name a template; a root need not.
    let template = place.parent.map(|_| "group");
    object(gang, pod_groups(), place, template, &policy, FIXED)
}

/// A CompositePodGroup with so many children, all of which are needed.
pub(super) fn composite(gang: &Gang, place: Place<'_>, children: usize) -> Result<Object, RenderError> {
    let policy = json!({ "gang": { "minGroupCount": children } });
    let template = if place.parent.is_some() { "bundle" } else { "root" };
    let fixed = &[FIXED, &["/spec/schedulingPolicy"]].concat();
    object(gang, composite_pod_groups(), place, Some(template), &policy, fixed)
}

/// Fields that cannot be changed and that nobody fills in but us.
const FIXED: &[&str] = &[
    "/spec/parentCompositePodGroupName",
    "/spec/workloadRef",
    "/spec/schedulingConstraints",
    "/spec/disruptionMode",
];

fn object(
    gang: &Gang,
    resource: ApiResource,
    place: Place<'_>,
    template: Option<&str>,
    policy: &Value,
    fixed: &[&str],
) -> Result<Object, RenderError> {
    if place.name.len() > MAX_NAME_LENGTH {
        let (name, kind) = (place.name, &resource.kind);
        return Err(RenderError(format!(
            "{kind} {name:?} has a name of more than {MAX_NAME_LENGTH} characters"
        )));
    }
    let mut immutable: Vec<String> = fixed.iter().map(|it| (*it).to_owned()).collect();
    // The empty marker is an object: `null` would be refused, and leaving it out of a later apply too.
    let mut spec = json!({ "schedulingPolicy": policy, "disruptionMode": { "all": {} } });
    if let Some(parent) = place.parent {
        spec["parentCompositePodGroupName"] = parent.into();
    }
    // No Workload is made: nothing reads it, and its name is not looked up.
    if let Some(template) = template {
        spec["workloadRef"] = json!({ "workloadName": gang.name, "templateName": template });
    }
    if let Some(level) = place.level {
        spec["schedulingConstraints"] = json!({ "topology": [{ "key": level }] });
    }
    // Without one, the API server fills in the default class.
    if !gang.priority_class.is_empty() {
        spec["priorityClassName"] = gang.priority_class.as_str().into();
        immutable.push("/spec/priorityClassName".to_owned());
    }
    let value = json!({
        "apiVersion": resource.api_version, "kind": resource.kind,
        "metadata": { "name": place.name },
        "spec": spec,
    });
    Ok(Object { resource, value, once: Vec::new(), immutable })
}

/// The minimum of a PodGroup: never 0, which the API server refuses. A duty that is lifted for the moment leaves the
/// minimum as it is.
pub(super) fn min_count(wanted: u32, name: &str, existing: &[Value]) -> u64 {
    if wanted > 0 {
        return wanted.into();
    }
    let kind = pod_groups();
    let is_it = |it: &&Value| {
        it["kind"] == kind.kind.as_str()
            && it["apiVersion"] == kind.api_version.as_str()
            && it["metadata"]["name"] == name
    };
    let before =
        existing.iter().find(is_it).and_then(|it| it.pointer("/spec/schedulingPolicy/gang/minCount"));
    before.and_then(Value::as_u64).unwrap_or(1).max(1)
}
