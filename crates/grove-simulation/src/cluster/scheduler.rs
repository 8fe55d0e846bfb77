//! The scheduler of the cluster. It knows no gangs: it binds what is not gated, where there is room.

use std::collections::BTreeMap;

use grove_apiserver::{Action, Object, Subresource};
use serde_json::json;

use super::{
    Hall, PODS,
    hall::{Act, STAGE},
    nodes::name,
    text,
};

impl Hall {
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
            self.say_condition("scheduler", pod, words);
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
    pub(super) fn try_waiting(&self) {
        let mut state = self.state.lock();
        for uid in std::mem::take(&mut state.waiting) {
            let time = state.random.time(STAGE);
            state.agenda.after(time, Act::Place(uid));
        }
    }
}
