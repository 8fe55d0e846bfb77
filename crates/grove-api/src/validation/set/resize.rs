//! Changes of `replicas` in the template of a set that runs: they hold for what is created from now on, and reach nothing
//! that exists. A warning says so, with the command that does.

use super::{Subject, Verdict};
use crate::{names, wire::PodCliqueSet};

/// Objects that a warning names; of more, the first.
const NAMED: usize = 3;

pub(super) fn check(subject: &Subject<'_>, old: &PodCliqueSet, verdict: &mut Verdict) {
    let running = subject.set.spec.replicas.min(old.spec.replicas);
    let replicas = 0..u32::try_from(running).unwrap_or(0);
    if replicas.is_empty() {
        return;
    }
    let (set, before) = (subject.name(), &old.spec.template);
    let command = |kind: &str, all: &mut dyn Iterator<Item = String>, count: i32| {
        let mut shown: Vec<String> = all.take(NAMED + 1).map(|it| format!("{kind}/{it}")).collect();
        if shown.len() > NAMED {
            "…".clone_into(&mut shown[NAMED]);
        }
        let namespace = subject.set.metadata.namespace.as_deref().filter(|it| !it.is_empty());
        let namespace = namespace.map(|it| format!(" -n {it}")).unwrap_or_default();
        format!("kubectl scale {} --replicas={count}{namespace}", shown.join(" "))
    };
    for (path, clique) in subject.cliques() {
        let Some(count) = clique.spec.replicas else { continue };
        if before.clique(&clique.name).is_none_or(|it| it.spec.replicas == Some(count)) {
            continue;
        }
        let path = path.child("spec").child("replicas");
        match before.group_of(&clique.name) {
            None => {
                let mut all = replicas.clone().map(|it| names::standalone_clique(set, it, &clique.name));
                let command = command("pclq", &mut all, count);
                verdict
                    .warn(path, format!("PodCliques that exist keep their size; to scale them: {command}"));
            }
            Some(group) => {
                let copies = 0..u32::try_from(group.replicas.unwrap_or(1)).unwrap_or(0);
                let mut all = replicas.clone().flat_map(|it| {
                    let group = names::scaling_group(set, it, &group.name);
                    copies.clone().map(move |it| names::member_clique(&group, it, &clique.name))
                });
                let command = command("pclq", &mut all, count);
                let text = format!(
                    "holds for new replicas of scaling group {}; to scale those that exist: {command}",
                    group.name
                );
                verdict.warn(path, text);
            }
        }
    }
    for (path, group) in subject.groups() {
        let Some(count) = group.replicas else { continue };
        let old = before.scaling_groups.iter().find(|it| it.name == group.name);
        if old.is_none_or(|it| it.replicas == Some(count)) {
            continue;
        }
        let mut all = replicas.clone().map(|it| names::scaling_group(set, it, &group.name));
        let command = command("pcsg", &mut all, count);
        let text = format!("PodCliqueScalingGroups that exist keep their size; to scale them: {command}");
        verdict.warn(path.child("replicas"), text);
    }
}
