//! Which cliques, scaling groups and gangs a set consists of, and what they are called.
//!
//! Everything here follows from the set's template and a replica index. Nothing reads a name back.

mod gangs;

use std::collections::BTreeSet;

use grove_api::{
    constants::labels,
    names,
    wire::{
        CliqueTemplate, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodCliqueSpec, ScalingGroupConfig,
        SetTemplate,
    },
};

pub use self::gangs::{Gang, Place, gang_at, gang_of_member, place_of_member};
use crate::facts::{index_label, label};

/// One PodClique of a set.
#[derive(Clone, Debug, PartialEq)]
pub struct Clique<'a> {
    /// Name of the object.
    pub name: String,
    /// What it is made from.
    pub template: &'a CliqueTemplate,
    /// Replica of the set.
    pub replica: u32,
    /// The scaling group replica it belongs to.
    pub member: Option<Member<'a>>,
    /// The gang it belongs to.
    pub gang: Gang,
}

/// Place of a clique in a scaling group.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<'a> {
    /// The group's part of the template.
    pub config: &'a ScalingGroupConfig,
    /// Name of the PodCliqueScalingGroup.
    pub group: String,
    /// Replica of the group.
    pub replica: u32,
}

/// A number that the wire has as `i32` and that is never negative.
pub fn count(value: i32) -> u32 {
    u32::try_from(value).unwrap_or(0)
}

/// A number for the wire; what does not fit is beyond every cap.
pub fn wire_count(value: usize) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// Pods of a clique by the template.
pub fn clique_replicas(template: &CliqueTemplate) -> u32 {
    template.spec.replicas.map_or(1, count)
}

/// `minAvailable` of a clique by the template, defaulting to `replicas`; also where it is scaled to zero.
pub fn clique_minimum(template: &CliqueTemplate) -> u32 {
    template.spec.min_available.map_or_else(|| clique_replicas(template).max(1), count)
}

/// Pods that a clique needs: none where it is scaled to zero.
pub fn spec_minimum(spec: &PodCliqueSpec) -> u32 {
    if spec.replicas == Some(0) {
        return 0;
    }
    spec.min_available.or(spec.replicas).map_or(0, count)
}

/// Replicas that a scaling group needs: none where it is scaled to zero.
pub fn required_replicas(group: &PodCliqueScalingGroup) -> usize {
    if group.spec.replicas == 0 { 0 } else { group.spec.min_available.map_or(1, count) as usize }
}

/// Replicas of a scaling group by the template.
pub fn group_replicas(config: &ScalingGroupConfig) -> u32 {
    config.replicas.map_or(1, count)
}

/// Replicas of a scaling group that belong to the base gang.
pub fn group_minimum(config: &ScalingGroupConfig) -> u32 {
    config.min_available.map_or(1, count)
}

/// Name of the set.
pub fn set_name(set: &PodCliqueSet) -> &str {
    set.metadata.name.as_deref().unwrap_or_default()
}

/// Namespace of the set.
pub fn set_namespace(set: &PodCliqueSet) -> &str {
    set.metadata.namespace.as_deref().unwrap_or_default()
}

/// The cliques of a set replica that belong to no group, in the order of the template.
pub fn standalone(set: &PodCliqueSet, replica: u32) -> impl Iterator<Item = Clique<'_>> {
    let template = &set.spec.template;
    let name = set_name(set);
    template.cliques.iter().filter(|it| template.group_of(&it.name).is_none()).map(move |clique| Clique {
        name: names::standalone_clique(name, replica, &clique.name),
        template: clique,
        replica,
        member: None,
        gang: Gang { name: names::base_gang(name, replica), base: None },
    })
}

/// The cliques of one replica of a group, in the order that the group lists them.
pub fn members<'a>(
    set: &'a PodCliqueSet,
    replica: u32,
    config: &'a ScalingGroupConfig,
    group_replica: u32,
) -> impl Iterator<Item = Clique<'a>> {
    let group = names::scaling_group(set_name(set), replica, &config.name);
    let gang = gang_of_member(set, replica, config, group_replica);
    config.clique_names.iter().filter_map(|name| set.spec.template.clique(name)).map(move |clique| Clique {
        name: names::member_clique(&group, group_replica, &clique.name),
        template: clique,
        replica,
        member: Some(Member { config, group: group.clone(), replica: group_replica }),
        gang: gang.clone(),
    })
}

