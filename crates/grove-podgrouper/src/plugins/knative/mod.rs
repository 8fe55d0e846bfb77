//! Knative: the pods of a revision are one group, or each is its own, as an older version had it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{
    default_group::{INFERENCE, default_group},
    existing_groups::{missing, owner_kind},
    group::Group,
    metadata::{annotation, label, name, uid},
    names::group_name,
    plugin::{Found, Need, Plugin, Reads, Refused},
    settings::Settings,
    workload::{Kind, Owner, Workload},
};

#[cfg(test)]
mod tests;

/// Service of Knative's serving.
#[derive(Debug)]
pub(crate) struct Knative;

const REVISION_LABEL: &str = "serving.knative.dev/revision";
const MIN_SCALE: &str = "autoscaling.knative.dev/min-scale";
/// As KAI has it.
const UNUSED: &str =
    "labels and annotations for preemptibility and topology have no effect on pods of Knative";
/// Annotation of pods with their group.
const POD_GROUP: &str = "pod-group-name";

const REVISION: [Reads; 1] = [Reads {
    kind: Kind { group: "serving.knative.dev", version: "v1", kind: "Revision" },
    spec: false,
    status: false,
}];

impl Plugin for Knative {
    fn name(&self) -> &'static str {
        "Knative"
    }

    fn needs(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Vec<Need>, Refused> {
        let revision = revision_name(workload.pod)?;
        let mut needs = vec![revision_need(revision)];
        if settings.knative_gangs {
            needs.push(pods_need(revision));
            if let Groups::Only(group) = groups(revision, found) {
                needs.push(Need::Group(group.to_owned()));
            }
        }
        Ok(missing(needs, found))
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        let pod = workload.pod;
        let named = revision_name(pod)?;
        let revision = found.object(&revision_need(named)).ok_or_else(|| {
            Refused(format!(
                "label {REVISION_LABEL} of the pod names Revision {named}, which is not there: wait for it, or \
                 remove the pod if it was deleted"
            ))
        })?;
        let is_gang = settings.knative_gangs && is_gang(named, found)?;
        let of_revision = Workload { pod, top: revision, owners: &[] };
        let mut group = default_group(of_revision, settings, INFERENCE);
        if group.preemptibility.take().is_some() | group.topology.take().is_some() {
            group.remarks.push(UNUSED.to_owned());
        }
        if is_gang {
            return Ok(Some(Group { min_members: min_scale(revision), ..group }));
        }
        Ok(Some(Group {
            name: group_name(name(pod), uid(pod)),
            owner: pod_owner(pod),
            priority_class: INFERENCE.to_owned(),
            ..group
        }))
    }

    fn reads_spec(&self) -> bool {
        false
    }

    fn also_reads(&self) -> &'static [Reads] {
        &REVISION
    }
}

fn revision_name(pod: &Value) -> Result<&str, Refused> {
    label(pod, REVISION_LABEL).filter(|it| !it.is_empty()).ok_or_else(|| {
        Refused(format!(
            "label {REVISION_LABEL} of the pod is missing: it names the revision of the pod, so leave it as \
             Knative sets it"
        ))
    })
}

fn revision_need(name: &str) -> Need {
    Need::Object {
        api_version: "serving.knative.dev/v1".to_owned(),
        kind: "Revision".to_owned(),
        name: name.to_owned(),
    }
}

fn pods_need(revision: &str) -> Need {
    Need::Pods(BTreeMap::from([(REVISION_LABEL.to_owned(), revision.to_owned())]))
}

/// A pod may come without what its list says of all of them.
fn pod_owner(pod: &Value) -> crate::group::GroupOwner {
    crate::group::GroupOwner { api_version: "v1".to_owned(), kind: "Pod".to_owned(), ..Owner::of(pod).object }
}

/// Groups that pods of a revision are in.
#[derive(Debug, PartialEq, Eq)]
enum Groups<'a> {
    /// None yet.
    None,
    /// One of them has two pods.
    Shared,
    /// One, of one pod.
    Only(&'a str),
    /// Each pod has its own.
    Many,
}

fn groups<'a>(revision: &str, found: &'a Found) -> Groups<'a> {
    let pods = found.get(&pods_need(revision)).unwrap_or_default();
    let mut names = BTreeSet::new();
    for group in pods.iter().filter_map(|it| annotation(it, POD_GROUP)).filter(|it| !it.is_empty()) {
        if !names.insert(group) {
            return Groups::Shared;
        }
    }
    match (names.pop_first(), names.is_empty()) {
        (None, _) => Groups::None,
        (Some(only), true) => Groups::Only(only),
        (Some(_), false) => Groups::Many,
    }
}

/// Whether the revision is one group: pods that are there are never moved to other groups.
fn is_gang(revision: &str, found: &Found) -> Result<bool, Refused> {
    let only = match groups(revision, found) {
        Groups::None | Groups::Shared => return Ok(true),
        Groups::Many => return Ok(false),
        Groups::Only(group) => group,
    };
    let Some(group) = found.object(&Need::Group(only.to_owned())) else { return Ok(true) };
    match owner_kind(group) {
        Some("Revision") => Ok(true),
        Some("Pod") => Ok(false),
        other => Err(Refused(format!(
            "group {only} in annotation {POD_GROUP} of a pod of revision {revision} is owned by {}, neither by \
             the Revision nor by a Pod: remove the annotation or the group, then it is made anew",
            other.unwrap_or("nobody")
        ))),
    }
}

/// Pods that the revision never has less of; one where it does not say so rightly.
fn min_scale(revision: &Value) -> u32 {
    let said = annotation(revision, MIN_SCALE).and_then(|it| it.parse::<i32>().ok());
    said.and_then(|it| u32::try_from(it).ok()).unwrap_or(1)
}
