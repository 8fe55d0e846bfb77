//! Rules for a PodCliqueSet, one module per subject.

mod groups;
mod mnnvl;
mod names;
mod pods;
mod policy;
mod resize;
mod restarts;
mod schedulers;
mod sharing;
mod sizes;
mod spread;
mod startup;
mod topology;
mod totals;
mod update;

pub use totals::too_many_bytes;

use std::collections::BTreeMap;

use super::{Environment, Verdict, kubernetes};
use crate::{
    field::Path,
    ignored,
    schema::Crd,
    wire::{CliqueTemplate, PodCliqueSet, ScalingGroupConfig, SetTemplate},
};

/// Checks a new set.
pub fn validate_create(set: &PodCliqueSet, environment: &Environment) -> Verdict {
    let mut verdict = Verdict::default();
    always(&Subject { set, environment }, &mut verdict);
    new_only(&Subject { set, environment }, &mut verdict);
    totals::check_growth(&Subject { set, environment }, None, &mut verdict);
    verdict.warnings.extend(totals::autoscalers(&Subject { set, environment }));
    verdict.warnings.extend(ignored::in_set(set));
    in_field_order(verdict)
}

/// Checks a change of a set.
///
/// A finding that the old object has too, unchanged, does not count: a rule that came later must not keep a user
/// from editing something else. A set that is being deleted is not looked at, so that finalizers can go.
pub fn validate_update(new: &PodCliqueSet, old: &PodCliqueSet, environment: &Environment) -> Verdict {
    let mut verdict = Verdict::default();
    if new.metadata.deletion_timestamp.is_some() {
        return verdict;
    }
    let mut before = Verdict::default();
    always(&Subject { set: old, environment }, &mut before);
    always(&Subject { set: new, environment }, &mut verdict);
    verdict.errors.retain(|error| !before.errors.contains(error));
    update::check(new, old, environment, &mut verdict);
    resize::check(&Subject { set: new, environment }, old, &mut verdict);
    totals::check_growth(&Subject { set: new, environment }, Some(old), &mut verdict);
    let known = totals::autoscalers(&Subject { set: old, environment });
    let warning = totals::autoscalers(&Subject { set: new, environment });
    verdict.warnings.extend(warning.filter(|it| known.as_ref() != Some(it)));
    let known = ignored::in_set(old);
    verdict.warnings.extend(ignored::in_set(new).into_iter().filter(|it| !known.contains(it)));
    in_field_order(verdict)
}

/// The rules of every request.
fn always(subject: &Subject<'_>, verdict: &mut Verdict) {
    names::check(subject, verdict);
    metadata(subject, verdict);
    sizes::check(subject, verdict);
    groups::check(subject, verdict);
    pods::check(subject, verdict);
    schedulers::check(subject, verdict);
    startup::check(subject, verdict);
    sharing::check(subject, verdict);
    policy::check(subject, verdict);
    spread::check(subject, verdict);
    restarts::check(subject, verdict);
    totals::check(subject, verdict);
}

/// The rules that only a new object has to keep.
fn new_only(subject: &Subject<'_>, verdict: &mut Verdict) {
    pods::check_new(subject, verdict);
    topology::check_new(subject, verdict);
    policy::check_new(subject, verdict);
    mnnvl::check_new(subject, verdict);
}

fn metadata(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    let (path, metadata) = (Path::of(&["metadata"]), &subject.set.metadata);
    kubernetes::labels(metadata.labels.as_ref().unwrap_or(&BTreeMap::new()), &path.child("labels"), errors);
    let annotations = metadata.annotations.as_ref();
    kubernetes::annotations(annotations.unwrap_or(&BTreeMap::new()), &path.child("annotations"), errors);
    for (path, clique) in subject.cliques() {
        kubernetes::labels(&clique.labels, &path.child("labels"), errors);
        kubernetes::annotations(&clique.annotations, &path.child("annotations"), errors);
    }
    for (path, group) in subject.groups() {
        kubernetes::annotations(&group.annotations, &path.child("annotations"), errors);
    }
}

/// The set under check.
struct Subject<'a> {
    set: &'a PodCliqueSet,
    environment: &'a Environment,
}

impl<'a> Subject<'a> {
    fn template(&self) -> &'a SetTemplate {
        &self.set.spec.template
    }

    fn name(&self) -> &'a str {
        self.set.metadata.name.as_deref().unwrap_or_default()
    }

    fn cliques(&self) -> impl Iterator<Item = (Path, &'a CliqueTemplate)> + use<'a> {
        let list = template_path().child("cliques");
        self.template().cliques.iter().enumerate().map(move |(index, it)| (list.index(index), it))
    }

    fn groups(&self) -> impl Iterator<Item = (Path, &'a ScalingGroupConfig)> + use<'a> {
        let list = template_path().child("podCliqueScalingGroups");
        self.template().scaling_groups.iter().enumerate().map(move |(index, it)| (list.index(index), it))
    }
}

fn template_path() -> Path {
    Path::of(&["spec", "template"])
}

/// Puts findings of a set in the order of the fields, which is the order in which a user reads the manifest.
pub fn in_field_order(mut verdict: Verdict) -> Verdict {
    if let Some(crd) = Crd::of("grove.io/v1alpha1", "PodCliqueSet") {
        verdict.errors.sort_by_cached_key(|error| crd.position(&error.path));
        verdict.warnings.sort_by_cached_key(|warning| crd.position(&warning.path));
    }
    verdict
}
