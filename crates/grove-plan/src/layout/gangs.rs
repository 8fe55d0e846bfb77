//! Which gangs a set has, where they are in it, and what we call them.

use grove_api::{
    names,
    wire::{PodCliqueSet, ScalingGroupConfig},
};

use super::{Clique, group_config, group_minimum, set_name};

/// A gang by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gang {
    /// Name of the PodGang.
    pub name: String,
    /// Where it is a scaled gang: name of the base gang, which goes first.
    pub base: Option<String>,
}

/// A gang by its place in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// All standalone cliques of a set replica, and the first replicas of its groups.
    Base {
        /// Replica of the set.
        replica: u32,
    },
    /// One further replica of a group.
    Scaled {
        /// Replica of the set.
        replica: u32,
        /// Name of the group in the template.
        group: &'a str,
        /// Replica of the group.
        group_replica: u32,
    },
}

impl Clique<'_> {
    /// Where its gang is in the set.
    pub fn place(&self) -> Place<'_> {
        let replica = self.replica;
        match &self.member {
            None => Place::Base { replica },
            Some(member) => place_of_member(replica, member.config, member.replica),
        }
    }
}

/// Where the gang of one replica of a group is.
pub fn place_of_member(replica: u32, config: &ScalingGroupConfig, group_replica: u32) -> Place<'_> {
    if group_replica < group_minimum(config) {
        Place::Base { replica }
    } else {
        Place::Scaled { replica, group: &config.name, group_replica }
    }
}

/// The gang at `place`, as we call it. `None` where the template has no such place.
pub fn gang_at(set: &PodCliqueSet, place: Place<'_>) -> Option<Gang> {
    match place {
        Place::Base { replica } => Some(Gang { name: names::base_gang(set_name(set), replica), base: None }),
        Place::Scaled { replica, group, group_replica } => {
            let config = group_config(&set.spec.template, group)?;
            Some(gang_of_member(set, replica, config, group_replica))
        }
    }
}

/// The gang of one replica of a group.
pub fn gang_of_member(
    set: &PodCliqueSet,
    replica: u32,
    config: &ScalingGroupConfig,
    group_replica: u32,
) -> Gang {
    let base = names::base_gang(set_name(set), replica);
    match group_replica.checked_sub(group_minimum(config)) {
        None => Gang { name: base, base: None },
        Some(ordinal) => {
            let group = names::scaling_group(set_name(set), replica, &config.name);
            Gang { name: names::scaled_gang(&group, ordinal), base: Some(base) }
        }
    }
}
