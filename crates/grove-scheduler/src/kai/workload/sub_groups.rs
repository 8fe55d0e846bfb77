//! The sub-groups of a workload's PodGroup.
//!
//! KAI from 0.15 on takes the tree as it is. Before, every sub-group is needed with at least one pod: where a workload
//! needs only some of its parts, or no pod of one, the PodGroup has none of them, because a gang that waits for pods which come later never
//! starts. KAI 0.12 besides takes below one parent either sub-groups with children or groups of pods, and drops one
//! kind of a mixture without a word: there what has pods gets a parent of its own.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    backend::RenderError,
    workload::{Group, SubGroup, Topology, parts::Parts},
};

use super::super::form::Form;

/// The sub-groups, and what of the workload is not in them.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) entries: Vec<Value>,
    pub(super) remarks: Vec<String>,
}

pub(super) fn written(form: Form, group: &Group, parts: &Parts<'_>) -> Result<Written, RenderError> {
    let mut written = Written::default();
    if let Some(whose) = parts.lacking() {
        written.remarks.push(format!("{whose} needs more parts than it has: KAI does not place it"));
    }
    if form > Form::SubGroups {
        for (number, part) in group.sub_groups.iter().enumerate() {
            let mut entry = entry(form, part, part.parent.as_deref(), &mut written.remarks)?;
            match part.min_sub_groups {
                Some(min) => entry["minSubGroup"] = min.into(),
                None if parts.is_leaf(number) => entry["minMember"] = part.min_members.into(),
                // A parent that says nothing needs all of its children.
                None => {}
            }
            written.entries.push(entry);
        }
        return Ok(written);
    }
    let elastic = || parts.leaves().find(|it| it.min_members == 0);
    let spare = parts.spare().map(|whose| format!("{whose} needs only some of its parts"));
    let spare = spare.or_else(|| elastic().map(|it| format!("part {:?} can do without pods", it.name)));
    if let Some(what) = spare {
        let needed = parts.needed();
        written.remarks.push(format!(
            "{what}, which KAI {} does not support: any {needed} pods of the group are placed together, and placement of \
             parts has no effect; update KAI to 0.15 or newer",
            form.version()
        ));
        return Ok(written);
    }
    written.add_old(form, group, parts)?;
    Ok(written)
}

impl Written {
    /// As KAI before 0.15 takes them.
    fn add_old(&mut self, form: Form, group: &Group, parts: &Parts<'_>) -> Result<(), RenderError> {
        let names: BTreeSet<&str> = group.sub_groups.iter().map(|it| it.name.as_str()).collect();
        let mut free_names =
            (0_u32..).map(|it| format!("alone-{it}")).filter(|it| !names.contains(it.as_str()));
        let is_mixed = |siblings: &[usize]| siblings.iter().any(|it| !parts.is_leaf(*it));
        let mut is_beside_parents = vec![false; group.sub_groups.len()];
        let families = std::iter::once(parts.roots())
            .chain((0..group.sub_groups.len()).map(|it| parts.children(it)))
            .filter(|it| is_mixed(it));
        for number in families.flatten() {
            is_beside_parents[*number] = true;
        }
        for (number, part) in group.sub_groups.iter().enumerate() {
            let mut parent = part.parent.clone();
            if parts.is_leaf(number) && is_beside_parents[number] {
                let alone = free_names.next();
                self.entries.extend(alone.as_deref().map(|it| named(it, parent.as_deref())));
                parent = alone;
            }
            let mut entry = entry(form, part, parent.as_deref(), &mut self.remarks)?;
            if parts.is_leaf(number) {
                entry["minMember"] = part.min_members.into();
            }
            self.entries.push(entry);
        }
        Ok(())
    }
}

fn named(name: &str, parent: Option<&str>) -> Value {
    let mut entry = json!({ "name": name });
    if let Some(parent) = parent {
        entry["parent"] = parent.into();
    }
    entry
}

fn entry(
    form: Form,
    part: &SubGroup,
    parent: Option<&str>,
    remarks: &mut Vec<String>,
) -> Result<Value, RenderError> {
    let mut entry = named(&part.name, parent);
    if let Some(topology) = &part.topology {
        let whose = format!("part {:?}", part.name);
        if topology.name.is_empty() {
            remarks.push(format!("the levels of {whose} have no effect: no topology is named for them"));
        }
        entry["topologyConstraint"] = constraint(form, topology, &whose)?;
    }
    Ok(entry)
}

/// Placement. KAI ignores levels of no topology, and never places a group with a topology of no level.
pub(super) fn constraint(form: Form, topology: &Topology, whose: &str) -> Result<Value, RenderError> {
    let Topology { name, required, preferred } = topology;
    if !name.is_empty() && required.is_none() && preferred.is_none() {
        return Err(RenderError(format!(
            "{whose} is placed by topology {name:?}, but no level of it is named: KAI would never place it"
        )));
    }
    // KAI 0.12 does not find a level that is preferred and required; what is required holds anyway.
    let is_twice = form == Form::SubGroups && preferred == required;
    let preferred = preferred.as_deref().filter(|_| !is_twice).unwrap_or_default();
    let fields = [
        ("topology", name.as_str()),
        ("requiredTopologyLevel", required.as_deref().unwrap_or_default()),
        ("preferredTopologyLevel", preferred),
    ];
    let said = fields.into_iter().filter(|it| !it.1.is_empty());
    Ok(said.map(|(field, value)| (field.to_owned(), Value::from(value))).collect())
}
