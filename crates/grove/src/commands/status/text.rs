//! What is shown, as text for a terminal: what needs attention first, and never more than a screen or two.

use k8s_openapi::jiff::Timestamp;
use owo_colors::OwoColorize;

use super::{
    overview::Overview,
    reasons::Reason,
    screen::{Screen, State},
};
use crate::columns::{Table, Tone, cut, line, paint};

/// Lines of each list; of more, the ones that need attention.
const MAX_GANGS: usize = 10;
const MAX_GROUPS: usize = 10;
const MAX_ROLES: usize = 20;
/// Reasons below one role.
const MAX_REASONS: usize = 3;
/// Characters of a reason; a scheduler lists every node.
const MAX_REASON: usize = 400;
/// Characters of what a gang waits for; its roles say more.
const MAX_AWAITED: usize = 100;

/// The table of all sets.
pub(super) fn overview(overview: &Overview) -> String {
    if overview.sets.is_empty() {
        return "no PodCliqueSets found\n".to_owned();
    }
    let mut table = Table::new(&["NAMESPACE", "NAME", "REPLICAS", "PODS", "GANGS", "STATE"], 5);
    for set in &overview.sets {
        let awaited =
            if set.awaited.is_empty() { String::new() } else { format!(": {}", short(&set.awaited)) };
        table.row(
            colour(set.state, set.blocked.is_some()),
            [
                set.namespace.clone(),
                set.name.clone(),
                of(set.available_replicas, set.wanted_replicas),
                of(set.ready_pods, set.wanted_pods),
                of(set.running_gangs, set.gangs),
                format!("{}{awaited}", set.state.words(set.blocked)),
            ],
        );
    }
    table.text(usize::from(!overview.with_namespace))
}

/// The screen of one set.
pub(super) fn screen(screen: &Screen, now: Timestamp) -> String {
    let mut out = String::new();
    let title = format!("{} in namespace {}", screen.name, screen.namespace);
    let mut state = format!("{} replicas available", of(screen.available_replicas, screen.wanted_replicas));
    if screen.state != State::Available || screen.blocked.is_some() {
        state = format!("{state}, {}", screen.state.words(screen.blocked));
    }
    line(
        &mut out,
        &format!("{}: {}", title.bold(), paint(&state, colour(screen.state, screen.blocked.is_some()))),
    );
    for note in &screen.notes {
        line(&mut out, &format!("  {}", short(note)));
    }
    gangs(&mut out, screen, now);
    groups(&mut out, screen);
    roles(&mut out, screen);
    out
}

fn gangs(out: &mut String, screen: &Screen, now: Timestamp) {
    let mut table = Table::new(&["GANG", "PHASE", "PODS READY", ""], 1);
    for gang in screen.gangs.iter().take(MAX_GANGS) {
        let phase = if gang.healthy { gang.phase.clone() } else { format!("{}, unhealthy", gang.phase) };
        let tone = if gang.is_well() { Tone::Good } else { Tone::Waiting };
        table.row(
            tone,
            [
                gang.name.clone(),
                phase,
                of(gang.ready_pods, gang.wanted_pods),
                cut(&gang.awaited, MAX_AWAITED),
            ],
        );
        if let Some(restart) = &gang.restart {
            table.below(&short(&restart.text(now)));
        }
    }
    let rest: Vec<bool> = screen.gangs.iter().skip(MAX_GANGS).map(super::screen::Gang::is_well).collect();
    section(out, &table, &rest, "running");
}

fn groups(out: &mut String, screen: &Screen) {
    let mut table = Table::new(&["GROUP", "AVAILABLE", "MINIMUM", ""], 1);
    let is_well = |it: &super::screen::Group| it.available_replicas >= it.wanted_replicas;
    for group in screen.groups.iter().take(MAX_GROUPS) {
        let tone = if is_well(group) { Tone::Good } else { Tone::Waiting };
        let available = of(group.available_replicas, group.wanted_replicas);
        table.row(tone, [group.name.clone(), available, group.minimum_replicas.to_string(), String::new()]);
    }
    let rest: Vec<bool> = screen.groups.iter().skip(MAX_GROUPS).map(is_well).collect();
    section(out, &table, &rest, "available");
}

fn roles(out: &mut String, screen: &Screen) {
    let mut table = Table::new(&["ROLE", "GANG", "READY", "MINIMUM", ""], 2);
    for role in screen.roles.iter().take(MAX_ROLES) {
        let tone = if role.is_well() {
            Tone::Good
        } else if role.ready_pods < role.minimum_pods {
            Tone::Bad
        } else {
            Tone::Waiting
        };
        let ready = of(role.ready_pods, role.wanted_pods);
        table.row(
            tone,
            [role.name.clone(), role.gang.clone(), ready, role.minimum_pods.to_string(), String::new()],
        );
        for reason in role.awaited.iter().take(MAX_REASONS) {
            table.below(&reason_line(reason));
        }
        if let Some(more) = role.awaited.len().checked_sub(MAX_REASONS).filter(|it| *it > 0) {
            table.below(&format!("… and {more} more reasons"));
        }
    }
    let rest: Vec<bool> = screen.roles.iter().skip(MAX_ROLES).map(super::screen::Role::is_well).collect();
    section(out, &table, &rest, "ready");
}

fn reason_line(reason: &Reason) -> String {
    let pods = if reason.pods == 1 { "pod" } else { "pods" };
    format!("{} {pods}: {}", reason.pods, short(&reason.why))
}

/// A list with what was left out of it: whether each of them is well.
fn section(out: &mut String, table: &Table, rest: &[bool], well: &str) {
    if table.is_empty() {
        return;
    }
    out.push('\n');
    out.push_str(&table.text(0));
    let bad = rest.iter().filter(|it| !**it).count();
    match (rest.len(), bad) {
        (0, _) => {}
        (count, 0) => line(out, &format!("… and {count} more, all {well}")),
        (count, bad) => line(out, &format!("… and {count} more, {bad} of them not {well}")),
    }
}

fn of(have: usize, wanted: usize) -> String {
    format!("{have} of {wanted}")
}

fn short(text: &str) -> String {
    cut(text, MAX_REASON)
}

fn colour(state: State, is_blocked: bool) -> Tone {
    match state {
        _ if is_blocked => Tone::Bad,
        State::Available => Tone::Good,
        State::AvailableProgressing | State::Progressing | State::Deleting => Tone::Waiting,
        State::Unavailable | State::Unseen => Tone::Bad,
    }
}

#[cfg(test)]
mod tests;
