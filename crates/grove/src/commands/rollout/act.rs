//! Changes a set.

use std::io;

use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    read::{Read, read, sets},
    restart, undo,
};
use crate::{cluster::failure, commands::status::read::Question};

/// Who changes fields in our name.
const MANAGER: &str = "grove-cli";
/// Where it says whether a set is paused.
const PAUSED: &str = "/spec/updateStrategy/paused";

/// What became of it.
#[derive(Debug, PartialEq)]
pub(super) enum Done {
    /// There is no such set.
    NoSet,
    /// It is not done, and this is why.
    Refused(String),
    Said(Action),
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Action {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Whether anything was written.
    pub(super) changed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) revision: Option<i64>,
    pub(super) message: String,
}

/// Puts an earlier template back.
pub(super) async fn undo(question: &Question, to_revision: Option<i64>) -> io::Result<Done> {
    let Some(found) = read(question).await? else { return Ok(Done::NoSet) };
    let template = &found.raw.data["spec"]["template"];
    let back = match undo::choose(template, &found.revisions, to_revision) {
        Ok(back) => back,
        Err(why) => return Ok(Done::Refused(why)),
    };
    let number = back.revision;
    let Some(template) = back.template else {
        let message = format!("{} already has the template of revision {number}", set_name(question));
        return Ok(Done::Said(action(question, false, Some(number), message)));
    };
    match put(question, &found, &template).await? {
        None => Ok(changed_meanwhile()),
        Some(after) => {
            let waits = if is_paused(&after) {
                "; updates are paused: `grove rollout resume` replaces pods"
            } else {
                ""
            };
            let message = format!("{} rolled back to revision {number}{waits}", set_name(question));
            Ok(Done::Said(action(question, true, Some(number), message)))
        }
    }
}

/// Replaces every pod by an update that changes nothing else.
pub(super) async fn restart(question: &Question, now: Timestamp) -> io::Result<Done> {
    let Some(found) = read(question).await? else { return Ok(Done::NoSet) };
    let set = set_name(question);
    if let Some(why) = restart::refusal(&raw(&found), set) {
        return Ok(Done::Refused(why));
    }
    let Some(template) = restart::restarted(&found.raw.data["spec"]["template"], now) else {
        let message = format!("{set} was restarted less than a second ago");
        return Ok(Done::Said(action(question, false, None, message)));
    };
    if put(question, &found, &template).await?.is_none() {
        return Ok(changed_meanwhile());
    }
    let message =
        format!("{set} restarts: every pod is replaced; `grove rollout status {set} -w` follows it");
    Ok(Done::Said(action(question, true, None, message)))
}

/// Writes a template over the one that was read; `None` where somebody else has changed the set since.
async fn put(question: &Question, found: &Read, template: &Value) -> io::Result<Option<Value>> {
    let version = found.set.metadata.resource_version.as_deref().unwrap_or_default();
    match change(question, &undo::patch(version, template)).await {
        Err(kube::Error::Api(status)) if status.is_conflict() => Ok(None),
        Err(error) => Err(failure(&question.server, &error)),
        Ok(after) => Ok(Some(after)),
    }
}

fn changed_meanwhile() -> Done {
    Done::Refused("the set was changed concurrently; check it and try again".to_owned())
}

/// The whole set.
fn raw(found: &Read) -> Value {
    let mut raw = found.raw.data.clone();
    raw["metadata"] = json!(found.raw.metadata);
    raw
}

/// Pauses updates of a set, or resumes them.
pub(super) async fn pause(question: &Question, paused: bool) -> io::Result<Done> {
    let Some(found) = read(question).await? else { return Ok(Done::NoSet) };
    let set = set_name(question);
    if is_paused(&found.raw.data) == paused {
        let word = if paused { "already paused" } else { "not paused" };
        return Ok(Done::Said(action(question, false, None, format!("{set} is {word}"))));
    }
    let patch = json!({ "spec": { "updateStrategy": { "paused": paused } } });
    let after = change(question, &patch).await.map_err(|error| failure(&question.server, &error))?;
    // A server leaves out what its definitions do not know, and says nothing.
    if is_paused(&after) != paused {
        let why = "the cluster's PodCliqueSet CRD has no spec.updateStrategy.paused; update it: \
                   grove crds | kubectl apply --server-side -f -";
        return Ok(Done::Refused(why.to_owned()));
    }
    let word = if paused { "paused" } else { "resumed" };
    Ok(Done::Said(action(question, true, None, format!("{set} is {word}"))))
}

async fn change(question: &Question, patch: &Value) -> kube::Result<Value> {
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    let after = sets(question).patch(set_name(question), &params, &Patch::Merge(patch)).await?;
    Ok(after.data)
}

fn is_paused(set: &Value) -> bool {
    set.pointer(PAUSED).and_then(Value::as_bool).unwrap_or_default()
}

fn set_name(question: &Question) -> &str {
    question.set.as_deref().unwrap_or_default()
}

fn action(question: &Question, changed: bool, revision: Option<i64>, message: String) -> Action {
    let namespace = question.namespace.clone().unwrap_or_default();
    Action { namespace, name: set_name(question).to_owned(), changed, revision, message }
}
