//! PodGangs as a version of Grove stores them.

use serde_json::{Value, json};

use super::{
    objects::{Clique, GROUP, NAMESPACE, TIME, cliques, condition, generation_hash, metadata},
    version::Version,
};

/// When upstream planned the gangs of the set: the base gang, the group replicas of the template above the minimum, and those that
/// somebody scaled out to.
pub(crate) const ANCHOR: &str = "1788256800000000000";
pub(crate) const TAIL: &str = "1788256800000000001";
pub(crate) const SCALE_OUT: &str = "1788256800000000002";

/// A gang by name.
pub(crate) struct Gang {
    pub(crate) name: String,
    /// The base gang, as far as labels name it.
    pub(crate) base: Option<String>,
}

/// What the labels of a gang with an epoch say.
struct Role {
    epoch: &'static str,
    name: &'static str,
}

/// The gang of PodCliques in this replica of the scaling group, or in none: the first replica belongs to the base gang.
pub(crate) fn of(version: Version, group_replica: Option<u32>) -> Gang {
    let further = group_replica.filter(|it| *it > 0);
    if version.has_epochs() {
        let name = further.map_or_else(
            || format!("inf-0-{ANCHOR}"),
            |it| format!("inf-0-{}-pd-{it}", role(group_replica).epoch),
        );
        return Gang { name, base: None };
    }
    match further {
        None => Gang { name: "inf-0".to_owned(), base: None },
        Some(it) => Gang { name: format!("{GROUP}-{}", it - 1), base: Some("inf-0".to_owned()) },
    }
}

fn role(group_replica: Option<u32>) -> Role {
    match group_replica {
        None | Some(0) => Role { epoch: ANCHOR, name: "Anchor" },
        Some(1) => Role { epoch: TAIL, name: "Tail" },
        Some(_) => Role { epoch: SCALE_OUT, name: "ScaleOut" },
    }
}

/// All gangs.
pub(crate) fn all(version: Version) -> Vec<Value> {
    let is_base = |it: &Clique| it.group_replica.is_none_or(|it| it == 0);
    let (base, further): (Vec<_>, Vec<_>) = cliques().into_iter().partition(is_base);
    let mut all = vec![gang(version, None, &base)];
    all.extend(
        further
            .chunk_by(|a, b| a.group_replica == b.group_replica)
            .map(|members| gang(version, members[0].group_replica, members)),
    );
    all
}

fn gang(version: Version, group_replica: Option<u32>, members: &[Clique]) -> Value {
    let name = of(version, group_replica).name;
    let mut labels = json!({ "grove.io/scheduler-name": "default-scheduler" });
    if version.has_epochs() {
        let role = role(group_replica);
        labels["grove.io/epoch"] = json!(role.epoch);
        labels["grove.io/podgang-role"] = json!(role.name);
        labels["grove.io/podcliqueset-generation-hash"] = json!(generation_hash(version));
        labels["grove.io/podcliqueset-replica-index"] = json!("0");
    }
    let mut metadata = metadata(&name, ("PodCliqueSet", "inf"), "podgang", labels);
    if version.is_ours() {
        metadata["annotations"] = json!({ "grove.io/scheduler-form": "plain" });
    }
    let groups: Vec<Value> = members
        .iter()
        .map(|it| {
            let pods = (0..it.role.pods).map(|index| format!("{}-x7k2{index}", it.name));
            let references: Vec<Value> =
                pods.map(|name| json!({ "namespace": NAMESPACE, "name": name })).collect();
            json!({ "name": it.name, "podReferences": references, "minReplicas": it.role.minimum })
        })
        .collect();
    json!({
        "apiVersion": "scheduler.grove.io/v1alpha1",
        "kind": "PodGang",
        "metadata": metadata,
        "spec": { "podgroups": groups },
        "status": status(version),
    })
}

fn status(version: Version) -> Value {
    match version {
        Version::Current => json!({
            "phase": "Running", "lastScheduled": TIME, "lastReady": TIME,
            "conditions": [
                condition("Initialized", "True", "AllPodsCreated"),
                condition("Scheduled", "True", "MinimumBound"),
                condition("Ready", "True", "MinimumReady"),
            ],
        }),
        // Of a gang that runs, too.
        Version::Alpha11 => json!({
            "phase": "Pending", "conditions": [condition("Initialized", "True", "PodGangPodsCreated")],
        }),
        Version::Alpha12 | Version::Alpha13 => json!({
            "phase": "Pending", "lastScheduled": TIME, "lastReady": TIME,
            "conditions": [
                condition("Initialized", "True", "PodGangPodsCreated"),
                condition("Scheduled", "True", "PodGangScheduled"),
                condition("Ready", "True", "PodGangReady"),
            ],
        }),
    }
}
