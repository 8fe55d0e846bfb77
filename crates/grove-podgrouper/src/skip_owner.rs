//! Owners that only stand around a workload: what is below them is grouped, as if it had their labels and annotations.

use serde_json::{Map, Value};

use crate::{
    group::Group,
    hub, metadata,
    owner_object::{need_of, not_read, object_of},
    plugin::{Found, Need, Plugin, Refused},
    preemptibility, priority,
    settings::Settings,
    workload::{Kind, Owner, Workload},
};

/// The plugin of such owners.
#[derive(Debug)]
pub(crate) struct SkipOwner;

impl Plugin for SkipOwner {
    fn name(&self) -> &'static str {
        "skip top owner"
    }

    fn needs(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Vec<Need>, Refused> {
        match Below::of(workload, found, settings)? {
            Ok(below) => below.plugin(settings).needs(below.workload(workload.pod), found, settings),
            Err(owner) => Ok(vec![need_of(&owner.object)]),
        }
    }

    fn group(
        &self,
        workload: Workload<'_>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Option<Group>, Refused> {
        match Below::of(workload, found, settings)? {
            Ok(below) => below.plugin(settings).group(below.workload(workload.pod), found, settings),
            Err(owner) => Err(not_read(&owner.object)),
        }
    }
}

/// The workload below the owner that is skipped.
struct Below {
    top: Value,
    owners: Vec<Owner>,
}

impl Below {
    /// It, or the owner that has to be read before.
    fn of<'a>(
        workload: Workload<'a>,
        found: &Found,
        settings: &Settings,
    ) -> Result<Result<Self, &'a Owner>, Refused> {
        let (mut top, mut owners) = match workload.owners {
            [rest @ .., _] if let Some(below) = rest.last() => match object_of(&below.object, found)? {
                Some(object) => (object.clone(), rest.to_vec()),
                None => return Ok(Err(below)),
            },
            _ => (workload.pod.clone(), Vec::new()),
        };
        inherit(&mut top, workload.top, settings);
        if let Some(last) = owners.last_mut() {
            *last = Owner::of(&top);
        }
        Ok(Ok(Self { top, owners }))
    }

    fn workload<'a>(&'a self, pod: &'a Value) -> Workload<'a> {
        Workload { pod, top: &self.top, owners: &self.owners }
    }

    fn plugin<'a>(&self, settings: &'a Settings) -> &'a dyn Plugin {
        hub::plugin_below(&self.top, settings)
    }
}

/// Gives an object the labels and annotations of the owner that it does not have itself, and what the kind of the owner
/// gets where nobody says otherwise: nobody asks for that kind any more.
fn inherit(object: &mut Value, owner: &Value, settings: &Settings) {
    let mut labels = metadata::labels(owner);
    if let Some(default) = settings.kind_default(Kind::of(owner)) {
        let class = Some(&default.priority_class).filter(|it| settings.priority_classes.contains(*it));
        let preemptibility = default.preemptibility.map(|it| it.as_str().to_owned());
        for (key, value) in [(priority::LABEL, class.cloned()), (preemptibility::LABEL, preemptibility)] {
            if let Some(value) = value {
                labels.entry(key.to_owned()).or_insert(value);
            }
        }
    }
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    for (field, inherited) in [("labels", labels), ("annotations", metadata::annotations(owner))] {
        if inherited.is_empty() {
            continue;
        }
        let own = metadata.entry(field).or_insert_with(|| Map::new().into());
        if own.is_null() {
            *own = Map::new().into();
        }
        for (key, value) in inherited {
            if let Value::Object(own) = own {
                own.entry(key).or_insert_with(|| value.into());
            }
        }
    }
}

#[cfg(test)]
mod tests;
