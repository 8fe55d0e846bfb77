//! What is used of each node, kept up to date pod by pod: a change costs the pods of one node, and a decision nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_placement::{
    Cluster, Level, Node, PodRequirements,
    pod::{PodTerm, Selector},
};

use super::pod_view::{PodKey, PodView};

/// A pod that uses a node.
#[derive(Clone, Debug)]
pub(crate) struct PlacedPod {
    pub(crate) pod: Arc<PodView>,
    pub(crate) node: String,
    /// Whether it is only about to be bound.
    pub(crate) is_assumed: bool,
}

/// Nodes and what is used of them, by pods that are bound and by pods that are about to be.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    levels: Vec<Level>,
    /// The nodes without their pods.
    bare: BTreeMap<String, Node>,
    cluster: Cluster,
    pods: BTreeMap<PodKey, PlacedPod>,
    pods_on: BTreeMap<String, BTreeSet<PodKey>>,
    priorities: BTreeMap<i32, usize>,
    /// Keys of labels by which running pods exclude others.
    excluding_labels: BTreeMap<String, usize>,
    /// Nodes of which the usage has to be added up again.
    stale: BTreeSet<String>,
    /// Whether nodes came or went.
    has_other_nodes: bool,
    /// How often the usage of a node was added up.
    pub(crate) nodes_summed: u64,
}

impl Snapshot {
    pub(crate) fn new(levels: Vec<Level>) -> Self {
        Self { levels, ..Self::default() }
    }

    /// A node as it is now. Says whether it differs from before.
    pub(crate) fn set_node(&mut self, name: &str, node: Option<Node>) -> bool {
        if self.bare.get(name) == node.as_ref() {
            return false;
        }
        let is_there = node.is_some();
        let was_there = match node {
            Some(node) => self.bare.insert(name.to_owned(), node),
            None => self.bare.remove(name),
        };
        self.has_other_nodes |= was_there.is_some() != is_there;
        self.stale.insert(name.to_owned());
        true
    }

    /// Where a pod is now. Returns the nodes that changed by that.
    pub(crate) fn set_pod(&mut self, key: &PodKey, placed: Option<PlacedPod>) -> BTreeSet<String> {
        let mut changed = BTreeSet::new();
        if let (Some(old), Some(new)) = (self.pods.get(key), &placed)
            && old.node == new.node
            && old.pod.uid() == new.pod.uid()
            && old.pod.requirements == new.pod.requirements
        {
            self.pods.insert(key.clone(), new.clone());
            return changed;
        }
        if let Some(old) = self.pods.remove(key) {
            self.count(&old.pod, false);
            let is_empty = self.pods_on.get_mut(&old.node).is_some_and(|it| {
                it.remove(key);
                it.is_empty()
            });
            if is_empty {
                self.pods_on.remove(&old.node);
            }
            changed.insert(old.node);
        }
        if let Some(new) = placed {
            self.count(&new.pod, true);
            self.pods_on.entry(new.node.clone()).or_default().insert(key.clone());
            changed.insert(new.node.clone());
            self.pods.insert(key.clone(), new);
        }
        self.stale.extend(changed.iter().cloned());
        changed
    }

    fn count(&mut self, pod: &PodView, is_added: bool) {
        change_count(&mut self.priorities, pod.priority, is_added);
        let terms = pod.requirements.iter().flat_map(|it| &it.anti_affinity);
        for key in terms.flat_map(label_keys) {
            change_count(&mut self.excluding_labels, key.to_owned(), is_added);
        }
    }

    pub(crate) fn placed(&self, key: &PodKey) -> Option<&PlacedPod> {
        self.pods.get(key)
    }

    pub(crate) fn pods(&self) -> impl Iterator<Item = (&PodKey, &PlacedPod)> {
        self.pods.iter()
    }

    pub(crate) fn has_node(&self, name: &str) -> bool {
        self.bare.contains_key(name)
    }

    /// Whether some pod has a lower priority.
    pub(crate) fn has_below(&self, priority: i32) -> bool {
        self.priorities.keys().next().is_some_and(|it| *it < priority)
    }

    /// Keys of labels by which running pods exclude others.
    pub(crate) fn excluding_labels(&self) -> impl Iterator<Item = &str> {
        self.excluding_labels.keys().map(String::as_str)
    }

    /// The cluster as it is now.
    pub(crate) fn cluster(&mut self) -> &Cluster {
        self.refresh();
        &self.cluster
    }

    /// Shows `read` the cluster without some pods, and with others.
    pub(crate) fn with<R>(
        &mut self,
        without: &BTreeSet<PodKey>,
        also: &[(String, Arc<PodRequirements>)],
        read: impl FnOnce(&Cluster) -> R,
    ) -> R {
        self.refresh();
        let mut touched: BTreeSet<String> = also.iter().map(|it| it.0.clone()).collect();
        touched.extend(without.iter().filter_map(|it| self.pods.get(it)).map(|it| it.node.clone()));
        for name in &touched {
            self.sum(name, without);
        }
        for (name, pod) in also {
            if let Some(node) = self.cluster.node_mut(name) {
                node.add_pod(pod);
            }
        }
        let result = read(&self.cluster);
        self.stale.extend(touched);
        result
    }

    fn refresh(&mut self) {
        if std::mem::take(&mut self.has_other_nodes) {
            let kept = self.cluster.nodes().iter().filter(|it| !self.stale.contains(&it.name));
            let mut nodes: BTreeMap<String, Node> = self.bare.clone();
            for node in kept.filter(|it| self.bare.contains_key(&it.name)) {
                nodes.insert(node.name.clone(), node.clone());
            }
            self.cluster = Cluster::new(nodes.into_values().collect(), self.levels.clone());
        }
        for name in std::mem::take(&mut self.stale) {
            self.sum(&name, &BTreeSet::new());
        }
    }

