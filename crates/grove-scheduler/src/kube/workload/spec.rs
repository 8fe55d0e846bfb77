//! The spec of a workload's PodGroup. Once it is there, its minimum is all of it that can be changed.

use serde_json::{Value, json};

use crate::backend::RenderError;

/// Priorities that the API server takes for pods and not for PodGroups.
const CRITICAL: [&str; 2] = ["system-cluster-critical", "system-node-critical"];

pub(super) fn of(
    name: &str,
    pod: &Value,
    min: u32,
    level: Option<&str>,
    existing: Option<&Value>,
    remarks: &mut Vec<String>,
) -> Result<Value, RenderError> {
    // One pod of another priority, and the scheduler places none of them.
    let class = pod["spec"]["priorityClassName"].as_str().filter(|it| !it.is_empty());
    if let Some(class) = class.filter(|it| CRITICAL.contains(it)) {
        return Err(RenderError(format!(
            "the pod's priorityClassName is {class:?}, which a PodGroup cannot have: give the pods of the workload another \
             one, or the label grove.io/pod-grouper=disabled"
        )));
    }
    match existing.map(|it| &it["spec"]).filter(|it| it.is_object()) {
        Some(there) => Ok(changed(name, min, class, level, there, remarks)),
        None => Ok(new(min, class, level)),
    }
}

fn new(min: u32, class: Option<&str>, level: Option<&str>) -> Value {
    let mut spec = json!({ "schedulingPolicy": { "gang": { "minCount": min } } });
    // What runs only as a whole is preempted only as a whole.
    if min > 1 {
        spec["disruptionMode"] = json!({ "all": {} });
    }
    if let Some(level) = level {
        spec["schedulingConstraints"] = json!({ "topology": [{ "key": level }] });
    }
    if let Some(class) = class {
        spec["priorityClassName"] = class.into();
    }
    spec
}

fn changed(
    name: &str,
    min: u32,
    class: Option<&str>,
    level: Option<&str>,
    there: &Value,
    remarks: &mut Vec<String>,
) -> Value {
    let text = |pointer: &str| there.pointer(pointer).and_then(Value::as_str);
    let fixed = [
        ("the level", level, text("/schedulingConstraints/topology/0/key")),
        ("the priority class", class, text("/priorityClassName")),
    ];
    for (what, wanted, has) in fixed.into_iter().filter(|it| it.1 != it.2) {
        let said = |it: Option<&str>| it.map_or("none".to_owned(), |it| format!("{it:?}"));
        remarks.push(format!(
            "{what} of PodGroup {name} is {} and should be {}, but cannot be changed: delete the PodGroup, and it is made \
             anew",
            said(has),
            said(wanted)
        ));
    }
    let mut spec = there.clone();
    if let Some(count) = spec.pointer_mut("/schedulingPolicy/gang/minCount") {
        *count = min.into();
    }
    spec
}
