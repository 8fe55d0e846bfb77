//! Nodes that are lost and come back, and what becomes of the pods that ran there.

use std::collections::{BTreeMap, BTreeSet};

use super::{Cluster, Lines, count};
use crate::view::Tone;

/// What is known of each node, by its name.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes(BTreeMap<String, Known>);

#[derive(Clone, Debug, Default)]
struct Known {
    is_lost: bool,
    /// UIDs of the pods that ran there before it was lost, by namespace and gang. Gangs whose pods are being replaced are removed.
    pods: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Nodes {
    pub(super) fn update(&mut self, cluster: &Cluster<'_>, lines: &mut Lines) {
        let snapshot = cluster.snapshot;
        let existing: BTreeSet<&str> = snapshot.nodes.iter().map(|it| it.name.as_str()).collect();
        for (name, known) in &mut self.0 {
            if !known.is_lost && !existing.contains(name.as_str()) {
                known.is_lost = true;
                lines.push((Tone::Bad, format!("node {name} was deleted{}", known.ran())));
            }
        }
        for node in &snapshot.nodes {
            let Some(known) = self.0.get_mut(&node.name) else {
                let new = Known { is_lost: !node.ready, pods: BTreeMap::new() };
                self.0.insert(node.name.clone(), new);
                continue;
            };
            if node.ready && known.is_lost {
                lines.push((Tone::Good, format!("node {} is back", node.name)));
            } else if !node.ready && !known.is_lost {
                let text = format!("node {} is lost: its kubelet does not answer{}", node.name, known.ran());
                lines.push((Tone::Bad, text));
            }
            known.is_lost = !node.ready;
        }
        self.replacements(cluster, lines);
        self.remember_pods(cluster);
        // A node that was deleted is of interest while its pods are.
        self.0.retain(|name, known| existing.contains(name.as_str()) || !known.pods.is_empty());
    }

    /// Mentions each gang once for each loss.
    fn replacements(&mut self, cluster: &Cluster<'_>, lines: &mut Lines) {
        let live = cluster.snapshot.pods.iter().filter(|it| it.is_live());
        let live: BTreeSet<&str> = live.map(|it| it.uid.as_str()).collect();
        let gangs = cluster.snapshot.gangs.iter();
        let gangs: BTreeSet<(&str, &str)> =
            gangs.map(|it| (it.namespace.as_str(), it.name.as_str())).collect();
        for (node, known) in self.0.iter_mut().filter(|it| it.1.is_lost) {
            known.pods.retain(|(namespace, gang), pods| {
                if !gangs.contains(&(namespace, gang)) {
                    return false;
                }
                let is_kept = pods.iter().all(|it| live.contains(it.as_str()));
                if !is_kept {
                    let gang = cluster.naming.name(namespace, gang);
                    let verb = if pods.len() == 1 { "is" } else { "are" };
                    let pods = count(pods.len());
                    let text = format!("{pods} of gang {gang} on node {node} {verb} being replaced");
                    lines.push((Tone::Plain, text));
                }
                is_kept
            });
        }
    }

    fn remember_pods(&mut self, cluster: &Cluster<'_>) {
        for known in self.0.values_mut().filter(|it| !it.is_lost) {
            known.pods.clear();
        }
        for pod in cluster.snapshot.pods.iter().filter(|it| it.is_live()) {
            let Some(known) = pod.node.as_ref().and_then(|it| self.0.get_mut(it)) else { continue };
            if !known.is_lost {
                let gang = (pod.namespace.clone(), pod.gang.clone());
                known.pods.entry(gang).or_default().insert(pod.uid.clone());
            }
        }
    }
}

impl Known {
    fn ran(&self) -> String {
        match self.pods.values().map(BTreeSet::len).sum() {
            0 => String::new(),
            pods => format!("; {} ran there", count(pods)),
        }
    }
}
