//! Scaling groups: their members exist, belong to one group, and do not scale on their own.

use std::collections::BTreeSet;

use super::{Subject, Verdict};
use crate::{field::Error, messages};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    let template = subject.template();
    let mut members = BTreeSet::new();
    for (path, group) in subject.groups() {
        if group.clique_names.is_empty() {
            errors.push(Error::required(
                path.child("cliqueNames"),
                "a scaling group needs at least one clique",
            ));
        }
        for (index, name) in group.clique_names.iter().enumerate() {
            let path = path.child("cliqueNames").index(index);
            if template.clique(name).is_none() {
                errors.push(Error::invalid(path, name, messages::MEMBER_UNKNOWN));
            } else if !members.insert(name) {
                errors.push(Error {
                    detail: messages::MEMBER_TWICE.to_owned(),
                    ..Error::duplicate(path, name)
                });
            }
        }
    }
    for (path, clique) in subject.cliques() {
        if clique.spec.auto_scaling_config.is_some() && members.contains(&clique.name) {
            let path = path.child("spec").child("autoScalingConfig");
            errors.push(Error::forbidden(path, messages::MEMBER_AUTOSCALED));
        }
        if clique.spec.replicas == Some(0) && members.contains(&clique.name) {
            errors.push(Error::invalid(path.child("spec").child("replicas"), 0, messages::MEMBER_ZERO));
        }
    }
}
