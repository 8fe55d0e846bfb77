//! What a write does to objects. Each file holds one kind of write; all run alone in the store.

mod admit;
mod apply;
mod binding;
mod budgets;
mod check;
mod create;
mod decode;
mod defaults;
mod delete;
mod duplicates;
mod events;
mod eviction;
mod fields;
mod jobs;
mod meta;
mod namespaces;
mod options;
mod patch;
mod pod_rules;
mod pods;
mod priority;
mod quotas;
mod scale;
mod strategic;
mod update;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::admission::Session;
use crate::definitions;
use crate::failure::Failure;
use crate::object::Object;
use crate::read::At;
use crate::resource::{Resource, Resources};
use crate::selector::Selection;
use crate::store::{Key, Store, Transaction, WriteRecord};

pub use apply::Apply;
pub(crate) use decode::read as read_body;
pub(crate) use fields::FieldCheck;
pub use options::{DeleteOptions, Policy, Preconditions};
pub use patch::PatchBody;
pub(crate) use scale::of as scale_of;

/// A write that somebody asks for.
#[derive(Clone, Debug)]
pub struct WriteRequest {
    /// The resource.
    pub resource: Arc<Resource>,
    /// The namespace; empty for objects of the whole cluster.
    pub namespace: String,
    /// The name; empty for a creation, whose object says it, and for a collection.
    pub name: String,
    /// The part of the object that it is about.
    pub subresource: Option<Subresource>,
    /// Who writes: the field manager, or else the program of the User-Agent.
    pub manager: String,
    /// Whether nothing is to be stored.
    pub dry_run: bool,
    /// What is to be done.
    pub action: Action,
}

/// A part of an object that can be written by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subresource {
    /// The status.
    Status,
    /// The number of replicas.
    Scale,
    /// The node of a pod.
    Binding,
    /// The finalizers in the spec of a namespace.
    Finalize,
    /// The end of a pod, if its disruption budgets allow it.
    Eviction,
}

/// What a write does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Stores a new object.
    Create(Value),
    /// Replaces an object.
    Update(Value),
    /// Changes an object.
    Patch(PatchBody),
    /// Deletes an object.
    Delete(DeleteOptions),
    /// Deletes all objects of a namespace, or of the cluster, that are selected, as they are or were.
    DeleteCollection(DeleteOptions, Selection, At),
}

/// How a write went.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There is a new object.
    Created(Arc<Object>),
    /// This is the object now, or was when it went.
    Object(Arc<Object>),
    /// These objects were deleted; they are as they were before.
    Deleted(Vec<Arc<Object>>),
    /// Something that is not a stored object: a `Status` or a `Scale`, with the HTTP status.
    Other(u16, Value),
}

impl Subresource {
    /// The name in paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Scale => "scale",
            Self::Binding => "binding",
            Self::Finalize => "finalize",
            Self::Eviction => "eviction",
        }
    }
}

impl Answer {
    /// The HTTP status.
    pub fn code(&self) -> u16 {
        match self {
            Self::Created(_) => 201,
            Self::Object(_) | Self::Deleted(_) => 200,
            Self::Other(code, _) => *code,
        }
    }
}

impl Answer {
    /// Namespaces and names of the objects that were written, where one was asked for by `name`.
    fn written(&self, namespace: &str, name: String) -> Vec<(String, String)> {
        let key = |it: &Arc<Object>| (it.namespace().to_owned(), it.name().to_owned());
        match self {
            Self::Created(object) | Self::Object(object) => vec![key(object)],
            Self::Deleted(objects) => objects.iter().map(key).collect(),
            Self::Other(..) => vec![(namespace.to_owned(), name)],
        }
    }
}

impl WriteRequest {
    /// The verb, as authorization knows it.
    pub fn verb(&self) -> &'static str {
        match self.action {
            Action::Create(_) => "create",
            Action::Update(_) => "update",
            Action::Patch(_) => "patch",
            Action::Delete(_) => "delete",
            Action::DeleteCollection(..) => "deletecollection",
        }
    }

    pub(crate) fn key(&self) -> Key {
        Key::new(self.resource.shared_id(), &self.namespace, &self.name)
    }

    fn record(&self, name: &str, code: u16, revision: Option<u64>) -> WriteRecord {
        WriteRecord {
            verb: self.verb(),
            resource: self.resource.id().to_owned(),
            namespace: self.namespace.clone(),
            name: name.to_owned(),
            subresource: self.subresource.map(Subresource::name),
            manager: self.manager.clone(),
            code,
            revision,
        }
    }
}

/// The definition of a resource has changed since the request found it; nothing was done.
#[derive(Debug)]
pub(crate) struct Stale(pub(crate) Box<WriteRequest>);

