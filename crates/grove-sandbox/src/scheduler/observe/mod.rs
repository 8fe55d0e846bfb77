//! What is known of the cluster: nodes, pods, groups, and which node has room for what.

pub(super) mod changes;
pub(super) mod group_view;
pub(super) mod pod_view;
pub(super) mod snapshot;

use std::{collections::BTreeSet, sync::Arc};

use grove_runtime::{Cache, Change, Index, inform_guarded};
use k8s_openapi::api::core::v1::Node;
use kube::{Api, Client, ResourceExt as _, runtime::watcher};
use tokio_util::sync::CancellationToken;

use changes::{Changed, Changes};
use group_view::{CompositePodGroup, GroupKey, GroupObject, PodGroup, parent};
use pod_view::{PodKey, PodView};

/// Levels of groups in groups that are followed.
const MAX_LEVELS: usize = 16;

/// Groups of one gang that are read: more are refused.
pub(super) const MAX_GROUPS: usize = 2_000;

/// Pods that have ended use nothing.
const ALIVE: &str = "status.phase!=Succeeded,status.phase!=Failed";

/// The caches of all that scheduling depends on.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) nodes: Cache<Node>,
    pub(super) pods: Cache<PodView>,
    pub(super) pod_groups: Cache<PodGroup>,
    pub(super) composites: Cache<CompositePodGroup>,
    pods_in: Index<PodView>,
    pod_groups_in: Index<PodGroup>,
    composites_in: Index<CompositePodGroup>,
    pub(super) changes: Arc<Changes>,
}

