//! What an update may take away, and how much has to be left.

use std::collections::{BTreeMap, BTreeSet};

use crate::scenarios::operator::wanted::Wanted;

/// How often the pods of a clique are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scenarios) enum Replaced {
    /// Not at all.
    Never,
    /// Each that was there when the update began, once.
    Once,
    /// As often as it takes: there are several updates at a time.
    Freely,
}

/// What holds for a clique.
#[derive(Clone, Debug)]
pub(in crate::scenarios) struct CliqueRule {
    pub(super) set_replica: u32,
    /// Scaling group and replica in it.
    pub(super) group: Option<(String, u32)>,
    /// Pods that it needs.
    pub(super) minimum: usize,
    /// Pods that are ready after a ready one was taken; of standalone cliques.
    pub(super) least: usize,
    /// Pods that go because it is scaled in.
    pub(super) spare: usize,
    pub(super) replaced: Replaced,
}

/// What holds for a set while it is updated. A clique that is not in it is about to go.
#[derive(Clone, Debug, Default)]
pub(in crate::scenarios) struct Rules {
    pub(super) cliques: BTreeMap<String, CliqueRule>,
    pub(super) groups: BTreeMap<String, GroupRule>,
}

/// What holds for a scaling group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::scenarios) struct GroupRule {
    pub(super) set_replica: u32,
    /// Replicas that it needs.
    pub(super) minimum: usize,
    /// Replicas that are available after one of them was taken.
    pub(super) least: usize,
}

impl Rules {
    /// For a set that is scaled through `sizes`, the last being what it comes to, while `roles` are replaced: one pod of a
    /// standalone clique is missing at most, and one replica of a group.
    pub(in crate::scenarios) fn new(sizes: &[Wanted], roles: &[&str], replaced: Replaced) -> Self {
        let Some(end) = sizes.last() else { return Self::default() };
        let cliques = end.cliques.iter().map(|(name, clique)| {
            let of_role = roles.contains(&role(name));
            let counts = || sizes.iter().map(|it| it.cliques.get(name).map_or(0, |it| count(it.replicas)));
            let (least, most) = (counts().min().unwrap_or_default(), counts().max().unwrap_or_default());
            let rule = CliqueRule {
                set_replica: clique.set_replica,
                group: clique.group.clone(),
                minimum: count(clique.minimum),
                least: least.saturating_sub(1),
                spare: most - count(clique.replicas),
                replaced: if of_role { replaced } else { Replaced::Never },
            };
            (name.clone(), rule)
        });
        let groups = end.groups.keys().map(|name| {
            let counts = sizes.iter().map(|it| it.groups.get(name).copied().map_or(0, count));
            let least = counts.min().unwrap_or_default().saturating_sub(1);
            // Replicas that are needed are in the base gang.
            let members =
                || end.cliques.values().filter(|it| it.group.as_ref().is_some_and(|it| it.0 == *name));
            let needed = members().filter(|it| it.base.is_none()).filter_map(|it| it.group.as_ref());
            let minimum = needed.map(|it| it.1).collect::<BTreeSet<u32>>().len();
            let set_replica = members().map(|it| it.set_replica).next().unwrap_or_default();
            (name.clone(), GroupRule { set_replica, minimum, least })
        });
        Self { cliques: cliques.collect(), groups: groups.collect() }
    }
}

/// The role of a clique; roles of these sets have one letter.
pub(in crate::scenarios) fn role(clique: &str) -> &str {
    clique.rsplit('-').next().unwrap_or_default()
}

fn count(replicas: i32) -> usize {
    usize::try_from(replicas).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenarios::{operator::stage, updates::workload::Workload};

    fn sizes(set_replicas: i32, scaled: &[(&str, i32)]) -> Wanted {
        let set = stage::defaulted(Workload::Full.set("s", set_replicas)).unwrap();
        Wanted::scaled(&set, scaled)
    }

    #[test]
    fn one_may_be_missing_of_the_fewest_that_were_wanted() {
        let three = sizes(1, &[("s-0-a", 3), ("s-0-x", 4)]);
        let rules = Rules::new(&[three, sizes(1, &[])], &["a"], Replaced::Once);
        let a = &rules.cliques["s-0-a"];
        assert_eq!((a.least, a.spare, a.minimum, a.replaced), (1, 1, 2, Replaced::Once));
        assert_eq!(rules.groups["s-0-x"], GroupRule { set_replica: 0, minimum: 2, least: 1 });
        let b = &rules.cliques["s-0-x-1-b"];
        assert_eq!(
            (b.spare, b.replaced, b.group.clone()),
            (0, Replaced::Never, Some(("s-0-x".to_owned(), 1)))
        );
        assert!(!rules.cliques.contains_key("s-0-x-2-b"), "it goes");
    }

    #[test]
    fn of_what_is_new_nothing_is_missed() {
        let rules = Rules::new(&[sizes(1, &[]), sizes(2, &[])], &["a", "b"], Replaced::Once);
        assert_eq!((rules.cliques["s-0-a"].least, rules.cliques["s-1-a"].least), (1, 0));
        assert_eq!((rules.groups["s-0-x"].least, rules.groups["s-1-x"].least), (1, 0));
        assert_eq!(rules.groups["s-1-x"].set_replica, 1);
    }
}
