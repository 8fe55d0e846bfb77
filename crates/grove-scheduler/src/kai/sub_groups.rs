//! The sub-groups of a PodGroup, and placement.
//!
//! KAI 0.12 takes below one parent either sub-groups with children or groups of pods. Of a mixture it drops one kind
//! without a word: those pods are never placed, and the rest of the gang is, without them. There a group that stands
//! beside bundles gets a parent of its own.

use std::collections::BTreeSet;

use grove_api::limits::MAX_LABEL_LENGTH;
use serde_json::{Value, json};

use crate::{
    tree::{Content, Gang, Node, Pack},
    workload::parts::is_dns_label,
};

use super::{form::Form, rival};

/// Names a topology for a gang that Grove gave none.
const TOPOLOGY_KEY: &str = "kai.scheduler/topology";

/// The sub-groups of a gang.
#[derive(Debug, Default)]
pub(super) struct SubGroups {
    /// Those with children first, as KAI's pod grouper orders them.
    pub(super) entries: Vec<Value>,
    /// The sum of the minima.
    pub(super) min: u32,
}

impl SubGroups {
    pub(super) fn of(form: Form, gang: &Gang, before: Option<&Value>) -> Result<Self, String> {
        let mut names = BTreeSet::new();
        collect_names(&gang.children, &mut names);
        let takes_mixture = form > Form::SubGroups || before.is_some_and(rival::knows_bundles);
        let mut tree = Tree {
            form,
            gang,
            before,
            takes_mixture,
            names,
            bundles: Vec::new(),
            groups: Vec::new(),
            min: 0,
        };
        tree.add(&gang.children, None)?;
        let Tree { mut bundles, groups, min, .. } = tree;
        bundles.extend(groups);
        Ok(Self { entries: bundles, min })
    }
}

fn collect_names(nodes: &[Node], names: &mut BTreeSet<String>) {
    for node in nodes {
        names.insert(node.name.clone());
        if let Content::Bundle(children) = &node.content {
            collect_names(children, names);
        }
    }
}

/// Sub-groups while they are collected.
struct Tree<'a> {
    form: Form,
    gang: &'a Gang,
    before: Option<&'a Value>,
    /// Whether groups of pods may stand beside bundles.
    takes_mixture: bool,
    /// All names that are taken.
    names: BTreeSet<String>,
    bundles: Vec<Value>,
    groups: Vec<Value>,
    min: u32,
}

impl Tree<'_> {
    /// Adds all that stands below one parent.
    fn add(&mut self, nodes: &[Node], parent: Option<&str>) -> Result<(), String> {
        let is_bundle = |it: &Node| matches!(it.content, Content::Bundle(_));
        let separates = !self.takes_mixture && nodes.iter().any(is_bundle);
        for node in nodes {
            check_name(&node.name)?;
            match &node.content {
                Content::Group { min, .. } if separates => {
                    let alone = self.free_name();
                    self.bundles.push(entry(&alone, parent));
                    self.add_group(node, *min, Some(&alone))?;
                }
                Content::Group { min, .. } => self.add_group(node, *min, parent)?,
                Content::Bundle(children) => {
                    let mut bundle = self.placed(node, parent)?;
                    if self.form > Form::SubGroups {
                        bundle["minSubGroup"] = children.len().into();
                    }
                    self.bundles.push(bundle);
                    self.add(children, Some(&node.name))?;
                }
            }
        }
        Ok(())
    }

    fn add_group(&mut self, node: &Node, min: u32, parent: Option<&str>) -> Result<(), String> {
        let mut group = self.placed(node, parent)?;
        let min = self.effective(&node.name, min);
        self.min = self.min.saturating_add(min);
        group["minMember"] = min.into();
        self.groups.push(group);
        Ok(())
    }

    fn placed(&self, node: &Node, parent: Option<&str>) -> Result<Value, String> {
        let mut entry = entry(&node.name, parent);
        if let Some(constraint) = constraint(self.gang, &node.pack, &format!("{:?}", node.name))? {
            entry["topologyConstraint"] = constraint;
        }
        Ok(entry)
    }

    /// A name that nothing else in the gang has.
    fn free_name(&mut self) -> String {
        let mut number = 0;
        loop {
            let name = format!("alone-{number}");
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }

    /// A minimum that is lifted keeps its value at the scheduler.
    fn effective(&self, name: &str, min: u32) -> u32 {
        if min > 0 {
            return min;
        }
        let before = self.before.and_then(|it| it["spec"]["subGroups"].as_array());
        let before = before.into_iter().flatten().find(|it| it["name"] == name);
        let before = before.and_then(|it| it["minMember"].as_u64()).and_then(|it| u32::try_from(it).ok());
        before.unwrap_or_default().max(1)
    }
}

fn entry(name: &str, parent: Option<&str>) -> Value {
    let mut entry = json!({ "name": name });
    if let Some(parent) = parent {
        entry["parent"] = parent.into();
    }
    entry
}

/// Pods carry the name as a label value, and KAI looks parents up in lower case.
fn check_name(name: &str) -> Result<(), String> {
    if is_dns_label(name) {
        return Ok(());
    }
    Err(format!(
        "{name:?} cannot be a sub-group of KAI: at most {MAX_LABEL_LENGTH} lower case letters, digits and dashes"
    ))
}

/// Placement of a part of the gang. A topology without a level would silently never be scheduled.
pub(super) fn constraint(gang: &Gang, pack: &Pack, whose: &str) -> Result<Option<Value>, String> {
    if pack.is_empty() {
        return Ok(None);
    }
    let fallback = gang.annotations.get(TOPOLOGY_KEY).map_or("", String::as_str);
    let topology = if gang.topology.is_empty() { fallback } else { &gang.topology };
    if topology.is_empty() {
        return Err(format!(
            "{whose} is placed by topology, but the gang does not name one (annotation grove.io/topology-name)"
        ));
    }
    let mut constraint = json!({ "topology": topology });
    if let Some(level) = &pack.required {
        constraint["requiredTopologyLevel"] = level.as_str().into();
    }
    // KAI 0.12 does not find a level that is preferred and required; what is required holds anyway.
    if let Some(level) = pack.preferred.as_ref().filter(|it| pack.required.as_ref() != Some(*it)) {
        constraint["preferredTopologyLevel"] = level.as_str().into();
    }
    Ok(Some(constraint))
}
