//! Names of the set, its cliques and its groups: they end up in host names, Services and labels.

use std::collections::BTreeSet;

use regex_lite::Regex;

use super::{Subject, Verdict, kubernetes};
use crate::{
    field::{Error, Errors, Path},
    limits::NAME_BUDGET,
    messages,
    schema::SERVICE_NAME,
    wire::CliqueTemplate,
};

const LABEL: &str =
    "must have only lower-case letters, digits and dashes, and begin and end with a letter or digit";

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    set_name(subject, errors);
    let (mut names, mut roles) = (BTreeSet::new(), BTreeSet::new());
    for (path, clique) in subject.cliques() {
        label(&path.child("name"), &clique.name, errors);
        if !names.insert(&clique.name) {
            errors.push(Error::duplicate(path.child("name"), &clique.name));
        }
        let role = clique.spec.role_name.as_deref().unwrap_or_default();
        if !roles.insert(role) {
            let path = path.child("spec").child("roleName");
            errors
                .push(Error { detail: messages::ROLE_NAME_TWICE.to_owned(), ..Error::duplicate(path, role) });
        }
    }
    let mut groups = BTreeSet::new();
    for (path, group) in subject.groups() {
        label(&path.child("name"), &group.name, errors);
        if !groups.insert(&group.name) {
            errors.push(Error::duplicate(path.child("name"), &group.name));
        }
    }
    budget(subject, errors);
    clashes(subject, errors);
}

fn set_name(subject: &Subject<'_>, errors: &mut Errors) {
    let path = Path::of(&["metadata", "name"]);
    let name = subject.name();
    // With generateName the server makes the name; the pieces are checked when it is known.
    if name.is_empty() {
        if subject.set.metadata.generate_name.as_deref().unwrap_or_default().is_empty() {
            errors.push(Error::required(path, "name or generateName is needed"));
        }
    } else if !Regex::new(SERVICE_NAME).is_ok_and(|it| it.is_match(name)) {
        errors.push(Error::invalid(path, name, messages::SET_NAME));
    }
}

fn label(path: &Path, name: &str, errors: &mut Errors) {
    if name.trim().is_empty() {
        errors.push(Error::required(path.clone(), "must not be empty"));
    } else if !kubernetes::is_dns_label(name) {
        errors.push(Error::invalid(path.clone(), name, LABEL));
    }
}

/// Every generated name has to fit into 63 characters; upstream's budget of 45 leaves room for the indices.
fn budget(subject: &Subject<'_>, errors: &mut Errors) {
    let set = subject.name();
    let over = |parts: &[&str]| parts.iter().map(|it| it.len()).sum::<usize>() > NAME_BUDGET;
    for (path, clique) in subject.cliques() {
        let path = path.child("name");
        match subject.template().group_of(&clique.name) {
            Some(group) if over(&[set, &group.name, &clique.name]) => {
                errors.push(Error::invalid(path, &clique.name, messages::MEMBER_BUDGET));
            }
            None if over(&[set, &clique.name]) => {
                errors.push(Error::invalid(path, &clique.name, messages::STANDALONE_BUDGET));
            }
            _ => {}
        }
    }
}

/// Two cliques whose PodCliques would have the same name for some indices, such as a standalone clique `g-0-c`
/// beside a clique `c` in a group `g`; or two autoscalers of one name.
fn clashes(subject: &Subject<'_>, errors: &mut Errors) {
    let template = subject.template();
    let producers: Vec<(Path, Option<&str>, &CliqueTemplate)> = subject
        .cliques()
        .map(|(path, clique)| (path, template.group_of(&clique.name).map(|it| it.name.as_str()), clique))
        .collect();
    for (position, (path, group, clique)) in producers.iter().enumerate() {
        for (_, other_group, other) in &producers[..position] {
            if same_object_name((*group, &clique.name), (*other_group, &other.name)) {
                let detail =
                    format!("its PodCliques could have the same names as those of clique {:?}", other.name);
                errors.push(Error::invalid(path.child("name"), &clique.name, detail));
            }
        }
        let scaled = |name: &str| {
            template.scaling_groups.iter().any(|it| it.name == name && it.scale_config.is_some())
        };
        if group.is_none() && clique.spec.auto_scaling_config.is_some() && scaled(&clique.name) {
            let detail = "a scaling group has the same name, and both have an autoscaler: rename one";
            errors.push(Error::invalid(path.child("name"), &clique.name, detail));
        }
    }
}

/// Whether `<group>-<index>-<clique>` (or `<clique>` without a group) can be the same text for both.
fn same_object_name(a: (Option<&str>, &str), b: (Option<&str>, &str)) -> bool {
    let is_index = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    match (a, b) {
        // Equal names are a finding of their own.
        ((None, _), (None, _)) => false,
        ((None, single), (Some(group), member)) | ((Some(group), member), (None, single)) => single
            .strip_prefix(group)
            .and_then(|it| it.strip_prefix('-'))
            .and_then(|it| it.strip_suffix(member))
            .and_then(|it| it.strip_suffix('-'))
            .is_some_and(is_index),
        ((Some(ga), ca), (Some(gb), cb)) => {
            let (short, short_member, long, long_member) =
                if ga.len() < gb.len() { (ga, ca, gb, cb) } else { (gb, cb, ga, ca) };
            // long = short-<index>[-<rest>], and then short_member = [<rest>-]<index>-<long_member>.
            let Some(tail) = long.strip_prefix(short).and_then(|it| it.strip_prefix('-')) else {
                return false;
            };
            let (index, rest) =
                tail.split_once('-').map_or((tail, String::new()), |(i, r)| (i, format!("{r}-")));
            is_index(index)
                && short_member
                    .strip_prefix(rest.as_str())
                    .and_then(|it| it.strip_suffix(long_member))
                    .and_then(|it| it.strip_suffix('-'))
                    .is_some_and(is_index)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::same_object_name;

    #[test]
    fn object_names_that_can_meet() {
        let cases = [
            ((None, "g-0-c"), (Some("g"), "c"), true),
            ((Some("g"), "c"), (None, "g-12-c"), true),
            ((None, "g-x-c"), (Some("g"), "c"), false),
            ((None, "g--c"), (Some("g"), "c"), false),
            ((Some("a"), "1-b"), (Some("a-0"), "b"), true),
            ((Some("a"), "x-1-b"), (Some("a-0-x"), "b"), true),
            ((Some("a"), "b"), (Some("a-0"), "b"), false),
            ((Some("a"), "b"), (Some("b"), "a"), false),
            ((None, "a"), (None, "b"), false),
        ];
        for (a, b, want) in cases {
            assert_eq!(same_object_name(a, b), want, "{a:?} {b:?}");
            assert_eq!(same_object_name(b, a), want, "{b:?} {a:?}");
        }
    }
}
