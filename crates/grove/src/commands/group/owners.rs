//! What owns a pod, as far as the input has it.

use grove_api::field::{Error, Path};
use grove_podgrouper::Owner;
use serde_json::{Value, json};

use super::objects::{Object, Objects, UID, text};

/// Owners above each other that are looked at.
const MOST: usize = 32;

/// A pod and its owners, the nearest first.
pub(super) struct Chain<'o, 'a> {
    /// The pod, with the UIDs of its owners.
    pub(super) pod: Value,
    pub(super) owners: Vec<&'o Object<'a>>,
}

/// An owner that cannot be found: what is wrong, and with which object.
pub(super) struct Lost<'o, 'a> {
    pub(super) object: &'o Object<'a>,
    pub(super) error: Error,
}

impl<'o, 'a> Chain<'o, 'a> {
    /// The first owner of a pod counts, as in a cluster; of everything else there may be only one.
    pub(super) fn of(pod: &'o Object<'a>, objects: &'o Objects<'a>) -> Result<Self, Lost<'o, 'a>> {
        let mut chain = Self { pod: pod.value.clone(), owners: Vec::new() };
        let mut at = pod;
        loop {
            let references =
                at.value["metadata"]["ownerReferences"].as_array().map_or(&[][..], Vec::as_slice);
            let path = Path::of(&["metadata", "ownerReferences"]);
            let lost = |error: Error| Lost { object: at, error };
            let Some(reference) = references.first() else { return Ok(chain) };
            if references.len() > 1 && !chain.owners.is_empty() {
                let detail = "an object between a pod and the top may have only one owner";
                return Err(lost(Error::too_many(path, references.len(), 1)).because(detail));
            }
            let found = find(at, reference, objects).map_err(|detail| {
                let named = format!("{} {}", text(&reference["kind"]), text(&reference["name"]));
                lost(Error::not_found(path.index(0), named, detail))
            })?;
            if chain.owners.is_empty() {
                chain.pod["metadata"]["ownerReferences"][0]["uid"] = found.value["metadata"]["uid"].clone();
            }
            if chain.owners.len() == MOST || chain.owners.iter().any(|it| std::ptr::eq(*it, found)) {
                let detail = "objects own each other in a circle, or too many are above each other";
                return Err(lost(Error::forbidden(path.index(0), detail)));
            }
            chain.owners.push(found);
            at = found;
        }
    }

    /// What is at the top.
    pub(super) fn top(&self) -> &Value {
        self.owners.last().map_or(&self.pod, |it| &it.value)
    }

    /// What plugins are told of the owners.
    pub(super) fn metadata(&self) -> Vec<Owner> {
        self.owners.iter().map(|it| Owner::of(&it.value)).collect()
    }
}

impl Lost<'_, '_> {
    fn because(mut self, detail: &str) -> Self {
        detail.clone_into(&mut self.error.detail);
        self
    }
}

/// The object that a reference names. One with another UID is not it; where a UID is not said it is any.
fn find<'o, 'a>(
    owned: &Object<'a>,
    reference: &Value,
    objects: &'o Objects<'a>,
) -> Result<&'o Object<'a>, &'static str> {
    let field = |name: &str| text(&reference[name]);
    let namespace = owned.namespace();
    let found = objects
        .find(namespace, field("apiVersion"), field("kind"), field("name"))
        .ok_or("it is not in the input: add it, or take the reference away")?;
    let uid = text(&found.value["metadata"]["uid"]);
    let wanted = field("uid");
    if [uid, wanted].iter().any(|it| it.is_empty() || *it == UID) || uid == wanted {
        return Ok(found);
    }
    Err("the one in the input has another UID: it is not the owner but another of its name")
}

/// A reference to an object, as the objects that it makes carry it.
pub(super) fn reference(owner: &Value) -> Value {
    let metadata = &owner["metadata"];
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"],
    }])
}
