//! Children of a scaling group: the member cliques of each of its replicas.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::{PodClique, PodCliqueScalingGroup, ScalingGroupConfig};
use serde_json::Value;

use super::{Child, ChildPlan, Kind, decide, delete, is_controlled_by, name_of, update};
use crate::{
    facts::{PodFact, Tally, template_hash},
    layout::{self, count},
    objects::{self, Context},
    pods::{Victim, Why},
    rollout::{self, GroupReplica, Pace},
};

/// A scaling group and what is there of it.
#[derive(Clone, Debug)]
pub struct GroupChildren<'a> {
    /// The group.
    pub group: &'a PodCliqueScalingGroup,
    /// Its part of the template.
    pub config: &'a ScalingGroupConfig,
    /// Replica of the set.
    pub replica: u32,
    /// Cliques by name: everything with a wanted name and everything that the group owns.
    pub cliques: BTreeMap<&'a str, &'a PodClique>,
    /// Their pods, by the name of the clique.
    pub pods: BTreeMap<&'a str, Vec<&'a PodFact>>,
    /// Replicas whose pods cannot be made at present: those that they have stay, whatever their template.
    pub held: BTreeSet<u32>,
    /// Names of clique templates that no clique is made from: nobody knows which version of them is in force.
    pub unknown: BTreeSet<&'a str>,
}

/// A wanted member clique, and what is there of it.
struct Member<'a> {
    name: String,
    /// Whether nobody knows which version of its template is in force.
    is_unknown: bool,
    existing: Option<&'a PodClique>,
    wanted: PodClique,
    patch: Option<Value>,
    pods: &'a [&'a PodFact],
}

/// What to do about the member cliques. Replicas have the indices from 0; a hole is filled where it is.
///
/// A changed template reaches the cliques of a replica when that replica is replaced, all of them at once, and then their
/// old pods go.
pub fn plan_group(context: Context<'_>, children: &GroupChildren<'_>) -> ChildPlan {
    let mut plan = ChildPlan::default();
    let uid = children.group.metadata.uid.as_deref().unwrap_or_default();
    let replicas: Vec<Vec<Member<'_>>> =
        (0..count(children.group.spec.replicas)).map(|it| members(context, children, it, uid)).collect();
    let now = replaced_now(context, children, &replicas);
    for (index, members) in (0..).zip(&replicas) {
        for member in members {
            let metadata = member.existing.map(|it| &it.metadata);
            decide(&mut plan, uid, Kind::Clique, &member.name, metadata, || match member.existing {
                None if member.is_unknown => Ok(None),
                None => Err(Child::Clique(Box::new(member.wanted.clone()))),
                Some(_) => Ok(member.patch.clone().filter(|_| now.contains(&index) || !member.is_changed())),
            });
        }
        if now.contains(&index) && rollout::pace(context.set) == Pace::Rolling {
            plan.replaced.extend(members.iter().filter_map(Member::replaced));
        }
        // Before that, a pod that goes would be replaced by another one of the old template.
        let is_patched = members.iter().all(|it| !it.is_changed());
        if is_patched && now.contains(&index) && rollout::pace(context.set) == Pace::Rolling {
            let old = members.iter().flat_map(Member::old_pods);
            plan.outdated.extend(old.map(|it| Victim {
                name: it.name.clone(),
                uid: it.uid.clone(),
                why: Why::Outdated,
            }));
        }
    }
    let wanted: BTreeSet<&str> = replicas.iter().flatten().map(|it| it.name.as_str()).collect();
    let excess = children
        .cliques
        .values()
        .filter(|it| is_controlled_by(&it.metadata, uid) && !wanted.contains(name_of(&it.metadata)))
        .filter_map(|it| delete(Kind::Clique, &it.metadata));
    plan.actions.extend(excess);
    plan
}

fn members<'a>(
    context: Context<'a>,
    children: &'a GroupChildren<'_>,
    group_replica: u32,
    uid: &str,
) -> Vec<Member<'a>> {
    let member = |clique: layout::Clique<'a>| {
        let existing = children.cliques.get(clique.name.as_str()).copied();
        let wanted = objects::clique(context, &clique, Some(children.group));
        let ours = existing.filter(|it| is_controlled_by(&it.metadata, uid));
        Member {
            patch: ours.and_then(|it| update::clique_patch(it, &wanted)),
            pods: children.pods.get(clique.name.as_str()).map(Vec::as_slice).unwrap_or_default(),
            is_unknown: children.unknown.contains(clique.template.name.as_str()),
            name: clique.name,
            existing,
            wanted,
        }
    };
    layout::members(context.set, children.replica, children.config, group_replica).map(member).collect()
}

fn replaced_now(
    context: Context<'_>,
    children: &GroupChildren<'_>,
    replicas: &[Vec<Member<'_>>],
) -> BTreeSet<u32> {
    match rollout::pace(context.set) {
        Pace::Paused => BTreeSet::new(),
        Pace::OnDelete => (0..).zip(replicas).map(|it| it.0).collect(),
        Pace::Rolling => {
            let mut seen: Vec<GroupReplica> =
                (0..).zip(replicas).map(|(index, it)| seen(index, it)).collect();
            for replica in seen.iter_mut().filter(|it| children.held.contains(&it.index)) {
                replica.is_outdated = false;
            }
            let minimum = layout::group_minimum(children.config);
            let at_start = rollout::available_at_start(context.set, children.replica, children.group);
            rollout::replaced_now(&seen, minimum, at_start)
        }
    }
}

fn seen(index: u32, members: &[Member<'_>]) -> GroupReplica {
    let has_old_pods = |it: &Member<'_>| it.old_pods().next().is_some();
    GroupReplica {
        index,
        is_outdated: members.iter().any(|it| it.is_changed() || has_old_pods(it)),
        has_begun: members.iter().any(|it| !it.is_changed() && has_old_pods(it)),
        is_available: members.iter().all(Member::is_available),
        is_bound: members.iter().flat_map(|it| it.pods).any(|it| it.is_live() && it.bound),
    }
}

impl<'a> Member<'a> {
    /// Whether it is still of another template.
    fn is_changed(&self) -> bool {
        self.patch.as_ref().is_some_and(update::changes_template)
    }

    fn is_there(&self) -> bool {
        self.existing.is_some_and(|it| it.metadata.deletion_timestamp.is_none())
    }

    fn is_available(&self) -> bool {
        let minimum = layout::spec_minimum(&self.wanted.spec);
        let tally = Tally::of(self.pods.iter().copied(), "");
        self.is_there() && tally.scheduled >= minimum && tally.ready >= minimum
    }

    /// The clique as it will be, where pods of it are of another template.
    fn replaced(&self) -> Option<PodClique> {
        let existing = self.existing?;
        if !self.is_changed() {
            return self.old_pods().next().map(|_| existing.clone());
        }
        let mut next = self.wanted.clone();
        next.metadata.uid.clone_from(&existing.metadata.uid);
        self.pods.iter().any(|it| it.is_live()).then_some(next)
    }

    /// Pods of another template than the clique says now.
    fn old_pods(&self) -> impl Iterator<Item = &'a PodFact> {
        let hash = self.existing.map(|it| template_hash(&it.metadata)).unwrap_or_default();
        self.pods.iter().copied().filter(move |it| it.is_live() && it.hash != hash)
    }
}
