//! An administrator's hand on objects that have no namespace.

use grove_apiserver::{Action, DeleteOptions, PatchBody};
use serde_json::Value;

use crate::world::World;

pub(crate) fn create(world: &World, resource: &str, object: Value) {
    world.write(resource, "", "", None, Action::Create(object)).unwrap();
}

pub(crate) fn patch(world: &World, resource: &str, name: &str, patch: Value) {
    world.write(resource, "", name, None, Action::Patch(PatchBody::Merge(patch))).unwrap();
}

pub(crate) fn delete(world: &World, resource: &str, name: &str) {
    world.write(resource, "", name, None, Action::Delete(DeleteOptions::default())).unwrap();
}
