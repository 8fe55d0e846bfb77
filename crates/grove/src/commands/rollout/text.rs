//! Updates and histories as text for a terminal.

use k8s_openapi::jiff::Timestamp;
use owo_colors::OwoColorize;

use super::{
    changes::Change,
    history::{History, Revision},
    progress::{Kind, Progress, State, Turn, Unit},
};
use crate::columns::{Table, Tone, cut, line, paint};

/// Lines of the list of units; those in need of attention come first.
const MAX_UNITS: usize = 20;
/// Reasons below one unit.
const MAX_REASONS: usize = 3;
/// Changes below one revision.
const MAX_CHANGES: usize = 5;
/// Characters of what others wrote.
const MAX_TEXT: usize = 400;
/// Characters of a value; arguments can be long.
const MAX_VALUE: usize = 80;

/// How far an update is.
pub(super) fn progress(progress: &Progress) -> String {
    let mut out = String::new();
    let (tone, words) = words(progress);
    let title = format!("{} in namespace {}", progress.name, progress.namespace);
    line(&mut out, &format!("{}: {}", title.bold(), paint(&words, tone)));
    if !progress.message.is_empty() {
        line(&mut out, &format!("  {}", cut(&progress.message, MAX_TEXT)));
    }
    if matches!(progress.state, State::Never | State::Ended) {
        return out;
    }
    let mut table = Table::new(&["REPLICA", "NAME", "UPDATED", "STATE"], 3);
    for unit in progress.units.iter().take(MAX_UNITS) {
        row(&mut table, unit);
    }
    if !table.is_empty() {
        out.push('\n');
        out.push_str(&table.text(0));
    }
    if let Some(more) = progress.units.len().checked_sub(MAX_UNITS).filter(|it| *it > 0) {
        line(&mut out, &format!("… and {more} more; -o json has all"));
    }
    out
}

fn words(progress: &Progress) -> (Tone, String) {
    let replicas = format!("{} of {} replicas updated", progress.updated_replicas, progress.wanted_replicas);
    let since = |it: Option<&grove_api::wire::Time>| it.map(|it| it.0.to_string()).unwrap_or_default();
    let started = since(progress.started_at.as_ref());
    match progress.state {
        State::Never => (Tone::Good, "the template has not changed since the set was created".to_owned()),
        State::Unseen => (Tone::Waiting, "the operator has not observed the newest change yet".to_owned()),
        State::Running => (Tone::Waiting, format!("updating since {started}, {replicas}")),
        State::Paused if progress.change_pending => (
            Tone::Waiting,
            format!(
                "paused with a change pending, {replicas}; `grove rollout resume {}` starts it",
                progress.name
            ),
        ),
        State::Paused => (Tone::Waiting, format!("paused, {replicas}")),
        State::Blocked => (
            Tone::Bad,
            format!("blocked: pods of the new template are refused; updating since {started}, {replicas}"),
        ),
        State::Stuck => (
            Tone::Bad,
            format!("stuck: no progress within the deadline; updating since {started}, {replicas}"),
        ),
        State::Ended if !progress.message.is_empty() => {
            (Tone::Waiting, format!("no more pods are replaced, {replicas}"))
        }
        State::Ended => (Tone::Good, format!("complete since {}", since(progress.ended_at.as_ref()))),
    }
}

fn row(table: &mut Table, unit: &Unit) {
    let (tone, state) = match unit.state {
        Turn::Updating => (Tone::Waiting, "updating"),
        Turn::Waiting => (Tone::Waiting, "waiting"),
        Turn::Done => (Tone::Good, "done"),
    };
    let things = match unit.kind {
        Kind::PodClique => "pods",
        Kind::PodCliqueScalingGroup => "replicas",
    };
    let updated = format!("{} of {} {things}", unit.updated, unit.wanted);
    table.row(tone, [unit.replica.to_string(), unit.name.clone(), updated, state.to_owned()]);
    if let Some(replacing) = &unit.replacing {
        table.below(&format!("{} is being replaced", cut(replacing, MAX_TEXT)));
    }
    for reason in unit.awaited.iter().take(MAX_REASONS) {
        let pods = if reason.pods == 1 { "pod" } else { "pods" };
        table.below(&format!("{} {pods}: {}", reason.pods, cut(&reason.why, MAX_TEXT)));
    }
}

/// Which templates there were.
pub(super) fn history(history: &History, now: Timestamp) -> String {
    if history.revisions.is_empty() {
        return format!("no revisions of {} yet: check that the operator is running\n", history.name);
    }
    let mut table = Table::new(&["REVISION", "AGE", "CHANGE"], 0);
    for it in &history.revisions {
        let mark = if it.current { " *" } else { "" };
        let age = it.created_at.as_ref().map(|it| age(now, it.0)).unwrap_or_default();
        let tone = if it.current { Tone::Good } else { Tone::Waiting };
        let lines = changes(it);
        let first = lines.first().cloned().unwrap_or_default();
        table.row(tone, [format!("{}{mark}", it.number), age, first]);
        lines.iter().skip(1).for_each(|it| table.below(it));
    }
    table.text(0) + "* in use\n"
}

fn changes(revision: &Revision) -> Vec<String> {
    let Some(changes) = &revision.changes else { return vec!["oldest kept revision".to_owned()] };
    if changes.is_empty() {
        return vec!["no change to pods".to_owned()];
    }
    let mut lines: Vec<String> = changes.iter().take(MAX_CHANGES).map(sentence).collect();
    if let Some(more) = changes.len().checked_sub(MAX_CHANGES).filter(|it| *it > 0) {
        lines.push(format!("… and {more} more; -o json has all"));
    }
    lines
}

fn sentence(change: &Change) -> String {
    let value = |it: &String| cut(it, MAX_VALUE);
    let field = cut(&change.field, MAX_TEXT);
    match (&change.from, &change.to) {
        (Some(from), Some(to)) => format!("{field}: {} → {}", value(from), value(to)),
        (None, Some(to)) => format!("{field}: added: {}", value(to)),
        (Some(from), None) => format!("{field}: removed, was {}", value(from)),
        (None, None) => field,
    }
}

/// How long ago, as kubectl says it: one unit, the largest that is not zero.
fn age(now: Timestamp, then: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests;
