//! Which children to create, change and delete: a comparison of what the template says with what is there.

mod group;
mod set;
mod update;

use grove_api::wire::{PodClique, PodCliqueScalingGroup, PodGang};
use grove_ownership::OwnerKey;
use k8s_openapi::{
    api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use serde_json::Value;

use crate::{objects::CliqueDraft, pods::Victim};

pub use self::{
    group::{GroupChildren, plan_group},
    set::{SetChildren, plan_set},
    update::{changes_template, clique_patch, gang_patch, same_template},
};

/// A child to make.
#[derive(Clone, Debug, PartialEq)]
pub enum Child {
    /// Headless Service.
    Service(Box<Service>),
    /// HorizontalPodAutoscaler.
    Autoscaler(Box<HorizontalPodAutoscaler>),
    /// PodClique.
    Clique(Box<PodClique>),
    /// PodCliqueScalingGroup.
    Group(Box<PodCliqueScalingGroup>),
    /// PodGang.
    Gang(Box<PodGang>),
}

/// Kind of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Headless Service.
    Service,
    /// HorizontalPodAutoscaler.
    Autoscaler,
    /// PodClique.
    Clique,
    /// PodCliqueScalingGroup.
    Group,
    /// PodGang.
    Gang,
}

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Make it.
    Create(Child),
    /// Make a PodClique.
    CreateClique(CliqueDraft),
    /// Change it by a merge patch.
    Patch {
        /// Kind.
        kind: Kind,
        /// Name.
        name: String,
        /// Merge patch; it touches nothing that others own.
        patch: Value,
    },
    /// Delete it.
    Delete {
        /// Kind.
        kind: Kind,
        /// Name.
        name: String,
        /// The very object that was seen; a namesake made since is not meant.
        uid: String,
    },
}

/// How much is planned at a time: what is not carried out anyway is not built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Children that are created or changed, and as many that are deleted.
    pub size: usize,
    /// So many that could be created or changed are passed over: they failed, and must not keep the others from their turn.
    pub skip: usize,
}

impl Default for Batch {
    /// Everything.
    fn default() -> Self {
        Self { size: usize::MAX, skip: 0 }
    }
}

/// A child that cannot be made, because something of that name belongs to somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Kind.
    pub kind: Kind,
    /// Name.
    pub name: String,
}

/// What to do about the children of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChildPlan {
    /// Changes, in the order they should be made.
    pub actions: Vec<Action>,
    /// What stands in the way.
    pub blocked: Vec<Blocked>,
    /// Pods of another template that go, when all else is done.
    pub outdated: Vec<Victim>,
    /// Cliques with pods of another template, as they will be, one for each template: nothing is changed before the API server
    /// accepts their pods.
    pub replaced: Vec<PodClique>,
    /// Whether a child of an earlier life is still on its way out: its end wakes us.
    pub waiting: bool,
    /// Whether there may be more to do: the batch is full, or something was passed over.
    pub more: bool,
}

impl Kind {
    /// The kind's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Service => "Service",
            Self::Autoscaler => "HorizontalPodAutoscaler",
            Self::Clique => "PodClique",
            Self::Group => "PodCliqueScalingGroup",
            Self::Gang => "PodGang",
        }
    }
}

impl Child {
    /// Kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Service(_) => Kind::Service,
            Self::Autoscaler(_) => Kind::Autoscaler,
            Self::Clique(_) => Kind::Clique,
            Self::Group(_) => Kind::Group,
            Self::Gang(_) => Kind::Gang,
        }
    }

    /// Metadata.
    pub fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Service(it) => &it.metadata,
            Self::Autoscaler(it) => &it.metadata,
            Self::Clique(it) => &it.metadata,
            Self::Group(it) => &it.metadata,
            Self::Gang(it) => &it.metadata,
        }
    }
}

impl Blocked {
    /// In words.
    pub fn message(&self) -> String {
        format!(
            "{} {:?} exists and is not owned by this PodCliqueSet; delete or rename it",
            self.kind.as_str(),
            self.name
        )
    }
}

/// What to do about one wanted child.
enum Verdict {
    Missing,
    Ours,
    Leaving,
    Foreign,
}

fn judge(existing: Option<&ObjectMeta>, owner: &OwnerKey) -> Verdict {
    let Some(metadata) = existing else { return Verdict::Missing };
    if !owner.controls(metadata) {
        // It may be of an earlier life of the set, and on its way out.
        return if metadata.deletion_timestamp.is_some() { Verdict::Leaving } else { Verdict::Foreign };
    }
    if metadata.deletion_timestamp.is_some() { Verdict::Leaving } else { Verdict::Ours }
}

/// What becomes of a wanted child that can be made or changed.
enum Wanted {
    Create(Action),
    Patch(Value),
    Nothing,
}

impl Wanted {
    fn patch(patch: Option<Value>) -> Self {
        patch.map_or(Self::Nothing, Self::Patch)
    }
}

/// A plan that grows up to the size of its batch.
struct Draft {
    owner: OwnerKey,
    batch: Batch,
    plan: ChildPlan,
}

impl Draft {
    fn new(owner: OwnerKey, batch: Batch) -> Self {
        Self { owner, batch, plan: ChildPlan::default() }
    }

    /// Decides about one wanted child: it is created, changed, waited for, or in the way of somebody else's. `make` says
    /// which, and is not asked beyond the batch.
    fn decide(
        &mut self,
        kind: Kind,
        name: &str,
        existing: Option<&ObjectMeta>,
        make: impl FnOnce() -> Wanted,
    ) {
        match judge(existing, &self.owner) {
            Verdict::Missing | Verdict::Ours if self.plan.actions.len() >= self.batch.size => {
                self.plan.more = true;
            }
            Verdict::Missing | Verdict::Ours => {
                let action = match make() {
                    Wanted::Create(action) => action,
                    Wanted::Patch(patch) => Action::Patch { kind, name: name.to_owned(), patch },
                    Wanted::Nothing => return,
                };
                match self.batch.skip.checked_sub(1) {
                    Some(rest) => (self.batch.skip, self.plan.more) = (rest, true),
                    None => self.plan.actions.push(action),
                }
            }
            Verdict::Leaving => self.plan.waiting = true,
            Verdict::Foreign => self.plan.blocked.push(Blocked { kind, name: name.to_owned() }),
        }
    }

    /// Adds what goes. It does not wait for what is created: that may be refused until something goes.
    fn delete<'b>(&mut self, excess: impl Iterator<Item = (Kind, &'b ObjectMeta)>) {
        let mut all = excess.filter_map(|(kind, metadata)| delete(kind, metadata));
        self.plan.actions.extend(all.by_ref().take(self.batch.size));
        self.plan.more |= all.next().is_some();
    }
}

fn name_of(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}

fn delete(kind: Kind, metadata: &ObjectMeta) -> Option<Action> {
    if metadata.deletion_timestamp.is_some() {
        return None;
    }
    Some(Action::Delete { kind, name: metadata.name.clone()?, uid: metadata.uid.clone()? })
}
