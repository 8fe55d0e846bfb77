//! The nodes, their scheduler and their kubelets. The scheduler knows no gangs: it binds what is not gated, where there is
//! room.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_apiserver::{Action, Event, Object, Subresource};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{Cluster, NAMESPACE, NODES, PODS, agenda::Agenda, text};
use crate::random::{Random, choose};

/// Longest time from one stage of a pod's life to the next.
const STAGE: Duration = Duration::from_secs(6);
/// How long after its death the pods of a node are told to go.
const EVICTION: Duration = Duration::from_secs(20);

/// What is going to happen in the hall.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// A pod, by UID, goes from this stage to the next.
    Advance(String, Stage),
    /// A crashed pod comes back.
    Recover(String),
    /// The pods of a dead node are told to go.
    Evict(usize),
    /// A node comes back.
    Return(usize),
}

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Waits for a node.
    Unbound,
    /// Has a node.
    Bound,
    /// Runs, and is not ready yet.
    Started,
    /// On its way out.
    Leaving,
    /// Nothing happens by itself.
    Still,
}

/// The hall. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Hall {
    pub(super) cluster: Cluster,
    state: Arc<Mutex<State>>,
    /// Somebody else put something on the agenda.
    news: Arc<Notify>,
}

pub(super) struct State {
    random: Random,
    agenda: Agenda<Act>,
    /// Where pods are, by UID, and what is planned for them.
    pods: BTreeMap<String, (String, Stage)>,
    /// Pods that found no room, by UID.
    waiting: BTreeSet<String>,
    /// Whether each node is alive.
    alive: Vec<bool>,
    /// Pods that fit on a node.
    slots: usize,
    /// Pods that crashed, by UID.
    pub(super) crashed: BTreeSet<String>,
    /// All events up to here are known.
    position: u64,
    /// Until then nothing happens: the API server is down.
    paused: Option<Instant>,
}

