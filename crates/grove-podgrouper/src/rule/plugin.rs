//! A compiled rule, as a plugin: the group that all begin with, and what the rule says instead.

use grove_api::wire::KindMatch;
use serde_json::Value;

use super::{
    name_key::NameKey,
    parts::{Part, parts},
    scope::Scope,
    source::{Count, Text},
    topology::TopologyFrom,
};
use crate::{
    default_group::default_group,
    group::Group,
    integers::add,
    plugin::{Found, Plugin, Refused},
    settings::Settings,
    workload::Workload,
};

/// A rule that can be run.
#[derive(Debug)]
pub struct Rule {
    pub(super) name: String,
    pub(super) match_: KindMatch,
    pub(super) name_key: Option<NameKey>,
    pub(super) minimum: Minimum,
    pub(super) priority: Priority,
    pub(super) topology: Option<TopologyFrom>,
}

/// How much of a group has to be placed together.
#[derive(Debug)]
pub(super) enum Minimum {
    Members(Count),
    Parts { parts: Vec<Part>, at_least: Option<Count> },
}

/// The PriorityClass: what the workload names, and what it gets where nobody names one.
#[derive(Debug)]
pub(super) struct Priority {
    pub(super) named: Option<Text>,
    pub(super) fallback: String,
}

impl Rule {
    /// Name of the GroupingRule.
    pub fn rule_name(&self) -> &str {
        &self.name
    }

    /// Whether it says that it is for this version, or for `*`.
    pub(super) fn is_for(&self, group: &str, version: &str) -> bool {
        self.match_.group == group && self.match_.version == version
    }

    fn make(&self, workload: Workload<'_>, settings: &Settings) -> Result<Group, Refused> {
        let owner = Scope::of(workload.top);
        let mut group = default_group(workload, settings, &self.priority.fallback);
        if let Some(key) = &self.name_key {
            group.name = key.group_name(workload)?;
        }
        self.priority.put(owner, settings, &mut group)?;
        if let Some(topology) = &self.topology
            && let Some(topology) = topology.read(owner, group.topology.as_ref())?
        {
            group.topology = Some(topology);
        }
        self.minimum.put(owner, workload.pod, &mut group)?;
        Ok(group)
    }
}

impl Plugin for Rule {
    fn name(&self) -> &'static str {
        "rule"
    }

    fn group(
        &self,
        workload: Workload<'_>,
        _: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let made = self.make(workload, settings);
        made.map(Some).map_err(|Refused(what)| Refused(format!("rule {}: {what}", self.name)))
    }
}

impl Priority {
    /// A class that is not there would keep the pods from being placed, so it is told and not used.
    fn put(&self, owner: Scope<'_>, settings: &Settings, group: &mut Group) -> Result<(), Refused> {
        let Some(named) = &self.named else { return Ok(()) };
        match named.read(owner)? {
            Some(class) if settings.priority_classes.contains(&class) => group.priority_class = class,
            Some(class) => group.remarks.push(format!(
                "PriorityClass {class}, which {owner} names, is not there: {} is used",
                group.priority_class
            )),
            None => {}
        }
        Ok(())
    }
}

impl Minimum {
    fn put(&self, owner: Scope<'_>, pod: &Value, group: &mut Group) -> Result<(), Refused> {
        let (rules, at_least) = match self {
            Self::Members(count) => {
                group.min_members = count.read(owner, 0)?;
                return Ok(());
            }
            Self::Parts { parts, at_least } => (parts, at_least),
        };
        group.sub_groups = parts(rules, pod, owner, group.topology.as_ref())?;
        group.min_members = group.sub_groups.iter().try_fold(0, |sum, part| {
            add(sum, part.min_members, format_args!("spec.subGroups: their minima in {owner}"))
        })?;
        // There are never more than `sub_groups::MOST`.
        let all = u32::try_from(group.sub_groups.len()).unwrap_or(u32::MAX);
        let wanted = at_least.as_ref().map_or(Ok(all), |it| it.read(owner, 0))?;
        if wanted == 0 || wanted > all {
            return Err(Refused(format!(
                "spec.minSubGroup is {wanted} for {owner}, which has {all} sub-groups: let it be from 1 to {all}"
            )));
        }
        group.min_sub_groups = Some(wanted);
        Ok(())
    }
}
