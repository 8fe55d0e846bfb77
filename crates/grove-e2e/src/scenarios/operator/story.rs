//! What happened to pods and gangs, put in one order: the versions of all objects come from one store.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::{conditions::pod_gang::INITIALIZED, gates, labels};

use crate::scenario::{Change, Context, GangState, PodState};

/// Where a story begins.
#[derive(Clone, Copy)]
pub(in crate::scenarios) struct Mark {
    pods: usize,
    gangs: usize,
}

pub(in crate::scenarios) fn mark(context: &Context) -> Result<Mark> {
    Ok(Mark { pods: context.log.mark(), gangs: context.gangs()?.mark() })
}

/// What happened since.
pub(in crate::scenarios) struct Story {
    pods: Vec<Change<PodState>>,
    gangs: Vec<Change<GangState>>,
}

impl Story {
    pub(in crate::scenarios) fn since(context: &Context, mark: Mark) -> Result<Self> {
        Ok(Self {
            pods: context.log.since(mark.pods, &context.namespace),
            gangs: context.gangs()?.since(mark.gangs, &context.namespace),
        })
    }

    /// The first version of each pod for which `test` holds.
    fn first(&self, test: impl Fn(&PodState) -> bool) -> BTreeMap<&str, u64> {
        let mut first = BTreeMap::new();
        for change in &self.pods {
            if change.after.as_ref().is_some_and(&test) {
                first.entry(change.name.as_str()).or_insert(change.version);
            }
        }
        first
    }

    /// When each pod lost its gate.
    pub(in crate::scenarios) fn ungated(&self) -> BTreeMap<&str, u64> {
        self.first(|it| !is_gated(it))
    }

    /// When each pod was bound.
    pub(in crate::scenarios) fn bound(&self) -> BTreeMap<&str, u64> {
        self.first(|it| it.node.is_some())
    }

    /// UIDs and names of pods that were deleted, or marked for it.
    pub(in crate::scenarios) fn deleted_pods(&self) -> BTreeMap<String, String> {
        let gone = self.pods.iter().filter(|it| it.after.as_ref().is_none_or(|it| it.terminating));
        gone.map(|it| (it.uid.clone(), it.name.clone())).collect()
    }

    /// Pods of cliques with their labels, as they were first seen.
    pub(in crate::scenarios) fn pods(&self) -> BTreeMap<&str, &PodState> {
        let mut first = BTreeMap::new();
        for change in &self.pods {
            if let Some(pod) = &change.after {
                first.entry(change.name.as_str()).or_insert(pod);
            }
        }
        first
    }

    /// Every pod came with its gate, and lost it after its gang listed it and said that it is complete.
    pub(in crate::scenarios) fn check_gates(&self) -> Result<()> {
        let (ungated, pods) = (self.ungated(), self.pods());
        ensure!(!ungated.is_empty(), "no pod was let go");
        for (name, pod) in &pods {
            let created = self.pods.iter().find(|it| it.name == *name);
            let is_new = created.is_some_and(|it| it.after.as_ref().is_some_and(|it| it.node.is_none()));
            ensure!(!is_new || is_gated(pod), "{name} came without its gate");
        }
        for (name, at) in ungated {
            let pod = pods.get(name).context("no such pod")?;
            let gang = pod.label(labels::POD_GANG);
            let of_gang = |test: &dyn Fn(&GangState) -> bool| {
                let mut changes = self.gangs.iter().filter(|it| it.name == gang);
                changes.find(|it| it.after.as_ref().is_some_and(test)).map(|it| it.version)
            };
            let complete = of_gang(&|it| it.is(INITIALIZED));
            ensure!(
                complete.is_some_and(|it| it < at),
                "{name} was let go at {at}, and its gang {gang} was complete at {complete:?}"
            );
            let listed = of_gang(&|it| it.lists(name));
            ensure!(
                listed.is_some_and(|it| it < at),
                "{name} was let go at {at}, and its gang {gang} listed it at {listed:?}"
            );
        }
        Ok(())
    }

    /// A gang that was complete stays so, and what it lists is never emptied.
    pub(in crate::scenarios) fn check_gangs(&self) -> Result<()> {
        let mut before: BTreeMap<(&str, &str), &GangState> = BTreeMap::new();
        for change in &self.gangs {
            let Some(now) = change.after.as_ref().filter(|it| !it.terminating) else { continue };
            let key = (change.name.as_str(), change.uid.as_str());
            if let Some(was) = before.get(&key) {
                let name = &change.name;
                ensure!(!was.is(INITIALIZED) || now.is(INITIALIZED), "{name} is no longer complete: {now:?}");
                for (group, pods) in &was.references {
                    let emptied =
                        !pods.is_empty() && now.references.get(group).is_none_or(BTreeSet::is_empty);
                    ensure!(!emptied, "the pods of {group} in gang {name} were emptied");
                }
            } else {
                let empty = now.references.values().all(BTreeSet::is_empty);
                ensure!(empty && !now.is(INITIALIZED), "gang {} came after its pods: {now:?}", change.name);
            }
            before.insert(key, now);
        }
        Ok(())
    }
}

fn is_gated(pod: &PodState) -> bool {
    pod.gates.iter().any(|it| it == gates::POD_GANG_PENDING)
}

pub(in crate::scenarios) fn gated<'a>(pods: &'a [PodState], gang: &str) -> Vec<&'a PodState> {
    pods.iter().filter(|it| it.label(labels::POD_GANG) == gang && is_gated(it)).collect()
}
