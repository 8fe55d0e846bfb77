//! Owners of which more is needed than their metadata.

use serde_json::Value;

use crate::{
    group::GroupOwner,
    metadata::uid,
    plugin::{Found, Need, Refused},
};

/// The whole of an owner.
pub(crate) fn need_of(owner: &GroupOwner) -> Need {
    let GroupOwner { api_version, kind, name, .. } = owner.clone();
    Need::Object { api_version, kind, name }
}

/// The whole of an owner; `None` where nobody asked for it yet. Another object of its name is not it.
pub(crate) fn object_of<'a>(owner: &GroupOwner, found: &'a Found) -> Result<Option<&'a Value>, Refused> {
    let GroupOwner { kind, name, .. } = owner;
    let Some(answer) = found.get(&need_of(owner)) else { return Ok(None) };
    match answer.first() {
        Some(object) if uid(object) == owner.uid => Ok(Some(object)),
        Some(_) => {
            Err(Refused(format!("{kind} {name} owns the pod and is gone: there is another one of its name")))
        }
        None => Err(Refused(format!("{kind} {name} owns the pod and is not there"))),
    }
}

/// A plugin was not given what it asked for.
pub(crate) fn not_read(owner: &GroupOwner) -> Refused {
    Refused(format!("{} {} owns the pod and was not read", owner.kind, owner.name))
}
