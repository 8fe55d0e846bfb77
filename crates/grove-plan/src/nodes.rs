//! What is known of nodes, and whether a pod's node is in trouble as far as that pod is concerned.

pub mod loss_limit;

use grove_api::{
    constants::taints::{DEFAULT_SECONDS, NOT_READY, OUT_OF_SERVICE, UNREACHABLE},
    wire::LossReason,
};
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::facts::PodFact;

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFact {
    /// Its taints with the effect NoExecute; others do not concern pods that run.
    pub taints: Vec<Taint>,
}

impl NodeFact {
    /// Whether its kubelet cannot do its work. Taints that administrators set on purpose do not count.
    pub fn is_down(&self) -> bool {
        self.taints.iter().any(|it| reason(it) != LossReason::Tainted)
    }
}

/// What is known of the node that a pod is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKnowledge<'a> {
    /// The node exists and has these taints.
    Present(&'a NodeFact),
    /// The cache does not have the node, and the API server answered 404 to a read of it.
    ConfirmedGone,
    /// Nothing that a decision may rest on: the cache is not current, or contradicts the API server.
    Unknown,
}

/// A taint with the effect NoExecute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value.
    pub value: String,
    /// Since when, where whoever set it said so.
    pub since: Option<Timestamp>,
}

/// What a pod puts up with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toleration {
    /// Key of the taint; empty for every taint.
    pub key: String,
    /// Value of the taint; `None` for any.
    pub value: Option<String>,
    /// For how long; `None` for ever.
    pub seconds: Option<i64>,
}

impl Toleration {
    /// Whether it is one of the two that Kubernetes adds to every pod: they say nothing of what the user wants.
    pub fn is_default(&self) -> bool {
        self.seconds == Some(DEFAULT_SECONDS) && [NOT_READY, UNREACHABLE].contains(&self.key.as_str())
    }

    /// Whether it is about this taint. Who tolerates everything means taints of his hardware, not that a node that is silent
    /// keeps the pod for ever: Kubernetes' own taints have to be named.
    fn covers(&self, taint: &Taint) -> bool {
        let any_key = self.key.is_empty() && reason(taint) == LossReason::Tainted;
        (any_key || self.key == taint.key) && self.value.as_ref().is_none_or(|it| *it == taint.value)
    }
}

/// Trouble with a pod's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// What it is.
    pub reason: LossReason,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
    /// How long the pod puts up with it.
    pub tolerated: SignedDuration,
}

/// The worst trouble of a pod with its node. An unknown node is no trouble.
pub fn trouble(pod: &PodFact, node: NodeKnowledge<'_>) -> Option<Trouble> {
    let node = match node {
        NodeKnowledge::Present(node) => node,
        NodeKnowledge::ConfirmedGone => {
            return Some(Trouble { reason: LossReason::Gone, since: None, tolerated: SignedDuration::ZERO });
        }
        NodeKnowledge::Unknown => return None,
    };
    let troubles = node.taints.iter().filter_map(|taint| {
        let tolerated = tolerated(pod, taint)?;
        Some(Trouble { reason: reason(taint), since: taint.since, tolerated })
    });
    troubles.min_by_key(|it| (it.reason, it.since))
}

fn reason(taint: &Taint) -> LossReason {
    match taint.key.as_str() {
        OUT_OF_SERVICE => LossReason::OutOfService,
        UNREACHABLE => LossReason::Unreachable,
        NOT_READY => LossReason::NotReady,
        _ => LossReason::Tainted,
    }
}

