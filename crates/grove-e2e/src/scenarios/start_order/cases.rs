//! The sets, and who starts after whom in them; worked out here, not by the operator.
//!
//! Each has a role `pc-a` and two copies of a group of `pc-b` and `pc-c`. With `full` all pods are needed and both copies
//! are in the base gang; else one of each is, and the second copy is a gang of its own.

use serde_json::{Value, json};

/// How long a pod takes to be ready once it may start.
pub(super) const HOLD: &str = "e2e.grove.io/ready-after";

/// A clique, and the cliques that have to have so many ready pods before it starts.
type Order = (&'static str, &'static [(&'static str, usize)]);

pub(super) struct Case {
    full: bool,
    /// Who names whom, where that is said.
    explicit: Option<[(&'static str, &'static str); 2]>,
    /// Roles whose pods become ready only when they are let go.
    held: [&'static str; 2],
    pub(super) pods: usize,
    pub(super) order: &'static [Order],
    pub(super) releases: &'static [Release],
}

/// A step: so many pods of each of these cliques may become ready, and then those start, or come to be ready.
pub(super) struct Release {
    pub(super) cliques: &'static [&'static str],
    pub(super) pods: usize,
    pub(super) starts: &'static [&'static str],
    pub(super) ready: &'static [&'static str],
}

/// `pc-a`, then all `pc-b`, then all `pc-c`.
pub(super) const IN_ORDER_FULL: Case = Case {
    full: true,
    explicit: None,
    held: ["pc-a", "pc-b"],
    pods: 10,
    order: &[
        ("so-0-sg-x-0-pc-b", &[("so-0-pc-a", 2)]),
        ("so-0-sg-x-1-pc-b", &[("so-0-pc-a", 2)]),
        ("so-0-sg-x-0-pc-c", &[("so-0-sg-x-0-pc-b", 1), ("so-0-sg-x-1-pc-b", 1)]),
        ("so-0-sg-x-1-pc-c", &[("so-0-sg-x-0-pc-b", 1), ("so-0-sg-x-1-pc-b", 1)]),
    ],
    releases: &[
        Release {
            cliques: &["so-0-pc-a"],
            pods: 2,
            starts: &["so-0-sg-x-0-pc-b", "so-0-sg-x-1-pc-b"],
            ready: &[],
        },
        Release {
            cliques: &["so-0-sg-x-0-pc-b", "so-0-sg-x-1-pc-b"],
            pods: 1,
            starts: &[],
            ready: &["so-0-sg-x-0-pc-c", "so-0-sg-x-1-pc-c"],
        },
    ],
};

/// In the base gang one pod of `pc-a`, then `pc-b`, then `pc-c`; the second copy has its own order and does not wait.
pub(super) const IN_ORDER_MINIMUM: Case = Case {
    full: false,
    explicit: None,
    held: ["pc-a", "pc-b"],
    pods: 10,
    order: &[
        ("so-0-sg-x-0-pc-b", &[("so-0-pc-a", 1)]),
        ("so-0-sg-x-0-pc-c", &[("so-0-sg-x-0-pc-b", 1)]),
        ("so-0-sg-x-1-pc-c", &[("so-0-sg-x-1-pc-b", 1)]),
    ],
    releases: &[
        // While nobody of `pc-a` is ready.
        Release { cliques: &["so-0-sg-x-1-pc-b"], pods: 1, starts: &[], ready: &["so-0-sg-x-1-pc-c"] },
        Release { cliques: &["so-0-pc-a"], pods: 1, starts: &["so-0-sg-x-0-pc-b"], ready: &[] },
        Release { cliques: &["so-0-sg-x-0-pc-b"], pods: 1, starts: &[], ready: &["so-0-sg-x-0-pc-c"] },
    ],
};

/// `pc-a`, then all `pc-c`, then all `pc-b`: not as they are listed.
pub(super) const EXPLICIT_FULL: Case = Case {
    full: true,
    explicit: Some([("pc-c", "pc-a"), ("pc-b", "pc-c")]),
    held: ["pc-a", "pc-c"],
    pods: 10,
    order: &[
        ("so-0-sg-x-0-pc-c", &[("so-0-pc-a", 2)]),
        ("so-0-sg-x-1-pc-c", &[("so-0-pc-a", 2)]),
        ("so-0-sg-x-0-pc-b", &[("so-0-sg-x-0-pc-c", 3), ("so-0-sg-x-1-pc-c", 3)]),
        ("so-0-sg-x-1-pc-b", &[("so-0-sg-x-0-pc-c", 3), ("so-0-sg-x-1-pc-c", 3)]),
    ],
    releases: &[
        Release {
            cliques: &["so-0-pc-a"],
            pods: 2,
            starts: &["so-0-sg-x-0-pc-c", "so-0-sg-x-1-pc-c"],
            ready: &[],
        },
        Release {
            cliques: &["so-0-sg-x-0-pc-c", "so-0-sg-x-1-pc-c"],
            pods: 3,
            starts: &[],
            ready: &["so-0-sg-x-0-pc-b", "so-0-sg-x-1-pc-b"],
        },
    ],
};

pub(super) const EXPLICIT_MINIMUM: Case = Case {
    full: false,
    explicit: Some([("pc-c", "pc-a"), ("pc-b", "pc-c")]),
    held: ["pc-a", "pc-c"],
    pods: 10,
    order: &[
        ("so-0-sg-x-0-pc-c", &[("so-0-pc-a", 1)]),
        ("so-0-sg-x-0-pc-b", &[("so-0-sg-x-0-pc-c", 1)]),
        ("so-0-sg-x-1-pc-b", &[("so-0-sg-x-1-pc-c", 1)]),
    ],
    releases: &[
        Release { cliques: &["so-0-sg-x-1-pc-c"], pods: 1, starts: &[], ready: &["so-0-sg-x-1-pc-b"] },
        Release { cliques: &["so-0-pc-a"], pods: 1, starts: &["so-0-sg-x-0-pc-c"], ready: &[] },
        Release { cliques: &["so-0-sg-x-0-pc-c"], pods: 1, starts: &[], ready: &["so-0-sg-x-0-pc-b"] },
    ],
};

impl Case {
    /// The set, called `so`.
    pub(super) fn set(&self) -> Value {
        let role = |name: &str, replicas: u32| {
            let parents = self.explicit.iter().flatten().filter(|it| it.0 == name).map(|it| it.1);
            let hold = self.held.contains(&name).then(|| json!({ HOLD: "1h" })).unwrap_or(json!({}));
            json!({
                "name": name,
                "annotations": hold,
                "spec": {
                    "roleName": name,
                    "replicas": replicas,
                    "minAvailable": if self.full { replicas } else { 1 },
                    "startsAfter": parents.collect::<Vec<_>>(),
                    "podSpec": { "containers": [{ "name": "main", "image": "registry.example.com/app:1.0" }] },
                },
            })
        };
        let order = if self.explicit.is_some() { "Explicit" } else { "InOrder" };
        json!({
            "apiVersion": "grove.io/v1alpha1",
            "kind": "PodCliqueSet",
            "metadata": { "name": "so" },
            "spec": { "replicas": 1, "template": {
                "cliqueStartupType": format!("CliqueStartupType{order}"),
                "cliques": [role("pc-a", 2), role("pc-b", 1), role("pc-c", 3)],
                "podCliqueScalingGroups": [{
                    "name": "sg-x",
                    "cliqueNames": ["pc-b", "pc-c"],
                    "replicas": 2,
                    "minAvailable": if self.full { 2 } else { 1 },
                }],
            } },
        })
    }

    /// Whether the pods of a clique are held.
    pub(super) fn holds(&self, clique: &str) -> bool {
        self.held.iter().any(|it| clique.ends_with(it))
    }
}