    fn sum(&mut self, name: &str, without: &BTreeSet<PodKey>) {
        let (Some(node), Some(bare)) = (self.cluster.node_mut(name), self.bare.get(name)) else { return };
        self.nodes_summed += 1;
        node.clone_from(bare);
        for key in self.pods_on.get(name).into_iter().flatten().filter(|it| !without.contains(it)) {
            if let Some(Ok(pod)) = self.pods.get(key).map(|it| it.pod.requirements.as_ref()) {
                node.add_pod(pod);
            }
        }
    }
}

fn change_count<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K, is_added: bool) {
    if is_added {
        *counts.entry(key).or_default() += 1;
    } else if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

/// Keys of the labels that a term looks at.
pub(crate) fn label_keys(term: &PodTerm) -> impl Iterator<Item = &str> {
    selector_keys(&term.selector)
}

/// Keys of the labels that a selector looks at.
pub(crate) fn selector_keys(selector: &Selector) -> impl Iterator<Item = &str> {
    let all = match selector {
        Selector::Nothing => &[][..],
        Selector::All(all) => all.as_slice(),
    };
    all.iter().map(|it| it.key.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(name: &str, cpu: u32) -> Arc<PodView> {
        let pod = json!({
            "metadata": { "name": name, "namespace": "ns", "uid": name },
            "spec": { "priority": cpu, "containers": [{ "name": "c", "resources": { "requests": { "cpu": cpu.to_string() } } }] },
        });
        Arc::new(serde_json::from_value(pod).unwrap())
    }

    fn placed(pod: &Arc<PodView>, node: &str) -> PlacedPod {
        PlacedPod { pod: Arc::clone(pod), node: node.to_owned(), is_assumed: false }
    }

    fn nodes(count: usize) -> Snapshot {
        let mut snapshot = Snapshot::new(Vec::new());
        for number in 0..count {
            let name = format!("n{number}");
            let mut node = Node { name: name.clone(), ..Node::default() };
            node.allocatable.set("cpu", 8000);
            assert!(snapshot.set_node(&name, Some(node)));
        }
        snapshot
    }

    fn free(snapshot: &mut Snapshot, node: &str) -> i64 {
        let cluster = snapshot.cluster();
        cluster.nodes()[cluster.position(node).unwrap()].free("cpu")
    }

    #[test]
    fn usage_follows_the_pods() {
        let mut snapshot = nodes(2);
        let a = pod("a", 3);
        assert_eq!(snapshot.set_pod(&a.key(), Some(placed(&a, "n0"))), BTreeSet::from(["n0".to_owned()]));
        assert_eq!((free(&mut snapshot, "n0"), free(&mut snapshot, "n1")), (5000, 8000));
        assert!(snapshot.has_below(4) && !snapshot.has_below(3));
        let both = BTreeSet::from(["n0".to_owned(), "n1".to_owned()]);
        assert_eq!(snapshot.set_pod(&a.key(), Some(placed(&a, "n1"))), both);
        assert_eq!((free(&mut snapshot, "n0"), free(&mut snapshot, "n1")), (8000, 5000));
        snapshot.set_pod(&a.key(), None);
        assert_eq!(free(&mut snapshot, "n1"), 8000);
        assert!(!snapshot.has_below(100));
    }

    #[test]
    fn pods_outlive_their_node() {
        let mut snapshot = nodes(1);
        let a = pod("a", 3);
        snapshot.set_pod(&a.key(), Some(placed(&a, "n0")));
        let bare = snapshot.bare["n0"].clone();
        snapshot.set_node("n0", None);
        assert!(snapshot.cluster().nodes().is_empty() && !snapshot.has_node("n0"));
        snapshot.set_node("n0", Some(bare));
        assert_eq!(free(&mut snapshot, "n0"), 5000);
    }

    #[test]
    fn what_is_only_imagined_leaves_no_trace() {
        let mut snapshot = nodes(2);
        let (a, b) = (pod("a", 3), pod("b", 2));
        snapshot.set_pod(&a.key(), Some(placed(&a, "n0")));
        let also = [("n1".to_owned(), Arc::clone(b.requirements.as_ref().unwrap()))];
        let seen = snapshot.with(&BTreeSet::from([a.key()]), &also, |cluster| {
            cluster.nodes().iter().map(|it| it.free("cpu")).collect::<Vec<_>>()
        });
        assert_eq!(seen, [8000, 6000]);
        assert_eq!((free(&mut snapshot, "n0"), free(&mut snapshot, "n1")), (5000, 8000));
    }

    #[test]
    fn a_change_costs_its_own_node() {
        let mut snapshot = nodes(1000);
        snapshot.cluster();
        let before = snapshot.nodes_summed;
        let a = pod("a", 3);
        snapshot.set_pod(&a.key(), Some(placed(&a, "n7")));
        snapshot.cluster();
        snapshot.cluster();
        assert_eq!(snapshot.nodes_summed - before, 1);
        snapshot.set_node("n7", None);
        snapshot.cluster();
        assert_eq!(snapshot.nodes_summed - before, 1, "the other nodes are as they were");
        // A write that changes nothing that counts.
        let same = snapshot.bare["n8"].clone();
        assert!(!snapshot.set_node("n8", Some(same)));
        assert!(snapshot.set_pod(&a.key(), Some(placed(&a, "n7"))).is_empty());
    }
}
