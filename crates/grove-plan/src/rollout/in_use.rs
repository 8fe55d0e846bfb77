//! What pods are made from while a changed template waits.

use std::collections::BTreeMap;

use grove_api::wire::{CliqueTemplate, PodClique, PodCliqueSet, SetTemplate};

use crate::objects::{self, Mirrored};

/// The set, with what makes pods as it is in use: as `kept` says it, else as a clique of the role has it. What nobody knows
/// of is as the set says it.
pub fn with_template_in_use(
    set: &PodCliqueSet,
    kept: Option<&SetTemplate>,
    cliques: &BTreeMap<&str, &PodClique>,
) -> PodCliqueSet {
    let mut set = set.clone();
    for template in &mut set.spec.template.cliques {
        let kept = kept.and_then(|it| it.clique(&template.name)).cloned();
        let made = || cliques.get(template.name.as_str()).map(|it| objects::template_of(it, &keys(template)));
        if let Some(used) = kept.or_else(made) {
            template.labels = used.labels;
            template.annotations = used.annotations;
            template.spec.pod_spec = used.spec.pod_spec;
        }
    }
    set
}

fn keys(template: &CliqueTemplate) -> Mirrored {
    Mirrored {
        labels: template.labels.keys().cloned().collect(),
        annotations: template.annotations.keys().cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture::set,
        hash, layout,
        objects::{Context, clique},
    };

    /// By its history, and without one by what is there, standalone or member of a group.
    #[test]
    fn what_is_in_use_is_found() {
        let mut used = set("fe=2/1 dec=2/2 | pd=2/1:dec");
        for template in &mut used.spec.template.cliques {
            template.labels = [("team".to_owned(), "a".to_owned())].into();
        }
        let mut changed = used.clone();
        changed.spec.replicas = 7;
        for template in &mut changed.spec.template.cliques {
            template.spec.pod_spec.containers[0].image = Some("held".to_owned());
            template.labels = [("team".to_owned(), "b".to_owned())].into();
            template.annotations = [("note".to_owned(), "new".to_owned())].into();
        }
        let context = Context { set: &used, default_scheduler: "", form: "" };
        let member = layout::members(&used, 0, &used.spec.template.scaling_groups[0], 0);
        let made: Vec<(String, PodClique)> = layout::standalone(&used, 0)
            .chain(member)
            .map(|it| (it.template.name.clone(), clique(context, &it, None)))
            .collect();
        let seen: BTreeMap<&str, &PodClique> = made.iter().map(|(role, it)| (role.as_str(), it)).collect();
        let hashes = [
            with_template_in_use(&changed, Some(&used.spec.template), &BTreeMap::new()),
            with_template_in_use(&changed, None, &seen),
        ]
        .map(|it| {
            assert_eq!(it.spec.replicas, 7, "only what makes pods");
            hash::generation(&it)
        });
        assert_eq!(hashes, [hash::generation(&used), hash::generation(&used)]);
        assert_eq!(with_template_in_use(&changed, None, &BTreeMap::new()), changed);
    }
}
