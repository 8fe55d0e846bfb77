//! The parts of a set in the order of creation, and which of them find room.

use grove_api::{
    names,
    size::{CliqueBytes, ReplicaSize},
    wire::{PodCliqueSet, ScalingGroupConfig},
};

use super::{Caps, Existing, Groups, Position, live_replicas, members};
use crate::layout::{count, group_minimum, group_replicas, set_name};

/// What a part takes, or what there is room for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) cliques: u64,
    groups: u64,
    bytes: u64,
}

impl Room {
    fn add(&mut self, part: Self, times: u64) {
        self.cliques = self.cliques.saturating_add(part.cliques.saturating_mul(times));
        self.groups = self.groups.saturating_add(part.groups.saturating_mul(times));
        self.bytes = self.bytes.saturating_add(part.bytes.saturating_mul(times));
    }

    /// What is left of it without a part; `None` where the part finds no room.
    fn without(self, part: Self) -> Option<Self> {
        Some(Self {
            cliques: self.cliques.checked_sub(part.cliques)?,
            groups: self.groups.checked_sub(part.groups)?,
            bytes: self.bytes.checked_sub(part.bytes)?,
        })
    }
}

/// Goes through the parts in the order of creation.
pub(super) struct Walk<'a> {
    set: &'a PodCliqueSet,
    groups: &'a Groups<'a>,
    existing: &'a Existing,
    /// What a base consists of.
    base: Room,
    /// What one further replica of each scaling group consists of.
    members: Vec<Room>,
    /// PodCliques of the parts that exist.
    pub(super) reserved: u64,
    /// What there is room for.
    pub(super) room: Room,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        caps: Caps,
        set: &'a PodCliqueSet,
        groups: &'a Groups<'a>,
        existing: &'a Existing,
    ) -> Self {
        let template = &set.spec.template;
        let (size, bytes) = (ReplicaSize::of(template), CliqueBytes::of(template));
        // A part without any PodClique has a PodGang or a Service.
        let base = Room { cliques: size.base_cliques.max(1), groups: size.groups, bytes: bytes.base };
        let sizes = template.scaling_groups.iter().zip(bytes.members);
        let further: Vec<Room> =
            sizes.map(|(config, bytes)| Room { cliques: members(config).max(1), groups: 0, bytes }).collect();
        let there = existing.bases.iter().filter(|it| **it < count(set.spec.replicas)).copied();
        let mut reserved = Room::default();
        for replica in there {
            reserved.add(base, 1);
            for (config, part) in template.scaling_groups.iter().zip(&further) {
                let name = names::scaling_group(set_name(set), replica, &config.name);
                let range = group_minimum(config)..live_replicas(set, groups, replica, config);
                let indices = existing.members.get(&name).into_iter().flatten();
                reserved.add(*part, indices.filter(|it| range.contains(it)).count() as u64);
            }
        }
        Self {
            set,
            groups,
            existing,
            base,
            members: further,
            reserved: reserved.cliques,
            room: Room {
                cliques: caps.cliques.saturating_sub(reserved.cliques),
                groups: caps.groups.saturating_sub(reserved.groups),
                bytes: caps.bytes.saturating_sub(reserved.bytes),
            },
        }
    }

    pub(super) fn first_without_room(&mut self) -> Option<Position> {
        for is_scaled in [false, true] {
            for replica in 0..count(self.set.spec.replicas) {
                let position = Position { is_scaled, replica, group: 0, group_replica: 0 };
                let is_new = !is_scaled && !self.existing.bases.contains(&replica);
                if is_new && !self.take(self.base) {
                    return Some(position);
                }
                for (at, config) in self.set.spec.template.scaling_groups.iter().enumerate() {
                    let part = self.members.get(at).copied().unwrap_or_default();
                    if let Some(group_replica) = self.first_of_group(is_scaled, replica, config, part) {
                        return Some(Position { group: at + 1, group_replica, ..position });
                    }
                }
            }
        }
        None
    }

    fn first_of_group(
        &mut self,
        is_scaled: bool,
        replica: u32,
        config: &ScalingGroupConfig,
        part: Room,
    ) -> Option<u32> {
        let minimum = group_minimum(config);
        let by_template = group_replicas(config).max(minimum);
        let live = live_replicas(self.set, self.groups, replica, config);
        let range = if is_scaled { by_template..live } else { minimum..live.min(by_template) };
        if range.is_empty() {
            return None;
        }
        let name = names::scaling_group(set_name(self.set), replica, &config.name);
        let existing = self.existing;
        range.filter(|it| !existing.has_member(&name, *it)).find(|_| !self.take(part))
    }

    fn take(&mut self, part: Room) -> bool {
        let rest = self.room.without(part);
        self.room = rest.unwrap_or(self.room);
        rest.is_some()
    }
}
