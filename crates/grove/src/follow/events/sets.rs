//! When all pods of a PodCliqueSet are ready.

use std::collections::BTreeMap;

use super::{Cluster, Lines, count, has_minimum};
use crate::{
    follow::{gang::Gang, pod::Pod},
    view::Tone,
};

/// Whether all pods were ready, by namespace and name of the set.
#[derive(Clone, Debug, Default)]
pub(super) struct Sets(BTreeMap<(String, String), bool>);

impl Sets {
    pub(super) fn update(&mut self, cluster: &Cluster<'_>, lines: &mut Lines) {
        let mut sets: BTreeMap<(&str, &str), Vec<&Gang>> = BTreeMap::new();
        for gang in &cluster.snapshot.gangs {
            sets.entry((&gang.namespace, &gang.set)).or_default().push(gang);
        }
        let mut now = BTreeMap::new();
        for ((namespace, set), gangs) in sets {
            let pods: Vec<&Pod> = gangs.iter().flat_map(|it| cluster.pods_of(it)).copied().collect();
            // One that is being deleted is about to be replaced, or too many.
            let is_settled = pods.iter().all(|it| it.is_available() || it.succeeded || it.failed);
            let all_ready =
                is_settled && gangs.iter().all(|it| has_minimum(it, cluster.pods_of(it), Pod::is_available));
            let key = (namespace.to_owned(), set.to_owned());
            if all_ready && self.0.get(&key) != Some(&true) {
                let live = pods.iter().filter(|it| it.is_live()).count();
                let set = cluster.naming.name(namespace, set);
                let all = if live == 1 { "the only pod".to_owned() } else { format!("all {}", count(live)) };
                let verb = if live == 1 { "is" } else { "are" };
                lines.push((Tone::Good, format!("{all} of {set} {verb} ready")));
            }
            now.insert(key, all_ready);
        }
        self.0 = now;
    }
}
