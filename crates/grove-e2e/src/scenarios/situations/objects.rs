//! The objects of a situation.

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use super::situation::{Group, Nodes, Other, Pods, key};
use crate::nodes::{BLOCK, HOST, RACK, ZONE};

/// Label of a pod by whose name it is counted.
pub(super) const COUNTED_AS: &str = "situations.grove.io/pod";
/// Begins the label that a pod has for each group that it is in, however far above.
const IN: &str = "situations.grove.io/in-";
/// Keeps pods of a group back until all of them are there, so that they are decided about together.
pub(super) const TOGETHER: &str = "situations.grove.io/together";
/// Keeps pods back for as long as the situation says.
pub(super) const HELD: &str = "situations.grove.io/held";

/// Names of the priority classes, their values, and whether they preempt.
const PRIORITIES: [(&str, i32, &str); 4] = [
    ("low", 10, "PreemptLowerPriority"),
    ("middle", 50, "PreemptLowerPriority"),
    ("high", 100, "PreemptLowerPriority"),
    ("patient", 100, "Never"),
];

/// The priority classes of all situations.
pub(super) fn priority_classes() -> impl Iterator<Item = Value> {
    PRIORITIES.iter().map(|(name, value, policy)| {
        json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": class(name) },
            "value": value, "preemptionPolicy": policy,
        })
    })
}

/// The name of a priority class.
pub(super) fn class(name: &str) -> String {
    format!("situations-{name}")
}

/// What a node is in a situation, or where it has no part in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeShape {
    pub(super) labels: Value,
    pub(super) taints: Vec<(String, String)>,
    pub(super) cordoned: bool,
    pub(super) gpus: u32,
    pub(super) cpus: u32,
}

/// A node without labels, on which nothing fits that asks for a GPU or four processors: no situation has anything to do with it.
pub(super) fn idle() -> NodeShape {
    NodeShape { labels: json!({}), taints: Vec::new(), cordoned: false, gpus: 0, cpus: 3 }
}