impl Hall {
    pub(crate) fn new(cluster: Cluster, nodes: usize, slots: usize, random: Random) -> Self {
        for node in 0..nodes {
            let object = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name(node) } });
            drop(cluster.write("kubelet", NODES, "", None, Action::Create(object)));
        }
        let state = State {
            random,
            agenda: Agenda::new(),
            pods: BTreeMap::new(),
            waiting: BTreeSet::new(),
            alive: vec![true; nodes],
            slots,
            crashed: BTreeSet::new(),
            position: cluster.server.store().revision(),
            paused: None,
        };
        let hall = Self { cluster, state: Arc::new(Mutex::new(state)), news: Arc::default() };
        (0..nodes).for_each(|node| hall.say_health(node, true));
        hall
    }

    /// Does what the nodes do, for ever.
    pub(crate) async fn run(self) {
        loop {
            let paused = self.state.lock().paused.take();
            if let Some(end) = paused {
                sleep_until(end).await;
            }
            self.learn();
            while let Some(act) = self.due() {
                self.perform(act);
                self.learn();
            }
            let (next, position) = {
                let state = self.state.lock();
                (state.agenda.next(), state.position)
            };
            let changed = self.cluster.server.store().changed_since(position);
            let alarm = async {
                match next {
                    Some(next) => sleep_until(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = changed => {}
                () = self.news.notified() => {}
                () = alarm => {}
            }
        }
    }

    /// There is room for everything, and every node and pod is well in the end.
    pub(crate) fn heal(&self) {
        let dead: Vec<usize> = {
            let mut state = self.state.lock();
            state.slots = usize::MAX;
            (0..state.alive.len()).filter(|it| !state.alive[*it]).collect()
        };
        for node in dead {
            self.bring_back(node);
        }
        self.try_waiting();
        // Nothing has changed in the cluster that would tell.
        self.news.notify_one();
    }

    /// Nothing happens until then: the API server is down.
    pub(crate) fn pause(&self, end: Instant) {
        self.state.lock().paused = Some(end);
        self.news.notify_one();
    }

    /// The cluster has jumped back: what was planned for pods is planned again.
    pub(crate) fn look_again(&self) {
        let nodes = {
            let mut state = self.state.lock();
            state.position = self.cluster.server.store().revision();
            state.pods.clear();
            state.waiting.clear();
            state.alive.len()
        };
        for node in 0..nodes {
            self.say_health(node, self.is_alive(&name(node)));
        }
        self.cluster.list(PODS).iter().for_each(|pod| self.look(pod));
        self.news.notify_one();
    }

    /// A node dies, and its pods are told to go or are not.
    pub(crate) fn lose(&self, pick: u64, back: Duration, evicts: bool) {
        let node = {
            let mut state = self.state.lock();
            let alive: Vec<usize> = (0..state.alive.len()).filter(|it| state.alive[*it]).collect();
            let Some(node) = choose(pick, &alive).copied() else { return };
            state.alive[node] = false;
            if evicts {
                state.agenda.after(EVICTION, Act::Evict(node));
            }
            state.agenda.after(EVICTION + back, Act::Return(node));
            node
        };
        self.say_health(node, false);
        // The node controller, not the kubelet, says that they are not ready.
        self.pods_on(node).iter().for_each(|pod| self.say_ready(pod, false));
    }

    /// A crashed pod comes back after this time.
    pub(super) fn recover_after(&self, uid: &str, time: Duration) {
        let mut state = self.state.lock();
        state.crashed.insert(uid.to_owned());
        state.agenda.after(time, Act::Recover(uid.to_owned()));
    }

    pub(super) fn is_crashed(&self, uid: &str) -> bool {
        self.state.lock().crashed.contains(uid)
    }

    pub(super) fn is_alive(&self, node: &str) -> bool {
        let state = self.state.lock();
        state.alive.iter().enumerate().any(|(number, alive)| *alive && name(number) == node)
    }

    fn due(&self) -> Option<Act> {
        self.state.lock().agenda.due()
    }

    /// Takes note of what happened to pods.
    fn learn(&self) {
        let position = self.state.lock().position;
        let Ok(events) = self.cluster.server.store().events_since(position) else {
            // The past was forgotten: look at everything.
            self.state.lock().position = self.cluster.server.store().revision();
            self.cluster.list(PODS).iter().for_each(|pod| self.look(pod));
            return;
        };
        for event in events {
            self.state.lock().position = event.revision;
            if &*event.key.resource == PODS && event.key.namespace == NAMESPACE {
                self.learn_of(&event);
            }
        }
    }

    fn learn_of(&self, event: &Event) {
        if let Some(pod) = &event.new {
            self.look(pod);
            return;
        }
        if let Some(old) = &event.old {
            let mut state = self.state.lock();
            state.pods.remove(old.uid());
            state.waiting.remove(old.uid());
            state.crashed.remove(old.uid());
        }
        self.try_waiting();
    }

    /// Plans what happens to a pod next, if that is not planned yet.
    fn look(&self, pod: &Object) {
        let next = self.stage(pod);
        let mut state = self.state.lock();
        let known = state.pods.insert(pod.uid().to_owned(), (pod.name().to_owned(), next));
        if next != Stage::Still && known.is_none_or(|it| it.1 != next) {
            let time = state.random.time(STAGE);
            state.agenda.after(time, Act::Advance(pod.uid().to_owned(), next));
        }
    }

    fn perform(&self, act: Act) {
        match act {
            Act::Advance(uid, stage) => {
                if let Some(pod) = self.pod(&uid).filter(|it| self.stage(it) == stage) {
                    self.advance(&pod, stage);
                }
            }
            Act::Recover(uid) => {
                self.state.lock().crashed.remove(&uid);
                if let Some(pod) = self.pod(&uid).filter(|it| self.is_alive(text(it, "/spec/nodeName"))) {
                    self.say_ready(&pod, true);
                }
            }
            Act::Evict(node) => {
                if !self.is_alive(&name(node)) {
                    for pod in self.pods_on(node) {
                        self.cluster.delete("node-controller", PODS, pod.name(), None);
                    }
                }
            }
            Act::Return(node) => self.bring_back(node),
        }
    }

    fn bring_back(&self, node: usize) {
        if self.is_alive(&name(node)) {
            return;
        }
        if let Some(alive) = self.state.lock().alive.get_mut(node) {
            *alive = true;
        }
        self.say_health(node, true);
        for pod in self.pods_on(node) {
            if !pod.is_terminating()
                && text(&pod, "/status/phase") == "Running"
                && !self.is_crashed(pod.uid())
            {
                self.say_ready(&pod, true);
            }
            // What was planned for it passed by while the node was dead.
            self.state.lock().pods.remove(pod.uid());
            self.look(&pod);
        }
        self.try_waiting();
    }

    fn pod(&self, uid: &str) -> Option<Arc<Object>> {
        let name = self.state.lock().pods.get(uid)?.0.clone();
        self.cluster.get(PODS, &name).filter(|it| it.uid() == uid)
    }

    fn pods_on(&self, node: usize) -> Vec<Arc<Object>> {
        let node = name(node);
        let mut pods = self.cluster.list(PODS);
        pods.retain(|it| text(it, "/spec/nodeName") == node);
        pods
    }

    /// The scheduler's turn for one pod.
    pub(super) fn bind(&self, pod: &Object) {
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        for pod in self.cluster.list(PODS) {
            *used.entry(text(&pod, "/spec/nodeName").to_owned()).or_default() += 1;
        }
        let node = {
            let mut state = self.state.lock();
            let fits = |it: &usize| {
                state.alive[*it] && used.get(&name(*it)).copied().unwrap_or_default() < state.slots
            };
            let free: Vec<usize> = (0..state.alive.len()).filter(fits).collect();
            state.random.pick(&free).copied()
        };
        let Some(node) = node else {
            self.state.lock().waiting.insert(pod.uid().to_owned());
            let words = json!({
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node has room",
            });
            self.say_condition(pod, words);
            return;
        };
        let target = json!({ "target": { "kind": "Node", "name": name(node) } });
        drop(self.cluster.write(
            "scheduler",
            PODS,
            pod.name(),
            Some(Subresource::Binding),
            Action::Create(target),
        ));
    }

    /// Room may have become free.
    fn try_waiting(&self) {
        let mut state = self.state.lock();
        for uid in std::mem::take(&mut state.waiting) {
            let time = state.random.time(STAGE);
            state.agenda.after(time, Act::Advance(uid, Stage::Unbound));
        }
    }

    fn say_health(&self, node: usize, alive: bool) {
        let status = if alive { "True" } else { "Unknown" };
        let ready = json!({ "type": "Ready", "status": status, "lastTransitionTime": super::users::now() });
        let taint = json!([{ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": super::users::now() }]);
        let taints = if alive { Value::Null } else { taint };
        self.cluster.patch(
            "node-controller",
            NODES,
            &name(node),
            json!({ "status": { "conditions": [ready] } }),
        );
        self.cluster.patch("node-controller", NODES, &name(node), json!({ "spec": { "taints": taints } }));
    }
}

fn name(node: usize) -> String {
    format!("node-{node}")
}

#[cfg(test)]
mod tests;
