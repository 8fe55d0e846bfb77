//! Which parts of a set may be created where it asks for more PodCliques than one set may have.
//!
//! Admission refuses such a set. One may be there all the same: made before the cap or while no webhook answered, or its
//! scaling groups were scaled by autoscalers. A part is what is placed together: the base of a set replica, or one further
//! replica of a scaling group. Parts that exist stay, and count. Of the others those come first that the template asks for,
//! then those that groups were scaled to; each in the order of set replicas, groups and group replicas. With the first that
//! finds no room the creation ends. All controllers compute this from the same caches, so that they agree.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    constants::labels,
    limits::{MAX_POD_CLIQUES_PER_SET, MAX_SCALING_GROUPS_PER_SET},
    names,
    size::{self, ReplicaSize},
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig},
};

use crate::{
    facts::{index_label, label},
    layout::{count, group_minimum, group_replicas, set_name},
};

/// How much a set may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// PodCliques.
    pub cliques: u64,
    /// PodCliqueScalingGroups.
    pub groups: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { cliques: MAX_POD_CLIQUES_PER_SET, groups: MAX_SCALING_GROUPS_PER_SET }
    }
}

/// Scaling groups of a set that exist, by name.
pub type Groups<'a> = BTreeMap<&'a str, &'a PodCliqueScalingGroup>;

/// The parts of a set of which something exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Existing {
    bases: BTreeSet<u32>,
    /// Group replicas, by the name of the PodCliqueScalingGroup.
    members: BTreeMap<String, BTreeSet<u32>>,
}

impl Existing {
    /// By the labels of what the set has.
    pub fn of<'a>(
        cliques: impl IntoIterator<Item = &'a PodClique>,
        groups: impl IntoIterator<Item = &'a PodCliqueScalingGroup>,
    ) -> Self {
        let mut existing = Self::default();
        for clique in cliques {
            let of_clique = clique.metadata.labels.as_ref();
            existing.bases.extend(index_label(of_clique, labels::SET_REPLICA_INDEX));
            let index = index_label(of_clique, labels::SCALING_GROUP_REPLICA_INDEX);
            if let Some((group, index)) = label(of_clique, labels::SCALING_GROUP).zip(index) {
                existing.members.entry(group.to_owned()).or_default().insert(index);
            }
        }
        let replica =
            |it: &PodCliqueScalingGroup| index_label(it.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX);
        existing.bases.extend(groups.into_iter().filter_map(replica));
        existing
    }

    fn has_member(&self, group: &str, index: u32) -> bool {
        self.members.get(group).is_some_and(|it| it.contains(&index))
    }
}

/// What may be created. The default: everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allotment {
    over: Option<Over>,
}

/// A set that asks for too much.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Over {
    /// The first part that finds no room; none after it does.
    first: Position,
    existing: Existing,
    /// PodCliques that the set asks for.
    wanted: u64,
    /// PodCliques that it has, or gets.
    created: u64,
    caps: Caps,
}

/// Place of a part in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    /// Whether the template does not ask for it: its group was scaled.
    is_scaled: bool,
    replica: u32,
    /// 0 is the base, 1 the first group.
    group: usize,
    group_replica: u32,
}

impl Allotment {
    /// For a set with these scaling groups. `existing` is asked only where the set is too large.
    pub fn of(set: &PodCliqueSet, groups: &Groups<'_>, existing: impl FnOnce() -> Existing) -> Self {
        Self::within(Caps::default(), set, groups, existing)
    }

    /// Likewise, with other caps.
    pub fn within(
        caps: Caps,
        set: &PodCliqueSet,
        groups: &Groups<'_>,
        existing: impl FnOnce() -> Existing,
    ) -> Self {
        let has_room_for_groups =
            size::replicas(set).saturating_mul(set.spec.template.scaling_groups.len() as u64) <= caps.groups;
        let wanted = wanted_cliques(set, groups);
        if has_room_for_groups && wanted <= caps.cliques {
            return Self::default();
        }
        let existing = existing();
        let mut walk = Walk::new(caps, set, groups, &existing);
        let Some(first) = walk.first_without_room() else { return Self::default() };
        let created = caps.cliques.max(walk.reserved).saturating_sub(walk.cliques);
        Self { over: Some(Over { first, existing, wanted, created, caps }) }
    }

