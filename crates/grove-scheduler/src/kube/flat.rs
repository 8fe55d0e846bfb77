//! A gang as one PodGroup, where there are no CompositePodGroups.
//!
//! The pods of all groups count as one, so that only as many of each group may be in it as it needs: a further pod of
//! one group must not stand for a missing one of another.

use serde_json::Value;

use super::{
    capabilities::{NO_TOPOLOGY, NO_TREE},
    objects::{Place, min_count, pod_group},
    topology::refuse_required,
};
use crate::{
    backend::{Object, RenderError},
    tree::{Content, Gang},
};

pub(super) fn render(gang: &Gang, topology: bool, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
    if gang.leaves().is_empty() {
        return Ok(Vec::new());
    }
    if !topology {
        refuse_required(gang, NO_TOPOLOGY)?;
    }
    let place = Place { name: &gang.name, parent: None, level: level(gang)? };
    Ok(vec![pod_group(gang, place, min_count(gang.min(), &gang.name, existing))?])
}

/// The one level that the PodGroup has.
fn level(gang: &Gang) -> Result<Option<&str>, RenderError> {
    let whole = gang.pack.required.as_deref();
    let mut inside = gang.nodes().into_iter().filter(|it| it.pack.required.is_some());
    let Some(node) = inside.next() else { return Ok(whole) };
    let own = node.pack.required.as_deref();
    let is_the_gang = is_alone(gang) && matches!(node.content, Content::Group { .. });
    if is_the_gang && (whole.is_none() || whole == own) {
        return Ok(own);
    }
    let (name, level) = (&node.name, own.unwrap_or_default());
    Err(RenderError(format!("{name} requires the topology level {level}, which is not possible: {NO_TREE}")))
}

fn is_alone(gang: &Gang) -> bool {
    gang.shape().groups == 1
}
