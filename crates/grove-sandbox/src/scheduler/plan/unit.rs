//! What is scheduled in one decision: a pod that is in no group, or everything below a root PodGroup or CompositePodGroup.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use grove_placement::{GangPod, Group, Members, PodRequirements, gang::from_objects};
use serde_json::Value;

use super::{preferred, relax};
use crate::scheduler::observe::{
    MAX_GROUPS,
    group_view::{GroupKey, GroupObject},
    pod_view::{PodKey, PodView},
};

/// Pods of one gang that are placed together at most.
const MAX_PODS: usize = 20_000;

/// Kinds of pods in one gang. Each is compared with every node.
const MAX_KINDS: usize = 200;

/// Names what is scheduled in one decision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnitKey {
    /// A pod that is in no group.
    Pod(PodKey),
    /// Everything below this root.
    Gang(GroupKey),
}

impl fmt::Display for UnitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pod(key) => key.fmt(f),
            Self::Gang(key) => write!(f, "{}/{}", key.namespace, key.name),
        }
    }
}

/// A pod of a unit.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) pod: Arc<PodView>,
    /// The node that it is on or about to be bound to.
    pub(crate) node: Option<String>,
}

/// What is scheduled in one decision.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) key: UnitKey,
    pub(crate) priority: i32,
    pub(crate) never_preempts: bool,
    /// The groups, the root first; none for a pod that is in no group.
    pub(crate) groups: Vec<GroupObject>,
    pub(crate) members: BTreeMap<String, Member>,
    /// Names of the pods of each PodGroup.
    pods_of: BTreeMap<String, Vec<String>>,
    /// What is to be placed; empty where nothing is.
    pub(crate) tree: Group,
    /// What makes it impossible to schedule, whatever there is room for.
    pub(crate) fault: Option<String>,
}

/// How far a unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No pod of it waits for a node.
    Settled,
    /// Pods are gated, or groups have fewer pods than their minimum: kube-scheduler says nothing of that.
    Incomplete,
    /// It cannot be scheduled as it is.
    Faulty(String),
    /// It is to be placed.
    Ready,
}

/// What a unit depends on besides its own objects.
pub(crate) struct UnitContext<'a> {
    /// The scheduler whose pods are placed.
    pub(crate) scheduler: &'a str,
    /// Labels that pods outside of the unit look at.
    pub(crate) labels: BTreeSet<String>,
    /// Whether a node exists.
    pub(crate) has_node: &'a dyn Fn(&str) -> bool,
}

impl Unit {
    /// A pod that is in no group.
    pub(crate) fn of_pod(member: Member, context: &UnitContext<'_>) -> Self {
        let pod = Arc::clone(&member.pod);
        let members = BTreeMap::from([(pod.name().to_owned(), member)]);
        let mut unit = Self {
            key: UnitKey::Pod(pod.key()),
            priority: pod.priority,
            never_preempts: pod.never_preempts,
            groups: Vec::new(),
            pods_of: BTreeMap::new(),
            tree: Group::default(),
            fault: None,
            members,
        };
        let pods = unit.gang_pods([pod.name()], &unit.labels(context), context);
        unit.tree = Group::of_pods(pod.name(), 1, pods);
        unit
    }

    /// The gang of these groups, of which the first one is the root. `pods` are the pods of each PodGroup, by its name. Pods that wait
    /// for another scheduler are none of it, as kube-scheduler has it.
    pub(crate) fn of_gang(
        groups: Vec<GroupObject>,
        pods: BTreeMap<String, Vec<Member>>,
        context: &UnitContext<'_>,
    ) -> Option<Self> {
        let root = groups.first()?;
        let is_ours = |it: &Member| it.node.is_some() || it.pod.scheduler_name == context.scheduler;
        let of_group =
            |(group, members): (String, Vec<Member>)| (group, members.into_iter().filter(is_ours).collect());
        let pods: BTreeMap<String, Vec<Member>> = pods.into_iter().map(of_group).collect();
        let count: usize = pods.values().map(Vec::len).sum();
        let first = pods.values().flatten().next().map(|it| &it.pod);
        let mut unit = Self {
            key: UnitKey::Gang(root.key.clone()),
            // The Priority admission fills it in; without it, that of the pods counts.
            priority: root.priority().or(first.map(|it| it.priority)).unwrap_or_default(),
            never_preempts: match root.spec["preemptionPolicy"].as_str() {
                Some(policy) => policy == "Never",
                None => first.is_some_and(|it| it.never_preempts),
            },
            members: BTreeMap::new(),
            pods_of: BTreeMap::new(),
            tree: Group::default(),
            fault: None,
            groups,
        };
        if unit.groups.len() > MAX_GROUPS || count > MAX_PODS {
            unit.fault = Some(format!("a gang has at most {MAX_GROUPS} groups and {MAX_PODS} pods"));
        }
        for (group, members) in pods {
            let names: Vec<String> = members.iter().map(|it| it.pod.name().to_owned()).collect();
            unit.pods_of.insert(group, names);
            unit.members.extend(members.into_iter().map(|it| (it.pod.name().to_owned(), it)));
        }
        if unit.fault.is_none() {
            unit.fault = unit.difference(context.scheduler);
        }
        // Not worth its time for a gang that waits for its gates, pod by pod.
        if unit.fault.is_none() && unit.pending().next().is_some() && !unit.is_gated() {
            let objects: Vec<Value> = unit.groups.iter().map(GroupObject::to_value).collect();
            let labels = unit.labels(context);
            let of_group = |_: &str, name: &str| {
                let names = unit.pods_of.get(name).map(Vec::as_slice).unwrap_or_default();
                unit.gang_pods(names.iter().map(String::as_str), &labels, context)
            };
            unit.tree = from_objects(&objects, of_group).roots.pop()?.1;
            preferred::set(&mut unit.tree, &unit.members);
            unit.fault = unit.too_many_kinds();
        }
        Some(unit)
    }

