//! What is said of a workload, as text for a terminal.

use owo_colors::OwoColorize;

use super::{
    cause::State,
    quota::{Quota, Row},
    report::{GroupSaid, PartSaid, Report},
    sentence::pods,
    standing::Count,
};
use crate::columns::{Table, Tone, line, paint};

/// Parts of a group that are listed.
const MAX_PARTS: usize = 30;
/// Other groups that are told in a line each.
const MAX_OTHERS: usize = 5;

pub(super) fn report(report: &Report) -> String {
    let mut out = String::new();
    let title = format!("{} {} in namespace {}", report.kind, report.name, report.namespace);
    let state = report.why.clone().unwrap_or_else(|| counted(report.pods));
    line(&mut out, &format!("{}: {state}", title.bold()));
    let mut groups = report.groups.iter();
    if let Some(worst) = groups.next() {
        told(&mut out, worst);
    }
    others(&mut out, groups.as_slice());
    for note in &report.notes {
        line(&mut out, &format!("\nNote: {note}"));
    }
    out
}

/// `4 pods: 1 scheduled, 3 waiting, 2 of them gated`
fn counted(count: Count) -> String {
    let mut parts = Vec::new();
    let verb = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    if count.placed > 0 {
        parts.push(verb(count.placed, "scheduled", "scheduled"));
    }
    if count.waiting() > 0 {
        parts.push(verb(count.waiting(), "waiting", "waiting"));
    }
    if count.gated > 0 {
        parts.push(format!("{} of them gated", count.gated));
    }
    for (number, what) in [(count.succeeded, "finished"), (count.failed, "failed")] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    match count.pods + count.succeeded + count.failed {
        0 => "no pods".to_owned(),
        all => format!("{}: {}", pods(all), parts.join(", ")),
    }
}

/// The group that is worst off, in full.
fn told(out: &mut String, group: &GroupSaid) {
    line(out, "");
    if group.name.is_some() || !group.scheduler.is_empty() {
        line(out, &head(group));
    }
    if !group.parts.is_empty() {
        out.push_str(&parts(group));
    }
    line(out, &paint(&group.why, tone(group.state)));
    if let Some(quota) = &group.quota {
        out.push_str(&table(quota));
    }
    for help in &group.help {
        line(out, &format!("  - {help}"));
    }
}

/// `group pg-train (podgroups.scheduling.run.ai, kai-scheduler): minimum 4 pods, queue team-a, priority class train`
fn head(group: &GroupSaid) -> String {
    let scheduler = if group.scheduler.is_empty() { "no scheduler" } else { &group.scheduler };
    let (Some(name), Some(resource)) = (&group.name, &group.resource) else {
        return format!("in no group ({scheduler}): {}", counted(group.pods));
    };
    let mut facts = Vec::new();
    if let Some(count) = group.min_parts {
        let what = if count == 1 { "sub-group" } else { "sub-groups" };
        facts.push(format!("minimum {count} {what}"));
    }
    if let Some(count) = group.min_pods {
        facts.push(format!("minimum {}", pods(count)));
    }
    let named =
        [("queue", &group.queue), ("priority class", &group.priority_class), ("part of", &group.above)];
    facts.extend(named.iter().filter_map(|(what, it)| Some(format!("{what} {}", it.as_ref()?))));
    facts.extend(group.preemptibility.clone());
    facts.push(counted(group.pods));
    format!("group {} ({resource}, {scheduler}): {}", name.bold(), facts.join(", "))
}

fn parts(group: &GroupSaid) -> String {
    let mut table = Table::new(&["  SUB-GROUP", "MINIMUM", "PODS", "PLACED", "GATED"], 0);
    let minimum = |it: &PartSaid| match (it.min_pods, it.min_parts) {
        (Some(pods), _) => pods.to_string(),
        (None, Some(parts)) => format!("{parts} sub-groups"),
        (None, None) => "-".to_owned(),
    };
    for it in group.parts.iter().take(MAX_PARTS) {
        let is_short = it.min_pods.is_some_and(|min| it.pods.settled() < min);
        let tone = if is_short { Tone::Waiting } else { Tone::Good };
        let name = format!("  {}", it.name);
        // What has parts has no pods of its own.
        let number = |count: u64| if it.min_parts.is_some() { "-".to_owned() } else { count.to_string() };
        let Count { pods, placed, gated, .. } = it.pods;
        table.row(tone, [name, minimum(it), number(pods), number(placed), number(gated)]);
    }
    let more = group.parts.len().saturating_sub(MAX_PARTS);
    if more > 0 {
        table.below(&format!("… and {more} more"));
    }
    if group.outside > 0 {
        table.below(&format!("{} in none of them", pods(group.outside)));
    }
    table.text(0)
}

/// What is requested against what is available.
fn table(quota: &Quota) -> String {
    let head = ["  RESOURCE", "REQUESTED", "AVAILABLE", "IN USE", "NON-PREEMPTIBLE", "QUOTA", "LIMIT"];
    let mut table = Table::new(&head, 2);
    let is_asked = |it: &&Row| it.requested > crate::amount::Amount::default();
    for row in quota.resources.iter().filter(is_asked) {
        let text = |it: crate::amount::Amount| it.text(&row.resource);
        let bound = |it: Option<_>| it.map_or_else(|| "none".to_owned(), text);
        let tone = if row.missing().is_some() { Tone::Bad } else { Tone::Good };
        let available = row.available.map_or_else(|| "any".to_owned(), text);
        table.row(
            tone,
            [
                format!("  {}", row.resource),
                text(row.requested),
                available,
                text(row.allocated),
                text(row.allocated_non_preemptible),
                bound(row.quota),
                bound(row.limit),
            ],
        );
    }
    if table.is_empty() { String::new() } else { table.text(0) }
}

/// The other groups, in short.
fn others(out: &mut String, groups: &[GroupSaid]) {
    if groups.is_empty() {
        return;
    }
    let of = |states: &[State]| groups.iter().filter(|it| states.contains(&it.state)).count();
    let counts = [
        (of(&[State::Waiting]), "not scheduled"),
        (of(&[State::Partly]), "with only their minimum scheduled"),
        (of(&[State::Placed]), "scheduled"),
        (of(&[State::Finished]), "finished"),
    ];
    let counts: Vec<String> =
        counts.iter().filter(|it| it.0 > 0).map(|(count, what)| format!("{count} {what}")).collect();
    line(out, &format!("\nother groups: {}", counts.join(", ")));
    let amiss: Vec<&GroupSaid> =
        groups.iter().filter(|it| matches!(it.state, State::Waiting | State::Partly)).collect();
    for it in amiss.iter().take(MAX_OTHERS) {
        let name = it.name.as_deref().unwrap_or("in no group");
        line(out, &format!("  {name}: {}", paint(&it.why, tone(it.state))));
    }
    let more = amiss.len().saturating_sub(MAX_OTHERS);
    if more > 0 {
        line(out, &format!("  … and {more} more waiting"));
    }
}

fn tone(state: State) -> Tone {
    match state {
        State::Waiting => Tone::Waiting,
        State::Partly | State::Placed | State::Finished => Tone::Good,
    }
}

#[cfg(test)]
mod tests;
