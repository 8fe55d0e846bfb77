//! A gang's tree, laid out on the one level of sub-groups that Volcano has.
//!
//! Where a bundle asks for nothing of its own, its groups stand beside all others: the gang needs each of them anyway.
//! A bundle with a level of its own becomes one sub-group, in which minTaskMember keeps the minimum of each group.

use crate::tree::{Content, Gang, Node, Pack};

use super::form::{Form, TOO_OLD_FOR_GROUPS};

/// A sub-group.
#[derive(Debug, PartialEq)]
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) pack: &'a Pack,
    /// Groups in it, with their minima; several where a bundle was merged.
    pub(super) groups: Vec<(&'a str, u32)>,
    /// Whether it is a bundle.
    pub(super) is_bundle: bool,
    /// Names of all parts of the tree that it stands for.
    covers: Vec<&'a str>,
}

/// The sub-groups of a gang, or why it cannot be laid out.
pub(super) fn parts<'a>(form: &Form, gang: &'a Gang) -> Result<Vec<Part<'a>>, String> {
    let mut parts = Vec::new();
    for child in &gang.children {
        add(child, gang.pack.required.as_deref(), &mut parts)?;
    }
    let required = parts.iter().find_map(|it| Some((it.name, it.pack.required.as_deref()?)));
    if let (false, Some((name, key))) = (form.sub_groups, required) {
        return Err(format!("{TOO_OLD_FOR_GROUPS}, so that {name:?} cannot require {key:?}"));
    }
    Ok(parts)
}

/// Groups whose minimum is kept by minTaskMember, with it.
pub(super) fn tasks<'a>(form: &Form, parts: &[Part<'a>]) -> Vec<(&'a str, u32)> {
    let groups =
        |parts: &mut dyn Iterator<Item = &Part<'a>>| parts.flat_map(|it| it.groups.clone()).collect();
    let all: Vec<_> = groups(&mut parts.iter());
    match form.sub_groups {
        true => groups(&mut parts.iter().filter(|it| it.is_bundle)),
        // Of a single group, minMember says it all.
        false if all.len() > 1 => all,
        false => Vec::new(),
    }
}

/// Whether something should be packed that is no sub-group: then the gang is packed as a whole, which is as near as
/// Volcano comes to it.
pub(super) fn has_homeless_wish(form: &Form, gang: &Gang, parts: &[Part<'_>]) -> bool {
    let has_home = |node: &Node| parts.iter().any(|it| it.covers.contains(&node.name.as_str()));
    gang.nodes().iter().any(|it| it.pack.preferred.is_some() && !(form.sub_groups && has_home(it)))
}

/// `outer` is the level that holds for the whole gang.
fn add<'a>(node: &'a Node, outer: Option<&str>, parts: &mut Vec<Part<'a>>) -> Result<(), String> {
    let (name, pack) = (node.name.as_str(), &node.pack);
    let children = match &node.content {
        Content::Group { min, .. } => {
            parts.push(Part { name, pack, groups: vec![(name, *min)], is_bundle: false, covers: vec![name] });
            return Ok(());
        }
        Content::Bundle(children) => children,
    };
    let below = below(children);
    let own = pack.required.as_deref().filter(|it| Some(*it) != outer);
    let is_merged = match own {
        Some(own) => {
            let other = below.iter().find(|it| it.pack.required.as_deref().is_some_and(|it| it != own));
            if let Some(other) = other {
                return Err(format!(
                    "Volcano has one level of sub-groups: {name:?} requires {own:?}, so that {:?} in it cannot require another one",
                    other.name
                ));
            }
            true
        }
        // A wish is worth a sub-group only if nothing below needs one.
        None => {
            pack.required.is_none() && pack.preferred.is_some() && below.iter().all(|it| it.pack.is_empty())
        }
    };
    if is_merged {
        let groups = below.iter().filter_map(|it| match &it.content {
            Content::Group { min, .. } => Some((it.name.as_str(), *min)),
            Content::Bundle(_) => None,
        });
        let covers = std::iter::once(name).chain(below.iter().map(|it| it.name.as_str()));
        let covers = covers.collect();
        parts.push(Part { name, pack, groups: groups.collect(), is_bundle: true, covers });
        return Ok(());
    }
    children.iter().try_for_each(|it| add(it, outer, parts))
}

/// All nodes below, parents before their children.
fn below(children: &[Node]) -> Vec<&Node> {
    let mut nodes = Vec::new();
    for child in children {
        nodes.push(child);
        if let Content::Bundle(children) = &child.content {
            nodes.extend(below(children));
        }
    }
    nodes
}
