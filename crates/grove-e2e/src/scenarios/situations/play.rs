//! Plays situations on a cluster, and says what became of each.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use anyhow::{Context as _, Result};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{
    floor::Floor,
    objects::{self, COUNTED_AS, HELD},
    situation::{Change, Group, Pods, Situation, key},
};
use crate::{
    objects as any_objects,
    scenario::{Context, PodState},
};

/// How long a scheduler may take to say of a pod that it cannot place it. Of pods that it does not try it says nothing.
const PATIENCE: Duration = Duration::from_secs(3);
/// kube-scheduler tries again after a second, which it rounds up to whole ones, and looks once a second for what is due.
const LONGEST_BACKOFF: Duration = Duration::from_millis(3500);

/// How many pods are on nodes, by the group or name that they are counted as, and in how many domains those are that have to be in one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome(BTreeMap<String, usize>);

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("nothing");
        }
        let counts: Vec<String> = self.0.iter().map(|(name, count)| format!("{name} {count}")).collect();
        f.write_str(&counts.join(", "))
    }
}

/// Plays all situations, each in a namespace of its own; the outcomes of each: at first, and after each change.
pub(super) async fn all(context: &mut Context, situations: &[Situation]) -> Result<Vec<Vec<Outcome>>> {
    let own = context.namespace.clone();
    let mut floor = Floor::new(context).await?;
    let mut outcomes = Vec::new();
    for (number, situation) in situations.iter().enumerate() {
        // They go with the scenario's own, after which they are called.
        context.begin(&format!("{own}-{number}")).await?;
        let played = Play { context, floor: &mut floor, situation, pods: 0 }.run().await;
        outcomes.push(played.with_context(|| situation.name.clone())?);
    }
    context.namespace = own;
    Ok(outcomes)
}

struct Play<'a> {
    context: &'a Context,
    floor: &'a mut Floor,
    situation: &'a Situation,
    /// That there would be if none had to go.
    pods: usize,
}

