//! Which nodes a pod may go to, whatever else is there.

use std::{collections::BTreeSet, fmt};

use super::{Operator, PodRequirements};
use crate::cluster::{Node, Taint, UNSCHEDULABLE};

/// A requirement on a label of a node, or on its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeRequirement {
    /// Key of the label; `None` for the name (`matchFields: metadata.name`).
    pub key: Option<String>,
    /// Operator.
    pub operator: Operator,
    /// Values.
    pub values: BTreeSet<String>,
}

/// A node selector term: all of its requirements have to hold. One without any matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeTerm(pub Vec<NodeRequirement>);

impl NodeRequirement {
    fn holds(&self, node: &Node) -> bool {
        let value = self.key.as_ref().map_or(Some(node.name.as_str()), |it| node.label(it));
        self.operator.holds(value, &self.values)
    }
}

impl NodeTerm {
    /// Whether a node matches.
    pub fn matches(&self, node: &Node) -> bool {
        !self.0.is_empty() && self.0.iter().all(|it| it.holds(node))
    }
}

/// Why a pod may not go to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rejection {
    /// The node is cordoned.
    Unschedulable,
    /// It has a taint that the pod does not tolerate.
    Taint(Taint),
    /// It lacks a label of the node selector.
    Label {
        /// Key.
        key: String,
        /// Value.
        value: String,
    },
    /// It does not match the required node affinity.
    NodeAffinity,
}

/// For a number of nodes: `3 nodes have ...`; the verb is that of the plural.
impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unschedulable => f.write_str("are unschedulable (cordoned)"),
            Self::Taint(taint) => write!(f, "have untolerated taint {taint}"),
            Self::Label { key, value } => write!(f, "lack label {key}={value}"),
            Self::NodeAffinity => f.write_str("do not match the required node affinity"),
        }
    }
}

/// The first reason why a pod may not go to a node, apart from resources and other pods.
pub fn reject(pod: &PodRequirements, node: &Node) -> Option<Rejection> {
    reject_by_taint(pod, node).or_else(|| reject_by_affinity(pod, node))
}

/// Likewise, only by taints.
pub(crate) fn reject_by_taint(pod: &PodRequirements, node: &Node) -> Option<Rejection> {
    let mut taints = node.all_taints().filter(Taint::is_hard);
    let taint = taints.find(|taint| !pod.tolerations.iter().any(|it| it.covers(taint)))?;
    Some(if taint.key == UNSCHEDULABLE { Rejection::Unschedulable } else { Rejection::Taint(taint) })
}

/// Likewise, only by node selector and node affinity.
pub(crate) fn reject_by_affinity(pod: &PodRequirements, node: &Node) -> Option<Rejection> {
    let lacking = pod.node_selector.iter().find(|it| node.label(it.0) != Some(it.1));
    if let Some((key, value)) = lacking {
        return Some(Rejection::Label { key: key.clone(), value: value.clone() });
    }
    let terms = pod.node_affinity.as_ref()?;
    (!terms.iter().any(|it| it.matches(node))).then_some(Rejection::NodeAffinity)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::pod::requirements;

    fn node() -> Node {
        let labels = [("zone", "a"), ("gpus", "8")];
        Node {
            name: "n1".to_owned(),
            labels: labels.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect(),
            ..Node::default()
        }
    }

    fn rejected(spec: &Value, node: &Node) -> Option<String> {
        let pod = json!({ "spec": spec });
        let pod = requirements(&serde_json::from_value(pod).unwrap()).unwrap();
        reject(&pod, node).map(|it| it.to_string())
    }

    fn affinity(terms: &Value) -> Value {
        json!({ "containers": [], "affinity": { "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": terms } } } })
    }

    #[test]
    fn selectors_and_affinity() {
        let none = Some("do not match the required node affinity");
        let term = |key: &str, operator: &str, values: &[&str]| json!([{ "matchExpressions": [{ "key": key, "operator": operator, "values": values }] }]);
        let rows = [
            (json!({ "containers": [] }), None),
            (json!({ "containers": [], "nodeSelector": { "zone": "a" } }), None),
            (json!({ "containers": [], "nodeSelector": { "zone": "b" } }), Some("lack label zone=b")),
            (affinity(&term("zone", "In", &["a", "b"])), None),
            (affinity(&term("zone", "NotIn", &["a"])), none),
            (affinity(&term("gpus", "Gt", &["4"])), None),
            (affinity(&term("gpus", "Lt", &["4"])), none),
            (affinity(&term("x", "DoesNotExist", &[])), None),
            (affinity(&term("x", "Exists", &[])), none),
            (affinity(&json!([{}])), none),
            (affinity(&json!([])), none),
            (affinity(&json!([{}, { "matchExpressions": [{ "key": "zone", "operator": "Exists" }] }])), None),
            (
                affinity(
                    &json!([{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["n1"] }] }]),
                ),
                None,
            ),
            (
                affinity(
                    &json!([{ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["n2"] }] }]),
                ),
                none,
            ),
        ];
        for (spec, want) in rows {
            assert_eq!(rejected(&spec, &node()).as_deref(), want, "{spec}");
        }
    }

    #[test]
    fn taints() {
        let mut tainted = node();
        tainted.taints = vec![
            Taint { key: "soft".into(), value: String::new(), effect: "PreferNoSchedule".into() },
            Taint { key: "gpu".into(), value: "true".into(), effect: "NoSchedule".into() },
        ];
        let plain = json!({ "containers": [] });
        let tolerant = json!({ "containers": [], "tolerations": [{ "key": "gpu", "operator": "Exists" }] });
        let wanted = Some("have untolerated taint gpu=true:NoSchedule".to_owned());
        assert_eq!(rejected(&plain, &tainted), wanted);
        assert_eq!(rejected(&tolerant, &tainted), None);
        tainted.unschedulable = true;
        assert_eq!(rejected(&tolerant, &tainted), Some("are unschedulable (cordoned)".to_owned()));
        let all = json!({ "containers": [], "tolerations": [{ "operator": "Exists" }] });
        assert_eq!(rejected(&all, &tainted), None);
    }

    #[test]
    fn preferences_are_summed() {
        let pod = json!({ "spec": { "containers": [], "affinity": { "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                { "weight": 10, "preference": { "matchExpressions": [{ "key": "zone", "operator": "Exists" }] } },
                { "weight": 5, "preference": { "matchExpressions": [{ "key": "x", "operator": "Exists" }] } },
            ] } } } });
        let pod = requirements(&serde_json::from_value(pod).unwrap()).unwrap();
        assert_eq!(pod.preference(&node()), 10);
        let mut avoided = node();
        avoided.taints =
            vec![Taint { key: "k".into(), value: String::new(), effect: "PreferNoSchedule".into() }];
        assert_eq!(pod.preference(&avoided), -90);
    }
}
