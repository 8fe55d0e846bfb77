//! Where the queue and the PriorityClass of a group are from.

use grove_podgrouper::{Group, Settings};
use serde::Serialize;
use serde_json::Value;

use super::objects::text;

const CLASS: &str = "priorityClassName";
const RAY_CLASS: &str = "ray.io/priority-class-name";

/// A value and who said it.
#[derive(Debug, Serialize)]
pub(super) struct From {
    pub(super) value: String,
    pub(super) from: String,
}

/// The queue of a group. `objects` are those that may name it, the strongest first; the pod is the last of them.
pub(super) fn queue(group: &Group, objects: &[&Value], settings: &Settings) -> From {
    let value = group.queue.clone();
    let by_label = || said(objects, &settings.queue_label, &value);
    let by_project = || {
        let project = objects.iter().find(|it| !text(&it["metadata"]["labels"]["project"]).is_empty())?;
        let of_project = text(&project["metadata"]["labels"]["project"]);
        value.starts_with(of_project).then(|| format!("label project of {}", shown(project)))
    };
    let from =
        by_label().or_else(by_project).unwrap_or_else(|| "the default: no queue label or project".to_owned());
    From { value, from }
}

/// The PriorityClass of a group, likewise.
pub(super) fn priority_class(group: &Group, objects: &[&Value], plugin: &str) -> From {
    let value = group.priority_class.clone();
    let by_spec = || {
        let object = objects.iter().find(|it| of_spec(it) == value)?;
        Some(format!("spec.{CLASS} of {}", shown(object)))
    };
    let from = said(objects, RAY_CLASS, &value)
        .or_else(|| said(objects, CLASS, &value))
        .or_else(by_spec)
        .unwrap_or_else(|| format!("the default of plugin {plugin}: no existing PriorityClass is named"));
    From { value, from }
}

/// PriorityClasses that somebody names and that do not exist.
pub(super) fn unknown_classes(objects: &[&Value], settings: &Settings) -> Vec<String> {
    let named = objects.iter().flat_map(|it| [text(&it["metadata"]["labels"][CLASS]), of_spec(it)]);
    let mut unknown: Vec<&str> =
        named.filter(|it| !it.is_empty() && !settings.priority_classes.contains(*it)).collect();
    unknown.sort_unstable();
    unknown.dedup();
    let sentence = |it: &str| {
        format!("PriorityClass {it} is not known: pass --priority-class {it} if it exists in the cluster")
    };
    unknown.into_iter().map(sentence).collect()
}

/// The PriorityClass in the spec of an object, if it is one that is read there.
fn of_spec(object: &Value) -> &str {
    match text(&object["kind"]) {
        "Pod" | "PodGang" => text(&object["spec"][CLASS]),
        _ => "",
    }
}

/// Who says a value with a label.
fn said(objects: &[&Value], key: &str, value: &str) -> Option<String> {
    let says = |it: &&&Value| it["metadata"]["labels"].get(key).and_then(Value::as_str) == Some(value);
    objects.iter().find(says).map(|it| format!("label {key} of {}", shown(it)))
}

/// Kind and name of an object.
fn shown(object: &Value) -> String {
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}
