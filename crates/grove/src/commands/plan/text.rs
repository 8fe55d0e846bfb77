//! A plan as text for a terminal.

use std::collections::{BTreeMap, BTreeSet};

use grove_placement::resources::is_device;
use owo_colors::OwoColorize;

use super::{
    fit::Fit,
    report::{GangPlan, GroupPlan, Levels, Report, SetPlan},
};
use crate::columns::{Table, Tone, cut, line, paint};

/// Gangs of a set that are listed; -o json has all.
const MAX_GANGS: usize = 20;
/// Groups below one gang.
const MAX_GROUPS: usize = 20;
/// Names of domains and objects in a line.
const MAX_NAMES: usize = 4;
/// Characters of a reason.
const MAX_REASON: usize = 400;

pub(super) fn report(report: &Report) -> String {
    let mut out = String::new();
    for (number, set) in report.sets.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        set_plan(&mut out, set);
    }
    if let Some(nodes) = &report.nodes {
        let gpus = match (nodes.gpus, nodes.free_gpus) {
            (0, _) => String::new(),
            (all, free) if all == free => format!(" with {all} GPUs"),
            (all, free) => format!(" with {free} of {all} GPUs free"),
        };
        let place = format!("{}{gpus}", count(nodes.count, "node"));
        let gangs = || report.sets.iter().flat_map(|it| &it.gangs);
        let all = gangs().count();
        let placed = gangs().filter(|it| it.fit.as_ref().is_some_and(Fit::is_placed)).count();
        let (tone, said) = match (all, all - placed) {
            (_, 0) => (Tone::Good, format!("fits on {place}")),
            (1, _) => (Tone::Bad, format!("does not fit on {place}")),
            _ => (Tone::Bad, format!("{placed} of {all} gangs fit on {place}")),
        };
        line(&mut out, &format!("\n{}", paint(&said, tone)));
    }
    line(&mut out, &"nothing was written".dimmed().to_string());
    out
}

fn set_plan(out: &mut String, set: &SetPlan) {
    let api = if set.scheduler_api.is_empty() { String::new() } else { format!(" ({})", set.scheduler_api) };
    let title = format!("{} in namespace {}", set.name, set.namespace);
    let pods = set.gangs.iter().map(|it| it.pods).sum();
    let told =
        format!("{} of {} for {}{api}", count(set.gangs.len(), "gang"), count(pods, "pod"), set.scheduler);
    line(out, &format!("{}: {told}", title.bold()));
    let kinds: Vec<String> = set.creates.iter().map(|(kind, number)| count(*number, kind)).collect();
    line(out, &format!("  creates {}", kinds.join(", ")));
    let is_placed = set.gangs.iter().any(|it| it.fit.is_some());
    let mut table = Table::new(&["GANG", "MINIMUM", "PODS", if is_placed { "FITS" } else { "" }], 3);
    for gang in set.gangs.iter().take(MAX_GANGS) {
        let (tone, fits) = fits(set, gang);
        table.row(tone, [gang.name.clone(), gang.minimum_pods.to_string(), gang.pods.to_string(), fits]);
        let levels = levels(set, &gang.levels, ", ");
        if !levels.is_empty() {
            table.below(&format!("all pods {}", levels.trim_start_matches(", ")));
        }
        for group in gang.groups.iter().take(MAX_GROUPS) {
            table.below(&group_line(set, group));
        }
        if let Some(more) = gang.groups.len().checked_sub(MAX_GROUPS).filter(|it| *it > 0) {
            table.below(&format!("… and {more} more"));
        }
        let objects = gang.scheduler_objects.iter().map(|it| format!("{} {}", it.kind, it.name));
        if !gang.scheduler_objects.is_empty() {
            table.below(&format!("{}: {}", set.scheduler, names(&objects.collect::<Vec<_>>())));
        }
    }
    out.push('\n');
    out.push_str(&table.text(0));
    let rest: Vec<&GangPlan> = set.gangs.iter().skip(MAX_GANGS).collect();
    let bad = rest.iter().filter(|it| it.fit.as_ref().is_some_and(|it| !it.is_placed())).count();
    match (rest.len(), bad) {
        (0, _) => {}
        (more, 0) => line(out, &format!("… and {more} more; -o json has all")),
        (more, bad) => line(out, &format!("… and {more} more, {bad} of which do not fit; -o json has all")),
    }
}