/// How long a pod tolerates a taint; `None` is for ever. Of several tolerations the shortest counts, as for Kubernetes.
fn tolerated(pod: &PodFact, taint: &Taint) -> Option<SignedDuration> {
    let mut covering = pod.tolerations.iter().filter(|it| it.covers(taint)).peekable();
    if covering.peek().is_none() {
        return Some(SignedDuration::ZERO);
    }
    covering.filter_map(|it| it.seconds).min().map(|it| SignedDuration::from_secs(it.max(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{at, pod};

    fn taint(text: &str) -> Taint {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        Taint { key: key.to_owned(), value: value.to_owned(), since: Some(at(100)) }
    }

    /// `key`, `key=value` or ``, with `/seconds`.
    fn toleration(text: &str) -> Toleration {
        let (what, seconds) = text.split_once('/').map_or((text, None), |(it, s)| (it, Some(s)));
        let (key, value) = what.split_once('=').map_or((what, None), |(key, value)| (key, Some(value)));
        let key = match key {
            "unreachable" => UNREACHABLE,
            "not-ready" => NOT_READY,
            other => other,
        };
        Toleration {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            seconds: seconds.map(|it| it.parse().unwrap()),
        }
    }

    #[test]
    fn a_pod_is_in_trouble_by_what_it_does_not_tolerate() {
        // Taints, tolerations, and what it is: a reason and the seconds for which it is tolerated.
        type Row = (&'static [&'static str], &'static [&'static str], Option<(LossReason, i64)>);
        let rows: [Row; 16] = [
            (&[], &[], None),
            (&[UNREACHABLE], &[], Some((LossReason::Unreachable, 0))),
            (&[NOT_READY], &[], Some((LossReason::NotReady, 0))),
            (&[OUT_OF_SERVICE], &[], Some((LossReason::OutOfService, 0))),
            (&["drain"], &[], Some((LossReason::Tainted, 0))),
            (&["drain"], &["drain"], None),
            (&["drain=now"], &["drain=now"], None),
            (&["drain=now"], &["drain=later"], Some((LossReason::Tainted, 0))),
            (&["drain"], &["other"], Some((LossReason::Tainted, 0))),
            (&["drain"], &[""], None),
            // Who tolerates everything did not think of nodes that are gone; who names it did.
            (&[UNREACHABLE], &[""], Some((LossReason::Unreachable, 0))),
            (&[UNREACHABLE], &["unreachable"], None),
            (&[UNREACHABLE], &["unreachable/900"], Some((LossReason::Unreachable, 900))),
            (&[UNREACHABLE], &["unreachable", "unreachable/-5"], Some((LossReason::Unreachable, 0))),
            // The worst counts.
            (&["drain", NOT_READY, OUT_OF_SERVICE], &[], Some((LossReason::OutOfService, 0))),
            (&["drain", NOT_READY], &["not-ready"], Some((LossReason::Tainted, 0))),
        ];
        for (taints, tolerations, want) in rows {
            let node = NodeFact { taints: taints.iter().map(|it| taint(it)).collect() };
            let tolerations = tolerations.iter().map(|it| toleration(it)).collect();
            let pod = PodFact { tolerations, ..pod("0r") };
            let got =
                trouble(&pod, NodeKnowledge::Present(&node)).map(|it| (it.reason, it.tolerated.as_secs()));
            assert_eq!(got, want, "{taints:?} {:?}", pod.tolerations);
        }
        let gone = trouble(&pod("0r"), NodeKnowledge::ConfirmedGone).unwrap();
        assert_eq!((gone.reason, gone.since), (LossReason::Gone, None));
        assert_eq!(trouble(&pod("0r"), NodeKnowledge::Unknown), None);
    }

    #[test]
    fn a_node_is_down_by_the_taints_of_kubernetes_only() {
        for (key, want) in [(UNREACHABLE, true), (NOT_READY, true), (OUT_OF_SERVICE, true), ("drain", false)]
        {
            assert_eq!(NodeFact { taints: vec![taint(key)] }.is_down(), want, "{key}");
        }
        assert!(!NodeFact::default().is_down());
    }

    #[test]
    fn what_every_pod_tolerates_says_nothing() {
        for (text, want) in [
            ("unreachable/300", true),
            ("not-ready/300", true),
            ("not-ready/301", false),
            ("unreachable", false),
            ("drain/300", false),
        ] {
            assert_eq!(toleration(text).is_default(), want, "{text}");
        }
    }
}
