//! A gang as a tree, with what the templates of its set say.

use grove_api::wire::{PodCliqueSet, PodGang};
use grove_plan::layout::{self, Place};
use grove_scheduler::{
    Gang,
    tree::{Malformed, Template, from_pod_gang},
};

/// The tree of the gang at `place` of a set.
pub fn tree_of(set: &PodCliqueSet, gang: &PodGang, place: Place<'_>) -> Result<Gang, Malformed> {
    let mut tree = from_pod_gang(gang)?;
    let members = layout::cliques_of(set, place).unwrap_or_default();
    for clique in &members {
        let template = clique.template;
        tree.describe_group(&clique.name, template.labels.clone(), template.annotations.clone());
    }
    let is_listed = |name: &str| gang.spec.pod_groups.iter().any(|it| it.name == name);
    tree.absent = members.iter().filter(|it| !is_listed(&it.name)).map(|it| it.name.clone()).collect();
    let is_member = |name: &str| members.iter().any(|it| it.template.name == name);
    let others = set.spec.template.cliques.iter().filter(|it| !is_member(&it.name));
    tree.siblings = others
        .map(|it| Template {
            name: it.name.clone(),
            labels: it.labels.clone(),
            annotations: it.annotations.clone(),
        })
        .collect();
    Ok(tree)
}
