//! From a request to its answer.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::request::Parts;
use http::{Method, Response};
use serde_json::{Value, json};

use crate::accept::Form;
use crate::body::Body;
use crate::discovery;
use crate::failure::Failure;
use crate::fault::Fault;
use crate::object::Object;
use crate::query::Query;
use crate::read::{self, ListOptions};
use crate::resource::Resource;
use crate::route::{Route, Target, route};
use crate::selector::Selection;
use crate::server::ApiServer;
use crate::service::{TransportError, answer, answer_lines, answer_text, answer_value, refuse};
use crate::watch::{Scope, Start, WatchOptions, watch};
use crate::write::{self, Action, Answer, DeleteOptions, PatchBody, Subresource, WriteRequest};

/// A request for objects.
struct Asked<'a> {
    server: &'a ApiServer,
    resource: Arc<Resource>,
    target: Target,
    subresource: Option<Subresource>,
    query: Query,
    parts: &'a Parts,
    body: &'a Bytes,
}

/// Answers a request.
pub(crate) async fn handle(
    server: &ApiServer,
    parts: &Parts,
    body: &Bytes,
) -> Result<Response<Body>, TransportError> {
    let resources = server.resources();
    let not_found = || answer_text(404, "404 page not found\n");
    let value_or_not_found = |value: Option<Value>| value.map_or_else(not_found, |it| answer_value(200, &it));
    let target = match route(parts.uri.path()) {
        Route::Objects(target) => target,
        _ if parts.method != Method::GET => return Ok(refuse(&Failure::method_not_allowed())),
        Route::Version => return Ok(answer_value(200, &discovery::version())),
        Route::Health => return Ok(answer_text(200, "ok")),
        Route::CoreVersions => return Ok(answer_value(200, &discovery::core_versions())),
        Route::Groups => return Ok(answer_value(200, &discovery::groups(resources))),
        Route::Group(group) => return Ok(value_or_not_found(discovery::one_group(resources, &group))),
        Route::GroupVersion(group, version) => {
            return Ok(value_or_not_found(discovery::group_version(resources, &group, &version)));
        }
        Route::Nothing => return Ok(not_found()),
    };
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    match find(server, target) {
        Ok(Some((resource, target, subresource))) => {
            let asked = Asked { server, resource, target, subresource, query, parts, body };
            asked.answer().await
        }
        Ok(None) => Ok(not_found()),
        Err(failure) => Ok(refuse(&failure)),
    }
}

type Found = (Arc<Resource>, Target, Option<Subresource>);

/// The resource of a target. None if nobody serves such paths at all.
fn find(server: &ApiServer, mut target: Target) -> Result<Option<Found>, Failure> {
    let resources = server.resources();
    // The same as the subresource of pods, only that the body names the pod.
    let is_bindings = target.group.is_empty() && target.plural == "bindings";
    if is_bindings && target.name.is_none() && target.namespace.is_some() {
        "pods".clone_into(&mut target.plural);
        target.subresource = Some("binding".to_owned());
    }
    let Some(resource) = resources.find(&target.group, &target.version, &target.plural) else {
        let mut siblings =
            resources.iter().filter(|it| it.group == target.group && it.version == target.version).peekable();
        let is_custom = siblings.peek().is_none_or(|it| it.custom);
        return if is_custom { Ok(None) } else { Err(Failure::no_such_resource()) };
    };
    if !resource.namespaced && target.namespace.is_some() {
        return if resource.custom { Ok(None) } else { Err(Failure::no_such_resource()) };
    }
    if resource.namespaced && target.namespace.is_none() && target.name.is_some() {
        return Err(Failure::no_such_resource());
    }
    let subresource = match target.subresource.as_deref() {
        None => None,
        Some("status") if resource.status => Some(Subresource::Status),
        Some("scale") if resource.scale.is_some() => Some(Subresource::Scale),
        Some("binding") if resource.is("pods") => Some(Subresource::Binding),
        Some("finalize") if resource.is("namespaces") => Some(Subresource::Finalize),
        Some(_) => return Err(Failure::no_such_resource()),
    };
    Ok(Some((Arc::clone(resource), target, subresource)))
}

