//! Multi-node NVLink groups, named by annotation.

use std::collections::BTreeMap;

use super::{Subject, Verdict, kubernetes};
use crate::{
    constants::annotations::{MNNVL_GROUP, MNNVL_NONE},
    field::{Error, Errors, Path},
    limits::MAX_LABEL_LENGTH,
};

/// Room for the replica index and two dashes in `<set>-<index>-<group>`.
const INDEX_ROOM: usize = 6;

pub(super) fn check_new(subject: &Subject<'_>, verdict: &mut Verdict) {
    let empty = BTreeMap::new();
    let own = subject.set.metadata.annotations.as_ref().unwrap_or(&empty);
    annotation(subject, own, &Path::of(&["metadata"]), verdict);
    for (path, clique) in subject.cliques() {
        annotation(subject, &clique.annotations, &path, verdict);
    }
    for (path, group) in subject.groups() {
        annotation(subject, &group.annotations, &path, verdict);
    }
}

fn annotation(
    subject: &Subject<'_>,
    annotations: &BTreeMap<String, String>,
    path: &Path,
    verdict: &mut Verdict,
) {
    let Some(value) = annotations.get(MNNVL_GROUP) else {
        return;
    };
    let path = key(path);
    if !kubernetes::is_dns_label(value) {
        verdict.errors.push(Error::invalid(
            path,
            value,
            "must be \"none\", or a DNS label that names the group",
        ));
    } else if value != MNNVL_NONE && subject.environment.mnnvl == Some(false) {
        let detail =
            "network.autoMNNVLEnabled is off in the operator configuration: only \"none\" is possible";
        verdict.errors.push(Error::invalid(path, value, detail));
    } else if subject.name().len() + INDEX_ROOM + value.len() > MAX_LABEL_LENGTH {
        let detail = "the names of the set and of the group may have 57 characters together";
        verdict.errors.push(Error::invalid(path, value, detail));
    }
}

/// The annotation stays as it was.
pub(super) fn unchanged(
    new: &BTreeMap<String, String>,
    old: &BTreeMap<String, String>,
    path: &Path,
    errors: &mut Errors,
) {
    let path = key(path);
    match (new.get(MNNVL_GROUP), old.get(MNNVL_GROUP)) {
        (None, Some(_)) => errors.push(Error::forbidden(path, "cannot be removed after creation")),
        (Some(_), None) => errors.push(Error::forbidden(path, "cannot be added after creation")),
        (Some(new), Some(old)) if new != old => {
            errors.push(Error::invalid(path, new, format!("cannot be changed after creation (was {old:?})")));
        }
        _ => {}
    }
}

fn key(path: &Path) -> Path {
    path.child("annotations").key(MNNVL_GROUP)
}