    /// Whether a scaling group of this size has room, whatever the others have: no larger than by the template, in a set
    /// whose template has room.
    pub fn is_certain(caps: Caps, set: &PodCliqueSet, config: &ScalingGroupConfig, replicas: u32) -> bool {
        let size = ReplicaSize::of(&set.spec.template);
        let times = |each: u64| size::replicas(set).saturating_mul(each);
        replicas <= group_replicas(config).max(group_minimum(config))
            && times(size.cliques) <= caps.cliques
            && times(size.groups) <= caps.groups
    }

    /// Whether the set asks for more than it may have.
    pub fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Whether the base of a set replica is there or may be created.
    pub fn has_base(&self, replica: u32) -> bool {
        let position = Position { is_scaled: false, replica, group: 0, group_replica: 0 };
        self.over.as_ref().is_none_or(|it| position < it.first || it.existing.bases.contains(&replica))
    }

    /// The replicas of a group beyond its minimum that are there or may be created, of those below `replicas`.
    pub fn further_replicas(
        &self,
        set: &PodCliqueSet,
        replica: u32,
        config: &ScalingGroupConfig,
        replicas: u32,
    ) -> Vec<u32> {
        let minimum = group_minimum(config);
        let Some(over) = &self.over else { return (minimum..replicas).collect() };
        let end = over.end(set, replica, config, replicas);
        let name = names::scaling_group(set_name(set), replica, &config.name);
        let beyond = over.existing.members.get(&name).into_iter().flatten().copied();
        let beyond = beyond.filter(|it| (end.max(minimum)..replicas).contains(it));
        (minimum..end).chain(beyond).collect()
    }

    /// What is not created and why, in words.
    pub fn message(&self, set: &PodCliqueSet) -> Option<String> {
        let over = self.over.as_ref()?;
        let Caps { cliques, groups } = over.caps;
        let Position { replica, group, group_replica, .. } = over.first;
        let config = group.checked_sub(1).and_then(|at| set.spec.template.scaling_groups.get(at));
        let part = match config {
            None => format!("set replica {replica}"),
            Some(config) => {
                let name = names::scaling_group(set_name(set), replica, &config.name);
                format!("replica {group_replica} of PodCliqueScalingGroup {name}")
            }
        };
        let (wanted, created) = (over.wanted, over.created);
        Some(format!(
            "{created} of {wanted} PodCliques are created, nothing from {part} on: a set may have at most {cliques} PodCliques \
             and {groups} PodCliqueScalingGroups. Lower replicas of the set or of its scaling groups, or split the set"
        ))
    }
}

impl Over {
    /// Where the replicas of a group end that may be created.
    fn end(&self, set: &PodCliqueSet, replica: u32, config: &ScalingGroupConfig, replicas: u32) -> u32 {
        let groups = &set.spec.template.scaling_groups;
        let Some(at) = groups.iter().position(|it| it.name == config.name) else { return 0 };
        let (here, first) = ((replica, at + 1), (self.first.replica, self.first.group));
        let by_template = replicas.min(group_replicas(config).max(group_minimum(config)));
        match (here.cmp(&first), self.first.is_scaled) {
            (std::cmp::Ordering::Equal, _) => self.first.group_replica.min(replicas),
            (std::cmp::Ordering::Less, false) | (std::cmp::Ordering::Greater, true) => by_template,
            (std::cmp::Ordering::Less, true) => replicas,
            (std::cmp::Ordering::Greater, false) => 0,
        }
    }
}

/// PodCliques that a set asks for, with its groups as they are.
pub fn wanted_cliques(set: &PodCliqueSet, groups: &Groups<'_>) -> u64 {
    let template = &set.spec.template;
    let mut wanted = size::replicas(set).saturating_mul(ReplicaSize::of(template).base_cliques);
    for replica in 0..count(set.spec.replicas) {
        for config in &template.scaling_groups {
            let more = live_replicas(set, groups, replica, config).saturating_sub(group_minimum(config));
            wanted = wanted.saturating_add(u64::from(more).saturating_mul(members(config)));
        }
    }
    wanted
}