/// Performs a write and remembers that it was asked for. `fields` says how strictly its fields are looked at, and then
/// what there is to warn of. Webhooks of the session are asked; where one is yet to be asked, nothing was done, and the
/// session says so.
pub(crate) fn perform(
    store: &Store,
    request: WriteRequest,
    fields: &mut FieldCheck,
    session: &mut Option<Session>,
) -> Result<Result<Answer, Failure>, Stale> {
    let mut record = request.record(&request.name, 0, None);
    let is_dry_run = request.dry_run;
    store.transact(is_dry_run, |tx| {
        if check::is_stale(tx, &request.resource) {
            return Err(Stale(Box::new(request)));
        }
        let before = tx.revision();
        tx.write_as(&request.manager, request.subresource.map(Subresource::name));
        std::mem::swap(&mut tx.fields, fields);
        let (resource, namespace) = (Arc::clone(&request.resource), request.namespace.clone());
        let name = events::is_event(&resource).then(|| request.name.clone());
        if let Some(session) = session.take() {
            tx.attend(session, &resource);
        }
        let result = dispatch(tx, request);
        std::mem::swap(&mut tx.fields, fields);
        *session = tx.leave();
        if session.as_ref().is_some_and(Session::is_pending) {
            return Ok(result);
        }
        match &result {
            Ok(answer) => {
                if let Some(name) = name {
                    events::repeat(tx, &resource, &answer.written(&namespace, name));
                }
                quotas::count(tx, &resource, &namespace);
                if resource.defines {
                    definitions::reconcile(tx);
                }
                budgets::count(tx, &resource, &namespace);
                record.code = answer.code();
                if let Answer::Created(object) = answer {
                    object.name().clone_into(&mut record.name);
                }
            }
            Err(failure) => record.code = failure.code,
        }
        record.revision = Some(tx.revision()).filter(|it| *it != before);
        if is_dry_run {
            tx.record_dry_run(record);
        } else {
            tx.record(record);
        }
        Ok(result)
    })
}

/// Remembers a write that was refused before anybody looked at it.
pub(crate) fn refused(store: &Store, request: &WriteRequest, failure: &Failure) {
    let record = request.record(&request.name, failure.code, None);
    let is_dry_run = request.dry_run;
    store.transact(true, |tx| if is_dry_run { tx.record_dry_run(record) } else { tx.record(record) });
}

/// What every cluster has: namespaces, and the priority classes of its own pods. Nobody asked for them, so nobody is told.
pub(crate) fn begin(store: &Store, resources: &Resources) {
    let namespaces = namespaces::resource();
    store.transact(false, |tx| {
        if let Some(classes) = resources.by_id(priority::CLASSES) {
            for (name, value) in priority::SYSTEM {
                let class = json!({"metadata": {"name": name}, "value": value});
                // Cannot fail either.
                drop(create::create(tx, classes, "", class));
            }
        }
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            // Cannot fail: the store is empty and the names are good.
            drop(create::create(tx, &namespaces, "", json!({"metadata": {"name": name}})));
        }
    });
    store.compact();
}

fn dispatch(tx: &mut Transaction<'_>, request: WriteRequest) -> Result<Answer, Failure> {
    use Subresource::{Binding, Eviction, Finalize, Scale, Status};

    let key = request.key();
    let resource = &*request.resource;
    match (request.subresource, request.action) {
        (None, Action::Create(body)) => {
            create::create(tx, resource, &request.namespace, body).map(Answer::Created)
        }
        (Some(Binding), Action::Create(body)) => {
            binding::bind(tx, resource, &key, &body)?;
            Ok(Answer::Other(201, success(201, None)))
        }
        (Some(Eviction), Action::Create(body)) => {
            eviction::evict(tx, resource, &key, &body)?;
            Ok(Answer::Other(201, success(201, None)))
        }
        (None, Action::Delete(options)) => delete::delete(tx, resource, &key, &options),
        (None, Action::DeleteCollection(options, selection, at)) => {
            let namespace = Some(request.namespace.as_str()).filter(|it| !it.is_empty());
            delete::collection(tx, resource, namespace, &options, &selection, at).map(Answer::Deleted)
        }
        (Some(Scale), Action::Update(body)) => scale::write(tx, resource, &key, |_| Ok(body)),
        (Some(Scale), Action::Patch(PatchBody::Apply(it))) => scale::apply(tx, resource, &key, it),
        (Some(Scale), Action::Patch(patch)) => scale::write(tx, resource, &key, |old| patch.apply(old, None)),
        (part @ (None | Some(Status | Finalize)), Action::Update(body)) => {
            update::replace(tx, resource, &key, part, body)
        }
        (part @ (None | Some(Status)), Action::Patch(PatchBody::Apply(it))) => {
            apply::apply(tx, resource, &key, part, it)
        }
        (part @ (None | Some(Status | Finalize)), Action::Patch(patch)) => {
            update::patch(tx, resource, &key, part, &patch).map(Answer::Object)
        }
        _ => Err(Failure::method_not_allowed()),
    }
}

/// The `Status` of a success.
fn success(code: u16, details: Option<Value>) -> Value {
    let mut status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    match details {
        Some(details) => status["details"] = details,
        // The real server says the code only where there is nothing else to say.
        None => status["code"] = code.into(),
    }
    status
}
