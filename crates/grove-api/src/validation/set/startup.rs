//! Start order: known parents, no cycle, not too many parents.

use std::collections::BTreeSet;

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Path},
    limits::MAX_PARENTS,
    messages,
    wire::{CliqueStartupType, CliqueTemplate, SetTemplate},
};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let template = subject.template();
    parents(subject, verdict);
    if template.startup_type != Some(CliqueStartupType::Explicit) {
        return;
    }
    let errors = &mut verdict.errors;
    for (path, clique) in subject.cliques() {
        let mut seen = BTreeSet::new();
        for (index, parent) in clique.spec.starts_after.iter().enumerate() {
            let path = starts_after(&path).index(index);
            if parent.trim().is_empty() {
                errors.push(Error::required(path, "must name a clique"));
            } else if *parent == clique.name {
                errors.push(Error::invalid(path, parent, messages::STARTS_AFTER_SELF));
            } else if template.clique(parent).is_none() {
                errors.push(Error::invalid(path, parent, messages::STARTS_AFTER_UNKNOWN));
            } else if !seen.insert(parent) {
                errors.push(Error {
                    detail: messages::STARTS_AFTER_TWICE.to_owned(),
                    ..Error::duplicate(path, parent)
                });
            }
        }
    }
    if let Some(cycle) = find_cycle(template) {
        let names: Vec<&str> = cycle.iter().map(|&index| template.cliques[index].name.as_str()).collect();
        let detail = format!("circular start order: {} → {}", names.join(" → "), names[0]);
        let (path, clique) = (subject.cliques().nth(cycle[0]).map(|it| it.0), &template.cliques[cycle[0]]);
        errors.push(Error::invalid(
            starts_after(&path.unwrap_or_default()),
            &clique.spec.starts_after,
            detail,
        ));
    }
}

/// A PodClique lists every PodClique that it starts after: of a parent in a scaling group, one for each replica of its minimum.
fn parents(subject: &Subject<'_>, verdict: &mut Verdict) {
    let template = subject.template();
    let copies = |parent: &CliqueTemplate| match template.group_of(&parent.name) {
        None => 1,
        Some(group) => group.min_available.and_then(|it| usize::try_from(it).ok()).unwrap_or(1),
    };
    let mut before: Option<&CliqueTemplate> = None;
    for (path, clique) in subject.cliques() {
        let (path, parents): (Path, Vec<&CliqueTemplate>) = match template.startup_type {
            Some(CliqueStartupType::Explicit) => {
                let names = clique.spec.starts_after.iter();
                (starts_after(&path), names.filter_map(|it| template.clique(it)).collect())
            }
            Some(CliqueStartupType::InOrder) => {
                (template_path().child("cliqueStartupType"), before.into_iter().collect())
            }
            _ => return,
        };
        before = Some(clique);
        let count = parents.into_iter().map(copies).fold(0, usize::saturating_add);
        if count > MAX_PARENTS {
            let name = &clique.name;
            let detail = format!(
                "a PodClique of {name} would start after {count} others, and may after {MAX_PARENTS}: lower minAvailable of \
                 the scaling group that it starts after, or leave the order between them to the pods"
            );
            verdict.errors.push(Error::forbidden(path, detail));
        }
    }
}

fn starts_after(clique: &Path) -> Path {
    clique.child("spec").child("startsAfter")
}

/// The first cycle of two or more cliques, as indices in waiting order.
///
/// Depth first without recursion: the list is the user's, the stack is ours.
fn find_cycle(template: &SetTemplate) -> Option<Vec<usize>> {
    let index = |name: &String| template.cliques.iter().position(|it| it.name == *name);
    let parents: Vec<Vec<usize>> =
        template.cliques.iter().map(|it| it.spec.starts_after.iter().filter_map(index).collect()).collect();
    let mut done = vec![false; parents.len()];
    for start in 0..parents.len() {
        // The path from `start`, each clique with the parents not yet looked at.
        let mut path: Vec<(usize, std::slice::Iter<'_, usize>)> = vec![(start, parents[start].iter())];
        while let Some((at, rest)) = path.last_mut() {
            let at = *at;
            match rest.next() {
                None => {
                    done[at] = true;
                    path.pop();
                }
                // Waiting for itself is a finding of its own.
                Some(&next) if next == at || done[next] => {}
                Some(&next) => match path.iter().position(|(it, _)| *it == next) {
                    Some(begin) => return Some(path[begin..].iter().map(|(it, _)| *it).collect()),
                    None => path.push((next, parents[next].iter())),
                },
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{CliqueTemplate, PodCliqueSpec};

    /// `"a>b b>c"`: a starts after b, b after c.
    fn template(edges: &str) -> SetTemplate {
        let clique = |text: &str| {
            let (name, parents) = text.split_once('>').unwrap_or((text, ""));
            let starts_after = parents.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect();
            CliqueTemplate {
                name: name.to_owned(),
                spec: PodCliqueSpec { starts_after, ..Default::default() },
                ..Default::default()
            }
        };
        SetTemplate { cliques: edges.split_whitespace().map(clique).collect(), ..Default::default() }
    }

    #[test]
    fn finds_cycles_and_only_cycles() {
        let cases: [(&str, Option<&[usize]>); 8] = [
            ("a b", None),
            ("a b>a c>a d>b,c", None),
            ("a>b b>a", Some(&[0, 1])),
            ("a b>c c>d d>b", Some(&[1, 2, 3])),
            ("a>a", None),
            ("a>b b>c c>b", Some(&[1, 2])),
            ("a>missing", None),
            ("a>b,c b>d c>d d", None),
        ];
        for (edges, want) in cases {
            assert_eq!(find_cycle(&template(edges)).as_deref(), want, "{edges}");
        }
    }
}
