//! From the object that a user wrote to what is run for every pod. Whoever calls it has validated the object.

use grove_api::{
    json_path::JsonPath,
    wire::{CountSource, ForEach, GroupingRule, NameKeyFrom, SubGroupRule, TextSource, TopologySource},
};

use super::{
    name_key::NameKey,
    parts::{Name, Part},
    plugin::{Minimum, Priority, Rule},
    selector::Selector,
    source::{At, Count, Text},
    topology::TopologyFrom,
};
use crate::default_group::TRAIN;

/// The rule; `None` where it is not valid.
pub(super) fn compile(rule: &GroupingRule) -> Option<Rule> {
    let spec = &rule.spec;
    let name_key = match &spec.name_key {
        None => None,
        Some(key) => Some(NameKey {
            from_pod: key.from == NameKeyFrom::Pod,
            value: at("spec.nameKey".to_owned(), &key.path)?,
            default: key.default.clone(),
        }),
    };
    let minimum = if spec.sub_groups.is_empty() {
        let members = spec.min_member.as_ref().map(|it| count("spec.minMember".to_owned(), it));
        Minimum::Members(members.unwrap_or(Some(Count::Fixed(1)))?)
    } else {
        let parts = spec.sub_groups.iter().enumerate().map(|(index, it)| part(index, it));
        let at_least = spec.min_sub_group.as_ref().map(|it| count("spec.minSubGroup".to_owned(), it));
        Minimum::Parts {
            parts: parts.collect::<Option<_>>()?,
            at_least: match at_least {
                None => None,
                Some(count) => Some(count?),
            },
        }
    };
    let class = spec.priority_class.as_ref();
    let named = match class.and_then(|it| it.path.as_ref()) {
        None => None,
        Some(path) => Some(Text::At(at("spec.priorityClass".to_owned(), path)?, None)),
    };
    let fallback = class.and_then(|it| it.default.clone()).unwrap_or_else(|| TRAIN.to_owned());
    let topology = match &spec.topology {
        None => None,
        Some(it) => Some(topology("spec.topology", it)?),
    };
    Some(Rule {
        name: rule.metadata.name.clone().unwrap_or_default(),
        match_: spec.match_.clone(),
        name_key,
        minimum,
        priority: Priority { named, fallback },
        topology,
    })
}

fn part(index: usize, rule: &SubGroupRule) -> Option<Part> {
    let field = format!("spec.subGroups[{index}]");
    let name = match (&rule.name, &rule.for_each) {
        (Some(name), None) => Name::Fixed(name.clone()),
        (None, Some(ForEach { path, name, pod_label })) => Name::Each {
            items: at(format!("{field}.forEach"), path)?,
            name: match name {
                None => None,
                Some(name) => {
                    Some(At { field: format!("{field}.forEach.name"), path: JsonPath::parse(name).ok()? })
                }
            },
            label: pod_label.clone(),
        },
        _ => return None,
    };
    Some(Part {
        min_members: count(format!("{field}.minMember"), &rule.min_member)?,
        selector: rule.pod_selector.as_ref().map(Selector::of),
        topology: match &rule.topology {
            None => None,
            Some(it) => Some(topology(&format!("{field}.topology"), it)?),
        },
        field,
        name,
    })
}

fn topology(field: &str, source: &TopologySource) -> Option<TopologyFrom> {
    let level = |name: &str, source: &Option<TextSource>| match source {
        None => Some(None),
        Some(source) => text(format!("{field}.{name}"), source).map(Some),
    };
    Some(TopologyFrom {
        field: field.to_owned(),
        name: level("name", &source.name)?,
        required: level("required", &source.required)?,
        preferred: level("preferred", &source.preferred)?,
    })
}

fn at(holder: String, path: &str) -> Option<At> {
    Some(At { field: holder + ".path", path: JsonPath::parse(path).ok()? })
}

fn count(field: String, source: &CountSource) -> Option<Count> {
    let number = |it: i32| u32::try_from(it).ok();
    match (&source.path, source.value) {
        (None, Some(value)) => Some(Count::Fixed(number(value)?)),
        (Some(path), None) => {
            let default = match source.default {
                None => None,
                Some(it) => Some(number(it)?),
            };
            Some(Count::At(at(field, path)?, default))
        }
        _ => None,
    }
}

fn text(field: String, source: &TextSource) -> Option<Text> {
    match (&source.path, &source.value) {
        (None, Some(value)) => Some(Text::Fixed(value.clone())),
        (Some(path), None) => Some(Text::At(at(field, path)?, source.default.clone())),
        _ => None,
    }
}