fn live_replicas(set: &PodCliqueSet, groups: &Groups<'_>, replica: u32, config: &ScalingGroupConfig) -> u32 {
    let live = groups.get(names::scaling_group(set_name(set), replica, &config.name).as_str());
    live.map_or_else(|| group_replicas(config), |it| count(it.spec.replicas))
}

/// PodCliques of one replica of a group.
fn members(config: &ScalingGroupConfig) -> u64 {
    config.clique_names.len() as u64
}

/// Goes through the parts in the order of creation.
struct Walk<'a> {
    set: &'a PodCliqueSet,
    groups: &'a Groups<'a>,
    existing: &'a Existing,
    /// What a base consists of.
    base: (u64, u64),
    /// PodCliques of the parts that exist.
    reserved: u64,
    /// PodCliques that there is room for.
    cliques: u64,
    /// PodCliqueScalingGroups that there is room for.
    scaling_groups: u64,
}

impl<'a> Walk<'a> {
    fn new(caps: Caps, set: &'a PodCliqueSet, groups: &'a Groups<'a>, existing: &'a Existing) -> Self {
        let size = ReplicaSize::of(&set.spec.template);
        // A part without any PodClique has a PodGang or a Service.
        let base = (size.base_cliques.max(1), size.groups);
        let there = existing.bases.iter().filter(|it| **it < count(set.spec.replicas)).copied();
        let bases = there.clone().count() as u64;
        let mut reserved = bases.saturating_mul(base.0);
        for replica in there {
            for config in &set.spec.template.scaling_groups {
                let name = names::scaling_group(set_name(set), replica, &config.name);
                let further = group_minimum(config)..live_replicas(set, groups, replica, config);
                let indices = existing.members.get(&name).into_iter().flatten();
                let further = indices.filter(|it| further.contains(it)).count() as u64;
                reserved = reserved.saturating_add(further.saturating_mul(members(config).max(1)));
            }
        }
        Self {
            set,
            groups,
            existing,
            base,
            reserved,
            cliques: caps.cliques.saturating_sub(reserved),
            scaling_groups: caps.groups.saturating_sub(bases.saturating_mul(base.1)),
        }
    }

    fn first_without_room(&mut self) -> Option<Position> {
        for is_scaled in [false, true] {
            for replica in 0..count(self.set.spec.replicas) {
                let position = Position { is_scaled, replica, group: 0, group_replica: 0 };
                let is_new = !is_scaled && !self.existing.bases.contains(&replica);
                if is_new && !self.take(self.base) {
                    return Some(position);
                }
                for (at, config) in self.set.spec.template.scaling_groups.iter().enumerate() {
                    if let Some(group_replica) = self.first_of_group(is_scaled, replica, config) {
                        return Some(Position { group: at + 1, group_replica, ..position });
                    }
                }
            }
        }
        None
    }

    fn first_of_group(&mut self, is_scaled: bool, replica: u32, config: &ScalingGroupConfig) -> Option<u32> {
        let minimum = group_minimum(config);
        let by_template = group_replicas(config).max(minimum);
        let live = live_replicas(self.set, self.groups, replica, config);
        let range = if is_scaled { by_template..live } else { minimum..live.min(by_template) };
        if range.is_empty() {
            return None;
        }
        let name = names::scaling_group(set_name(self.set), replica, &config.name);
        let existing = self.existing;
        range.filter(|it| !existing.has_member(&name, *it)).find(|_| !self.take((members(config).max(1), 0)))
    }

    fn take(&mut self, (cliques, groups): (u64, u64)) -> bool {
        let rest = self.cliques.checked_sub(cliques).zip(self.scaling_groups.checked_sub(groups));
        if let Some((cliques, groups)) = rest {
            (self.cliques, self.scaling_groups) = (cliques, groups);
        }
        rest.is_some()
    }
}

#[cfg(test)]
mod tests;
