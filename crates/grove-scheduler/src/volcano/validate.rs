//! What a set has to say so that Volcano takes its gangs.

use grove_api::{
    field::{Error, Errors, Path},
    limits::{MAX_LABEL_LENGTH, MAX_NAME_LENGTH},
    wire::PodCliqueSet,
};

use crate::{agreed::new_in_update, backend::Findings};

use super::QUEUE;

pub(super) fn validate(set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Findings {
    Findings { errors: new_in_update(errors(set), old.map(errors)), warnings: Vec::new() }
}

fn errors(set: &PodCliqueSet) -> Errors {
    let given = QUEUE.of_set(set);
    let invalid = given.iter().filter(|(_, queue)| !is_object_name(queue)).map(|(path, queue)| {
        Error::invalid(
            path.clone(),
            queue,
            "must be the name of a queue: lower case letters, digits, '-' and '.'",
        )
    });
    invalid.chain(QUEUE.conflicts(set)).chain(levels(set)).collect()
}

fn is_object_name(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = |it: &str| {
        (1..=MAX_LABEL_LENGTH).contains(&it.len())
            && it.chars().all(inner)
            && !it.starts_with('-')
            && !it.ends_with('-')
    };
    text.len() <= MAX_NAME_LENGTH && text.split('.').all(is_label)
}

/// A scaling group with a level of its own is one sub-group in the gang, and a sub-group has one level.
fn levels(set: &PodCliqueSet) -> Errors {
    let template = &set.spec.template;
    let whole = template.topology_constraint.as_ref().and_then(|it| it.required());
    let mut errors = Errors::new();
    for (number, clique) in template.cliques.iter().enumerate() {
        let own = clique.topology_constraint.as_ref().and_then(|it| it.required());
        let group = template.group_of(&clique.name);
        let around = group.and_then(|it| it.topology_constraint.as_ref()).and_then(|it| it.required());
        let (Some(group), Some(own), Some(around)) = (group, own, around) else { continue };
        if own != around && Some(around) != whole {
            let path = Path::of(&["spec", "template", "cliques"]).index(number).child("topologyConstraint");
            let detail = format!(
                "Volcano has one level of sub-groups: the scaling group {:?} requires {around:?}, so that its cliques cannot require another domain",
                group.name
            );
            errors.push(Error::invalid(path, own, detail));
        }
    }
    errors
}
