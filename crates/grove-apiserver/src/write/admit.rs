//! Where webhooks come in: before anything is stored. Writes without a session, such as those of the garbage collector, skip them.

use std::sync::Arc;

use serde_json::Value;

use super::Subresource;
use crate::admission::{Attributes, Operation, Stage};
use crate::failure::Failure;
use crate::object::Object;
use crate::store::{Key, Transaction};

/// What is about to be written, as webhooks see it.
#[derive(Clone, Copy)]
pub(super) struct Change<'a> {
    pub(super) operation: Operation,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) part: Option<Subresource>,
    pub(super) old: Option<&'a Arc<Object>>,
}

impl<'a> Change<'a> {
    pub(super) fn update(key: &'a Key, part: Option<Subresource>, old: &'a Arc<Object>) -> Self {
        Self {
            operation: Operation::Update,
            namespace: &key.namespace,
            name: &key.name,
            part,
            old: Some(old),
        }
    }

    pub(super) fn create(namespace: &'a str, name: &'a str) -> Self {
        Self { operation: Operation::Create, namespace, name, part: None, old: None }
    }

    pub(super) fn delete(key: &'a Key, old: &'a Arc<Object>) -> Self {
        Self { operation: Operation::Delete, ..Self::update(key, None, old) }
    }
}

/// The object as the mutating webhooks make it.
pub(super) fn mutate(tx: &mut Transaction<'_>, change: Change<'_>, object: Value) -> Result<Value, Failure> {
    if tx.is_attended() { judge(tx, Stage::Mutating, change, object) } else { Ok(object) }
}

/// Whether the validating webhooks let it be.
pub(super) fn validate(tx: &mut Transaction<'_>, change: Change<'_>, object: &Value) -> Result<(), Failure> {
    if tx.is_attended() { judge(tx, Stage::Validating, change, object.clone()).map(drop) } else { Ok(()) }
}

fn judge(
    tx: &mut Transaction<'_>,
    stage: Stage,
    change: Change<'_>,
    object: Value,
) -> Result<Value, Failure> {
    let namespace = tx.get(&Key::new("namespaces", "", change.namespace));
    let labels = namespace.as_ref().and_then(|it| it.field("/metadata/labels")?.as_object());
    let labels = labels.into_iter().flatten();
    let namespace_labels =
        labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
    let dry_run = tx.is_dry_run();
    let Some(session) = tx.session() else { return Ok(object) };
    let attributes = Attributes {
        operation: change.operation,
        resource: Arc::clone(&session.resource),
        subresource: change.part.map(Subresource::name),
        namespace: change.namespace.to_owned(),
        name: change.name.to_owned(),
        object,
        old: change.old.map(Arc::clone),
        namespace_labels,
        dry_run,
    };
    session.judge(stage, attributes)
}
