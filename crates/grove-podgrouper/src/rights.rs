//! What the pod grouper may do in a cluster, and why: the ClusterRole is made from it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_scheduler::{Probe, Scheduler, SchedulerBackend, WorkloadGroups, workload::PodMarks};
use kube::core::{ApiResource, GroupVersionKind};

use crate::{hub::Hub, workload::Kind};

/// Something that the pod grouper may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    /// Where it holds; `None` for the whole cluster.
    pub namespace: Option<String>,
    /// API group; empty for the core group.
    pub group: String,
    /// Resources.
    pub resources: Vec<String>,
    /// Names of the objects; empty for all.
    pub names: Vec<String>,
    /// Verbs.
    pub verbs: &'static [&'static str],
    /// What for.
    pub reason: &'static str,
}

/// What the rights depend on.
#[derive(Clone, Debug, Default)]
pub struct Needed {
    /// Namespace and name of the lease, where there is one.
    pub lease: Option<(String, String)>,
    /// Namespace and name of the ConfigMap with defaults of kinds, where there is one.
    pub kind_defaults: Option<(String, String)>,
    /// Whether namespaces are chosen by label.
    pub chooses_namespaces: bool,
}

const READ: &[&str] = &["get", "list", "watch"];

/// Owners between a pod and what it is grouped by, which have no plugin of their own.
const BETWEEN: &[(&str, &str)] = &[
    ("grove.io", "podcliques"),
    ("grove.io", "podcliquescalinggroups"),
    ("kubevirt.io", "virtualmachines"),
    ("serving.knative.dev", "configurations"),
];

/// The rights of a pod grouper with these plugins, for schedulers of these backends.
pub fn rights(hub: &Hub, backends: &[&dyn SchedulerBackend], needed: &Needed) -> Vec<Right> {
    let mut rights = vec![
        everywhere(
            "",
            &["pods"],
            &["get", "list", "watch", "patch"],
            "pods are watched; a patch puts them into their group",
        ),
        everywhere(
            "events.k8s.io",
            &["events"],
            &["create"],
            "what is wrong with a workload is told in Events",
        ),
        everywhere(
            "scheduling.k8s.io",
            &["priorityclasses"],
            &["list", "watch"],
            "only classes that exist are used",
        ),
        everywhere(
            "scheduler.grove.io",
            &["groupingrules"],
            &["list", "watch"],
            "rules say how pods of other kinds are grouped",
        ),
        everywhere("scheduler.grove.io", &["groupingrules/status"], &["patch"], "whether a rule is used"),
    ];
    if needed.chooses_namespaces {
        let reason = "--namespace-label-selector chooses namespaces by label";
        rights.push(everywhere("", &["namespaces"], &["list", "watch"], reason));
    }
    rights.extend(probed(backends));
    rights.extend(groups(backends));
    rights.extend(owners(hub));
    if let Some((namespace, name)) = &needed.kind_defaults {
        let reason = "what kinds get by default";
        rights.push(named("", "configmaps", &["list", "watch"], namespace, Some(name), reason));
    }
    if let Some((namespace, name)) = &needed.lease {
        let group = "coordination.k8s.io";
        rights.push(named(
            group,
            "leases",
            &["create"],
            namespace,
            None,
            "one of several pod groupers works",
        ));
        rights.push(named(group, "leases", &["get", "update", "patch"], namespace, Some(name), "likewise"));
    }
    rights
}

/// What is asked to find out which form of groups a scheduler understands.
fn probed(backends: &[&dyn SchedulerBackend]) -> Vec<Right> {
    let (mut definitions, mut rights) = (BTreeSet::new(), Vec::new());
    for probe in backends.iter().flat_map(|it| it.probes(&serde_json::json!({}))) {
        match probe {
            Probe::Definition(name) => drop(definitions.insert(name)),
            Probe::Objects(resource) => {
                let reason = "which levels of the network a scheduler knows";
                rights.push(everywhere(&resource.group, &[&resource.resource], &["list"], reason));
            }
            // Discovery is for everybody, and a dry run is a create.
            Probe::Served(_) | Probe::DryRun { .. } => {}
        }
    }
    // One for each: what one scheduler needs does not depend on which others there are.
    let reason = "which form of groups a scheduler understands is read from its CRD";
    let group = "apiextensions.k8s.io";
    for name in definitions.into_iter().rev() {
        let right = everywhere(group, &["customresourcedefinitions"], &["get"], reason);
        rights.insert(0, Right { names: vec![name], ..right });
    }
    rights
}

/// What schedulers of these backends want pods to carry for their groups' sake.
pub fn pod_marks(backends: &[&dyn SchedulerBackend]) -> Vec<PodMarks> {
    schedulers(backends).filter_map(|it| it.workloads().map(WorkloadGroups::pod_marks)).collect()
}

/// All that the schedulers of a cluster may be.
fn schedulers(backends: &[&dyn SchedulerBackend]) -> impl Iterator<Item = Arc<dyn Scheduler>> {
    backends.iter().flat_map(|backend| {
        let config = serde_json::json!({});
        backend.examples().into_iter().filter_map(move |it| backend.init(&config, &it.cluster).ok())
    })
}

/// What schedulers are told.
fn groups(backends: &[&dyn SchedulerBackend]) -> Vec<Right> {
    let mut rights: Vec<Right> = Vec::new();
    // Which kind it is depends on the cluster: all that may be.
    for resource in schedulers(backends).filter_map(|it| it.workloads().map(WorkloadGroups::resource)) {
        let reason = "one for each group, which tells the scheduler what is placed together";
        let right = everywhere(
            &resource.group,
            &[&resource.plural],
            &["get", "list", "watch", "create", "patch"],
            reason,
        );
        if !rights.contains(&right) {
            rights.push(right);
        }
    }
    rights
}

/// Workloads, one right for each API group.
fn owners(hub: &Hub) -> Vec<Right> {
    let plural = |kind: Kind<'_>| {
        ApiResource::from_gvk(&GroupVersionKind::gvk(kind.group, kind.version, kind.kind)).plural
    };
    let kinds = hub.kinds().chain(hub.also_read());
    let kinds = kinds.filter(|it| !(it.group.is_empty() && it.kind == "Pod"));
    let mut by_group: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kind in kinds {
        by_group.entry(kind.group.to_owned()).or_default().push(plural(kind));
    }
    for (group, plural) in BETWEEN {
        by_group.entry((*group).to_owned()).or_default().push((*plural).to_owned());
    }
    by_group
        .into_iter()
        .map(|(group, mut resources)| {
            resources.sort();
            resources.dedup();
            let reason = "owners of pods say what belongs together";
            Right { namespace: None, group, resources, names: Vec::new(), verbs: READ, reason }
        })
        .collect()
}

fn everywhere(
    group: &str,
    resources: &[&str],
    verbs: &'static [&'static str],
    reason: &'static str,
) -> Right {
    let resources = resources.iter().map(|it| (*it).to_owned()).collect();
    Right { namespace: None, group: group.to_owned(), resources, names: Vec::new(), verbs, reason }
}

fn named(
    group: &str,
    resource: &str,
    verbs: &'static [&'static str],
    namespace: &str,
    name: Option<&String>,
    reason: &'static str,
) -> Right {
    Right {
        namespace: Some(namespace.to_owned()),
        group: group.to_owned(),
        resources: vec![resource.to_owned()],
        names: name.into_iter().cloned().collect(),
        verbs,
        reason,
    }
}
