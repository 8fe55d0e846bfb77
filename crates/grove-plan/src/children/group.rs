//! Children of a scaling group: the member cliques of each of its replicas.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::{PodClique, PodCliqueScalingGroup, ScalingGroupConfig};
use grove_ownership::OwnerKey;

use super::{Action, Batch, ChildPlan, Draft, Kind, Wanted, name_of, update};
use crate::{
    allotment::Allotment,
    facts::{PodFact, Tally, template_hash},
    layout::{self, count},
    objects::{Context, SharedTemplates},
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
    /// What may be created of a set that is too large.
    pub allotment: Allotment,
    /// How much is planned.
    pub batch: Batch,
}

/// A wanted member clique, and what is there of it. The object itself is built only where it is needed.
struct Member<'a> {
    clique: layout::Clique<'a>,
    existing: Option<&'a PodClique>,
    /// Whether it is there, and still of another template.
    is_changed: bool,
    pods: &'a [&'a PodFact],
}

/// One wanted replica of the group.
struct Replica<'a> {
    index: u32,
    members: Vec<Member<'a>>,
}

/// What to do about the member cliques. Replicas have the indices from 0; a hole is filled where it is.
///
/// A changed template reaches the cliques of a replica when that replica is replaced, all of them at once, and then their
/// old pods go.
pub fn plan_group(context: Context<'_>, children: &GroupChildren<'_>) -> ChildPlan {
    let owner = OwnerKey::of(children.group);
    let mut draft = Draft::new(owner.clone(), children.batch);
    let mut templates = SharedTemplates::default();
    let replicas: Vec<Replica<'_>> = indices(context, children)
        .map(|it| Replica::of(context, children, it, &owner, &mut templates))
        .collect();
    let now = replaced_now(context, children, &replicas);
    let is_rolling = rollout::pace(context.set) == Pace::Rolling;
    let mut asked = BTreeSet::new();
    for Replica { index, members } in &replicas {
        for member in members {
            let metadata = member.existing.map(|it| &it.metadata);
            let is_unknown = children.unknown.contains(member.clique.template.name.as_str());
            let mut wanted = || templates.draft(context, &member.clique, Some(children.group));
            draft.decide(Kind::Clique, &member.clique.name, metadata, || match member.existing {
                None if is_unknown => Wanted::Nothing,
                None => Wanted::Create(Action::CreateClique(wanted())),
                Some(_) if member.is_changed && !now.contains(index) => Wanted::Nothing,
                Some(existing) => Wanted::patch(update::clique_patch(existing, &wanted().into_object())),
            });
            if now.contains(index) && is_rolling && member.has_pods_to_replace() {
                // One of each template is enough to ask the API server about.
                let key = (&member.clique.template.name, member.is_changed, member.hash());
                if asked.insert(key) {
                    draft.plan.replaced.extend(member.replaced(|| wanted().into_object()));
                }
            }
        }
        // Before that, a pod that goes would be replaced by another one of the old template.
        let is_patched = members.iter().all(|it| !it.is_changed);
        if is_patched && now.contains(index) && is_rolling {
            let old = members.iter().flat_map(Member::old_pods);
            draft.plan.outdated.extend(old.map(|it| Victim {
                name: it.name.clone(),
                uid: it.uid.clone(),
                why: Why::Outdated,
            }));
        }
    }
    let wanted: BTreeSet<&str> =
        replicas.iter().flat_map(|it| &it.members).map(|it| it.clique.name.as_str()).collect();
    let excess = children
        .cliques
        .values()
        .filter(|it| owner.controls(&it.metadata) && !wanted.contains(name_of(&it.metadata)));
    draft.delete(excess.map(|it| (Kind::Clique, &it.metadata)));
    draft.plan
}

/// The replicas of the group that are there or may be created.
fn indices(context: Context<'_>, children: &GroupChildren<'_>) -> impl Iterator<Item = u32> {
    let replicas = count(children.group.spec.replicas);
    let further =
        children.allotment.further_replicas(context.set, children.replica, children.config, replicas);
    (0..replicas.min(layout::group_minimum(children.config))).chain(further)
}

