//! What a tenant writes, and whether the API server has to take it.

use anyhow::{Context as _, Result, bail};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams, PropagationPolicy},
};
use serde_json::{Value, json};

use super::tenants::Tenants;
use crate::{
    objects,
    scenario::{Context, DEADLINE, eventually},
};

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A user with the role `edit` in the tenant's namespace.
    Editor,
    /// A user who may do everything in the tenant's namespace, and nothing elsewhere.
    Owner,
}

/// What the API server has to say to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Taken,
    Refused,
    /// What holds for the victim does not depend on it.
    Any,
}

#[derive(Clone, Debug, PartialEq)]
enum Verb {
    Create,
    /// Of a subresource, or of the object where that is empty.
    Patch(&'static str),
    Delete(PropagationPolicy),
    /// Waits until it exists.
    Await,
    /// Says that the other object owns it.
    Adopt,
}

/// One request of a tenant; in its own namespace, unless the object says another.
#[derive(Clone, Debug)]
pub(super) struct Act {
    who: Who,
    verb: Verb,
    object: Value,
    /// The other object.
    owner: Value,
    answer: Answer,
}

impl Act {
    pub(super) fn create(who: Who, object: Value) -> Self {
        Self { who, verb: Verb::Create, object, owner: Value::Null, answer: Answer::Taken }
    }

    /// The object says which one by kind and name; the rest of it is merged.
    pub(super) fn patch(who: Who, object: Value) -> Self {
        Self { who, verb: Verb::Patch(""), object, owner: Value::Null, answer: Answer::Taken }
    }

    pub(super) fn patch_status(who: Who, object: Value) -> Self {
        Self { who, verb: Verb::Patch("status"), object, owner: Value::Null, answer: Answer::Taken }
    }

    pub(super) fn scale(who: Who, api_version: &str, kind: &str, name: &str, replicas: i64) -> Self {
        let mut object = named(api_version, kind, name);
        object["spec"] = json!({ "replicas": replicas });
        Self { who, verb: Verb::Patch("scale"), object, owner: Value::Null, answer: Answer::Taken }
    }

    pub(super) fn delete(who: Who, object: Value) -> Self {
        Self {
            who,
            verb: Verb::Delete(PropagationPolicy::Background),
            object,
            owner: Value::Null,
            answer: Answer::Taken,
        }
    }

    /// Deletes it and leaves what it owns.
    pub(super) fn orphan(who: Who, object: Value) -> Self {
        Self {
            who,
            verb: Verb::Delete(PropagationPolicy::Orphan),
            object,
            owner: Value::Null,
            answer: Answer::Taken,
        }
    }

    /// Names another object of the tenant as the owner.
    pub(super) fn adopt(who: Who, object: Value, owner: Value) -> Self {
        Self { who, verb: Verb::Adopt, object, owner, answer: Answer::Taken }
    }

    /// Waits until it exists.
    pub(super) fn until(object: Value) -> Self {
        Self { who: Who::Editor, verb: Verb::Await, object, owner: Value::Null, answer: Answer::Taken }
    }

    /// It has to be refused.
    pub(super) fn refused(self) -> Self {
        Self { answer: Answer::Refused, ..self }
    }

    /// It may be refused.
    pub(super) fn any(self) -> Self {
        Self { answer: Answer::Any, ..self }
    }

    /// In another namespace than the tenant's own.
    pub(super) fn within(mut self, namespace: &str) -> Self {
        self.object["metadata"]["namespace"] = namespace.into();
        self
    }

    /// Sends it. An error where the answer is not the expected one.
    pub(super) async fn perform(&self, context: &Context, tenants: &Tenants) -> Result<()> {
        let mut object = self.object.clone();
        let what =
            format!("{:?}: {:?} {} {}", self.who, self.verb, object["kind"], object["metadata"]["name"]);
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if self.verb == Verb::Await {
            let admin = objects::api_for(&context.client(), &mut object, Some(&tenants.home)).await?;
            return eventually(&what, DEADLINE, || async { Ok(admin.get(&name).await.map(drop)?) }).await;
        }
        if self.verb == Verb::Adopt {
            let mut owner = self.owner.clone();
            let name = owner["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let above = objects::api_for(&context.client(), &mut owner, Some(&tenants.home))
                .await?
                .get(&name)
                .await?;
            let (version, kind) = (&owner["apiVersion"], &owner["kind"]);
            object["metadata"]["ownerReferences"] = json!([{ "apiVersion": version, "kind": kind, "name": name, "uid": above.uid(), "controller": true }]);
        }
        let api = tenants.api(context, self.who, &object).await?;
        let answer = self.send(&api, &name, object).await;
        let refusal = match answer {
            Ok(()) => None,
            Err(kube::Error::Api(status)) if (400..500).contains(&status.code) => {
                Some(status.message.clone())
            }
            Err(error) => return Err(error).context(what),
        };
        match (self.answer, refusal) {
            (Answer::Taken, Some(words)) => bail!("{what} was refused, so that it was no attack: {words}"),
            (Answer::Refused, None) => bail!("{what} was not refused"),
            _ => Ok(()),
        }
    }

    async fn send(&self, api: &Api<DynamicObject>, name: &str, object: Value) -> kube::Result<()> {
        let params = PatchParams::default();
        match &self.verb {
            Verb::Create => {
                let object = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
                api.create(&PostParams::default(), &object).await.map(drop)
            }
            Verb::Patch("") | Verb::Adopt => {
                api.patch(name, &params, &Patch::Merge(changes(object))).await.map(drop)
            }
            Verb::Patch(part) => {
                api.patch_subresource(part, name, &params, &Patch::Merge(changes(object))).await.map(drop)
            }
            Verb::Delete(policy) => {
                let params =
                    DeleteParams { propagation_policy: Some(policy.clone()), ..DeleteParams::default() };
                api.delete(name, &params).await.map(drop)
            }
            Verb::Await => Ok(()),
        }
    }
}

/// What an object says besides which one it is.
fn changes(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("name");
        metadata.remove("namespace");
    }
    object
}

/// An object of which only is said which one it is.
pub(super) fn named(api_version: &str, kind: &str, name: &str) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name } })
}
