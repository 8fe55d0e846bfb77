//! Why a gang is not placed, from what the scheduler writes on its PodGroups. It writes nothing while it waits for pods or
//! gates, and nothing on CompositePodGroups.

use serde_json::Value;

use super::objects::pod_groups;
use crate::{
    tree::Gang,
    words::{clean, cut},
};

/// Longest message that is repeated.
const MAX_SHOWN: usize = 400;

/// What is said where a level leaves no choice at all.
const NO_DOMAIN: &str = "no feasible placements found";

/// One sentence about the first group that is refused.
pub(super) fn explain(gang: &Gang, objects: &[Value]) -> Option<String> {
    let kind = pod_groups().kind;
    let refusal = |name: &str| {
        let is_it = |it: &&Value| it["kind"] == kind.as_str() && it["metadata"]["name"] == name;
        objects.iter().find(is_it).and_then(Refusal::of)
    };
    let leaves = gang.leaves();
    let names = leaves.iter().map(|it| it.name).chain([gang.name.as_str()]);
    let refusals: Vec<Refusal<'_>> = names.filter_map(refusal).collect();
    // A group that was not tried gets the words about its parent: better the one that they are about.
    let about_itself = refusals.iter().find(|it| it.shortage().is_some());
    about_itself.or(refusals.first()).map(Refusal::sentence)
}

/// One sentence about a PodGroup, if it is refused.
pub(super) fn explain_group(object: &Value) -> Option<String> {
    Refusal::of(object).map(|it| it.sentence())
}

/// A PodGroup that the scheduler refuses.
struct Refusal<'a> {
    group: &'a Value,
    reason: &'a str,
    message: &'a str,
}

/// How many pods of a group find room, at most, where that is too few.
struct Shortage {
    needed: u64,
    fit: u64,
    /// In how many domains it was tried.
    domains: Option<u64>,
}

impl<'a> Refusal<'a> {
    fn of(group: &'a Value) -> Option<Self> {
        let conditions = group.pointer("/status/conditions")?.as_array()?;
        let condition = conditions.iter().find(|it| it["type"] == "PodGroupInitiallyScheduled")?;
        let text = |field: &str| condition[field].as_str().unwrap_or_default().trim();
        // That nobody could be preempted either is added for each group of the gang.
        let message = text("message").split(", pod group preemption:").next().unwrap_or_default();
        (condition["status"] == "False").then(|| Self { group, reason: text("reason"), message })
    }

    fn sentence(&self) -> String {
        let name = self.group["metadata"]["name"].as_str().unwrap_or_default();
        if let Some(Shortage { needed, fit, domains }) = self.shortage() {
            let few = format!("room for at most {fit} of the {needed} pods that are needed");
            return match domains {
                None => format!("{name}: {few}"),
                Some(count) => {
                    let level = self.group.pointer("/spec/schedulingConstraints/topology/0/key");
                    let level = level.and_then(Value::as_str).unwrap_or("its topology level");
                    format!(
                        "{name}: none of the {count} domains of {level} has room for it; the first has {few}"
                    )
                }
            };
        }
        let message = match self.message {
            "" => "kube-scheduler gives no reason".to_owned(),
            NO_DOMAIN => {
                "no domain of a required topology level has room, or no node has its label".to_owned()
            }
            message => cut(&clean(message), MAX_SHOWN),
        };
        match self.reason {
            "SchedulerError" => format!("{name}: kube-scheduler cannot work on it: {message}"),
            _ => format!("{name}: {message}"),
        }
    }

    /// Reads `0/4 placements are available, first placement status: minCount (3) cannot be satisfied: 1 scheduled, 1
    /// remaining`, or the latter half of it. The same words about a CompositePodGroup count groups: they have another
    /// minimum, unless by chance.
    fn shortage(&self) -> Option<Shortage> {
        let (domains, rest) =
            match self.message.split_once(" placements are available, first placement status: ") {
                Some((count, rest)) => (Some(count.strip_prefix("0/")?.parse().ok()?), rest),
                None => (None, self.message),
            };
        let (needed, rest) = rest.strip_prefix("minCount (")?.split_once(") cannot be satisfied: ")?;
        let (scheduled, rest) = rest.split_once(" scheduled, ")?;
        let (remaining, _) = rest.split_once(" remaining")?;
        let needed = needed.parse().ok()?;
        let fit = scheduled.parse::<u64>().ok()?.checked_add(remaining.parse().ok()?)?;
        let own = self.group.pointer("/spec/schedulingPolicy/gang/minCount").and_then(Value::as_u64);
        (own == Some(needed)).then_some(Shortage { needed, fit, domains })
    }
}
