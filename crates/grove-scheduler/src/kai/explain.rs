//! Why KAI does not place a gang, in one line.
//!
//! KAI notes one explanation for each set of nodes that it tried, so that a gang with a required level has as many
//! nearly equal sentences as there are racks. They are read into [`Said`], and those that say the same are told once.

use serde_json::Value;

use crate::words::{Counted, clean, cut};

/// Longest line.
const MAX_LINE: usize = 400;
/// How often a sentence is counted at most.
const MAX_REPEATED: u32 = 1000;

/// What KAI's newest answer says of the PodGroup.
pub(super) fn explain(objects: &[Value]) -> Option<String> {
    let conditions = objects.iter().filter_map(|it| it["status"]["schedulingConditions"].as_array());
    // The freshest one is always the last.
    let condition = conditions.flatten().next_back().filter(|it| it["status"] == "True")?;
    let reasons = condition["reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut messages: Vec<String> =
        reasons.iter().filter_map(|it| it["message"].as_str()).map(clean).collect();
    if messages.is_empty() {
        messages = condition["message"].as_str().map(sentences).unwrap_or_default();
    }
    let mut all: Vec<Said> = Vec::new();
    for message in messages.iter().filter(|it| !it.is_empty()) {
        let said = Said::read(message);
        match all.iter_mut().find(|it| it.is_same(&said)) {
            Some(earlier) => earlier.add(said),
            None => all.push(said),
        }
    }
    if all.is_empty() {
        return None;
    }
    let mut line = all.iter().map(Said::text).collect::<Vec<_>>().join("; ");
    let pool = condition["nodePool"].as_str().unwrap_or_default();
    if !pool.is_empty() && pool != "default" {
        line = format!("in node pool {pool}: {line}");
    }
    Some(cut(&line, MAX_LINE))
}

/// Sentences of the older message, which has one in each line and counts repetitions: `2 Resources were found …`.
fn sentences(message: &str) -> Vec<String> {
    let rest = message.trim().strip_prefix("Unable to schedule podgroup").unwrap_or(message);
    let rest = rest.trim_start_matches([':', '.', ' ']);
    // A cause has line breaks too; its lines begin with a number of nodes.
    let mut sentences: Vec<String> = Vec::new();
    for line in rest.lines() {
        let continues = Counted::read(line.trim()).is_some_and(|it| it.text.starts_with("node"));
        match sentences.last_mut() {
            Some(last) if continues => *last = format!("{last} {line}"),
            _ => sentences.push(line.to_owned()),
        }
    }
    let repeated = |it: &String| {
        let said = Counted::read(it.trim()).unwrap_or(Counted { count: 1, text: it });
        std::iter::repeat_n(clean(said.text), said.count.min(MAX_REPEATED) as usize)
    };
    sentences.iter().flat_map(repeated).collect()
}

/// One explanation.
#[derive(Debug, PartialEq)]
enum Said {
    /// A gang of which only a part fits.
    Gang { found: u32, group: Option<String>, needs: u32, cause: Cause, times: u32 },
    /// Pods above the minimum.
    Pods { pods: Vec<String>, cause: Cause },
    /// A level of which no domain fits.
    Level { level: String, topology: String, group: Option<String>, places: Vec<String> },
    /// Anything else.
    Other { text: String, times: u32 },
}

impl Said {
    fn read(text: &str) -> Self {
        let known = Self::read_gang(text).or_else(|| Self::read_pod(text)).or_else(|| Self::read_level(text));
        known.unwrap_or_else(|| Self::Other { text: text.to_owned(), times: 1 })
    }

    /// `Resources were found for 2 pods [from all sub-groups] while [sub-group x requires 3 pods|3 are required] …due to: …`
    fn read_gang(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("Resources were found for ")?;
        let (found, rest) = rest.split_once(" pods ")?;
        let (_, rest) = rest.split_once("while ")?;
        let (head, cause) = rest.split_once("due to: ")?;
        let (group, needs) = match head.strip_prefix("sub-group ") {
            Some(head) => {
                let (group, head) = head.split_once(" requires ")?;
                (Some(group.to_owned()), head.split_once(' ')?.0)
            }
            None => (None, head.split_once(' ')?.0),
        };
        let (found, needs) = (found.parse().ok()?, needs.parse().ok()?);
        Some(Self::Gang { found, group, needs, cause: Cause::read(cause), times: 1 })
    }

    /// `Resources were not found for pod ns/name due to: …`
    fn read_pod(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("Resources were not found for pod ")?;
        let (pod, cause) = rest.split_once(" due to: ")?;
        let pod = pod.split_once('/').map_or(pod, |it| it.1);
        Some(Self::Pods { pods: vec![pod.to_owned()], cause: Cause::read(cause) })
    }

    /// `topology t, requirement l couldn't be satisfied for job <ns/name>[, subgroup x][: not enough resources in d …]`
    fn read_level(text: &str) -> Option<Self> {
        let (topology, rest) = text.strip_prefix("topology ")?.split_once(", requirement ")?;
        let (level, rest) = rest.split_once(" couldn't be satisfied for job <")?;
        let (_, rest) = rest.split_once('>')?;
        let (group, place) = match rest.split_once(": ") {
            Some((group, place)) => (group, Some(place)),
            None => (rest, None),
        };
        let place = place.map(|it| it.strip_prefix("not enough resources in ").unwrap_or(it));
        let place = place.map(|it| it.strip_suffix(" to allocate the job").unwrap_or(it).to_owned());
        Some(Self::Level {
            level: level.to_owned(),
            topology: topology.to_owned(),
            group: group.strip_prefix(", subgroup ").map(str::to_owned),
            places: place.into_iter().collect(),
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Gang { group, needs, .. }, Self::Gang { group: other, needs: many, .. }) => {
                group == other && needs == many
            }
            (Self::Pods { .. }, Self::Pods { .. }) => true,
            (
                Self::Level { level, topology, group, .. },
                Self::Level { level: other_level, topology: other_topology, group: other_group, .. },
            ) => level == other_level && topology == other_topology && group == other_group,
            (Self::Other { text, .. }, Self::Other { text: other, .. }) => text == other,
            _ => false,
        }
    }

    fn add(&mut self, other: Self) {
        match (self, other) {
            (
                Self::Gang { found, cause, times, .. },
                Self::Gang { found: more, cause: other, times: again, .. },
            ) => {
                *found = more.max(*found);
                *times += again;
                cause.add(other);
            }
            (Self::Pods { pods, cause }, Self::Pods { pods: more, cause: other }) => {
                pods.extend(more.into_iter().filter(|it| !pods.contains(it)).collect::<Vec<_>>());
                cause.add(other);
            }
            (Self::Level { places, .. }, Self::Level { places: more, .. }) => {
                places.extend(more.into_iter().filter(|it| !places.contains(it)).collect::<Vec<_>>());
            }
            (Self::Other { times, .. }, Self::Other { times: again, .. }) => *times += again,
            _ => {}
        }
    }

    fn text(&self) -> String {
        let tried = |times: u32| if times > 1 { format!(" (tried {times} times)") } else { String::new() };
        match self {
            Self::Gang { found, group, needs, cause, times } => {
                let whose =
                    group.as_ref().map_or_else(|| "the gang".to_owned(), |it| format!("sub-group {it}"));
                let at_most = if *times > 1 { "at most " } else { "" };
                let tried = tried(*times);
                format!(
                    "resources for {at_most}{found} pods were found, {whose} requires {needs}{tried}: {}",
                    cause.text()
                )
            }
            Self::Pods { pods, cause } => {
                format!("no resources for {}: {}", listed(pods), cause.text())
            }
            Self::Level { level, topology, group, places } => {
                let whose =
                    group.as_ref().map_or_else(|| "the gang".to_owned(), |it| format!("sub-group {it}"));
                let where_ = if places.is_empty() { String::new() } else { format!(": {}", listed(places)) };
                format!("no {level} of topology {topology} has enough resources for {whose}{where_}")
            }
            Self::Other { text, times } => format!("{text}{}", tried(*times)),
        }
    }
}

/// The first few of a list.
fn listed(items: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = items.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Why nodes do not fit: `no nodes with enough resources were found: 3 node(s) …. 2 node(s) …`
#[derive(Debug, Default, PartialEq)]
struct Cause {
    head: String,
    /// By what is wrong: the fewest and the most nodes.
    nodes: Vec<(String, u32, u32)>,
}

impl Cause {
    fn read(text: &str) -> Self {
        let (head, items) = text.split_once(": ").unwrap_or((text, ""));
        let mut cause = Self { head: head.trim_end_matches('.').to_owned(), nodes: Vec::new() };
        for item in items.split(". ").map(|it| it.trim_end_matches('.')).filter(|it| !it.is_empty()) {
            let Counted { count, text } = Counted::read(item).unwrap_or(Counted { count: 1, text: item });
            cause.nodes.push((text.to_owned(), count, count));
        }
        cause
    }

    fn add(&mut self, other: Self) {
        for (text, least, most) in other.nodes {
            match self.nodes.iter_mut().find(|it| it.0 == text) {
                Some(it) => (it.1, it.2) = (it.1.min(least), it.2.max(most)),
                None => self.nodes.push((text, least, most)),
            }
        }
    }

    fn text(&self) -> String {
        let item = |(text, least, most): &(String, u32, u32)| {
            let up_to = if least == most { "" } else { "up to " };
            format!("{up_to}{most} {text}")
        };
        let items: Vec<String> = self.nodes.iter().map(item).collect();
        if items.is_empty() { self.head.clone() } else { format!("{}: {}", self.head, items.join(", ")) }
    }
}
