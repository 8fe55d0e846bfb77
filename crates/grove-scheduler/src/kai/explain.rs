//! Why KAI does not place a gang, in one line.
//!
//! KAI notes one explanation for each set of nodes that it tried, so that a gang with a required level has as many
//! nearly equal sentences as there are racks. They are read into [`Said`], and those that say the same are told once.
//! Of a PodGroup they are a list; on pods, and on PodGroups of older releases, one text.

use serde_json::Value;

use crate::words::{Counted, MAX_LINE, clean, cut};

use super::{
    cause::Cause,
    said::{Said, join},
};

/// How often a sentence is counted at most.
const MAX_REPEATED: u32 = 1000;

/// What stands before the sentences: that there are several, or else the reason of the only one.
const HEADS: [&str; 6] = [
    "Unable to schedule podgroup",
    "Not enough resources for the workload",
    "PodSchedulingErrors",
    "OverLimit",
    "NonPreemptibleOverQuota",
    "QueueDoesNotExist",
];

/// What KAI's newest answer says of the PodGroup.
pub(super) fn explain(objects: &[Value]) -> Option<String> {
    let condition = newest(objects)?;
    let reasons = reasons(condition);
    let mut messages: Vec<String> =
        reasons.iter().filter_map(|it| it["message"].as_str()).map(clean).collect();
    if messages.is_empty() {
        let message = condition["message"].as_str().unwrap_or_default();
        messages = sentences(pool_and_rest(message).1);
    }
    let pool = condition["nodePool"].as_str().unwrap_or_default();
    folded(&messages).map(|it| in_pool(pool, it))
}

/// The condition with KAI's newest answer, where that is a refusal.
fn newest(objects: &[Value]) -> Option<&Value> {
    let conditions = objects.iter().filter_map(|it| it["status"]["schedulingConditions"].as_array());
    // The freshest one is always the last.
    conditions.flatten().next_back().filter(|it| it["status"] == "True")
}

fn reasons(condition: &Value) -> &[Value] {
    condition["reasons"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The explanations of KAI's newest answer.
pub(super) fn explanations(object: &Value) -> &[Value] {
    newest(std::slice::from_ref(object)).map(reasons).unwrap_or_default()
}

/// What KAI says of one pod.
pub(super) fn readable(words: &str) -> String {
    let (pool, rest) = pool_and_rest(words.trim());
    let line = folded(&sentences(rest)).map(|it| in_pool(pool, it));
    line.unwrap_or_else(|| cut(&clean(words), MAX_LINE))
}

/// `Node-Pool 'x': …`
fn pool_and_rest(text: &str) -> (&str, &str) {
    text.strip_prefix("Node-Pool '").and_then(|it| it.split_once("': ")).unwrap_or(("", text))
}

fn in_pool(pool: &str, line: String) -> String {
    let line = if matches!(pool, "" | "default") { line } else { format!("in node pool {pool}: {line}") };
    cut(&line, MAX_LINE)
}

/// The same thing once.
fn folded(messages: &[String]) -> Option<String> {
    let mut all: Vec<Said> = Vec::new();
    for message in messages.iter().filter(|it| !it.is_empty()) {
        let said = Said::read(message);
        match all.iter_mut().find(|it| it.is_same(&said)) {
            Some(earlier) => earlier.add(said),
            None => all.push(said),
        }
    }
    join(&mut all);
    let line = all.iter().map(Said::text).collect::<Vec<_>>().join("; ");
    Some(line).filter(|it| !it.is_empty())
}

/// Sentences of a text, which has one in each line and counts repetitions: `2 Resources were found …`.
fn sentences(text: &str) -> Vec<String> {
    let text = text.trim();
    if Cause::is_it(text) {
        return vec![clean(text)];
    }
    let rest = HEADS
        .iter()
        .find_map(|it| text.strip_prefix(it))
        .filter(|it| it.is_empty() || it.starts_with([':', '.']));
    let rest = rest.unwrap_or(text).trim_start_matches([':', '.', ' ']);
    // A cause has line breaks too; its lines begin with a number of nodes.
    let mut sentences: Vec<String> = Vec::new();
    for line in rest.lines() {
        let of_nodes = |it: &Counted<'_>| it.text.starts_with("node ") || it.text.starts_with("node(");
        let continues = Counted::read(line.trim()).is_some_and(|it| of_nodes(&it));
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
