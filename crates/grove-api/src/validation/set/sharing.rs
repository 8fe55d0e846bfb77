//! Resource sharing: claim templates, and who gets a claim.

use std::collections::BTreeSet;

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Errors, Path},
    limits::{MAX_CLAIM_TEMPLATES, MAX_LABEL_LENGTH, MAX_SHARING},
    messages,
    wire::{SharingRef, SharingScope},
};

/// Digits of the largest index that `limits` allow.
const INDEX_DIGITS: usize = 4;

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    let template = subject.template();
    let internal = claim_templates(subject, errors);

    let list = Entries {
        internal: &internal,
        path: template_path().child("resourceSharing"),
        owner: subject.name().len(),
    };
    list.check(template.resource_sharing.iter().map(|it| &it.reference), errors);
    for (index, entry) in template.resource_sharing.iter().enumerate() {
        let path = list.path.index(index).child("filter");
        let Some(filter) = &entry.filter else { continue };
        if filter.child_clique_names.is_empty() && filter.child_scaling_group_names.is_empty() {
            errors.push(Error::required(path.clone(), messages::FILTER_EMPTY));
        }
        known(
            &filter.child_clique_names,
            &path.child("childCliqueNames"),
            messages::FILTER_CLIQUE_UNKNOWN,
            errors,
            |it| template.clique(it).is_some(),
        );
        let groups = path.child("childScalingGroupNames");
        known(&filter.child_scaling_group_names, &groups, messages::FILTER_GROUP_UNKNOWN, errors, |it| {
            template.scaling_groups.iter().any(|group| group.name == it)
        });
    }

    for (path, clique) in subject.cliques() {
        let group = template.group_of(&clique.name).map_or(0, |it| it.name.len() + INDEX_DIGITS + 2);
        let owner = subject.name().len() + INDEX_DIGITS + 2 + group + clique.name.len();
        let list = Entries { internal: &internal, path: path.child("resourceSharing"), owner };
        list.check(clique.resource_sharing.iter(), errors);
    }
    for (path, group) in subject.groups() {
        let owner = subject.name().len() + INDEX_DIGITS + 2 + group.name.len();
        let list = Entries { internal: &internal, path: path.child("resourceSharing"), owner };
        list.check(group.resource_sharing.iter().map(|it| &it.reference), errors);
        for (index, entry) in group.resource_sharing.iter().enumerate() {
            let path = list.path.index(index).child("filter");
            let Some(filter) = &entry.filter else { continue };
            if filter.child_clique_names.is_empty() {
                errors.push(Error::required(path.clone(), messages::FILTER_EMPTY));
            }
            let cliques = path.child("childCliqueNames");
            known(&filter.child_clique_names, &cliques, messages::FILTER_CLIQUE_UNKNOWN, errors, |it| {
                group.clique_names.iter().any(|name| name == it)
            });
        }
    }
}

/// Checks the claim templates of the set; their names.
fn claim_templates<'a>(subject: &Subject<'a>, errors: &mut Errors) -> BTreeSet<&'a str> {
    let list = template_path().child("resourceClaimTemplates");
    let templates = &subject.template().resource_claim_templates;
    if templates.len() > MAX_CLAIM_TEMPLATES {
        errors.push(Error::too_many(list.clone(), templates.len(), MAX_CLAIM_TEMPLATES));
    }
    let mut names = BTreeSet::new();
    for (index, template) in templates.iter().enumerate() {
        let path = list.index(index);
        if template.name.is_empty() {
            errors.push(Error::required(path.child("name"), "must not be empty"));
        } else if !names.insert(template.name.as_str()) {
            errors.push(Error::duplicate(path.child("name"), &template.name));
        }
        let devices = template.template_spec.spec.as_ref().and_then(|it| it.devices.as_ref());
        if devices.and_then(|it| it.requests.as_ref()).is_none_or(Vec::is_empty) {
            let path = path.child("templateSpec").child("spec").child("devices").child("requests");
            errors.push(Error::required(path, messages::CLAIM_REQUEST_MISSING));
        }
    }
    names
}

/// The sharing entries of one level.
struct Entries<'a> {
    internal: &'a BTreeSet<&'a str>,
    path: Path,
    /// Longest name of the object that owns the claims.
    owner: usize,
}

impl Entries<'_> {
    fn check<'a>(&self, entries: impl ExactSizeIterator<Item = &'a SharingRef>, errors: &mut Errors) {
        if entries.len() > MAX_SHARING {
            errors.push(Error::too_many(self.path.clone(), entries.len(), MAX_SHARING));
        }
        let mut names = BTreeSet::new();
        for (index, entry) in entries.enumerate() {
            let path = self.path.index(index);
            let namespace = entry.namespace.as_deref().unwrap_or_default();
            if entry.name.is_empty() {
                errors.push(Error::required(path.child("name"), "must not be empty"));
            } else if !names.insert(&entry.name) {
                let error = Error::duplicate(path.child("name"), &entry.name);
                errors.push(Error { detail: messages::SHARING_TWICE.to_owned(), ..error });
            }
            if !namespace.is_empty() && self.internal.contains(entry.name.as_str()) {
                let error = Error::invalid(path.child("namespace"), namespace, messages::SHARING_NAMESPACE);
                errors.push(error);
            }
            self.claim_name(entry, &path, errors);
        }
    }

    /// The claim's name is also its name inside the pod, where 63 characters are allowed.
    fn claim_name(&self, entry: &SharingRef, path: &Path, errors: &mut Errors) {
        let middle = match entry.scope {
            SharingScope::AllReplicas => "-all-".len(),
            SharingScope::PerReplica => INDEX_DIGITS + 2,
        };
        let length = self.owner + middle + entry.name.len();
        if length > MAX_LABEL_LENGTH {
            let detail = format!(
                "the claim's name could have {length} characters, of {MAX_LABEL_LENGTH} allowed: shorten this name or that of the set, group or clique"
            );
            errors.push(Error::invalid(path.child("name"), &entry.name, detail));
        }
    }
}

fn known(names: &[String], path: &Path, detail: &str, errors: &mut Errors, exists: impl Fn(&str) -> bool) {
    for (index, name) in names.iter().enumerate().filter(|(_, name)| !exists(name)) {
        errors.push(Error::not_found(path.index(index), name, detail));
    }
}