impl Play<'_> {
    async fn run(&mut self) -> Result<Vec<Outcome>> {
        self.floor.arrange(self.situation).await?;
        self.create(objects::loose(&self.situation.running, "running")).await?;
        let first = Change {
            groups: self.situation.groups.clone(),
            pods: self.situation.pods.clone(),
            ..Change::default()
        };
        self.change(&first).await?;
        self.until_decided().await?;
        let mut outcomes = vec![self.outcome()];
        if !self.situation.then.is_empty() {
            // Until then a pod that waits is not tried, and others may go past it.
            self.within(LONGEST_BACKOFF, is_bound).await;
        }
        for change in &self.situation.then {
            self.change(change).await?;
            self.until_decided_again().await?;
            outcomes.push(self.outcome());
        }
        self.floor.clear(self.context).await?;
        Ok(outcomes)
    }

    async fn change(&mut self, change: &Change) -> Result<()> {
        for pod in &change.delete {
            self.context.delete_pod(pod).await?;
            self.pods -= 1;
        }
        self.floor.cordon(&change.cordon, true).await?;
        self.floor.cordon(&change.uncordon, false).await?;
        // What is about to come is decided about with all that in view.
        self.floor.canary(self.context).await?;
        for group in change.groups.iter().flat_map(objects::groups) {
            let namespace = Some(self.context.namespace.as_str());
            any_objects::apply(&self.context.client(), group, namespace).await?;
        }
        for root in &change.groups {
            self.create_together(objects::pods_of_group(root)).await?;
        }
        for (group, pods) in &change.more {
            self.create_together(self.more(group, pods)?).await?;
        }
        self.create(objects::loose(&change.pods, "pod")).await?;
        self.ungate(&change.ungate, HELD).await
    }

    /// More pods of a PodGroup that is there.
    fn more(&self, group: &str, pods: &[Pods]) -> Result<Vec<Value>> {
        let there = self.context.log.now(&self.context.namespace);
        let first = there.iter().filter(|it| it.label(COUNTED_AS) == group).count();
        let changes = self.situation.then.iter().flat_map(|it| &it.groups);
        let path = self.situation.groups.iter().chain(changes).find_map(|it| path_to(it, group));
        let path = path.with_context(|| format!("no group {group}"))?;
        Ok(objects::pods_in(pods, &path, path[0].priority.as_deref(), first))
    }

    async fn create(&mut self, pods: Vec<Value>) -> Result<()> {
        let mut names = BTreeSet::new();
        for mut pod in pods {
            if let Some(node) = pod["spec"]["nodeName"].as_str() {
                pod["spec"]["nodeName"] = self.floor.node(node)?.into();
            }
            let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let pod: Pod = serde_json::from_value(pod).with_context(|| name.clone())?;
            self.api().create(&PostParams::default(), &pod).await.with_context(|| name.clone())?;
            names.insert(name);
        }
        self.pods += names.len();
        let seen =
            |pods: &[PodState]| pods.iter().filter(|it| names.contains(&it.name)).count() == names.len();
        self.context.expect("the pods are there", seen).await?;
        Ok(())
    }

    /// Pods of a group, of which none is decided about before all are there.
    async fn create_together(&mut self, pods: Vec<Value>) -> Result<()> {
        let names: Vec<String> = pods
            .iter()
            .filter(|it| it["spec"]["schedulingGates"].is_array())
            .filter_map(|it| it["metadata"]["name"].as_str().map(str::to_owned))
            .collect();
        self.create(pods).await?;
        self.ungate(&names, objects::TOGETHER).await
    }

    async fn ungate(&self, names: &[String], gate: &str) -> Result<()> {
        for name in names {
            let mut gates =
                self.api().get(name).await?.spec.and_then(|it| it.scheduling_gates).unwrap_or_default();
            gates.retain(|it| it.name != gate);
            let patch = Patch::Merge(json!({ "spec": { "schedulingGates": gates } }));
            self.api().patch(name, &PatchParams::default(), &patch).await?;
        }
        let is_gated = |it: &PodState| names.contains(&it.name) && it.gates.iter().any(|it| it == gate);
        self.context.expect("the gates are lifted", |pods| !pods.iter().any(is_gated)).await?;
        Ok(())
    }

    fn api(&self) -> Api<Pod> {
        Api::namespaced(self.context.client(), &self.context.namespace)
    }

    /// Waits until every pod is on a node, or the scheduler has said that it cannot be. Where it says nothing of a pod, it has bound
    /// another one that came later.
    async fn until_decided(&mut self) -> Result<()> {
        if !self.within(PATIENCE, |pods| pods.iter().all(is_decided)).await {
            self.until_turn_is_over().await?;
        }
        // Who went may have left more room than one gang needs.
        let there = self.context.log.now(&self.context.namespace).len();
        if there < self.pods {
            self.pods = there;
            self.until_decided_again().await?;
        }
        Ok(())
    }

    /// Waits until the scheduler has looked once more at what it could not place.
    async fn until_decided_again(&mut self) -> Result<()> {
        if !self.within(LONGEST_BACKOFF, is_bound).await {
            self.until_turn_is_over().await?;
        }
        Ok(())
    }

    /// Waits until a pod that came later is bound, and no pod waits for others to go.
    async fn until_turn_is_over(&mut self) -> Result<()> {
        self.floor.canary(self.context).await?;
        let is_over = |pods: &[PodState]| !pods.iter().any(is_promised);
        self.context.expect("no pod waits for others to go", is_over).await?;
        Ok(())
    }

    async fn within(&self, time: Duration, wanted: impl Fn(&[PodState]) -> bool) -> bool {
        let (context, what) = (self.context, "decided");
        context.log.until(&context.namespace, what, time, wanted).await.is_ok()
    }

    fn outcome(&self) -> Outcome {
        let pods = self.context.log.now(&self.context.namespace);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for pod in &pods {
            let is_bound = pod.node.is_some() && !pod.terminating;
            *counts.entry(pod.label(COUNTED_AS).to_owned()).or_default() += usize::from(is_bound);
        }
        for group in self.situation.all_groups() {
            let Some(level) = &group.level else { continue };
            let label = objects::membership(&group.name);
            let members = pods.iter().filter(|it| it.labels.contains_key(&label));
            let domains = members.filter_map(|it| self.floor.label(it.node.as_deref()?, key(level)));
            let domains: BTreeSet<String> = domains.collect();
            counts.insert(format!("{} in {level}s", group.name), domains.len());
        }
        // A pod that had to go is not there any more, and counts as one that waits.
        counts.retain(|_, count| *count > 0);
        Outcome(counts)
    }
}

/// The groups from a root to a PodGroup in it.
fn path_to<'a>(root: &'a Group, name: &str) -> Option<Vec<&'a Group>> {
    if root.name == name {
        return Some(vec![root]);
    }
    let below = root.groups.iter().find_map(|it| path_to(it, name))?;
    Some([root].into_iter().chain(below).collect())
}

/// A pod that is on a node, that somebody holds back, or of which the scheduler has said that there is no place for it.
fn is_decided(pod: &PodState) -> bool {
    let is_refused = pod.unschedulable.as_ref().is_some_and(|it| it.0 != "SchedulingGated");
    pod.node.is_some() || !pod.gates.is_empty() || (is_refused && !is_promised(pod))
}

/// No pod waits for a node that nobody holds back.
fn is_bound(pods: &[PodState]) -> bool {
    pods.iter().all(|it| it.node.is_some() || !it.gates.is_empty())
}

/// A pod for which others make room.
fn is_promised(pod: &PodState) -> bool {
    pod.node.is_none() && pod.nominated.is_some()
}
