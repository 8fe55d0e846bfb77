//! What the stock scheduler asks of a set on top of Grove's own rules.

use grove_api::{
    field::{Error, Errors, Path},
    wire::{CliqueTemplate, PodCliqueSet, ScalingGroupConfig},
};

use super::{capabilities::NO_TREE, form::Form};
use crate::agreed::new_in_update;

/// In an update only what the old set did not have already counts.
pub(super) fn check(form: Form, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Errors {
    // Plain pods have nothing in common.
    if !form.has_groups() {
        return Vec::new();
    }
    let mut errors = new_in_update(rules(form, set), old.map(|it| rules(form, it)));
    errors.extend(old.and_then(|it| changed_priority(set, it)));
    errors
}

fn rules(form: Form, set: &PodCliqueSet) -> Errors {
    let mut errors = Vec::new();
    priorities(set, &mut errors);
    pods(set, &mut errors);
    if form == (Form::Flat { topology: true }) {
        levels(set, &mut errors);
    }
    errors
}

/// All pods of a group have the priority of the group, or none is placed.
fn priorities(set: &PodCliqueSet, errors: &mut Errors) {
    const SYSTEM: &str = "kube-scheduler's groups cannot have a system priority class; use one of your own";
    let class = set.spec.template.priority_class_name.as_str();
    if class.starts_with("system-") {
        errors.push(Error::invalid(priority_path(), class, SYSTEM));
    }
    for (path, clique) in cliques(set) {
        let own = clique.spec.pod_spec.priority_class_name.as_deref().unwrap_or_default();
        if !own.is_empty() && own != class {
            let detail = format!(
                "kube-scheduler places a gang only if all of its pods have its priority: name the class in {} and \
                 leave it out here",
                priority_path()
            );
            errors.push(Error::invalid(path.child("priorityClassName"), own, detail));
        }
    }
}

fn pods(set: &PodCliqueSet, errors: &mut Errors) {
    let mut first: Option<&str> = None;
    for (path, clique) in cliques(set) {
        let spec = &clique.spec.pod_spec;
        if let Some(policy) = spec.preemption_policy.as_deref() {
            let first = *first.get_or_insert(policy);
            if policy != first {
                let detail = format!(
                    "kube-scheduler places a gang only if all of its pods have one preemption policy; another clique has {first:?}"
                );
                errors.push(Error::invalid(path.child("preemptionPolicy"), policy, detail));
            }
        }
        if spec.scheduling_group.is_some() {
            let detail = "set by Grove, which creates the PodGroups";
            errors.push(Error::forbidden(path.child("schedulingGroup"), detail));
        }
    }
}

/// One PodGroup has one level, so that a clique may have one only where it is alone in its gang.
fn levels(set: &PodCliqueSet, errors: &mut Errors) {
    let template = &set.spec.template;
    let minimum = |count: Option<i32>| usize::try_from(count.unwrap_or(1)).unwrap_or_default();
    let standalone = template.cliques.iter().filter(|it| template.group_of(&it.name).is_none()).count();
    let members = |it: &ScalingGroupConfig| minimum(it.min_available) * it.clique_names.len();
    let base = standalone + template.scaling_groups.iter().map(members).sum::<usize>();
    for (number, clique) in template.cliques.iter().enumerate() {
        let constraint = clique.topology_constraint.as_ref();
        let Some(level) = constraint.and_then(|it| it.required()) else { continue };
        let beside = template.group_of(&clique.name).map_or(1, |it| it.clique_names.len());
        if base > 1 || beside > 1 {
            let path = Path::of(&["spec", "template", "cliques"]).index(number);
            let path = path.child("topologyConstraint").child("pack").child("required");
            errors.push(Error::invalid(path, level, NO_TREE));
        }
    }
}

/// Pods and groups keep their priority, and pods of two priorities in one gang are placed never again.
fn changed_priority(set: &PodCliqueSet, old: &PodCliqueSet) -> Option<Error> {
    let detail = "kube-scheduler's groups keep their priority, and so do pods; delete the set and create it anew, or scale it \
                  to 0 before";
    let changed = set.spec.template.priority_class_name != old.spec.template.priority_class_name;
    (changed && old.spec.replicas > 0).then(|| Error::forbidden(priority_path(), detail))
}

fn priority_path() -> Path {
    Path::of(&["spec", "template", "priorityClassName"])
}

/// The cliques with the paths of their pod specs.
fn cliques(set: &PodCliqueSet) -> impl Iterator<Item = (Path, &CliqueTemplate)> {
    let list = Path::of(&["spec", "template", "cliques"]);
    let cliques = set.spec.template.cliques.iter().enumerate();
    cliques.map(move |(number, it)| (list.index(number).child("spec").child("podSpec"), it))
}
