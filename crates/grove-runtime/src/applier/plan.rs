//! What has to be done so that an owner has exactly the objects that were rendered for it. Pure.

use kube::api::DynamicObject;
use serde_json::Value;

use super::{
    Owner, Refused, Rendered,
    content::{complete, content, hash, mark_of, marked, needs_another, seen},
};

/// One object that is there, of the kind at this place in the applier's list.
pub(super) struct Existing<'a> {
    pub(super) kind: usize,
    pub(super) object: &'a DynamicObject,
    /// What the object looked like, in the fields that we gave, when the server had answered our last write.
    pub(super) last: Option<&'a str>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// It is not there.
    Create(New),
    /// It is not as it should be.
    Apply(New),
    /// It is not as it should be, and cannot be made so: it goes, and another one takes its place.
    Recreate { uid: String, new: New },
    /// It goes away, and nothing but its own API keeps it: it need not be waited for.
    Release { uid: String, version: String, new: New },
    /// Nobody wants it any longer.
    Delete { kind: usize, name: String, uid: String },
    /// It goes away, and its successor must wait for that.
    Wait { kind: usize, name: String },
}

/// An object as it is written.
#[derive(Debug, PartialEq)]
pub(super) struct New {
    pub(super) kind: usize,
    pub(super) name: String,
    pub(super) object: Value,
    /// What is looked at later.
    pub(super) lasting: Value,
}

/// An object to be, with the kind's place in the applier's list.
pub(super) struct Wanted<'a> {
    pub(super) kind: usize,
    pub(super) rendered: &'a Rendered,
}

/// Steps in the order of `wanted`; removals last, so that an owner is never without what is to stay.
pub(super) fn plan(
    owner: &Owner,
    mark: &str,
    wanted: &[Wanted<'_>],
    existing: &[Existing<'_>],
) -> Result<Vec<Step>, Refused> {
    let mut steps = Vec::new();
    for (number, it) in wanted.iter().enumerate() {
        let name = it.rendered.name();
        if wanted[..number].iter().any(|other| other.kind == it.kind && other.rendered.name() == name) {
            return Err(it.rendered.refused("is rendered twice"));
        }
        let found = existing.iter().find(|there| there.kind == it.kind && is_called(there.object, name));
        steps.extend(step(owner, mark, it, found)?);
    }
    for there in existing.iter().filter(|there| owner.owns(there.object)) {
        let name = there.object.metadata.name.clone().unwrap_or_default();
        let stays = wanted.iter().any(|it| it.kind == there.kind && it.rendered.name() == name);
        if !stays && !is_going(there.object) {
            steps.push(Step::Delete { kind: there.kind, name, uid: uid(there.object) });
        }
    }
    Ok(steps)
}

fn step(
    owner: &Owner,
    mark: &str,
    wanted: &Wanted<'_>,
    found: Option<&Existing<'_>>,
) -> Result<Option<Step>, Refused> {
    let (kind, rendered) = (wanted.kind, wanted.rendered);
    let says = mark_of(rendered);
    let lasting = complete(owner, mark, rendered.lasting(), &says);
    let new = |object, lasting| New { kind, name: rendered.name().to_owned(), object, lasting };
    let first = || complete(owner, mark, rendered.object.clone(), &says);
    let Some(there) = found else { return Ok(Some(Step::Create(new(first(), lasting)))) };
    if is_going(there.object) {
        // What is not ours goes in its own time.
        let is_ours = owner.owns(there.object) || owner.succeeds(there.object);
        if !is_ours || !is_kept_by_its_api(there.object, &rendered.resource.group) {
            return Ok(Some(Step::Wait { kind, name: rendered.name().to_owned() }));
        }
        let (uid, version) = (uid(there.object), version(there.object));
        return Ok(Some(Step::Release { uid, version, new: new(first(), lasting) }));
    }
    if !owner.owns(there.object) {
        // Nobody has deleted yet what a former owner of the same name had.
        if owner.succeeds(there.object) {
            return Ok(Some(Step::Recreate { uid: uid(there.object), new: new(first(), lasting) }));
        }
        return Err(rendered.refused("exists and has another owner"));
    }
    if needs_another(rendered, mark, there.object) {
        return Ok(Some(Step::Recreate { uid: uid(there.object), new: new(first(), lasting) }));
    }
    let (content, now) = (content(&lasting), seen(there.object, &lasting));
    // A server may write a value in another way than we do: then it counts that neither changed since.
    let same_content = marked(&now, mark) == marked(&content, mark);
    if now == content || (same_content && there.last == Some(hash(&now).as_str())) {
        return Ok(None);
    }
    Ok(Some(Step::Apply(new(rendered.over(&lasting, there.object), lasting))))
}

/// Whether all that keeps an object which is being deleted are finalizers of the API that it is part of.
///
/// Such a finalizer keeps the object for those that refer to it by name (a PodGroup for its pods), and they are served
/// by the successor. Any other finalizer is of somebody who has something to clean up.
pub(super) fn is_kept_by_its_api(object: &DynamicObject, group: &str) -> bool {
    let mut finalizers = object.metadata.finalizers.iter().flatten().peekable();
    finalizers.peek().is_some()
        && finalizers.all(|it| it.split_once('/').is_some_and(|(domain, _)| domain == group))
}

pub(super) fn is_going(object: &DynamicObject) -> bool {
    object.metadata.deletion_timestamp.is_some()
}

pub(super) fn uid(object: &DynamicObject) -> String {
    object.metadata.uid.clone().unwrap_or_default()
}

pub(super) fn version(object: &DynamicObject) -> String {
    object.metadata.resource_version.clone().unwrap_or_default()
}

fn is_called(object: &DynamicObject, name: &str) -> bool {
    object.metadata.name.as_deref() == Some(name)
}