/// The shape of a node that is called `node` in the cluster.
pub(super) fn shape(node: &str, nodes: &Nodes) -> Result<NodeShape> {
    let mut labels = json!({ HOST: node, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" });
    for (level, value) in [(ZONE, &nodes.zone), (BLOCK, &nodes.block), (RACK, &nodes.rack)] {
        if let Some(value) = value {
            labels[level] = value.as_str().into();
        }
    }
    for (label, value) in &nodes.labels {
        labels[label] = value.as_str().into();
    }
    let taint = |it: &String| {
        let (key, effect) = it.split_once(':').with_context(|| format!("taint {it:?}: use KEY:EFFECT"))?;
        Ok::<_, anyhow::Error>((key.to_owned(), effect.to_owned()))
    };
    Ok(NodeShape {
        labels,
        taints: nodes.taints.iter().map(taint).collect::<Result<_>>()?,
        cordoned: nodes.cordoned,
        gpus: nodes.gpus,
        cpus: nodes.cpus,
    })
}

/// A root group and what is in it: parents before their children.
pub(super) fn groups(root: &Group) -> Vec<Value> {
    let mut objects = Vec::new();
    add(root, None, root.priority.as_deref(), &mut objects);
    objects
}

fn add(group: &Group, parent: Option<&str>, priority: Option<&str>, objects: &mut Vec<Value>) {
    let is_leaf = group.groups.is_empty();
    let (api_version, kind, least) = if is_leaf {
        ("scheduling.k8s.io/v1beta1", "PodGroup", "minCount")
    } else {
        ("scheduling.k8s.io/v1alpha3", "CompositePodGroup", "minGroupCount")
    };
    let mut spec = json!({
        "workloadRef": { "workloadName": "situation", "templateName": group.name },
        "schedulingPolicy": match group.min {
            Some(min) => json!({ "gang": { least: min } }),
            None => json!({ "basic": {} }),
        },
        "disruptionMode": if group.whole { json!({ "all": {} }) } else { json!({ "single": {} }) },
    });
    if let Some(parent) = parent {
        spec["parentCompositePodGroupName"] = parent.into();
    }
    if let Some(priority) = priority {
        spec["priorityClassName"] = class(priority).into();
        // Not filled in from the class, but compared with it.
        let policy = PRIORITIES.iter().find(|it| it.0 == priority).map(|it| it.2);
        spec["preemptionPolicy"] = policy.into();
    }
    if let Some(level) = &group.level {
        spec["schedulingConstraints"] = json!({ "topology": [{ "key": key(level) }] });
    }
    objects.push(
        json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": group.name }, "spec": spec }),
    );
    for child in &group.groups {
        add(child, Some(&group.name), priority, objects);
    }
}

/// The pods of a root group, each PodGroup's in their order.
pub(super) fn pods_of_group(root: &Group) -> Vec<Value> {
    let mut pods = Vec::new();
    add_pods(root, &[], root.priority.as_deref(), &mut pods);
    pods
}

fn add_pods<'a>(group: &'a Group, above: &[&'a Group], priority: Option<&str>, pods: &mut Vec<Value>) {
    let path: Vec<&Group> = above.iter().copied().chain([group]).collect();
    pods.extend(pods_in(&group.pods, &path, priority, 0));
    for child in &group.groups {
        add_pods(child, &path, priority, pods);
    }
}

/// Pods of the PodGroup at the end of a path, numbered from `first`.
pub(super) fn pods_in(all: &[Pods], path: &[&Group], priority: Option<&str>, first: usize) -> Vec<Value> {
    let Some(group) = path.last() else { return Vec::new() };
    let mut pods = Vec::new();
    for it in all {
        for _ in 0..it.count {
            let name = format!("{}-{}", group.name, first + pods.len());
            let mut pod = pod(&name, &group.name, it, it.priority.as_deref().or(priority));
            pod["spec"]["schedulingGroup"] = json!({ "podGroupName": group.name });
            for above in path {
                pod["metadata"]["labels"][membership(&above.name)] = "true".into();
            }
            let wishes = path.iter().filter_map(|above| {
                let level = above.prefers.clone()?;
                Some(json!({ "weight": 100, "podAffinityTerm": term(&Other { level, of: above.name.clone() }) }))
            });
            let wishes: Vec<Value> = wishes.collect();
            if !wishes.is_empty() {
                let affinity = &mut pod["spec"]["affinity"]["podAffinity"];
                affinity["preferredDuringSchedulingIgnoredDuringExecution"] = wishes.into();
            }
            if it.node.is_none() {
                let gates = [Some(TOGETHER), it.gated.then_some(HELD)];
                pod["spec"]["schedulingGates"] =
                    gates.iter().flatten().map(|it| json!({ "name": it })).collect();
            }
            pods.push(pod);
        }
    }
    pods
}

/// Pods in no group.
pub(super) fn loose(all: &[Pods], otherwise: &str) -> Vec<Value> {
    let mut pods = Vec::new();
    for it in all {
        let base = it.name.as_deref().unwrap_or(otherwise);
        for _ in 0..it.count {
            let mut pod = pod(&format!("{base}-{}", pods.len()), base, it, it.priority.as_deref());
            pod["metadata"]["labels"][membership(base)] = "true".into();
            if it.gated {
                pod["spec"]["schedulingGates"] = json!([{ "name": HELD }]);
            }
            pods.push(pod);
        }
    }
    pods
}

fn pod(name: &str, counted_as: &str, it: &Pods, priority: Option<&str>) -> Value {
    let mut labels: Map<String, Value> =
        it.labels.iter().map(|(label, value)| (label.clone(), value.as_str().into())).collect();
    labels.insert(COUNTED_AS.to_owned(), counted_as.into());
    let mut requests = json!({ "cpu": it.cpus.to_string() });
    let mut limits = json!({});
    if it.gpus > 0 {
        requests["nvidia.com/gpu"] = it.gpus.to_string().into();
        limits["nvidia.com/gpu"] = it.gpus.to_string().into();
    }
    let mut spec = json!({
        "terminationGracePeriodSeconds": 0,
        "nodeSelector": it.selector,
        "tolerations": it.tolerates.iter().map(|key| json!({ "key": key, "operator": "Exists" })).collect::<Vec<_>>(),
        "containers": [{ "name": "main", "image": "none", "resources": { "requests": requests, "limits": limits } }],
    });
    if let Some(node) = &it.node {
        spec["nodeName"] = node.as_str().into();
    }
    if let Some(priority) = priority {
        spec["priorityClassName"] = class(priority).into();
    }
    for (field, others) in [("podAffinity", &it.near), ("podAntiAffinity", &it.apart)] {
        if !others.is_empty() {
            let terms: Vec<Value> = others.iter().map(term).collect();
            spec["affinity"][field]["requiredDuringSchedulingIgnoredDuringExecution"] = terms.into();
        }
    }
    if !it.spread.is_empty() {
        let constraint = |it: &super::situation::Spread| {
            let mut constraint = json!({
                "topologyKey": key(&it.level), "maxSkew": it.skew, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": selector(&it.of),
            });
            if let Some(domains) = it.domains {
                constraint["minDomains"] = domains.into();
            }
            constraint
        };
        spec["topologySpreadConstraints"] = it.spread.iter().map(constraint).collect();
    }
    json_patch::merge(&mut spec, &if it.spec.is_null() { json!({}) } else { it.spec.clone() });
    json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name, "labels": labels }, "spec": spec })
}

fn term(other: &Other) -> Value {
    json!({ "topologyKey": key(&other.level), "labelSelector": selector(&other.of) })
}

/// Label of the pods in a group.
pub(super) fn membership(group: &str) -> String {
    format!("{IN}{group}")
}

/// The pods of a group, or those of that name in none.
fn selector(of: &str) -> Value {
    json!({ "matchLabels": { membership(of): "true" } })
}
