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

/// Said where no node has the label of a required topology level.
const NO_DOMAIN: &str = "no feasible placements found";

/// Kubernetes 1.37 begins with this where it has given up on a group as a whole.
const UNSCHEDULABLE: &str = "pod group is unschedulable";

/// Follows what is said of the group, and is added for each group of the gang.
const PREEMPTION: &str = ", pod group preemption:";

/// Without a required level there is one placement.
const WHOLE_CLUSTER: &str = "0/1 placements are available, first placement status: ";

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

/// What a pod is told of its group, whose condition may follow later. It may be about pods or, where groups are nested, about
/// groups.
pub(super) fn readable(words: &str) -> String {
    let (message, _) = words.split_once(PREEMPTION).unwrap_or((words, ""));
    let message = without_prefix(message.trim());
    let of_first = message.strip_prefix(WHOLE_CLUSTER).map_or(message, without_prefix);
    Count::read(of_first).map_or_else(|| cut(&clean(message), MAX_SHOWN), |it| it.of(""))
}

/// A PodGroup that the scheduler refuses.
struct Refusal<'a> {
    group: &'a Value,
    reason: &'a str,
    message: &'a str,
    /// Pods that are being preempted for it.
    preempted: Option<u64>,
}

/// Too few pods of a group fit.
struct Shortage {
    /// How many fit at most, and how many are needed, where that is said.
    pods: Option<Count>,
    /// In how many domains it was tried.
    domains: Option<u64>,
}

/// Pods of a group.
struct Count {
    fit: u64,
    needed: u64,
    /// Pods that the scheduler waits for: they are not in its queue yet.
    awaited: u64,
}

impl<'a> Refusal<'a> {
    fn of(group: &'a Value) -> Option<Self> {
        let conditions = group.pointer("/status/conditions")?.as_array()?;
        let condition = conditions.iter().find(|it| it["type"] == "PodGroupInitiallyScheduled")?;
        let text = |field: &str| condition[field].as_str().unwrap_or_default().trim();
        let whole = text("message");
        let (message, preemption) = whole.split_once(PREEMPTION).unwrap_or((whole, ""));
        let victims = preemption.split_once("preempting ").and_then(|it| it.1.split_once(" victims"));
        (condition["status"] == "False").then(|| Self {
            group,
            reason: text("reason"),
            message: without_prefix(message),
            preempted: victims.and_then(|it| it.0.parse().ok()),
        })
    }

    fn sentence(&self) -> String {
        match self.preempted {
            Some(1) => format!("{}; 1 pod is being preempted for it", self.refused()),
            Some(count) => format!("{}; {count} pods are being preempted for it", self.refused()),
            None => self.refused(),
        }
    }

    fn refused(&self) -> String {
        let name = self.group["metadata"]["name"].as_str().unwrap_or_default();
        if let Some(Shortage { pods, domains }) = self.shortage() {
            let few = pods.map(|it| it.text());
            let Some(count) = domains else {
                return format!("{name}: {}", few.unwrap_or_default());
            };
            let level = self.level().unwrap_or("its topology level");
            let first = few.map(|it| format!("; the first has {it}")).unwrap_or_default();
            return format!("{name}: none of the {count} domains of {level} has room for it{first}");
        }
        let message = match self.message {
            "" => "kube-scheduler gives no reason".to_owned(),
            NO_DOMAIN => match self.level() {
                Some(key) => format!("no node has the label {key} of its required topology level"),
                None => "no node has the label of a required topology level".to_owned(),
            },
            message => cut(&clean(message), MAX_SHOWN),
        };
        match self.reason {
            "SchedulerError" => format!("{name}: kube-scheduler reports an error: {message}"),
            _ => format!("{name}: {message}"),
        }
    }

    /// Label of the topology level that it requires.
    fn level(&self) -> Option<&'a str> {
        self.group.pointer("/spec/schedulingConstraints/topology/0/key").and_then(Value::as_str)
    }

    /// Reads `0/4 placements are available, first placement status: minCount (3) cannot be satisfied: 1 scheduled, 1
    /// remaining`, or the latter half of it.
    fn shortage(&self) -> Option<Shortage> {
        let placements = " placements are available, first placement status: ";
        let Some((count, rest)) = self.message.split_once(placements) else {
            return Some(Shortage { pods: Some(self.pods(self.message)?), domains: None });
        };
        // Without a level there is one placement, which is the whole cluster.
        let domains =
            Some(count.strip_prefix("0/")?.parse().ok()?).filter(|it| *it != 1 || self.level().is_some());
        match without_prefix(rest) {
            // Its own level was tried; what became of the first domain is not said.
            "" if self.level().is_some() => Some(Shortage { pods: None, domains }),
            rest => Some(Shortage { pods: Some(self.pods(rest)?), domains }),
        }
    }

    /// The pods of this group. The same words about a CompositePodGroup count groups: they have another minimum, unless by
    /// chance.
    fn pods(&self, words: &str) -> Option<Count> {
        let own = self.group.pointer("/spec/schedulingPolicy/gang/minCount").and_then(Value::as_u64);
        Count::read(words).filter(|it| own == Some(it.needed))
    }
}

impl Count {
    /// Reads `minCount (3) cannot be satisfied: 1 scheduled, 1 remaining`, and `… is not yet satisfied: …`, where the
    /// remaining pods are not in the queue.
    fn read(words: &str) -> Option<Self> {
        let (needed, rest) = words.strip_prefix("minCount (")?.split_once(") ")?;
        let (is_final, rest) = match rest.strip_prefix("cannot be satisfied: ") {
            Some(rest) => (true, rest),
            None => (false, rest.strip_prefix("is not yet satisfied: ")?),
        };
        let (scheduled, rest) = rest.split_once(" scheduled, ")?;
        let (remaining, _) = rest.split_once(" remaining")?;
        let needed = needed.parse().ok()?;
        let (scheduled, remaining) = (scheduled.parse::<u64>().ok()?, remaining.parse().ok()?);
        let fit = if is_final { scheduled.checked_add(remaining)? } else { scheduled };
        let awaited = if is_final { 0 } else { remaining };
        Some(Self { fit, needed, awaited })
    }

    fn text(&self) -> String {
        self.of(" pods")
    }

    fn of(&self, what: &str) -> String {
        let Self { fit, needed, awaited } = self;
        let few = format!("room for at most {fit} of the {needed}{what} that are needed");
        if *awaited == 0 { few } else { format!("{few}; {awaited} not yet in the scheduling queue") }
    }
}

/// Without the words that every level of the scheduler puts before its own, also twice.
fn without_prefix(mut message: &str) -> &str {
    while let Some(rest) = message.strip_prefix(UNSCHEDULABLE) {
        message = rest.strip_prefix(", ").unwrap_or(rest);
    }
    message
}
