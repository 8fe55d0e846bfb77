//! Rules for a GroupingRule. One that keeps them compiles.

mod selector;
mod sources;

use std::collections::BTreeSet;

use self::{
    selector::check_selector,
    sources::{check_count, check_path, check_text},
};
use super::kubernetes::is_dns_label;
use crate::{
    field::{Error, Errors, Path},
    limits::MAX_RULE_SUB_GROUPS,
    messages,
    wire::{ForEach, GroupingRule, GroupingRuleSpec, PrioritySource, SubGroupRule, TopologySource},
};

/// Checks a GroupingRule.
pub fn validate_grouping_rule(rule: &GroupingRule) -> Errors {
    let (spec, path) = (&rule.spec, Path::of(&["spec"]));
    let mut errors = Errors::new();
    if let Some(key) = &spec.name_key {
        check_path(&key.path, &path.child("nameKey"), &mut errors);
    }
    minima(spec, &path, &mut errors);
    if let Some(PrioritySource { path: class, default }) = &spec.priority_class {
        let path = path.child("priorityClass");
        match class {
            Some(class) => check_path(class, &path, &mut errors),
            None if default.is_none() => {
                errors.push(Error::required(path, messages::RULE_PRIORITY_EMPTY));
            }
            None => {}
        }
    }
    if let Some(topology) = &spec.topology {
        let path = path.child("topology");
        if topology.name.is_none() {
            errors.push(Error::required(path.child("name"), messages::RULE_TOPOLOGY_NAME));
        }
        check_topology(topology, &path, &mut errors);
    }
    sub_groups(&spec.sub_groups, &path.child("subGroups"), &mut errors);
    errors
}

fn minima(spec: &GroupingRuleSpec, path: &Path, errors: &mut Errors) {
    if let Some(count) = &spec.min_member {
        let path = path.child("minMember");
        if !spec.sub_groups.is_empty() {
            errors.push(Error::forbidden(path.clone(), messages::RULE_TWO_MINIMA));
        }
        check_count(count, &path, errors);
    }
    if let Some(count) = &spec.min_sub_group {
        let path = path.child("minSubGroup");
        if spec.sub_groups.is_empty() {
            errors.push(Error::forbidden(path.clone(), messages::RULE_NO_SUB_GROUPS));
        }
        check_count(count, &path, errors);
    }
}

fn check_topology(topology: &TopologySource, path: &Path, errors: &mut Errors) {
    if topology.required.is_none() && topology.preferred.is_none() {
        errors.push(Error::required(path.clone(), messages::RULE_NO_LEVEL));
    }
    for (field, source) in
        [("name", &topology.name), ("required", &topology.required), ("preferred", &topology.preferred)]
    {
        if let Some(source) = source {
            check_text(source, &path.child(field), errors);
        }
    }
}

fn sub_groups(parts: &[SubGroupRule], path: &Path, errors: &mut Errors) {
    if parts.len() > MAX_RULE_SUB_GROUPS {
        errors.push(Error::too_many(path.clone(), parts.len(), MAX_RULE_SUB_GROUPS));
        return;
    }
    let (mut names, mut has_rest) = (BTreeSet::new(), false);
    for (index, part) in parts.iter().enumerate() {
        let path = path.index(index);
        match (&part.name, &part.for_each) {
            (Some(name), None) => {
                if !is_dns_label(name) {
                    errors.push(Error::invalid(path.child("name"), name, "must be a DNS label"));
                }
                if !names.insert(name) {
                    errors.push(Error::duplicate(path.child("name"), name));
                }
                if part.pod_selector.is_none() && std::mem::replace(&mut has_rest, true) {
                    errors.push(Error::required(path.child("podSelector"), messages::RULE_TWO_RESTS));
                }
            }
            (None, Some(each)) => for_each(each, &path.child("forEach"), errors),
            (name, _) => {
                errors.push(Error::invalid(path.clone(), name, messages::RULE_NAME_OR_EACH));
            }
        }
        check_count(&part.min_member, &path.child("minMember"), errors);
        if let Some(selector) = &part.pod_selector {
            check_selector(selector, &path.child("podSelector"), errors);
        }
        if let Some(topology) = &part.topology {
            check_topology(topology, &path.child("topology"), errors);
        }
    }
}

fn for_each(each: &ForEach, path: &Path, errors: &mut Errors) {
    check_path(&each.path, path, errors);
    if let Some(name) = &each.name {
        sources::check_path_at(name, path.child("name"), errors);
    }
    selector::check_key(&each.pod_label, path.child("podLabel"), errors);
}
