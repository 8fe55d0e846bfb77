//! Which parts of a set may be created where it asks for more PodCliques than one set may have, or for larger ones.
//!
//! Admission refuses such a set. One may be there all the same: made before the cap or while no webhook answered, or the set or
//! its scaling groups were scaled where no webhook was asked. A part is what is placed together: the base of a set replica, or one further
//! replica of a scaling group. Parts that exist stay, and count. Of the others those come first that the template asks for,
//! then those that groups were scaled to; each in the order of set replicas, groups and group replicas. With the first that
//! finds no room the creation ends. All controllers compute this from the same caches, so that they agree.

mod walk;

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    constants::labels,
    limits::{MAX_POD_CLIQUE_BYTES_PER_SET, MAX_POD_CLIQUES_PER_SET, MAX_SCALING_GROUPS_PER_SET},
    names,
    size::{self, CliqueBytes, ReplicaSize, clique_bytes},
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig},
};

use self::walk::Walk;
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
    /// Bytes of all PodCliques.
    pub bytes: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            cliques: MAX_POD_CLIQUES_PER_SET,
            groups: MAX_SCALING_GROUPS_PER_SET,
            bytes: MAX_POD_CLIQUE_BYTES_PER_SET,
        }
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
    /// What the set asks for.
    wanted: Wanted,
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
        let wanted = Wanted::of(set, groups);
        if has_room_for_groups && wanted.cliques <= caps.cliques && wanted.bytes <= caps.bytes {
            return Self::default();
        }
        let existing = existing();
        let mut walk = Walk::new(caps, set, groups, &existing);
        let Some(first) = walk.first_without_room() else { return Self::default() };
        let created = caps.cliques.max(walk.reserved).saturating_sub(walk.room.cliques);
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
            && times(clique_bytes(&set.spec.template)) <= caps.bytes
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
        let Caps { cliques, groups, bytes } = over.caps;
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
        let asked = wanted.cliques;
        let large = if wanted.bytes > bytes {
            format!(", and its PodCliques {bytes} bytes (these would have {})", wanted.bytes)
        } else {
            String::new()
        };
        Some(format!(
            "{created} of {asked} PodCliques are created, nothing from {part} on: a set may have at most {cliques} PodCliques \
             and {groups} PodCliqueScalingGroups{large}. Lower replicas of the set or of its scaling groups, or split the set"
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

/// What a set asks for, with its groups as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// PodCliques.
    pub cliques: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Wanted {
    /// By the template and the replicas of the groups.
    pub fn of(set: &PodCliqueSet, groups: &Groups<'_>) -> Self {
        let (template, replicas) = (&set.spec.template, size::replicas(set));
        let bytes = CliqueBytes::of(template);
        let mut wanted = Self {
            cliques: replicas.saturating_mul(ReplicaSize::of(template).base_cliques),
            bytes: replicas.saturating_mul(bytes.base),
        };
        for replica in 0..count(set.spec.replicas) {
            for (config, member) in template.scaling_groups.iter().zip(&bytes.members) {
                let more = live_replicas(set, groups, replica, config).saturating_sub(group_minimum(config));
                let times = |each: u64| u64::from(more).saturating_mul(each);
                wanted.cliques = wanted.cliques.saturating_add(times(members(config)));
                wanted.bytes = wanted.bytes.saturating_add(times(*member));
            }
        }
        wanted
    }
}

fn live_replicas(set: &PodCliqueSet, groups: &Groups<'_>, replica: u32, config: &ScalingGroupConfig) -> u32 {
    let live = groups.get(names::scaling_group(set_name(set), replica, &config.name).as_str());
    live.map_or_else(|| group_replicas(config), |it| count(it.spec.replicas))
}

/// PodCliques of one replica of a group.
fn members(config: &ScalingGroupConfig) -> u64 {
    config.clique_names.len() as u64
}

#[cfg(test)]
mod tests;
