//! How the gangs of a set are placed: the one plan that both ways to ask are lowered to.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    names,
    wire::{
        GangTopologyConstraint, GroupingConstraints, PackConstraint, PodCliqueSet, SchedulingPolicyConfig,
        SetTemplate, TopologyConstraint, TopologyGroupConfig,
    },
};

use super::{
    Topology,
    asked::{Asked, asked},
};
use crate::layout::{Clique, Place, set_name};

/// Placement of all gangs of a set, in node labels. A level that the topology does not have is left out: the set's
/// condition says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Placement<'a> {
    set: &'a str,
    /// Automatic packing: what a gang prefers. Only sets placed by `schedulingPolicyConfig` have it, where users cannot prefer a
    /// level themselves; whoever writes `topologyConstraint` gets exactly that.
    narrowest: Option<&'a str>,
    /// The whole gang.
    whole: PackConstraint,
    /// Scaled gangs that have something of their own instead, by scaling group.
    scaled: BTreeMap<&'a str, PackConstraint>,
    /// Cliques that are placed together inside of a gang.
    bundles: Vec<Bundle<'a>>,
    /// Single cliques.
    cliques: BTreeMap<&'a str, PackConstraint>,
}

#[derive(Clone, Debug, PartialEq)]
struct Bundle<'a> {
    kind: Kind<'a>,
    cliques: &'a [String],
    pack: PackConstraint,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind<'a> {
    /// Each replica of a scaling group. A scaled gang is such a replica, and needs no bundle for it.
    Group(&'a str),
    /// Pack group of this number: once for the set replica, or once for each replica of the group that its cliques are in.
    PackGroup(usize),
}

impl<'a> Placement<'a> {
    /// What a set asks of its topology; `None` where it asks for nothing.
    pub fn of(set: &'a PodCliqueSet, topology: &'a Topology) -> Option<Self> {
        let template = &set.spec.template;
        let empty = Self {
            set: set_name(set),
            narrowest: None,
            whole: PackConstraint::default(),
            scaled: BTreeMap::new(),
            bundles: Vec::new(),
            cliques: BTreeMap::new(),
        };
        match asked(set) {
            Asked::Nothing => None,
            Asked::Constraints => Some(empty.with_constraints(template, topology)),
            Asked::Policy(policy) => {
                Some(Self { narrowest: topology.narrowest(), ..empty }.with_policy(policy, topology))
            }
        }
    }

    fn with_constraints(mut self, template: &'a SetTemplate, topology: &Topology) -> Self {
        let pack = |constraint: &TopologyConstraint| {
            let key = |domain: Option<&str>| topology.key_of(domain?).map(str::to_owned);
            PackConstraint { required: key(constraint.required()), preferred: key(constraint.preferred()) }
        };
        self.whole = template.topology_constraint.as_ref().map(pack).unwrap_or_default();
        for group in &template.scaling_groups {
            let Some(constraint) = &group.topology_constraint else { continue };
            let (kind, cliques) = (Kind::Group(&group.name), group.clique_names.as_slice());
            self.bundles.push(Bundle { kind, cliques, pack: pack(constraint) });
            self.scaled.insert(&group.name, pack(constraint));
        }
        let of_clique = template.cliques.iter().filter_map(|it| Some((it, it.topology_constraint.as_ref()?)));
        self.cliques = of_clique.map(|(it, constraint)| (it.name.as_str(), pack(constraint))).collect();
        self
    }

    fn with_policy(mut self, policy: &'a SchedulingPolicyConfig, topology: &Topology) -> Self {
        let required = |constraint: Option<&GroupingConstraints>| {
            let key = constraint?.required()?;
            topology.has_key(key).then(|| key.to_owned())
        };
        self.whole.required = required(policy.grouping_constraints.as_ref());
        for (number, group) in policy.network_pack_group_configs.iter().enumerate() {
            let required = required(group.topology_constraint.as_ref());
            // Who lists cliques and says no more wants them as close as can be.
            let preferred = self.narrowest.filter(|_| required.is_none()).map(str::to_owned);
            let pack = PackConstraint { required, preferred };
            self.bundles.push(Bundle { kind: Kind::PackGroup(number), cliques: &group.clique_names, pack });
        }
        self
    }