fn place(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

fn places(namespace: Option<String>, name: Option<&str>) -> Vec<String> {
    name.map(|it| place(&namespace.unwrap_or_default(), it)).into_iter().collect()
}

impl Caches {
    pub(super) fn new() -> Self {
        let (nodes, pods, pod_groups, composites) = (Cache::new(), Cache::new(), Cache::new(), Cache::new());
        let changes = Arc::<Changes>::default();
        listen(&nodes, &pods, &changes);
        listen_to_groups(&pod_groups, &composites, &changes);
        Self {
            pods_in: pods.index(|pod: &PodView| places(pod.metadata.namespace.clone(), pod.group.as_deref())),
            pod_groups_in: pod_groups.index(|it: &PodGroup| places(it.namespace(), parent(&it.spec))),
            composites_in: composites
                .index(|it: &CompositePodGroup| places(it.namespace(), parent(&it.spec))),
            nodes,
            pods,
            pod_groups,
            composites,
            changes,
        }
    }

    /// Follows the API until `stop` is cancelled.
    pub(super) async fn watch(&self, client: &Client, stop: &CancellationToken) {
        let (all, alive) = (watcher::Config::default(), watcher::Config::default().fields(ALIVE));
        tokio::join!(
            inform_guarded(
                Api::all(client.clone()),
                all.clone(),
                self.nodes.clone(),
                |it| it.metadata.managed_fields = None,
                stop.clone()
            ),
            inform_guarded(Api::all(client.clone()), alive, self.pods.clone(), pod_view::prune, stop.clone()),
            inform_guarded(
                Api::all(client.clone()),
                all.clone(),
                self.pod_groups.clone(),
                group_view::prune_pod_group,
                stop.clone()
            ),
            inform_guarded(
                Api::all(client.clone()),
                all,
                self.composites.clone(),
                group_view::prune_composite,
                stop.clone()
            ),
        );
    }

    /// Waits until everything is known.
    pub(super) async fn synced(&self) {
        tokio::join!(
            self.nodes.synced(),
            self.pods.synced(),
            self.pod_groups.synced(),
            self.composites.synced()
        );
    }

    pub(super) fn pod(&self, key: &PodKey) -> Option<Arc<PodView>> {
        self.pods.get(&key.namespace, &key.name)
    }

    /// The pods of a PodGroup, the oldest first.
    pub(super) fn pods_of(&self, group: &GroupKey) -> Vec<Arc<PodView>> {
        let mut pods = self.pods_in.get(&place(&group.namespace, &group.name));
        pods.sort_by(|a, b| {
            a.created().cmp(&b.created()).then_with(|| grove_placement::natural::compare(a.name(), b.name()))
        });
        pods
    }

    /// A group, if it exists.
    pub(super) fn group(&self, key: &GroupKey) -> Option<GroupObject> {
        if key.is_composite {
            self.composites.get(&key.namespace, &key.name).map(|it| GroupObject::of_composite(&it))
        } else {
            self.pod_groups.get(&key.namespace, &key.name).map(|it| GroupObject::of_pod_group(&it))
        }
    }

    /// A group and all that it is in, from the inside. `None` where one of them does not exist.
    pub(super) fn path(&self, group: &GroupKey) -> Option<Vec<GroupObject>> {
        let mut path = vec![self.group(group)?];
        while let Some(name) = path.last().and_then(|it| parent(&it.spec)) {
            if path.len() >= MAX_LEVELS {
                return None;
            }
            path.push(self.group(&GroupKey::composite(&group.namespace, name))?);
        }
        Some(path)
    }

    /// The priority of some pod below a group.
    pub(super) fn priority_below(&self, group: &GroupKey) -> Option<i32> {
        let mut key = group.clone();
        for _ in 0..MAX_LEVELS {
            let place = place(&key.namespace, &key.name);
            if !key.is_composite {
                return self.pods_in.get(&place).first().map(|it| it.priority);
            }
            let leaf = self.pod_groups_in.get(&place).first().map(|it| GroupObject::of_pod_group(it).key);
            let composite =
                || self.composites_in.get(&place).first().map(|it| GroupObject::of_composite(it).key);
            key = leaf.or_else(composite)?;
        }
        None
    }

    /// A root and the groups in it, parents before their children; [`MAX_GROUPS`] and one at most.
    pub(super) fn tree(&self, root: &GroupKey) -> Vec<GroupObject> {
        let Some(root) = self.group(root).filter(|it| parent(&it.spec).is_none()) else { return Vec::new() };
        let (mut tree, mut reached) = (vec![root], BTreeSet::new());
        let mut next = 0;
        while next < tree.len() && tree.len() <= MAX_GROUPS {
            let key = tree[next].key.clone();
            next += 1;
            if !key.is_composite || !reached.insert(key.clone()) {
                continue;
            }
            let place = place(&key.namespace, &key.name);
            tree.extend(self.pod_groups_in.get(&place).iter().map(|it| GroupObject::of_pod_group(it)));
            tree.extend(self.composites_in.get(&place).iter().map(|it| GroupObject::of_composite(it)));
        }
        tree.truncate(MAX_GROUPS + 1);
        tree
    }
}

fn listen(nodes: &Cache<Node>, pods: &Cache<PodView>, changes: &Arc<Changes>) {
    let to = Arc::clone(changes);
    nodes.listen(move |change: &Change<'_, Node>| {
        if let Some(node) = change.new.or(change.old) {
            to.add(Changed::Node(node.name_any()));
        }
    });
    let to = Arc::clone(changes);
    pods.listen(move |change: &Change<'_, PodView>| {
        if let (Some(old), Some(new)) = (change.old, change.new)
            && old.schedules_like(new)
        {
            return;
        }
        for pod in [change.old, change.new].into_iter().flatten() {
            to.add(Changed::Pod(pod.key()));
            if let Some(group) = &pod.group {
                to.add(Changed::Group(GroupKey::leaf(pod.namespace(), group)));
            }
        }
    });
}

fn listen_to_groups(
    pod_groups: &Cache<PodGroup>,
    composites: &Cache<CompositePodGroup>,
    changes: &Arc<Changes>,
) {
    let to = Arc::clone(changes);
    pod_groups.listen(move |change: &Change<'_, PodGroup>| {
        if let (Some(old), Some(new)) = (change.old, change.new)
            && (&old.metadata.uid, &old.spec) == (&new.metadata.uid, &new.spec)
        {
            return;
        }
        for it in [change.old, change.new].into_iter().flatten() {
            add_group(&to, &GroupObject::of_pod_group(it));
        }
    });
    let to = Arc::clone(changes);
    composites.listen(move |change: &Change<'_, CompositePodGroup>| {
        if let (Some(old), Some(new)) = (change.old, change.new)
            && (&old.metadata.uid, &old.spec) == (&new.metadata.uid, &new.spec)
        {
            return;
        }
        for it in [change.old, change.new].into_iter().flatten() {
            add_group(&to, &GroupObject::of_composite(it));
        }
    });
}

/// What a group is in has changed with it, also where the group is gone.
fn add_group(changes: &Changes, group: &GroupObject) {
    changes.add(Changed::Group(group.key.clone()));
    if let Some(parent) = parent(&group.spec) {
        changes.add(Changed::Group(GroupKey::composite(&group.key.namespace, parent)));
    }
}