impl Asked<'_> {
    async fn answer(self) -> Result<Response<Body>, TransportError> {
        let form = match Form::wanted(&self.parts.headers) {
            Ok(form) => form,
            Err(failure) => return Ok(refuse(&failure)),
        };
        if self.parts.method == Method::GET {
            return Ok(self.read(form).await.unwrap_or_else(|failure| refuse(&failure)));
        }
        let request = match self.write_request() {
            Ok(request) => request,
            Err(failure) => return Ok(refuse(&failure)),
        };
        let result = match self.server.fault(&request) {
            Fault::None => self.server.write(request),
            Fault::Refuse(failure) => {
                write::refused(self.server.store(), &request, &failure);
                Err(failure)
            }
            Fault::Cut => return Err(TransportError::Cut),
            Fault::Lose => {
                // Whatever the result: nobody hears of it.
                drop(self.server.write(request));
                return Err(TransportError::Lost);
            }
        };
        Ok(match result {
            Ok(answer) => self.written(&answer, form),
            Err(failure) => refuse(&failure),
        })
    }

    async fn read(&self, form: Form) -> Result<Response<Body>, Failure> {
        let store = self.server.shared_store();
        let namespace = self.target.namespace.as_deref();
        let Some(name) = self.target.name.as_deref() else {
            if self.subresource.is_some() {
                return Err(Failure::method_not_allowed());
            }
            if self.query.flag("watch") {
                return self.watch(form).await;
            }
            let options = ListOptions::parse(&self.resource, &self.query)?;
            read::wait_for(store, options.at).await?;
            let list = read::list(store, &self.resource, namespace, &options)?;
            return Ok(answer(200, list.encode(&self.resource, form)));
        };
        let object = store
            .get(self.resource.id(), namespace.unwrap_or_default(), name)
            .ok_or_else(|| Failure::not_found(&self.resource, name))?;
        match self.subresource {
            None | Some(Subresource::Status) => Ok(answer(200, encode_object(&object, form))),
            Some(Subresource::Scale) => Ok(answer_value(200, &write::scale_of(&self.resource, &object)?)),
            Some(Subresource::Binding | Subresource::Finalize) => Err(Failure::method_not_allowed()),
        }
    }

    async fn watch(&self, form: Form) -> Result<Response<Body>, Failure> {
        let store = self.server.shared_store();
        let options = WatchOptions::parse(&self.query)?;
        let selection = Selection::parse(&self.resource, &self.query)?;
        if let Start::List(at) = options.start {
            read::wait_for(store, at).await?;
        }
        let (resource, namespace) = (Arc::clone(&self.resource), self.target.namespace.clone());
        let scope = Scope { resource, namespace, selection, form };
        Ok(answer_lines(watch(store, scope, &options)))
    }

    /// What the client wants written.
    fn write_request(&self) -> Result<WriteRequest, Failure> {
        let content_type = self.parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let mut name = self.target.name.clone().unwrap_or_default();
        let is_scoped = !self.resource.namespaced || self.target.namespace.is_some();
        let is_named = self.target.name.is_some();
        let json_body = || write::accepts(content_type).and_then(|()| write::parse(self.body));
        let mut dry_run = None;
        let action = match (self.parts.method.as_str(), self.subresource) {
            ("POST", None) if !is_named && is_scoped => Action::Create(json_body()?),
            ("POST", Some(Subresource::Binding)) => {
                let body = json_body()?;
                if !is_named {
                    body.pointer("/metadata/name")
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .clone_into(&mut name);
                }
                Action::Create(body)
            }
            ("PUT", None | Some(Subresource::Status | Subresource::Scale | Subresource::Finalize))
                if is_named =>
            {
                Action::Update(json_body()?)
            }
            ("PATCH", None | Some(Subresource::Status | Subresource::Scale)) if is_named => {
                Action::Patch(PatchBody::parse(content_type, self.resource.custom, &self.query, self.body)?)
            }
            ("DELETE", None) if is_scoped => {
                let (options, dry) = DeleteOptions::parse(&self.query, self.body)?;
                dry_run = Some(dry);
                if is_named {
                    Action::Delete(options)
                } else {
                    Action::DeleteCollection(options, Selection::parse(&self.resource, &self.query)?)
                }
            }
            _ => return Err(Failure::method_not_allowed()),
        };
        let options_kind = match &action {
            Action::Create(_) => "CreateOptions",
            Action::Update(_) => "UpdateOptions",
            _ => "PatchOptions",
        };
        Ok(WriteRequest {
            resource: Arc::clone(&self.resource),
            namespace: self.target.namespace.clone().unwrap_or_default(),
            name,
            subresource: self.subresource,
            manager: self.manager(),
            dry_run: dry_run.map_or_else(|| self.query.dry_run(options_kind), Ok)?,
            action,
        })
    }

    fn manager(&self) -> String {
        let agent = || self.parts.headers.get(USER_AGENT).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let program = || agent().split('/').next().unwrap_or_default();
        self.query.get("fieldManager").map_or_else(|| program().to_owned(), str::to_owned)
    }

    fn written(&self, result: &Answer, form: Form) -> Response<Body> {
        match result {
            Answer::Created(object) | Answer::Object(object) => {
                answer(result.code(), encode_object(object, form))
            }
            Answer::Deleted(items) => {
                let metadata = json!({"resourceVersion": self.server.store().revision().to_string()});
                answer(200, read::encode_list(&self.resource, form, &metadata, items))
            }
            Answer::Other(code, value) => answer_value(*code, value),
        }
    }
}

fn encode_object(object: &Object, form: Form) -> Bytes {
    match form {
        Form::Whole => object.json(),
        Form::Metadata => object.metadata_json(),
    }
}
