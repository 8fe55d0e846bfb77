//! A gang as a tree of CompositePodGroups, with a PodGroup for each group of pods.

use std::cmp::Reverse;

use serde_json::Value;

use super::objects::{Place, composite, min_count, pod_group};
use crate::{
    backend::{Object, RenderError},
    tree::{Content, Gang, Node},
};

/// Levels that the scheduler walks, leaves included.
const MAX_LEVELS: usize = 4;

/// The root first and parents before their children, then the groups in the order in which the scheduler is to try
/// them, which goes by age: it does not go back on a choice, so that what is hard to place comes first.
pub(super) fn render(gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
    let parts = parts_of(&gang.children);
    let whole = gang.pack.required.as_deref();
    match parts.as_slice() {
        [] => return Ok(Vec::new()),
        // One group is a gang by itself, unless others come back later: the group of a pod cannot move below another one then.
        // An object has one level only, so that two need an object each.
        [Node { name, pack, content: Content::Group { min, .. }, .. }] if gang.absent.is_empty() => {
            let own = pack.required.as_deref();
            if own.is_none() || whole.is_none() || own == whole {
                let place = Place { name, parent: None, level: own.or(whole) };
                return Ok(vec![pod_group(gang, place, min_count(*min, name, existing))?]);
            }
        }
        _ => {}
    }
    let mut tree = Tree { gang, existing, composites: Vec::new(), groups: Vec::new() };
    tree.composite(Place { name: &gang.name, parent: None, level: whole }, &parts, 1)?;
    tree.groups.sort_by_key(|it| (!it.is_constrained, Reverse(it.min)));
    Ok(tree.composites.into_iter().chain(tree.groups.into_iter().map(|it| it.object)).collect())
}

/// What hangs below a CompositePodGroup. All parts of a bundle are needed, so that one without a level of its own says
/// nothing: its parts stand for it.
fn parts_of(nodes: &[Node]) -> Vec<&Node> {
    let mut parts = Vec::new();
    for node in nodes {
        match &node.content {
            Content::Group { .. } => parts.push(node),
            Content::Bundle(children) => {
                let inside = parts_of(children);
                let stands_for_itself = node.pack.required.is_some() && !inside.is_empty();
                parts.extend(if stands_for_itself { vec![node] } else { inside });
            }
        }
    }
    parts
}

struct Tree<'a> {
    gang: &'a Gang,
    existing: &'a [Value],
    composites: Vec<Object>,
    groups: Vec<Group>,
}

struct Group {
    object: Object,
    is_constrained: bool,
    min: u64,
}

impl Tree<'_> {
    fn composite(&mut self, place: Place<'_>, parts: &[&Node], level: usize) -> Result<(), RenderError> {
        if level >= MAX_LEVELS {
            let why = format!("{} has more than {MAX_LEVELS} levels of required topology", self.gang.name);
            return Err(RenderError(why));
        }
        self.composites.push(composite(self.gang, place, parts.len())?);
        for node in parts {
            let required = node.pack.required.as_deref();
            match &node.content {
                Content::Group { min, .. } => {
                    let min = min_count(*min, &node.name, self.existing);
                    let below = Place { name: &node.name, parent: Some(place.name), level: required };
                    let object = pod_group(self.gang, below, min)?;
                    self.groups.push(Group { object, is_constrained: required.is_some(), min });
                }
                Content::Bundle(children) => {
                    // Not the name alone: a gang may be called so.
                    let name = format!("{}.{}", self.gang.name, node.name);
                    let below = Place { name: &name, parent: Some(place.name), level: required };
                    self.composite(below, &parts_of(children), level + 1)?;
                }
            }
        }
        Ok(())
    }
}
