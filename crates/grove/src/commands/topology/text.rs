//! Topologies as text for a terminal.

use owo_colors::OwoColorize;

use super::{
    tree::{Domain, Room, Seated},
    view::{LevelShown, Shown, View},
};
use crate::columns::{Table, Tone, line};

/// Names of nodes, gangs or domains that are told one by one.
const MAX_NAMES: usize = 5;
/// Gangs that are told in one domain.
const MAX_GANGS: usize = 10;

/// What to do where there is no topology.
pub(super) const NONE: &str = "no topology found: the cluster has neither a ClusterTopologyBinding nor a Kueue Topology; \
                               `grove topology detect` proposes one from node labels";

pub(super) fn view(view: &View) -> String {
    let mut out = String::new();
    for shown in &view.topologies {
        if !out.is_empty() {
            out.push('\n');
        }
        topology(&mut out, shown, &view.resource);
    }
    let remarks = remarks(view);
    if !remarks.is_empty() && !out.is_empty() {
        out.push('\n');
    }
    for remark in &remarks {
        line(&mut out, remark);
    }
    out
}

fn topology(out: &mut String, shown: &Shown, resource: &str) {
    let Room { nodes, total, free, .. } = shown.tree.room;
    let free = free.map_or_else(String::new, |it| format!("{} of ", it.text(resource)));
    let state = if free.is_empty() { "" } else { " free" };
    let title = format!("{} ({})", shown.name, shown.kind.words());
    let nodes = counted(nodes, "node");
    line(out, &format!("{}: {nodes}, {free}{} {resource}{state}", title.bold(), total.text(resource)));
    out.push('\n');
    out.push_str(&levels(shown).text(0));
    out.push('\n');
    let mut table = Table::new(&["DOMAIN", "NODES", "FREE", "TOTAL", ""], 2);
    rows(&mut table, &shown.tree, 0, resource);
    out.push_str(&table.text(0));
    if let ([first, ..], Some(last)) = (shown.left_out.as_slice(), shown.left_out.last()) {
        let what = if first == last {
            format!("{first}s are")
        } else {
            format!("levels from {first} to {last} are")
        };
        line(out, &format!("{what} not shown; --depth {last} shows them"));
    }
}

/// A line for each level.
fn levels(shown: &Shown) -> Table {
    let mut table = Table::new(&["LEVEL", "NODE LABEL", "DOMAINS", "NODES"], 3);
    let mut above = "";
    for it in &shown.levels {
        let without = &it.nodes_without_label;
        let all = it.nodes_with_label + without.len();
        let tone = match it.nodes_with_label {
            0 => Tone::Bad,
            _ if without.is_empty() => Tone::Good,
            _ => Tone::Waiting,
        };
        let mut nodes = format!("{} of {all}", it.nodes_with_label);
        if tone == Tone::Waiting {
            nodes = format!("{nodes}; missing on {}", some(without));
        }
        table.row(tone, [it.domain.clone(), it.key.clone(), it.domains.to_string(), nodes]);
        if let Some(torn) = torn(it, above) {
            table.below(&torn);
        }
        above = &it.domain;
    }
    table
}

/// Schedulers that go by labels alone take such domains for one.
fn torn(level: &LevelShown, above: &str) -> Option<String> {
    let verb = match level.torn.len() {
        0 => return None,
        1 => "is",
        _ => "are",
    };
    Some(format!("{} {verb} in more than one {above}: these levels do not nest", some(&level.torn)))
}

