//! What a backend renders.

use std::collections::BTreeSet;

use grove_api::limits::MAX_NAME_LENGTH;
use kube::core::ApiResource;
use serde_json::Value;

use super::{
    Rule, Violation,
    outcome::{Expected, Run, existing, name_of},
    shapes::{Shape, lifted, renamed},
    statics::has,
};
use crate::backend::{Object, Uses};

pub(super) fn check(run: &Run<'_>, shape: &Shape, found: &mut Vec<Violation>) {
    let mut say = |rule, what: String| found.push(Violation { rule, shape: Some(shape.name), what });
    let gang = run.noted(&shape.gang);
    let render = |gang: &_, existing: &[Value]| run.scheduler.render(gang, existing);
    let objects = match render(&gang, &[]) {
        Ok(objects) => objects,
        Err(why) if why.0.trim().is_empty() => {
            return say(Rule::Renders, "it is refused without a word".to_owned());
        }
        Err(why) if run.expected(&gang) == Expected::Rendered => {
            return say(Rule::Renders, format!("the capabilities admit it, and it is refused: {why}"));
        }
        Err(_) => return,
    };
    if render(&gang, &[]).as_ref() != Ok(&objects) {
        // Then nothing else can be told from comparing.
        return say(Rule::Deterministic, "it is rendered differently the second time".to_owned());
    }
    if render(&shape.gang, &[]).as_ref() != Ok(&objects) {
        say(Rule::Deterministic, "it is rendered differently when its form is not noted".to_owned());
    }
    let mut there = existing(&gang, &objects);
    for _ in 0..2 {
        if render(&gang, &there).as_ref() != Ok(&objects) {
            say(Rule::Idempotent, "it is rendered differently when its objects exist".to_owned());
        }
        // Nobody promised an order.
        there.reverse();
    }
    if render(&lifted(&gang), &there).as_ref() != Ok(&objects) {
        say(Rule::Lifted, "its minima are lifted, and its objects change".to_owned());
    }
    let names = |objects: &[Object]| -> BTreeSet<(String, String)> {
        let key = |it: &Object| Some((it.resource.kind.clone(), name_of(&it.value)?.to_owned()));
        objects.iter().filter_map(key).collect()
    };
    let mine = names(&objects);
    if mine.len() < objects.len() {
        say(Rule::Objects, "an object has no name, or two of a kind have the same".to_owned());
    }
    let others = render(&renamed(&gang), &[]).unwrap_or_default();
    for (kind, name) in names(&others).intersection(&mine) {
        say(Rule::Apart, format!("{kind} {name} belongs to another gang too"));
    }
    let written = written(run);
    for object in &objects {
        for what in wrong(object, &gang.namespace, &written) {
            say(Rule::Objects, format!("{} {what}", object.resource.kind));
        }
    }
    for object in run.scheduler.on_pod_gang_delete(&gang) {
        if !written.contains(&object.resource) {
            say(
                Rule::Deletes,
                format!("{} is deleted, which is not declared as written", object.resource.kind),
            );
        }
    }
    for object in objects.iter().filter(|it| has(&it.value, "/metadata/finalizers")) {
        say(Rule::Deletes, format!("{} has a finalizer, which nobody takes away", object.resource.kind));
    }
}

fn written(run: &Run<'_>) -> Vec<ApiResource> {
    let resources = run.kit.backend.resources(run.kit.config);
    resources.into_iter().filter(|it| it.uses == Uses::Writes).map(|it| it.resource).collect()
}

/// What is wrong with one object.
fn wrong(object: &Object, namespace: &str, written: &[ApiResource]) -> Vec<String> {
    let (value, resource) = (&object.value, &object.resource);
    let mut wrong = Vec::new();
    let mut say = |is_wrong: bool, what: &str| {
        if is_wrong {
            wrong.push(what.to_owned());
        }
    };
    say(!written.contains(resource), "is not declared as written");
    let is_kind =
        value["kind"] == resource.kind.as_str() && value["apiVersion"] == resource.api_version.as_str();
    say(!is_kind, "has another kind or apiVersion in its value");
    let name = name_of(value).unwrap_or_default();
    let is_character = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-' || it == b'.';
    let is_name = !name.is_empty() && name.len() <= MAX_NAME_LENGTH && name.bytes().all(is_character);
    say(!is_name, &format!("is called {name:?}, which Kubernetes does not take"));
    let foreign = value.pointer("/metadata/namespace").is_some_and(|it| it != namespace);
    say(foreign, "is in another namespace than the gang, where it would not be owned by it");
    for (pointer, what) in [
        ("/metadata/ownerReferences", "has owners, which are the framework's"),
        ("/metadata/uid", "has a UID, which is the server's"),
        ("/metadata/resourceVersion", "has a resourceVersion, which is the server's"),
        ("/status", "has a status, which is the scheduler's"),
    ] {
        say(has(value, pointer), what);
    }
    for pointer in object.once.iter().chain(&object.immutable) {
        say(!pointer.starts_with('/'), &format!("names the field {pointer:?}, which is not a JSON pointer"));
    }
    wrong
}
