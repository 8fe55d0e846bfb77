//! Which labels fit together: levels from the broadest to the narrowest, each domain in exactly one of the level above.

use std::cmp::Ordering;

use grove_api::limits::{MAX_LABEL_LENGTH, MAX_TOPOLOGY_LEVELS};

use super::labels::{self, Candidate};
use crate::commands::topology::{
    facts::Node,
    known::Known,
    naming,
    nesting::{Labels, Nesting},
    text::{counted, some},
};

/// Levels that nest, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// From the broadest to the narrowest.
    pub(super) levels: Vec<Level>,
    left_out: Vec<String>,
    /// Nothing says that they are places, but they would fit.
    unclear: Vec<String>,
}

/// A label that became a level.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub(super) domain: String,
    pub(super) key: String,
    pub(super) label: Candidate,
    nodes: usize,
}

/// Where a label belongs, seen from one that is in the chain.
enum Fit {
    Above,
    Below,
    /// They name the same domains.
    Same,
    Clash(String),
}

impl Chain {
    pub(super) fn of(nodes: &[&Node]) -> Self {
        let sorted = labels::sort(nodes);
        let labels: Vec<&Labels> = nodes.iter().map(|it| &it.labels).collect();
        let (mut chain, mut left_out) = (Vec::new(), Vec::new());
        for it in sorted.candidates {
            match place(&labels, &chain, &it) {
                Ok(index) => chain.insert(index, it),
                Err(why) => left_out.push(format!("{} is left out: {why}", it.key)),
            }
        }
        left_out.extend(sorted.too_few.iter().map(|it| {
            let covered = nodes.len() - it.without.len();
            format!("{} is left out: only {covered} of {} have it", it.key, counted(nodes.len(), "node"))
        }));
        let unclear = sorted.unclear.into_iter().filter(|it| place(&labels, &chain, it).is_ok());
        let unclear = unclear.map(|it| format!("{} ({} values)", it.key, it.sizes.len())).collect();
        let domains = naming::domains(chain.iter().map(|it| it.key.as_str()));
        let level = |(domain, label): (String, Candidate)| Level {
            domain,
            key: label.key.clone(),
            label,
            nodes: nodes.len(),
        };
        Self { levels: domains.into_iter().zip(chain).map(level).collect(), left_out, unclear }
    }

    /// What a person should know beside the manifest.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.levels.iter().filter_map(Level::gap).collect();
        notes.extend(self.left_out.iter().cloned());
        if !self.unclear.is_empty() {
            notes.push(format!(
                "nothing says that these are places, but they nest: {}; add them by hand if they are",
                some(&self.unclear)
            ));
        }
        notes
    }
}

impl Level {
    /// Nodes that are in no domain of it.
    pub(super) fn gap(&self) -> Option<String> {
        let without = &self.label.without;
        (!without.is_empty()).then(|| {
            format!(
                "{} is on {} of {}; missing on {}",
                self.key,
                self.nodes - without.len(),
                counted(self.nodes, "node"),
                some(without)
            )
        })
    }
}

/// Where in the chain a label belongs, or why nowhere.
fn place(nodes: &[&Labels], chain: &[Candidate], label: &Candidate) -> Result<usize, String> {
    if label.key.len() > MAX_LABEL_LENGTH {
        return Err(format!("the label of a level has at most {MAX_LABEL_LENGTH} characters"));
    }
    if chain.len() >= MAX_TOPOLOGY_LEVELS {
        return Err(format!("a topology has at most {MAX_TOPOLOGY_LEVELS} levels"));
    }
    let mut above = Vec::new();
    for it in chain {
        above.push(match fit(nodes, label, it) {
            Fit::Below => true,
            Fit::Above => false,
            Fit::Same => return Err(format!("it names the same domains as {}", it.key)),
            Fit::Clash(why) => return Err(why),
        });
    }
    // What holds it comes first. Where labels are missing on nodes, pairs may nest that do not fit together.
    let index = above.iter().take_while(|it| **it).count();
    if above.iter().skip(index).any(|it| *it) {
        return Err("too many nodes lack it to say where it belongs".to_owned());
    }
    Ok(index)
}

fn fit(nodes: &[&Labels], label: &Candidate, other: &Candidate) -> Fit {
    let below = Nesting::of(nodes.iter().copied(), &label.key, &other.key);
    let above = Nesting::of(nodes.iter().copied(), &other.key, &label.key);
    if below.values == 0 {
        return Fit::Clash(format!("no node has both it and {}", other.key));
    }
    let known = label.known.as_ref().zip(other.known.as_ref());
    let meaning = known.and_then(|(label, other)| label.by_meaning(other));
    let standard = label.known.as_ref().is_some_and(Known::is_standard);
    match (above.holds(), below.holds()) {
        // One domain each: more nodes may come.
        (true, true) if label.sizes.len() > 1 && !(standard && meaning.is_some()) => Fit::Same,
        (true, true) => match meaning.or_else(|| known.map(|(label, other)| label.likely(other))) {
            Some(Ordering::Less) => Fit::Above,
            Some(Ordering::Greater) => Fit::Below,
            Some(Ordering::Equal) | None => Fit::Same,
        },
        (true, false) if meaning != Some(Ordering::Greater) => Fit::Above,
        (false, true) if meaning != Some(Ordering::Less) => Fit::Below,
        _ => {
            // The one that means, or has, the narrower domains should nest and does not.
            let order = meaning.unwrap_or_else(|| label.sizes.len().cmp(&other.sizes.len()));
            let (torn, narrow, broad) = match order {
                Ordering::Less => (above, other, label),
                _ => (below, label, other),
            };
            Fit::Clash(clash(&torn, &narrow.key, &broad.key))
        }
    }
}

/// `it does not nest: 2 of 8 values of example.com/rack are in more than one of example.com/zone, such as rack-0 in a, b`
fn clash(nesting: &Nesting, narrow: &str, broad: &str) -> String {
    let example =
        nesting.torn.first().map(|(value, within)| format!(", such as {value} in {}", some(within)));
    format!(
        "it does not nest: {} of {} values of {narrow} are in more than one of {broad}{}",
        nesting.torn.len(),
        nesting.values,
        example.unwrap_or_default()
    )
}