/// The cliques of a gang: standalone ones, then those of the groups; the order is part of the wire.
///
/// `None` where the template has no such group.
pub fn cliques_of<'a>(set: &'a PodCliqueSet, place: Place<'_>) -> Option<Vec<Clique<'a>>> {
    match place {
        Place::Base { replica } => {
            let mut cliques: Vec<_> = standalone(set, replica).collect();
            for config in &set.spec.template.scaling_groups {
                for group_replica in 0..group_minimum(config) {
                    cliques.extend(members(set, replica, config, group_replica));
                }
            }
            Some(cliques)
        }
        Place::Scaled { replica, group, group_replica } => {
            let config = group_config(&set.spec.template, group)?;
            Some(members(set, replica, config, group_replica).collect())
        }
    }
}

/// Where a PodClique belongs in its set, by its labels.
pub fn place_of<'a>(set: &'a PodCliqueSet, clique: &PodClique) -> Option<Clique<'a>> {
    let of_clique = clique.metadata.labels.as_ref();
    let name = clique.metadata.name.as_deref()?;
    let replica = index_label(of_clique, labels::SET_REPLICA_INDEX)?;
    match label(of_clique, labels::SCALING_GROUP) {
        None => standalone(set, replica).find(|it| it.name == name),
        Some(group) => {
            let group_replica = index_label(of_clique, labels::SCALING_GROUP_REPLICA_INDEX)?;
            let config = group_named(set, replica, group)?;
            members(set, replica, config, group_replica).find(|it| it.name == name)
        }
    }
}

/// The part of the template that made the scaling group called `name`.
pub fn group_named<'a>(set: &'a PodCliqueSet, replica: u32, name: &str) -> Option<&'a ScalingGroupConfig> {
    let mut groups = set.spec.template.scaling_groups.iter();
    groups.find(|it| names::scaling_group(set_name(set), replica, &it.name) == name)
}

/// The names of the cliques at `place` that are scaled to zero, by themselves or with their group: they have no part in
/// the gang, and nothing waits for them. `cliques` and `groups` know the replicas of objects by name; what does not exist
/// is as the template says.
pub fn scaled_to_zero(
    set: &PodCliqueSet,
    place: Place<'_>,
    cliques: impl Fn(&str) -> Option<i32>,
    groups: impl Fn(&str) -> Option<i32>,
) -> BTreeSet<String> {
    let is_zero = |clique: &Clique<'_>| {
        let of_group = clique
            .member
            .as_ref()
            .map_or(1, |member| groups(&member.group).map_or_else(|| group_replicas(member.config), count));
        of_group == 0 || cliques(&clique.name).map_or_else(|| clique_replicas(clique.template), count) == 0
    };
    let all = cliques_of(set, place).unwrap_or_default();
    all.into_iter().filter(is_zero).map(|it| it.name).collect()
}

/// The group called `name` in a template.
pub fn group_config<'a>(template: &'a SetTemplate, name: &str) -> Option<&'a ScalingGroupConfig> {
    template.scaling_groups.iter().find(|it| it.name == name)
}

/// A clique that has to be ready before another one starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Name of the PodClique.
    pub name: String,
    /// So many pods of it have to be ready.
    pub minimum: u32,
}

/// The cliques that have to be ready before `clique` starts; the order is that of the template.
///
/// Inside the base gang a parent in a group means its first replicas. In a scaled gang only parents of the same
/// group replica count: the others are up, because the base gang went first.
pub fn parents(set: &PodCliqueSet, clique: &Clique<'_>) -> Vec<Parent> {
    use grove_api::wire::CliqueStartupType::{AnyOrder, Explicit, InOrder};
    let template = &set.spec.template;
    let templates: Vec<&CliqueTemplate> = match template.startup_type.unwrap_or(AnyOrder) {
        AnyOrder => Vec::new(),
        InOrder => {
            let at = template.cliques.iter().position(|it| it.name == clique.template.name);
            at.and_then(|at| at.checked_sub(1)).and_then(|at| template.cliques.get(at)).into_iter().collect()
        }
        Explicit => {
            clique.template.spec.starts_after.iter().filter_map(|name| template.clique(name)).collect()
        }
    };
    let mut parents = Vec::new();
    for parent in templates {
        let mut add = |name: String| parents.push(Parent { name, minimum: clique_minimum(parent) });
        let group = template.group_of(&parent.name);
        match (&clique.gang.base, &clique.member) {
            (Some(_), Some(member)) => {
                if group.is_some_and(|it| it.name == member.config.name) {
                    add(names::member_clique(&member.group, member.replica, &parent.name));
                }
            }
            _ => match group {
                None => add(names::standalone_clique(set_name(set), clique.replica, &parent.name)),
                Some(config) => {
                    let group = names::scaling_group(set_name(set), clique.replica, &config.name);
                    let replicas = 0..group_minimum(config);
                    replicas.for_each(|it| add(names::member_clique(&group, it, &parent.name)));
                }
            },
        }
    }
    parents
}

#[cfg(test)]
mod tests;
