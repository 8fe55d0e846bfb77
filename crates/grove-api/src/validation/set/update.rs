//! What may not change after creation.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Environment, Subject, Verdict, mnnvl, template_path, topology};
use crate::{
    field::{Error, Errors, Path},
    messages,
    wire::{CliqueStartupType, CliqueTemplate, PodCliqueSet, ScalingGroupConfig, TopologyConstraint},
};

pub(super) fn check(
    new: &PodCliqueSet,
    old: &PodCliqueSet,
    environment: &Environment,
    verdict: &mut Verdict,
) {
    let errors = &mut verdict.errors;
    let template = template_path();
    let (before, after) = (&old.spec.template, &new.spec.template);
    annotations(new.metadata.annotations.as_ref(), old.metadata.annotations.as_ref(), errors);
    same(&template.child("cliqueStartupType"), &after.startup_type, &before.startup_type, errors);
    same(
        &template.child("resourceClaimTemplates"),
        &after.resource_claim_templates,
        &before.resource_claim_templates,
        errors,
    );
    same(&template.child("resourceSharing"), &after.resource_sharing, &before.resource_sharing, errors);
    if after.scheduling_policy_config != before.scheduling_policy_config {
        errors.push(Error::forbidden(template.child("schedulingPolicyConfig"), messages::TOPOLOGY_FIXED));
    }
    let repaired = legacy_repair(new, old, environment);
    let mut topology = |path: Path, new: Option<&TopologyConstraint>, old: Option<&TopologyConstraint>| {
        if !repaired && !same_topology(new, old) {
            errors.push(Error::forbidden(path.child("topologyConstraint"), messages::TOPOLOGY_FIXED));
        }
    };
    topology(template.clone(), after.topology_constraint.as_ref(), before.topology_constraint.as_ref());
    let subject = Subject { set: new, environment };
    for (path, clique) in subject.cliques() {
        if let Some(old) = before.clique(&clique.name) {
            topology(path, clique.topology_constraint.as_ref(), old.topology_constraint.as_ref());
        }
    }
    for (path, group) in subject.groups() {
        if let Some(old) = before.scaling_groups.iter().find(|it| it.name == group.name) {
            topology(path, group.topology_constraint.as_ref(), old.topology_constraint.as_ref());
        }
    }
    cliques(&subject, &before.cliques, after.startup_type, &mut verdict.errors);
    groups(&subject, &before.scaling_groups, &mut verdict.errors);
    if repaired {
        topology::check_names_and_levels(&subject, &topology::constraints(&subject), verdict);
    }
    for placed in topology::constraints(&subject).iter().filter(|it| it.constraint.pack_domain.is_some()) {
        verdict.warn(placed.path.child("packDomain"), "deprecated: use pack.required");
    }
}

fn annotations(
    new: Option<&BTreeMap<String, String>>,
    old: Option<&BTreeMap<String, String>>,
    errors: &mut Errors,
) {
    let empty = BTreeMap::new();
    mnnvl::unchanged(new.unwrap_or(&empty), old.unwrap_or(&empty), &Path::of(&["metadata"]), errors);
}

fn same<T: PartialEq + Serialize>(path: &Path, new: &T, old: &T, errors: &mut Errors) {
    if new != old {
        errors.push(Error::invalid(path.clone(), new, messages::IMMUTABLE));
    }
}

fn cliques(
    subject: &Subject<'_>,
    old: &[CliqueTemplate],
    startup: Option<CliqueStartupType>,
    errors: &mut Errors,
) {
    let new = &subject.template().cliques;
    let find = |name: &str| old.iter().find(|it| it.name == name);
    if new.len() != old.len() || new.iter().any(|it| find(&it.name).is_none()) {
        errors.push(Error::forbidden(template_path().child("cliques"), messages::CLIQUES_FIXED));
    } else if startup != Some(CliqueStartupType::AnyOrder)
        && new.iter().zip(old).any(|(new, old)| new.name != old.name)
    {
        let names: Vec<&str> = new.iter().map(|it| it.name.as_str()).collect();
        errors.push(Error::invalid(template_path().child("cliques"), names, messages::CLIQUE_ORDER_FIXED));
    }
    for (path, clique) in subject.cliques() {
        let Some(old) = find(&clique.name) else { continue };
        mnnvl::unchanged(&clique.annotations, &old.annotations, &path, errors);
        same(&path.child("resourceSharing"), &clique.resource_sharing, &old.resource_sharing, errors);
        let (new, old, spec) = (&clique.spec, &old.spec, path.child("spec"));
        same(&spec.child("roleName"), &new.role_name, &old.role_name, errors);
        same(&spec.child("minAvailable"), &new.min_available, &old.min_available, errors);
        same(&spec.child("startsAfter"), &new.starts_after, &old.starts_after, errors);
        let scheduler = |it: &Option<String>| it.clone().unwrap_or_default();
        let (new, old) = (scheduler(&new.pod_spec.scheduler_name), scheduler(&old.pod_spec.scheduler_name));
        same(&spec.child("podSpec").child("schedulerName"), &new, &old, errors);
    }
}

fn groups(subject: &Subject<'_>, old: &[ScalingGroupConfig], errors: &mut Errors) {
    let new = &subject.template().scaling_groups;
    let find = |name: &str| old.iter().find(|it| it.name == name);
    if new.len() != old.len() || new.iter().any(|it| find(&it.name).is_none()) {
        errors
            .push(Error::forbidden(template_path().child("podCliqueScalingGroups"), messages::GROUPS_FIXED));
    }
    for (path, group) in subject.groups() {
        let Some(old) = find(&group.name) else { continue };
        mnnvl::unchanged(&group.annotations, &old.annotations, &path, errors);
        same(&path.child("cliqueNames"), &group.clique_names, &old.clique_names, errors);
        same(&path.child("minAvailable"), &group.min_available, &old.min_available, errors);
        same(&path.child("resourceSharing"), &group.resource_sharing, &old.resource_sharing, errors);
    }
}

/// Equal in meaning: `packDomain` may become `pack.required`.
fn same_topology(new: Option<&TopologyConstraint>, old: Option<&TopologyConstraint>) -> bool {
    match (new, old) {
        (None, None) => true,
        (Some(new), Some(old)) => {
            new.required() == old.required()
                && new.preferred() == old.preferred()
                && new.topology_name.as_deref().unwrap_or_default()
                    == old.topology_name.as_deref().unwrap_or_default()
        }
        _ => false,
    }
}

/// An object from before `topologyName` existed may gain it, once, if nothing else of its constraints changes.
fn legacy_repair(new: &PodCliqueSet, old: &PodCliqueSet, environment: &Environment) -> bool {
    let (new, old) = (Subject { set: new, environment }, Subject { set: old, environment });
    let (after, before) = (topology::constraints(&new), topology::constraints(&old));
    let legacy =
        before.iter().any(|it| it.constraint.pack_domain.is_some() && topology::resolved_name(it).is_none());
    let gains = after
        .iter()
        .zip(&before)
        .any(|(after, before)| after.constraint.topology_name != before.constraint.topology_name);
    legacy
        && gains
        && after.len() == before.len()
        && after.iter().zip(&before).all(|(after, before)| {
            let named = before.constraint.topology_name.is_some();
            after.path == before.path
                && after.constraint.pack_domain == before.constraint.pack_domain
                && after.constraint.pack == before.constraint.pack
                && (!named || after.constraint.topology_name == before.constraint.topology_name)
        })
}