fn rows(table: &mut Table, domain: &Domain, depth: usize, resource: &str) {
    let room = &domain.room;
    let tone = match room.free {
        Some(free) if !free.is_zero() && free == room.total => Tone::Good,
        Some(free) if free.is_zero() && !room.total.is_zero() => Tone::Bad,
        _ => Tone::Waiting,
    };
    let indent = "  ".repeat(depth);
    let free = room.free.map_or_else(|| "?".to_owned(), |it| it.text(resource));
    table.row(
        tone,
        [
            format!("{indent}{}", name(domain)),
            room.nodes.to_string(),
            free,
            room.total.text(resource),
            remark(room, resource),
        ],
    );
    for gang in domain.gangs.iter().take(MAX_GANGS) {
        table.below(&format!("{indent}- {}", seated(gang, resource)));
    }
    let more = domain.gangs.len().saturating_sub(MAX_GANGS);
    if more > 0 {
        table.below(&format!("{indent}- … and {}", counted(more, "more gang")));
    }
    for it in &domain.domains {
        rows(table, it, depth + 1, resource);
    }
}

fn name(domain: &Domain) -> String {
    match (&domain.level, &domain.name) {
        (None, _) => "all nodes".to_owned(),
        (Some(level), None) => format!("(no {level} label)"),
        (Some(_), Some(name)) if name.is_empty() => "\"\"".to_owned(),
        (Some(_), Some(name)) => name.clone(),
    }
}

/// What does not count as free.
fn remark(room: &Room, resource: &str) -> String {
    let mut words = Vec::new();
    words.extend((room.cordoned_nodes > 0).then(|| format!("{} cordoned", room.cordoned_nodes)));
    words.extend((room.not_ready_nodes > 0).then(|| format!("{} not ready", room.not_ready_nodes)));
    let idle = room.idle_but_unusable.filter(|it| !it.is_zero());
    let idle = idle.map(|it| format!(", {} unusable", it.text(resource))).unwrap_or_default();
    format!("{}{idle}", words.join(", "))
}

/// `default/chat-0: 8 pods, 32 nvidia.com/gpu, spread over 3 racks`
fn seated(gang: &Seated, resource: &str) -> String {
    let seat = &gang.seat;
    let mut words = vec![counted(seat.pods, "pod")];
    words.extend((!seat.takes.is_zero()).then(|| format!("{} {resource}", seat.takes.text(resource))));
    words.push(match &gang.spread {
        Some(it) => format!("spread over {}", counted(it.domains, &it.level)),
        None => format!("on {}", counted(seat.on.len(), "node")),
    });
    let broken = seat.required.as_ref().filter(|it| !it.holds);
    words.extend(broken.map(|it| format!("violates required level {}", it.level)));
    format!("{}/{}: {}", seat.namespace, seat.name, words.join(", "))
}

fn remarks(view: &View) -> Vec<String> {
    let mut remarks = Vec::new();
    let waiting = &view.gangs_without_place;
    if let Some(first) = waiting.first() {
        let (have, gang) = if waiting.len() == 1 { ("has", "gang") } else { ("have", "gangs") };
        let named = first.split_once('/').map(|(namespace, name)| format!("podgang/{name} -n {namespace}"));
        remarks.push(format!(
            "{} {gang} {have} no scheduled pods: {}; `grove why {}` shows why",
            waiting.len(),
            some(waiting),
            named.unwrap_or_default()
        ));
    }
    // Where there is no topology, nothing else was asked for.
    let shown = !view.topologies.is_empty();
    if shown && !view.pods_read {
        remarks
            .push("You may not list pods of all namespaces: free capacity and gangs are unknown.".to_owned());
    }
    if shown && view.pods_read && !view.gangs_read {
        remarks.push(
            "PodGangs could not be read: required levels and unscheduled gangs are unknown.".to_owned(),
        );
    }
    if view.kueue_refused {
        remarks.push("You may not list Kueue Topologies: they are not shown.".to_owned());
    }
    remarks
}

/// `1 node`, `3 racks`
pub(super) fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The first names, and how many more there are.
pub(super) fn some(names: &[String]) -> String {
    let more = names.len().saturating_sub(MAX_NAMES);
    let first = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more == 0 { first } else { format!("{first} and {more} more") }
}

#[cfg(test)]
mod tests;
