//! What a row says.

use crate::{
    cluster::{Gates, Scheduler},
    scenario::Context,
};

use super::{cliques, groups, policies, scaled, shape::Shape};

/// One of upstream's tests, shrunk, or one of ours. Its gangs and objects are lines of [`super::tree`].
pub(super) struct Row {
    /// Upstream's number, and the name of the set.
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// Pods in all.
    pub(super) pods: usize,
    /// Whether there is room for them.
    pub(super) fits: bool,
    /// What the PodGangs say, one in a line.
    pub(super) gangs: &'static str,
    /// What kube-scheduler is told where it has CompositePodGroups.
    pub(super) kube: Told,
    /// And where it has PodGroups only.
    pub(super) flat: Told,
    pub(super) kai: Told,
    pub(super) volcano: Told,
    /// Pods whose names go on like this after the set's are in one domain of this node label.
    pub(super) together: &'static [(&'static str, &'static str)],
}

/// What becomes of a row on a scheduler.
#[derive(Clone, Copy)]
pub(super) enum Told {
    /// It has these objects.
    Objects(&'static str),
    /// Its objects say the same as the PodGangs.
    LikeGangs,
    /// The set is refused at these fields: the scheduler cannot have it.
    Refused(&'static [&'static str]),
    /// It cannot be shown, and why.
    LeftOut(&'static str),
}

impl Row {
    pub(super) fn told(&self, context: &Context) -> Told {
        match (context.scheduler(), context.gates()) {
            (Scheduler::Kube, Gates::Levels) => self.flat,
            (Scheduler::Kube, _) => self.kube,
            (Scheduler::Kai, _) => self.kai,
            (Scheduler::Volcano, _) => self.volcano,
        }
    }
}

/// All rows.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    cliques::ROWS.iter().chain(groups::ROWS).chain(scaled::ROWS).chain(policies::ROWS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_have_names_of_their_own() {
        let names: Vec<&str> = all().map(|it| it.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        assert_eq!(names.len(), 20);
    }

    #[test]
    fn rows_have_as_many_pods_as_their_sets() {
        for row in all() {
            let copies = |role: &str| -> i32 {
                row.shape.groups.iter().find(|it| it.roles.contains(&role)).map_or(1, |it| it.replicas)
            };
            let of_replica: i32 = row.shape.roles.iter().map(|it| it.1 * copies(it.0)).sum();
            assert_eq!(usize::try_from(of_replica * row.shape.replicas), Ok(row.pods), "{}", row.name);
        }
    }
}
