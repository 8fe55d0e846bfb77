//! Refuses PodCliqueSets and ClusterTopologyBindings that are wrong, in the words of `grove validate`.

use std::collections::BTreeSet;

use grove_api::{
    field::{Error, ErrorKind, Path},
    review::{Review, review, review_update},
    validation::{Environment, Verdict as Findings},
};
use serde_json::Value;

use super::{
    knowledge::Snapshot,
    review::{Operation, Request},
    scheduling,
    verdict::Verdict,
};

/// Judges a new or changed object. Deletions, and whatever happens to an object that is being deleted, are allowed.
pub(super) fn validate(request: &Request, snapshot: &Snapshot) -> Verdict {
    let environment = &snapshot.environment;
    let mut findings = match request.operation {
        Operation::Create => findings(review(&request.object, environment)),
        Operation::Update if is_leaving(&request.object) => Findings::default(),
        Operation::Update => changed(&request.object, &request.old_object, environment),
        Operation::Delete | Operation::Connect => Findings::default(),
    };
    // The API server has dropped what its CRD does not know: what is left is of a newer version than we are.
    let newer: Vec<Error> = findings.errors.extract_if(.., |it| it.kind == ErrorKind::Unknown).collect();
    let is_kept =
        matches!(request.operation, Operation::Create | Operation::Update) && !is_leaving(&request.object);
    if is_kept {
        findings = scheduling::add(request, snapshot, findings);
    }
    let mut warnings: Vec<String> = findings.warnings.iter().map(ToString::to_string).collect();
    let newer = newer.iter().map(|it| &it.path);
    warnings
        .extend(newer.map(|it| format!("{it}: not known to this version of the operator, and not checked")));
    Verdict { warnings, ..Verdict::of(findings.errors) }
}

/// A finding that the old object has too does not count, whichever rule it is of: a rule that came later must not keep
/// anybody from changing something else.
fn changed(new: &Value, old: &Value, environment: &Environment) -> Findings {
    let mut found = findings(review_update(new, old, environment));
    if !found.errors.is_empty() {
        let before: BTreeSet<Error> = findings(review(old, environment)).errors.into_iter().collect();
        found.errors.retain(|error: &Error| !before.contains(error));
    }
    found
}

fn findings(review: Review) -> Findings {
    match review {
        Review::Checked(findings) => findings,
        Review::Foreign => {
            let detail = "the object is not of the kind named in the request";
            Findings { errors: vec![Error::forbidden(Path::of(&["kind"]), detail)], warnings: Vec::new() }
        }
    }
}

fn is_leaving(object: &Value) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some_and(|it| !it.is_null())
}
