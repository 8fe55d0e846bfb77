//! What should be there for a set, worked out here once more and independently of the operator.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{names, wire::PodCliqueSet};

/// A PodClique.
#[derive(Clone, Debug)]
pub(in crate::scenarios) struct WantedClique {
    pub(in crate::scenarios) replicas: i32,
    pub(in crate::scenarios) minimum: i32,
    pub(in crate::scenarios) gang: String,
    /// The gang that goes first.
    pub(in crate::scenarios) base: Option<String>,
    pub(in crate::scenarios) set_replica: u32,
    /// Scaling group and replica in it.
    pub(in crate::scenarios) group: Option<(String, u32)>,
}

/// All children of a set.
#[derive(Clone, Debug)]
pub(in crate::scenarios) struct Wanted {
    pub(in crate::scenarios) set: String,
    pub(in crate::scenarios) replicas: i32,
    pub(in crate::scenarios) cliques: BTreeMap<String, WantedClique>,
    /// Replicas of each scaling group.
    pub(in crate::scenarios) groups: BTreeMap<String, i32>,
    /// Groups of each gang, with their minima.
    pub(in crate::scenarios) gangs: BTreeMap<String, BTreeMap<String, i32>>,
    pub(in crate::scenarios) services: BTreeSet<String>,
    pub(in crate::scenarios) autoscalers: BTreeSet<String>,
    /// Whether all pods have the current template.
    pub(in crate::scenarios) is_current: bool,
    /// How many pods may still be terminating.
    pub(in crate::scenarios) lingering: usize,
}

impl Wanted {
    /// As the set says.
    pub(in crate::scenarios) fn of(set: &PodCliqueSet) -> Self {
        Self::scaled(set, &[])
    }

    /// As the set says, but for cliques and groups that were scaled.
    pub(in crate::scenarios) fn scaled(set: &PodCliqueSet, scaled: &[(&str, i32)]) -> Self {
        let mut wanted = Self {
            set: set.metadata.name.clone().unwrap_or_default(),
            replicas: set.spec.replicas,
            cliques: BTreeMap::new(),
            groups: BTreeMap::new(),
            gangs: BTreeMap::new(),
            services: BTreeSet::new(),
            autoscalers: BTreeSet::new(),
            is_current: true,
            lingering: 0,
        };
        for replica in 0..u32::try_from(set.spec.replicas).unwrap_or_default() {
            wanted.add_replica(set, replica, &scaled.iter().copied().collect());
        }
        wanted
    }

    /// Pods of an old template may be there.
    pub(in crate::scenarios) fn with_old_pods(self) -> Self {
        Self { is_current: false, ..self }
    }

    /// So many pods are stuck.
    pub(in crate::scenarios) fn with_lingering(self, lingering: usize) -> Self {
        Self { lingering, ..self }
    }

    fn add_replica(&mut self, set: &PodCliqueSet, replica: u32, scaled: &BTreeMap<&str, i32>) {
        let (name, template) = (self.set.clone(), &set.spec.template);
        let base = names::base_gang(&name, replica);
        self.services.insert(names::headless_service(&name, replica));
        for clique in template.cliques.iter().filter(|it| template.group_of(&it.name).is_none()) {
            let own = names::standalone_clique(&name, replica, &clique.name);
            if clique.spec.auto_scaling_config.is_some() {
                self.autoscalers.insert(own.clone());
            }
            let wanted = WantedClique {
                replicas: replicas(&own, clique.spec.replicas, scaled),
                minimum: clique.spec.min_available.or(clique.spec.replicas).unwrap_or(1),
                gang: base.clone(),
                base: None,
                set_replica: replica,
                group: None,
            };
            self.add_clique(own, wanted);
        }
        for config in &template.scaling_groups {
            let group = names::scaling_group(&name, replica, &config.name);
            if config.scale_config.is_some() {
                self.autoscalers.insert(group.clone());
            }
            let count = replicas(&group, config.replicas, scaled);
            self.groups.insert(group.clone(), count);
            let minimum = u32::try_from(config.min_available.unwrap_or(1)).unwrap_or_default();
            for index in 0..u32::try_from(count).unwrap_or_default() {
                let gang = match index.checked_sub(minimum) {
                    None => base.clone(),
                    Some(ordinal) => names::scaled_gang(&group, ordinal),
                };
                for member in config.clique_names.iter().filter_map(|it| template.clique(it)) {
                    let own = names::member_clique(&group, index, &member.name);
                    let wanted = WantedClique {
                        replicas: replicas(&own, member.spec.replicas, scaled),
                        minimum: member.spec.min_available.or(member.spec.replicas).unwrap_or(1),
                        gang: gang.clone(),
                        base: (index >= minimum).then(|| base.clone()),
                        set_replica: replica,
                        group: Some((group.clone(), index)),
                    };
                    self.add_clique(own, wanted);
                }
            }
        }
    }

    fn add_clique(&mut self, name: String, clique: WantedClique) {
        // What is scaled to zero has no part in a gang, and a gang of such alone does not exist.
        if clique.replicas > 0 {
            self.gangs.entry(clique.gang.clone()).or_default().insert(name.clone(), clique.minimum);
        }
        self.cliques.insert(name, clique);
    }
}

fn replicas(name: &str, template: Option<i32>, scaled: &BTreeMap<&str, i32>) -> i32 {
    scaled.get(name).copied().or(template).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios::operator::stage;

    #[test]
    fn the_first_copy_of_a_group_is_in_the_base_gang() {
        let set = stage::set(stage::WEB).unwrap();
        let wanted = Wanted::scaled(&set, &[("web-0-pd", 3)]);
        let gangs: Vec<(&str, Vec<&str>)> = wanted
            .gangs
            .iter()
            .map(|(name, groups)| (name.as_str(), groups.keys().map(String::as_str).collect()))
            .collect();
        assert_eq!(
            gangs,
            [
                ("web-0", vec!["web-0-front", "web-0-pd-0-lead", "web-0-pd-0-work"]),
                ("web-0-pd-0", vec!["web-0-pd-1-lead", "web-0-pd-1-work"]),
                ("web-0-pd-1", vec!["web-0-pd-2-lead", "web-0-pd-2-work"]),
            ]
        );
        assert_eq!(wanted.cliques.values().map(|it| it.replicas).sum::<i32>(), 11);
    }
}