    /// Of the gang at `place` as a whole. Where gangs are packed automatically, it prefers the narrowest level, unless it
    /// requires that one.
    pub fn gang(&self, place: Place<'_>) -> Option<GangTopologyConstraint> {
        let mut pack = self.asked_of(place).clone();
        let narrowest = self.narrowest.filter(|it| pack.required.as_deref() != Some(it));
        pack.preferred = pack.preferred.or_else(|| narrowest.map(str::to_owned));
        constraint(&pack)
    }

    /// Whether the gang at `place` prefers a level by itself.
    pub fn prefers(&self, place: Place<'_>) -> bool {
        self.asked_of(place).preferred.is_some()
    }

    fn asked_of(&self, place: Place<'_>) -> &PackConstraint {
        match place {
            Place::Base { .. } => &self.whole,
            Place::Scaled { group, .. } => self.scaled.get(group).unwrap_or(&self.whole),
        }
    }

    /// Of a clique by its name in the template.
    pub fn clique(&self, name: &str) -> Option<GangTopologyConstraint> {
        constraint(self.cliques.get(name)?)
    }

    /// What is placed together inside of the gang at `place`, which has these cliques.
    pub fn bundles(&self, place: Place<'_>, cliques: &[Clique<'_>]) -> Vec<TopologyGroupConfig> {
        let mut configs: Vec<TopologyGroupConfig> = Vec::new();
        for bundle in &self.bundles {
            for clique in cliques {
                let Some(name) = self.name_in(bundle, place, clique) else { continue };
                // Cliques come replica by replica.
                if configs.last().is_none_or(|it| it.name != name) {
                    let topology_constraint = constraint(&bundle.pack);
                    configs.push(TopologyGroupConfig {
                        name,
                        pod_group_names: Vec::new(),
                        topology_constraint,
                    });
                }
                if let Some(config) = configs.last_mut() {
                    config.pod_group_names.push(clique.name.clone());
                }
            }
        }
        configs
    }

    /// What a bundle is called for a clique of the gang at `place`; `None` where the clique is not in it.
    fn name_in(&self, bundle: &Bundle<'_>, place: Place<'_>, clique: &Clique<'_>) -> Option<String> {
        let member = clique.member.as_ref();
        match bundle.kind {
            Kind::Group(group) => {
                let member = member.filter(|it| it.config.name == group)?;
                matches!(place, Place::Base { .. })
                    .then(|| names::topology_group(&member.group, member.replica))
            }
            Kind::PackGroup(number) => {
                let (set, replica) = (self.set, clique.replica);
                bundle.cliques.contains(&clique.template.name).then(|| match member {
                    None => names::pack_group(set, replica, number),
                    Some(it) => {
                        let group = &it.config.name;
                        names::pack_group_of_replica(set, replica, number, group, it.replica)
                    }
                })
            }
        }
    }

    /// Node labels of the levels that are required of the gang at `place`, which has these cliques, or of a part of it.
    pub(crate) fn required_levels(&self, place: Place<'_>, cliques: &[Clique<'_>]) -> BTreeSet<String> {
        let bundles = self.bundles(place, cliques).into_iter().map(|it| it.topology_constraint);
        let cliques = cliques.iter().map(|it| self.clique(&it.template.name));
        let parts = bundles.chain(cliques).filter_map(|it| it?.pack_constraint?.required);
        parts.chain(self.asked_of(place).required.clone()).collect()
    }

    /// Node label of the level in which a whole set replica has to be.
    pub fn of_replica(&self) -> Option<&str> {
        self.whole.required.as_deref()
    }

    /// Whether all of a gang has to be in one domain.
    pub fn binds_whole(&self) -> bool {
        self.whole.required.is_some()
    }

    /// Whether pods of a clique, by its name in the template, may be nowhere else than with others.
    pub fn binds(&self, clique: &str) -> bool {
        let mut around = self.bundles.iter().filter(|it| it.cliques.iter().any(|it| it == clique));
        self.binds_whole()
            || around.any(|it| it.pack.required.is_some())
            || self.cliques.get(clique).is_some_and(|it| it.required.is_some())
    }
}

/// Whether a constraint has a level that has to hold.
pub(crate) fn is_required(constraint: Option<&GangTopologyConstraint>) -> bool {
    constraint.and_then(|it| it.pack_constraint.as_ref()).is_some_and(|it| it.required.is_some())
}

fn constraint(pack: &PackConstraint) -> Option<GangTopologyConstraint> {
    let is_empty = pack.required.is_none() && pack.preferred.is_none();
    (!is_empty).then(|| GangTopologyConstraint { pack_constraint: Some(pack.clone()) })
}

#[cfg(test)]
mod tests;
