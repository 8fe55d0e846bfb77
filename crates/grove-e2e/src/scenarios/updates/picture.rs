//! What is seen of an update on the way, from the history of pods: what was taken, and what was left at that moment.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::labels;

use super::rules::{CliqueRule, Replaced, Rules};
use crate::scenario::{Change, PodState};

/// A pod that the operator took away.
#[derive(Clone, Debug)]
pub(in crate::scenarios) struct Loss {
    pub(super) name: String,
    pub(super) version: u64,
    pub(super) set_replica: u32,
    /// Whether it was ready until then, and is replaced rather than scaled in.
    pub(super) is_missed: bool,
}

/// The pods of a set, and what happened to them since it was at rest.
#[derive(Debug, Default)]
pub(in crate::scenarios) struct Picture {
    /// Pods that live, by UID.
    pods: BTreeMap<String, PodState>,
    /// Those that were there when the update began.
    old: BTreeSet<String>,
    /// Pods that the scenario deletes itself.
    theirs: BTreeSet<String>,
    /// Set replicas that missed a ready pod.
    touched: BTreeSet<u32>,
    /// Pods of cliques that were scaled in.
    spared: BTreeMap<String, usize>,
    /// Likewise those that were due, too.
    excused: BTreeMap<String, usize>,
    losses: Vec<Loss>,
    /// The last change that was looked at.
    seen: u64,
    /// The change with which nothing was left to do; `None` while something is.
    complete: Option<u64>,
    /// What was left to do before it.
    lacks: String,
}

impl Picture {
    /// Of pods that are at rest.
    pub(in crate::scenarios) fn new(pods: Vec<PodState>) -> Self {
        let pods: BTreeMap<String, PodState> = pods.into_iter().map(|it| (it.uid.clone(), it)).collect();
        let old = pods.keys().cloned().collect();
        Self { pods, old, ..Self::default() }
    }

    /// From here on, all pods that live are old.
    pub(super) fn begin(&mut self) {
        self.old = self.pods.keys().cloned().collect();
        self.complete = None;
    }

    /// The scenario deletes a pod.
    pub(in crate::scenarios) fn they_delete(&mut self, uid: &str) {
        self.theirs.insert(uid.to_owned());
    }

    /// Whether a pod was there when the update began.
    pub(super) fn is_old(&self, uid: &str) -> bool {
        self.old.contains(uid)
    }

    /// Pods that live, as they were last looked at.
    pub(super) fn pods(&self) -> impl Iterator<Item = &PodState> {
        self.pods.values()
    }

    /// What the operator took.
    pub(in crate::scenarios) fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// The change with which nothing was left to do, and what was before it.
    pub(super) fn complete(&self) -> Option<(u64, &str)> {
        self.complete.map(|it| (it, self.lacks.as_str()))
    }

    /// Goes through what happened, and fails at the first thing that breaks a rule. Changes that it has seen are passed over.
    pub(in crate::scenarios) fn go_on(&mut self, changes: &[Change<PodState>], rules: &Rules) -> Result<()> {
        // Also by a change of the rules.
        self.look_for_end(self.seen, rules);
        for change in changes {
            if change.version != 0 && change.version <= self.seen {
                continue;
            }
            self.seen = self.seen.max(change.version);
            match change.after.as_ref().filter(|it| !it.terminating) {
                Some(pod) if pod.label(labels::PART_OF).is_empty() => continue,
                Some(pod) => drop(self.pods.insert(change.uid.clone(), pod.clone())),
                None => {
                    let Some(pod) = self.pods.remove(&change.uid) else { continue };
                    self.lost(&pod, change, rules).with_context(|| {
                        format!("{} went at {:.1} s", change.name, change.at.as_secs_f64())
                    })?;
                }
            }
            self.look_for_end(change.version, rules);
        }
        Ok(())
    }

