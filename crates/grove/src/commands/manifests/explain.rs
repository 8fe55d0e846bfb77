//! The operator's rights for people: a Markdown table with the reason of each.

use std::fmt::Write;

use grove_operator::rights::{self, Place, Right};

use super::installation::Installation;

pub(super) fn rights(installation: &Installation) -> String {
    let mut text =
        String::from("| part | where | group | resources | verbs | what for |\n|---|---|---|---|---|---|\n");
    for right in rights::rights(&installation.config, &installation.namespace, &installation.uses) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", row(&right));
    }
    text
}

fn row(right: &Right) -> String {
    let place = match &right.place {
        Place::Cluster => "cluster".to_owned(),
        Place::Namespace(name) => format!("namespace `{name}`"),
    };
    let group = if right.group.is_empty() { "core".to_owned() } else { format!("`{}`", right.group) };
    let code = |words: &mut dyn Iterator<Item = &str>| {
        words.map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
    };
    let mut resources = code(&mut right.resources.iter().map(String::as_str));
    if !right.names.is_empty() {
        let names = code(&mut right.names.iter().map(String::as_str));
        let _ = write!(resources, ", only {names}");
    }
    let (part, verbs) = (right.feature.name(), right.verbs.join(", "));
    format!("| {part} | {place} | {group} | {resources} | {verbs} | {} |", right.reason)
}