impl<'a> Replica<'a> {
    fn of(
        context: Context<'a>,
        children: &'a GroupChildren<'_>,
        index: u32,
        owner: &OwnerKey,
        templates: &mut SharedTemplates,
    ) -> Self {
        let member = |clique: layout::Clique<'a>| {
            let existing = children.cliques.get(clique.name.as_str()).copied();
            let ours = existing.filter(|it| owner.controls(&it.metadata));
            let patch = ours.and_then(|it| {
                let wanted = templates.draft(context, &clique, Some(children.group));
                update::clique_patch(it, &wanted.into_object())
            });
            Member {
                is_changed: patch.as_ref().is_some_and(update::changes_template),
                pods: children.pods.get(clique.name.as_str()).map(Vec::as_slice).unwrap_or_default(),
                existing,
                clique,
            }
        };
        let members = layout::members(context.set, children.replica, children.config, index).map(member);
        Self { index, members: members.collect() }
    }

    fn seen(&self) -> GroupReplica {
        let members = &self.members;
        let has_old_pods = |it: &Member<'_>| it.old_pods().next().is_some();
        GroupReplica {
            index: self.index,
            is_outdated: members.iter().any(|it| it.is_changed || has_old_pods(it)),
            has_begun: members.iter().any(|it| !it.is_changed && has_old_pods(it)),
            is_available: members.iter().all(Member::is_available),
            is_bound: members.iter().flat_map(|it| it.pods).any(|it| it.is_live() && it.bound),
        }
    }
}

fn replaced_now(
    context: Context<'_>,
    children: &GroupChildren<'_>,
    replicas: &[Replica<'_>],
) -> BTreeSet<u32> {
    match rollout::pace(context.set) {
        Pace::Paused => BTreeSet::new(),
        Pace::OnDelete => replicas.iter().map(|it| it.index).collect(),
        Pace::Rolling => {
            let mut seen: Vec<GroupReplica> = replicas.iter().map(Replica::seen).collect();
            for replica in seen.iter_mut().filter(|it| children.held.contains(&it.index)) {
                replica.is_outdated = false;
            }
            let minimum = layout::group_minimum(children.config);
            let at_start = rollout::available_at_start(context.set, children.replica, children.group);
            rollout::replaced_now(&seen, minimum, at_start)
        }
    }
}

impl<'a> Member<'a> {
    fn is_there(&self) -> bool {
        self.existing.is_some_and(|it| it.metadata.deletion_timestamp.is_none())
    }

    fn is_available(&self) -> bool {
        let template = self.clique.template;
        let is_zero = layout::clique_replicas(template) == 0;
        let minimum = if is_zero { 0 } else { layout::clique_minimum(template) };
        let tally = Tally::of(self.pods.iter().copied(), "");
        self.is_there() && tally.scheduled >= minimum && tally.ready >= minimum
    }

    /// Whether it has pods that another template replaces.
    fn has_pods_to_replace(&self) -> bool {
        if self.is_changed {
            self.pods.iter().any(|it| it.is_live())
        } else {
            self.old_pods().next().is_some()
        }
    }

    /// The clique as it will be, where that is `wanted` once it is changed.
    fn replaced(&self, wanted: impl FnOnce() -> PodClique) -> Option<PodClique> {
        let existing = self.existing?;
        if !self.is_changed {
            return Some(existing.clone());
        }
        let mut next = wanted();
        next.metadata.uid.clone_from(&existing.metadata.uid);
        Some(next)
    }

    /// Hash of the template that it has now.
    fn hash(&self) -> &'a str {
        self.existing.map(|it| template_hash(&it.metadata)).unwrap_or_default()
    }

    /// Pods of another template than the clique says now.
    fn old_pods(&self) -> impl Iterator<Item = &'a PodFact> {
        let hash = self.hash();
        self.pods.iter().copied().filter(move |it| it.is_live() && it.hash != hash)
    }
}
