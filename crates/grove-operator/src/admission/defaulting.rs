//! Fills in what a PodCliqueSet leaves out.

use grove_api::{
    defaulting::{default_pod_clique_set, default_topology},
    limits::{MAX_CLIQUES, MAX_GROUPS},
    manifest::without_nulls,
    validation::Environment,
    wire::PodCliqueSet,
};
use json_patch::{AddOperation, Patch, PatchOperation, diff};
use serde_json::Value;

use super::{
    review::{Operation, Request},
    verdict::Verdict,
};

/// Answers with the patch that fills in the defaults.
///
/// An object that cannot be read is passed on as it is: the API server's schema has the better words for it.
pub(super) fn default_set(request: &Request, environment: &Environment) -> Verdict {
    if !matches!(request.operation, Operation::Create | Operation::Update) {
        return Verdict::allowed();
    }
    let Some(mut before) = read(&request.object) else { return Verdict::allowed() };
    // An object that leaves is not filled in: nobody would gain by it, and its finalizers must be able to go.
    if before.metadata.deletion_timestamp.is_some() {
        return Verdict::allowed();
    }
    // It is about to be refused for its size, and the patch would be larger than the object.
    let template = &before.spec.template;
    if template.cliques.len() > MAX_CLIQUES || template.scaling_groups.len() > MAX_GROUPS {
        return Verdict::allowed();
    }
    if before.metadata.namespace.as_ref().is_none_or(String::is_empty) && !request.namespace.is_empty() {
        before.metadata.namespace = Some(request.namespace.clone());
    }
    // Whatever cannot be read was there: an update is not taken for the beginning of a set.
    let old = (request.operation == Operation::Update).then(|| read(&request.old_object).unwrap_or_default());
    let old = old.map(|mut it| {
        default_pod_clique_set(&mut it, None);
        it
    });
    let mut after = before.clone();
    default_pod_clique_set(&mut after, old.as_ref());
    default_topology(&mut after, old.as_ref(), environment.default_topology.as_deref());
    if before == after {
        return Verdict::allowed();
    }
    leave_out_what_is_alike(&mut before, &mut after);
    Verdict { patch: patch(&request.object, &before, &after), ..Verdict::default() }
}

fn read(object: &Value) -> Option<PodCliqueSet> {
    serde_json::from_value(without_nulls(object)).ok()
}

/// Empties what both have alike in their pods, which is nearly all of a set: it need not be written down in order to be
/// compared.
fn leave_out_what_is_alike(before: &mut PodCliqueSet, after: &mut PodCliqueSet) {
    fn empty<T: Default + PartialEq>(one: &mut T, other: &mut T) {
        if one == other {
            (*one, *other) = (T::default(), T::default());
        }
    }
    let cliques = &mut before.spec.template.cliques;
    for (before, after) in cliques.iter_mut().zip(&mut after.spec.template.cliques) {
        let (before, after) = (&mut before.spec.pod_spec, &mut after.spec.pod_spec);
        empty(&mut before.containers, &mut after.containers);
        empty(&mut before.init_containers, &mut after.init_containers);
        empty(&mut before.volumes, &mut after.volumes);
        empty(&mut before.affinity, &mut after.affinity);
        empty(&mut before.tolerations, &mut after.tolerations);
    }
}

/// What differs between two typed forms, as a patch of the text that one of them was read from. Fields that our types
/// do not know are in neither form, and so stay.
fn patch(text: &Value, before: &PodCliqueSet, after: &PodCliqueSet) -> Option<Patch> {
    let (before, after) = (serde_json::to_value(before).ok()?, serde_json::to_value(after).ok()?);
    let operations = diff(&before, &after).0.into_iter().filter_map(|it| fitted(text, it));
    let patch = Patch(operations.collect());
    (!patch.0.is_empty()).then_some(patch)
}

/// The operation as the text can take it. A typed form has some fields that the text leaves out: they are added, not
/// replaced; and where even the parent is missing, the schema is about to refuse the object.
fn fitted(text: &Value, operation: PatchOperation) -> Option<PatchOperation> {
    let path = operation.path().to_string();
    let (parent, _) = path.rsplit_once('/')?;
    if !text.pointer(parent).is_some_and(|it| it.is_object() || it.is_array()) {
        return None;
    }
    Some(match operation {
        PatchOperation::Replace(it) if text.pointer(&path).is_none() => {
            PatchOperation::Add(AddOperation { path: it.path, value: it.value })
        }
        other => other,
    })
}