/// `chat-0-decode: 2 of 3 pods at least, each 8 nvidia.com/gpu, in one rack`
fn group_line(set: &SetPlan, group: &GroupPlan) -> String {
    let indent = "  ".repeat(group.depth);
    let size = match (group.minimum, group.pods) {
        (Some(minimum), Some(pods)) if minimum as usize == pods => count(pods, "pod"),
        (Some(minimum), Some(pods)) => format!("{}, {minimum} at least", count(pods, "pod")),
        _ => "together".to_owned(),
    };
    // Devices decide where pods go; what else they ask for is said where they ask for none.
    let has_devices = group.requests.keys().any(|it| is_device(it));
    let asked = group.requests.iter().filter(|it| !has_devices || is_device(it.0));
    let asked: Vec<String> = asked.map(|(name, amount)| format!("{amount} {name}")).collect();
    let requests = if asked.is_empty() { String::new() } else { format!(", each {}", asked.join(" and ")) };
    format!("{indent}{}: {size}{requests}{}", group.name, levels(set, &group.levels, ", "))
}

/// `, in one rack, in one block if possible`
fn levels(set: &SetPlan, levels: &Levels, before: &str) -> String {
    let name = |key: &String| set.levels.get(key).cloned().unwrap_or_else(|| format!("domain of {key}"));
    let required = levels.required.as_ref().map(|it| format!("{before}in one {}", name(it)));
    let preferred = levels.preferred.as_ref().map(|it| format!("{before}in one {} if possible", name(it)));
    format!("{}{}", required.unwrap_or_default(), preferred.unwrap_or_default())
}

fn fits(set: &SetPlan, gang: &GangPlan) -> (Tone, String) {
    match &gang.fit {
        None => (Tone::Good, String::new()),
        Some(Fit::NoRoom { why }) => (Tone::Bad, format!("no: {}", cut(why, MAX_REASON))),
        Some(Fit::Waits { base }) => {
            (Tone::Waiting, format!("no: waits for its base gang {base}, which does not fit"))
        }
        Some(Fit::Unknown { tried }) => {
            (Tone::Waiting, format!("not known: gave up after {tried} possibilities"))
        }
        Some(Fit::Fits { domains, nodes, unplaced }) => {
            let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for it in domains {
                places.entry(it.key.as_str()).or_default().insert(&it.value);
            }
            let place = |(key, values): (&&str, &BTreeSet<&str>)| {
                let level = set.levels.get(*key).map_or(*key, String::as_str);
                let mut values: Vec<&str> = values.iter().copied().collect();
                values.sort_by(|one, other| grove_placement::natural::compare(one, other));
                format!("{level} {}", names(&values))
            };
            let mut places: Vec<String> = places.iter().map(place).collect();
            let used: BTreeSet<&String> = nodes.values().collect();
            places.push(match used.first() {
                Some(one) if used.len() == 1 => format!("node {one}"),
                _ => count(used.len(), "node"),
            });
            let rest = match unplaced.len() {
                0 => String::new(),
                some => format!("; no room for {} above the minimum", count(some, "pod")),
            };
            let tone = if unplaced.is_empty() { Tone::Good } else { Tone::Waiting };
            (tone, format!("yes: {}{rest}", places.join(", ")))
        }
    }
}

fn names<T: AsRef<str>>(all: &[T]) -> String {
    let shown: Vec<&str> = all.iter().take(MAX_NAMES).map(AsRef::as_ref).collect();
    let more = all.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
