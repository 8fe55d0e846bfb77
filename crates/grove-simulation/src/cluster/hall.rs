//! The nodes, and who has to do with their pods next.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_apiserver::{Action, Event, Object};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{Cluster, NAMESPACE, NODES, PODS, agenda::Agenda, kubelet::Known, nodes::name, text};
use crate::random::Random;

/// Longest time from one stage of a pod's life to the next.
pub(super) const STAGE: Duration = Duration::from_secs(6);

/// What is going to happen in the hall.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// The scheduler has its turn for a pod, by UID.
    Place(String),
    /// The kubelet looks at a pod, if nothing else was planned since.
    Look(String, Instant),
    /// A pod that is deleted and on no node is removed.
    Collect(String),
    /// The probe of a pod succeeds again.
    Recover(String),
    /// The pods of a dead node are told to go.
    Evict(usize),
    /// A node comes back.
    Return(usize),
}

/// Who has to do with a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The scheduler: it waits for a node.
    Unbound,
    /// The kubelet: its node is alive.
    Placed,
    /// Nobody but the collector: it is deleted, and on no node. The API server removes such a pod at once; a backup brings it back.
    Stray,
    /// Nobody.
    Still,
}

/// The hall. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Hall {
    pub(super) cluster: Cluster,
    pub(super) state: Arc<Mutex<State>>,
    /// Somebody else put something on the agenda.
    news: Arc<Notify>,
}

pub(super) struct State {
    pub(super) random: Random,
    pub(super) agenda: Agenda<Act>,
    /// By UID.
    pub(super) pods: BTreeMap<String, Known>,
    /// Pods that found no room, by UID.
    pub(super) waiting: BTreeSet<String>,
    /// Whether each node is alive.
    pub(super) alive: Vec<bool>,
    /// Pods that fit on a node.
    pub(super) slots: usize,
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
        }
        self.try_waiting();
    }

    /// Who has to do with a pod now.
    pub(super) fn stage(&self, pod: &Object) -> Stage {
        let gates = pod.field("/spec/schedulingGates").and_then(Value::as_array);
        let is_gated = gates.is_some_and(|it| !it.is_empty());
        match text(pod, "/spec/nodeName") {
            "" if pod.is_terminating() => Stage::Stray,
            "" if is_gated => Stage::Still,
            "" => Stage::Unbound,
            node if self.is_alive(node) => Stage::Placed,
            _ => Stage::Still,
        }
    }

    /// Plans what happens to a pod next.
    pub(super) fn look(&self, pod: &Object) {
        let (uid, next) = (pod.uid().to_owned(), self.stage(pod));
        {
            let mut guard = self.state.lock();
            let state = &mut *guard;
            let known = state.pods.entry(uid.clone()).or_insert_with(|| Known::new(pod, &mut state.random));
            let before = std::mem::replace(&mut known.stage, next);
            let act = match next {
                Stage::Unbound => Some(Act::Place(uid.clone())),
                Stage::Stray => Some(Act::Collect(uid.clone())),
                Stage::Placed | Stage::Still => None,
            };
            if let Some(act) = act.filter(|_| before != next) {
                let time = state.random.time(STAGE);
                state.agenda.after(time, act);
            }
        }
        if next == Stage::Placed {
            self.look_soon(&uid);
        }
    }

    fn perform(&self, act: Act) {
        let pod_at = |uid: &str, stage: Stage| self.pod(uid).filter(|it| self.stage(it) == stage);
        match act {
            Act::Place(uid) => {
                if let Some(pod) = pod_at(&uid, Stage::Unbound) {
                    self.bind(&pod);
                }
            }
            Act::Look(uid, at) if self.is_planned(&uid, at) => {
                if let Some(pod) = pod_at(&uid, Stage::Placed) {
                    self.live(&pod);
                }
            }
            Act::Look(..) => {}
            Act::Collect(uid) => {
                if let Some(pod) = pod_at(&uid, Stage::Stray) {
                    self.cluster.delete("pod-garbage-collector", PODS, pod.name(), Some(0));
                }
            }
            Act::Recover(uid) => {
                if let Some(pod) = self.pod(&uid) {
                    self.recover(&pod);
                }
            }
            Act::Evict(node) => self.evict(node),
            Act::Return(node) => self.bring_back(node),
        }
    }

    fn pod(&self, uid: &str) -> Option<Arc<Object>> {
        let name = self.state.lock().pods.get(uid)?.name.clone();
        self.cluster.get(PODS, &name).filter(|it| it.uid() == uid)
    }

    /// Sets a condition of a pod, and leaves the others.
    pub(super) fn say_condition(&self, manager: &str, pod: &Object, condition: Value) {
        let mut conditions =
            pod.field("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
        conditions.retain(|it| it["type"] != condition["type"]);
        conditions.push(condition);
        self.cluster.patch(manager, PODS, pod.name(), json!({ "status": { "conditions": conditions } }));
    }
}

#[cfg(test)]
mod tests;