    /// Labels that matter for where its pods go.
    fn labels(&self, context: &UnitContext<'_>) -> BTreeSet<String> {
        relax::labels(self.members.values().map(|it| &*it.pod), &context.labels)
    }

    fn gang_pods<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
        labels: &BTreeSet<String>,
        context: &UnitContext<'_>,
    ) -> Vec<GangPod> {
        let members = names.into_iter().filter_map(|it| self.members.get(it));
        let members = members.filter(|it| it.counts(context));
        let pod = |it: &Member| GangPod {
            name: it.pod.name().to_owned(),
            requirements: it
                .pod
                .requirements
                .as_ref()
                .map(|pod| relax::without_labels(pod, labels))
                .unwrap_or_default(),
            node: it.node.clone(),
        };
        members.map(pod).collect()
    }

    /// What differs between pods that have to be alike, in the words of kube-scheduler.
    fn difference(&self, scheduler: &str) -> Option<String> {
        let has_policy = self.groups.first().is_some_and(|it| it.spec["preemptionPolicy"].is_string());
        let pods = self.members.values().map(|it| &it.pod);
        pods.filter(|it| !it.is_terminating()).find_map(|pod| {
            if pod.scheduler_name != scheduler {
                let other = &pod.scheduler_name;
                return Some(format!(
                    "all pods in a single pod group should have the same .spec.schedulerName set, got: {other:?} and \
                     {scheduler:?}"
                ));
            }
            if pod.priority != self.priority {
                return Some(format!(
                    "all pods in a single pod group should have the same priority as the pod group's priority, got {} and {}",
                    pod.priority, self.priority
                ));
            }
            (has_policy && pod.never_preempts != self.never_preempts).then(|| {
                "all pods in a single pod group should have the same preemption policy as the pod group's preemption policy"
                    .to_owned()
            })
        })
    }

    fn too_many_kinds(&self) -> Option<String> {
        let kinds: BTreeSet<&PodRequirements> = self.tree.pods().iter().map(|it| &it.requirements).collect();
        (kinds.len() > MAX_KINDS).then(|| {
            format!("the pods of a gang ask for {} different things; at most {MAX_KINDS}", kinds.len())
        })
    }

    /// The pods that wait for a node.
    pub(crate) fn pending(&self) -> impl Iterator<Item = &Arc<PodView>> {
        self.members.values().filter(|it| it.node.is_none() && !it.pod.is_terminating()).map(|it| &it.pod)
    }

    fn is_gated(&self) -> bool {
        self.pending().any(|it| it.is_gated)
    }

    /// How many pods of a PodGroup have a node.
    pub(crate) fn bound(&self, group: &str) -> usize {
        let names = self.pods_of.get(group).into_iter().flatten();
        names.filter(|it| self.members.get(*it).is_some_and(|it| it.pod.node_name.is_some())).count()
    }

    pub(crate) fn is_gang(&self) -> bool {
        matches!(self.key, UnitKey::Gang(_))
    }

    /// How far it is.
    pub(crate) fn stage(&self, scheduler: &str) -> Stage {
        let mut pending = self.pending().filter(|it| it.scheduler_name == scheduler).peekable();
        if pending.peek().is_none() {
            return Stage::Settled;
        }
        if let Some(fault) = &self.fault {
            return Stage::Faulty(fault.clone());
        }
        // One gated pod holds back everything below the root.
        if self.is_gated() {
            return Stage::Incomplete;
        }
        let unreadable = pending.find_map(|it| Some((it.name(), it.requirements.as_ref().err()?)));
        if let Some((pod, error)) = unreadable {
            return Stage::Faulty(format!("pod {pod}: {error}"));
        }
        if is_complete(&self.tree) { Stage::Ready } else { Stage::Incomplete }
    }
}

impl Member {
    /// A pod that is about to go, or whose node is gone, stands for nothing.
    fn counts(&self, context: &UnitContext<'_>) -> bool {
        !self.pod.is_terminating() && self.node.as_deref().is_none_or(context.has_node)
    }
}

/// Whether a group has as many members as its minimum needs, and one at least.
fn is_complete(group: &Group) -> bool {
    let count = match &group.members {
        Members::Pods(pods) => pods.len(),
        Members::Groups(groups) => groups.iter().filter(|it| is_complete(it)).count(),
    };
    count >= usize::try_from(group.min_count.max(1)).unwrap_or(usize::MAX)
}
