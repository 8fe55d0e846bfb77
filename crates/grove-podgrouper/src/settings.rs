//! What an admin sets, and what the cluster has, as far as groups depend on it.

use std::collections::BTreeSet;

use crate::{group::Preemptibility, rule::Rules, workload::Kind};

/// Settings of the grouper. The default is that of its flags.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Label that names a queue.
    pub queue_label: String,
    /// Label that names a pool of nodes; empty where there are none.
    pub node_pool_label: String,
    /// Whether a revision of Knative is one gang.
    pub knative_gangs: bool,
    /// Whether groups of older names are looked for.
    pub searches_legacy: bool,
    /// What kinds get where nobody says otherwise.
    pub kinds: Vec<KindDefault>,
    /// PriorityClasses that there are.
    pub priority_classes: BTreeSet<String>,
    /// What users say of kinds that have no plugin.
    pub rules: Rules,
}

/// What a kind gets where nobody says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindDefault {
    /// Kind.
    pub kind: String,
    /// API group; empty for any.
    pub group: String,
    /// PriorityClass.
    pub priority_class: String,
    /// Whether it may be preempted, where that is said rightly.
    pub preemptibility: Option<Preemptibility>,
}

impl Settings {
    /// What a kind gets: an entry for its API group, else one for any group. Of equal entries the last one counts.
    pub fn kind_default(&self, kind: Kind<'_>) -> Option<&KindDefault> {
        let of_group =
            |group: &str| self.kinds.iter().rev().find(|it| it.kind == kind.kind && it.group == group);
        of_group(kind.group).or_else(|| of_group(""))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            queue_label: "kai.scheduler/queue".to_owned(),
            node_pool_label: "kai.scheduler/node-pool".to_owned(),
            knative_gangs: true,
            searches_legacy: true,
            kinds: Vec::new(),
            priority_classes: BTreeSet::new(),
            rules: Rules::default(),
        }
    }
}
