//! A gang as a Herd.

use grove_scheduler::{Content, Gang, Object, RenderError};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};

use crate::capabilities::{NO_BUNDLES, OLD_RELEASE};

pub(crate) const VERSION: &str = "v1";

pub(crate) fn resource() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("herd.example.com", VERSION, "Herd"), "herds")
}

/// The herd of a gang. Namespace and owner are the framework's.
pub(crate) fn herd(
    gang: &Gang,
    patience: u64,
    fold_levels: bool,
    existing: &[Value],
) -> Result<Object, RenderError> {
    refuse(gang, fold_levels)?;
    let fold = |leaf: &grove_scheduler::tree::Leaf<'_>| {
        let mut fold = json!({ "name": leaf.name, "least": least(leaf.min, leaf.name, existing) });
        if let Some(level) = &leaf.pack.required {
            fold["within"] = level.as_str().into();
        }
        fold
    };
    let folds: Vec<Value> = gang.leaves().iter().map(fold).collect();
    let mut spec = json!({ "patienceSeconds": patience, "folds": folds });
    if let Some(level) = &gang.pack.required {
        spec["within"] = level.as_str().into();
    }
    if !gang.priority_class.is_empty() {
        spec["importance"] = gang.priority_class.as_str().into();
    }
    let resource = resource();
    let value = json!({
        "apiVersion": resource.api_version, "kind": resource.kind,
        "metadata": { "name": gang.name },
        "spec": spec,
    });
    Ok(Object {
        resource,
        value,
        // The scheduler shortens the patience of herds that it has given up on: we say it once and leave it alone.
        once: vec!["/spec/patienceSeconds".to_owned()],
        // A herd does not move to another place: the framework makes a new one.
        immutable: vec!["/spec/within".to_owned()],
    })
}

/// Admission refuses these by the capabilities. A gang that was admitted before the scheduler was downgraded still
/// comes here: it is refused with a reason, never placed without what it requires.
fn refuse(gang: &Gang, fold_levels: bool) -> Result<(), RenderError> {
    for node in gang.nodes().into_iter().filter(|it| it.pack.required.is_some()) {
        let why = match node.content {
            Content::Bundle(_) => NO_BUNDLES,
            Content::Group { .. } if !fold_levels => OLD_RELEASE,
            Content::Group { .. } => continue,
        };
        return Err(RenderError(format!("{} requires a level: {why}", node.name)));
    }
    Ok(())
}

/// Grove lifts minima to 0 for a moment while it updates a set: the herd keeps what it has.
fn least(min: u32, fold: &str, existing: &[Value]) -> u64 {
    if min > 0 {
        return min.into();
    }
    let folds = existing.iter().filter_map(|it| it.pointer("/spec/folds")?.as_array()).flatten();
    let mut before = folds.filter(|it| it["name"] == fold).filter_map(|it| it["least"].as_u64());
    before.next().unwrap_or(1)
}
