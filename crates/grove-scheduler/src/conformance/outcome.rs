//! What a backend makes of a gang.

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use super::{Conformance, pods};
use crate::{
    backend::{Object, Scheduler, prepare},
    capability::Answer,
    judge::{features_of, judge},
    tree::Gang,
};

/// A run of the tests.
pub(super) struct Run<'a> {
    pub(super) kit: &'a Conformance<'a>,
    pub(super) scheduler: &'a dyn Scheduler,
}

/// What is to be expected of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// The answers admit it.
    Rendered,
    /// It asks for something that is emulated: an emulation may have limits, beyond which a gang is refused.
    Perhaps,
    /// The answers refuse it.
    Refused,
}

/// A pod before and after the backend saw it.
pub(super) struct Prepared {
    pub(super) index: u32,
    pub(super) min: u32,
    pub(super) before: Pod,
    pub(super) after: Pod,
}

/// Objects and pods of a gang.
pub(super) struct Outcome {
    pub(super) objects: Vec<Object>,
    pub(super) pods: Vec<Prepared>,
}

impl PartialEq for Outcome {
    fn eq(&self, other: &Self) -> bool {
        let pods = |it: &Self| it.pods.iter().map(|it| it.after.clone()).collect::<Vec<_>>();
        self.objects == other.objects && pods(self) == pods(other)
    }
}

impl Run<'_> {
    /// What the answers say of the gang.
    pub(super) fn expected(&self, gang: &Gang) -> Expected {
        let capabilities = self.scheduler.capabilities();
        let asked = features_of(gang);
        if !judge(&asked, &capabilities).refused.is_empty() {
            return Expected::Refused;
        }
        let is_emulated = |it: Answer| matches!(it, Answer::Emulated(_));
        let perhaps = asked.iter().any(|it| is_emulated(capabilities.of(*it)));
        if perhaps { Expected::Perhaps } else { Expected::Rendered }
    }

    /// The gang as the framework hands it over: with the form noted.
    pub(super) fn noted(&self, gang: &Gang) -> Gang {
        Gang { form: self.scheduler.form().to_owned(), ..gang.clone() }
    }

    /// Renders the gang and prepares its pods.
    pub(super) fn outcome(&self, gang: &Gang) -> Result<Outcome, String> {
        let mut gang = self.noted(gang);
        let objects = self.scheduler.render(&gang, &[]).map_err(|it| format!("it is not rendered: {it}"))?;
        gang.objects = objects.iter().filter_map(|it| name_of(&it.value)).map(str::to_owned).collect();
        let mut prepared = Vec::new();
        for leaf in gang.leaves() {
            for index in 0..u32::try_from(leaf.pods.len()).unwrap_or_default() {
                let Some(before) = pods::pod(self.kit, &gang, &leaf, index) else {
                    return Err("the tests cannot make a pod".to_owned());
                };
                let mut after = before.clone();
                prepare(self.scheduler, &mut after, &gang)
                    .map_err(|it| format!("pod {index} of {} is not prepared: {it}", leaf.name))?;
                prepared.push(Prepared { index, min: leaf.min, before, after });
            }
        }
        Ok(Outcome { objects, pods: prepared })
    }
}

/// The name of an object.
pub(super) fn name_of(object: &Value) -> Option<&str> {
    object.pointer("/metadata/name")?.as_str()
}

/// The objects as they are once they exist.
pub(super) fn existing(gang: &Gang, objects: &[Object]) -> Vec<Value> {
    let exist = |(number, object): (usize, &Object)| {
        let mut value = object.value.clone();
        value["metadata"]["namespace"] = gang.namespace.as_str().into();
        value["metadata"]["uid"] = format!("uid-{number}").into();
        value["metadata"]["resourceVersion"] = "1".into();
        value["metadata"]["creationTimestamp"] = "2030-01-01T00:00:00Z".into();
        value["metadata"]["ownerReferences"] = json!([{
            "apiVersion": gang.api_version, "kind": gang.kind, "name": gang.name, "uid": gang.uid, "controller": true,
        }]);
        value
    };
    objects.iter().enumerate().map(exist).collect()
}
