//! Explanations for people.

use std::fmt::Write;

use super::shown::{Explained, Part, Place, Reference, Shown};

/// All pods, an empty line between two.
pub(super) fn text(pods: &[Explained]) -> String {
    let texts: Vec<String> = pods.iter().map(pod).collect();
    texts.join("\n")
}

fn pod(it: &Explained) -> String {
    let mut out = format!("Pod {}/{}", it.namespace, it.pod);
    if it.imagined {
        out.push_str(" (derived: not in the input)");
    }
    out.push('\n');
    let owners = it.owners.iter().map(named).collect::<Vec<_>>().join(", owned by ");
    line(&mut out, "owned by", if owners.is_empty() { "none" } else { &owners });
    for skipped in &it.skipped {
        line(&mut out, "skipped", &format!("{}: its child is grouped", named(skipped)));
    }
    let reason = if it.reason.is_empty() { String::new() } else { format!(" ({})", it.reason) };
    line(&mut out, "plugin", &format!("{}{reason}", it.plugin));
    match (&it.group, &it.refused) {
        (_, Some(why)) => line(&mut out, "group", &format!("none: {why}")),
        (Some(shown), None) => group(&mut out, shown),
        (None, None) => line(&mut out, "group", "none: the pod is left alone"),
    }
    out
}

fn group(out: &mut String, it: &Shown) {
    line(out, "group", &format!("{}, owned by {}", it.name, named(&it.owner)));
    line(out, "queue", &format!("{} (from {})", it.queue.value, it.queue.from));
    line(out, "priority", &format!("{} (from {})", it.priority_class.value, it.priority_class.from));
    if let Some(preemptibility) = it.preemptibility {
        line(out, "preemption", preemptibility);
    }
    line(out, "minimum", &minimum(it.min_members, it.min_sub_groups));
    if let Some(topology) = &it.topology {
        line(out, "topology", &place(topology));
    }
    parts(out, it, None, 0);
    if let Some(part) = &it.sub_group {
        line(out, "its part", part);
    } else if !it.sub_groups.is_empty() {
        line(out, "its part", "none");
    }
    for remark in &it.remarks {
        line(out, "remark", remark);
    }
}

/// The parts below one, each with its own below it. Parents are never below their parts, so this ends.
fn parts(out: &mut String, it: &Shown, parent: Option<&str>, depth: usize) {
    for part in it.sub_groups.iter().filter(|it| it.parent.as_deref() == parent) {
        let Part { name, min_members, min_sub_groups, topology, .. } = part;
        let minimum = minimum(*min_members, *min_sub_groups);
        let place = topology.as_ref().map(|it| format!(", {}", place(it))).unwrap_or_default();
        line(out, "part", &format!("{}{name}: {minimum}{place}", "  ".repeat(depth)));
        if depth < it.sub_groups.len() {
            parts(out, it, Some(name), depth + 1);
        }
    }
}

fn minimum(members: Option<u32>, parts: Option<u32>) -> String {
    let plural = |count: u32, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    match (parts, members) {
        (Some(parts), _) => plural(parts, "part"),
        (None, members) => plural(members.unwrap_or_default(), "pod"),
    }
}

fn place(topology: &Place) -> String {
    let mut text = if topology.name.is_empty() { "(no topology)" } else { &topology.name }.to_owned();
    for (word, level) in [("required", &topology.required), ("preferred", &topology.preferred)] {
        if let Some(level) = level {
            let _ = write!(text, ", {word} {level}");
        }
    }
    text
}

fn named(it: &Reference) -> String {
    format!("{} {}", it.kind, it.name)
}

fn line(out: &mut String, key: &str, value: &str) {
    let _ = writeln!(out, "  {:<12}{value}", format!("{key}:"));
}