    fn lost(&mut self, pod: &PodState, change: &Change<PodState>, rules: &Rules) -> Result<()> {
        if self.theirs.contains(&pod.uid) {
            return Ok(());
        }
        let clique = pod.label(labels::POD_CLIQUE);
        let Some(rule) = rules.cliques.get(clique) else { return Ok(()) };
        let is_due = match rule.replaced {
            Replaced::Never => false,
            Replaced::Once => self.old.contains(&pod.uid),
            Replaced::Freely => true,
        };
        if !is_due {
            let spared = self.spared.entry(clique.to_owned()).or_default();
            *spared += 1;
            let what = if self.old.contains(&pod.uid) { "is not to be replaced" } else { "is new" };
            ensure!(*spared <= rule.spare, "a pod of {clique} was taken that {what}");
        }
        // Pods that are scaled in go before the update begins or in the midst of it, and cannot be told apart: where pods go as often as
        // it takes, any of them, else the first ones.
        let may_be_spare = match rule.replaced {
            Replaced::Never => false,
            Replaced::Freely => rule.spare > 0,
            Replaced::Once => {
                let excused = self.excused.entry(clique.to_owned()).or_default();
                *excused += 1;
                *excused <= rule.spare
            }
        };
        let is_missed = pod.ready && is_due && !may_be_spare;
        self.losses.push(Loss {
            name: change.name.clone(),
            version: change.version,
            set_replica: rule.set_replica,
            is_missed,
        });
        if pod.ready {
            match &rule.group {
                None => {
                    let left = self.ready(clique);
                    ensure!(left >= rule.least, "{left} pods of {clique} are left, not {}", rule.least);
                }
                Some((group, _)) => {
                    let least = rules.groups.get(group).map_or(0, |it| it.least);
                    let left = self.available(group, rules);
                    ensure!(left >= least, "{left} replicas of {group} are left, not {least}");
                }
            }
        }
        if is_missed {
            let own = rule.set_replica;
            let open = self.touched.iter().find(|it| **it != own && !self.is_whole(**it, rules));
            ensure!(open.is_none(), "replica {own} of the set is taken from, and {open:?} is not done");
            self.touched.insert(own);
            self.complete = None;
        }
        Ok(())
    }

    /// Ready pods of a clique.
    fn ready(&self, clique: &str) -> usize {
        self.pods.values().filter(|it| it.ready && it.label(labels::POD_CLIQUE) == clique).count()
    }

    /// Replicas of a group whose every clique has its minimum.
    fn available(&self, group: &str, rules: &Rules) -> usize {
        let mut replicas: BTreeMap<u32, bool> = BTreeMap::new();
        for (name, rule) in &rules.cliques {
            if let Some((own, index)) = &rule.group
                && own == group
            {
                *replicas.entry(*index).or_insert(true) &= self.ready(name) >= rule.minimum;
            }
        }
        replicas.values().filter(|it| **it).count()
    }

    /// Whether a set replica has all its minima, and nothing old that is to be replaced.
    fn is_whole(&self, set_replica: u32, rules: &Rules) -> bool {
        let mut cliques = rules.cliques.iter().filter(|(_, it)| it.set_replica == set_replica);
        self.short(set_replica, rules).is_none() && cliques.all(|(name, it)| self.old(name, it).is_none())
    }

    /// The first minimum that a set replica does not have, in words.
    fn short(&self, set_replica: u32, rules: &Rules) -> Option<String> {
        let cliques =
            rules.cliques.iter().filter(|(_, it)| it.set_replica == set_replica && it.group.is_none());
        let mut cliques = cliques.map(|(name, it)| (name, self.ready(name), it.minimum));
        let groups = rules.groups.iter().filter(|(_, it)| it.set_replica == set_replica);
        let mut groups = groups.map(|(name, it)| (name, self.available(name, rules), it.minimum));
        let short = cliques.find(|it| it.1 < it.2).or_else(|| groups.find(|it| it.1 < it.2));
        short.map(|(name, is, minimum)| format!("{name} had {is} of {minimum}"))
    }

    /// A pod of a clique that is still to be replaced.
    fn old(&self, clique: &str, rule: &CliqueRule) -> Option<&PodState> {
        let is_old = |it: &&PodState| self.old.contains(&it.uid) && it.label(labels::POD_CLIQUE) == clique;
        self.pods.values().filter(|_| rule.replaced == Replaced::Once).find(is_old)
    }

    /// Notes when nothing is left to do: nothing old, and what was taken from has its minima again. A pod that fails later is no
    /// part of the update.
    fn look_for_end(&mut self, version: u64, rules: &Rules) {
        if self.complete.is_some() {
            return;
        }
        let old = rules.cliques.iter().find_map(|(name, rule)| self.old(name, rule));
        let short = || self.touched.iter().find_map(|it| self.short(*it, rules));
        match old.map(|it| format!("{} was old", it.name)).or_else(short) {
            None => self.complete = Some(version),
            Some(lacks) => self.lacks = lacks,
        }
    }
}

#[cfg(test)]
impl Picture {
    /// Of an update that took a ready pod of replica 0 at version 25, and was complete at `complete`.
    pub(super) fn taken(name: &str, complete: u64) -> Self {
        let loss = Loss { name: name.to_owned(), version: 25, set_replica: 0, is_missed: true };
        Self { losses: vec![loss], complete: Some(complete), ..Self::default() }
    }
}

#[cfg(test)]
mod tests;
