//! From a request to its answer.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, USER_AGENT, WARNING};
use http::request::Parts;
use http::{Method, Response};
use serde_json::{Map, Value};

use crate::accept::Form;
use crate::auth::{self, UserInfo};
use crate::body::Body;
use crate::discovery::{self, Catalog};
use crate::failure::{Cause, Failure};
use crate::fault::Fault;
use crate::health;
use crate::object::Object;
use crate::openapi;
use crate::query::Query;
use crate::read::{self, At, ListOptions};
use crate::resource::Resource;
use crate::route::{Route, Target, route};
use crate::selector::Selection;
use crate::server::ApiServer;
use crate::service::{TransportError, answer, answer_lines, answer_text, answer_value, refuse};
use crate::watch::{Scope, Start, WatchOptions, watch};
use crate::write::{self, Action, Answer, DeleteOptions, FieldCheck, PatchBody, Subresource, WriteRequest};

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
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let target = match route(parts.uri.path()) {
        Route::Objects(target) => target,
        _ if parts.method != Method::GET => return Ok(refuse(&Failure::method_not_allowed())),
        Route::Version => return Ok(answer_value(200, &discovery::version())),
        Route::Health(endpoint, check) => return Ok(health::health(&endpoint, check.as_deref(), &query)),
        Route::Metrics => return Ok(health::metrics(server)),
        Route::CoreVersions => return Ok(discovery::core_versions(&resources, &parts.headers)),
        Route::Groups => return Ok(discovery::groups(&resources, &parts.headers)),
        Route::Group(group) => {
            return Ok(value_or_not_found(discovery::one_group(&Catalog::of(&resources), &group)));
        }
        Route::GroupVersion(group, version) => {
            let catalog = Catalog::of(&resources);
            return Ok(value_or_not_found(discovery::group_version(&catalog, &group, &version)));
        }
        Route::OpenApi => return Ok(openapi::index(&resources)),
        Route::OpenApiDocument(group, version) => {
            return Ok(openapi::document(&resources, parts, &group, &version));
        }
        Route::Nothing => return Ok(not_found()),
    };
    if let Some(response) = auth::review(server, parts, &target, body) {
        return Ok(response);
    }
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
        Some("eviction") if resource.is("pods") && resource.strict => Some(Subresource::Eviction),
        Some(part @ ("log" | "exec" | "attach" | "portforward" | "proxy"))
            if resource.is("pods") && resource.strict =>
        {
            return Err(Failure::not_implemented(format!(
                "pods/{part} is not served: the pods of this cluster are simulated, no container runs"
            )));
        }
        Some("binding") if resource.is("pods") => Some(Subresource::Binding),
        Some("finalize") if resource.is("namespaces") => Some(Subresource::Finalize),
        Some(_) if resource.custom => {
            return Err(Failure::not_found(resource, target.name.as_deref().unwrap_or_default()));
        }
        Some(_) => return Err(Failure::no_such_resource()),
    };
    Ok(Some((Arc::clone(resource), target, subresource)))
}

impl Asked<'_> {
    async fn answer(self) -> Result<Response<Body>, TransportError> {
        let form = match Form::wanted(&self.parts.headers, &self.query) {
            Ok(form) => form,
            Err(failure) => return Ok(refuse(&failure)),
        };
        if self.parts.method == Method::GET {
            return Ok(self.read(form).await.unwrap_or_else(|failure| refuse(&failure)));
        }
        let (request, mut fields) = match self.write_request() {
            Ok(request) => request,
            Err(failure) => return Ok(refuse(&failure)),
        };
        match self.server.fault(&request) {
            Fault::None => {
                if let Action::DeleteCollection(.., at) = request.action
                    && let Err(failure) = read::wait_for(self.server.shared_store(), at).await
                {
                    return Ok(refuse(&failure));
                }
                let user = self.user();
                let (result, warnings) = self.server.write_admitted(request, &mut fields, user).await;
                let mut response = match result {
                    Ok(answer) => self.written(&answer, form),
                    Err(failure) => refuse(&failure),
                };
                warn(&mut response, fields.warnings());
                warn(&mut response, &warnings);
                Ok(response)
            }
            Fault::Refuse(failure) => {
                write::refused(self.server.store(), &request, &failure);
                Ok(refuse(&failure))
            }
            Fault::Cut => Err(TransportError::Cut),
            Fault::Lose => {
                // Whatever the result: nobody hears of it.
                drop(self.server.write_admitted(request, &mut fields, self.user()).await);
                Err(TransportError::Lost)
            }
        }
    }

    /// Who sends the request, as webhooks are told.
    fn user(&self) -> Value {
        self.parts.extensions.get::<UserInfo>().cloned().unwrap_or_default().to_json()
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
            return Ok(answer(200, list.encode(&self.resource, form, store.now())));
        };
        let object = store
            .get(self.resource.id(), namespace.unwrap_or_default(), name)
            .ok_or_else(|| Failure::not_found(&self.resource, name))?;
        let object = self.resource.present(&object);
        match self.subresource {
            None | Some(Subresource::Status) => {
                Ok(answer(200, object.encode(&self.resource, form, store.now())))
            }
            Some(Subresource::Scale) => Ok(answer_value(200, &write::scale_of(&self.resource, &object)?)),
            Some(Subresource::Binding | Subresource::Finalize | Subresource::Eviction) => {
                Err(Failure::method_not_allowed())
            }
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
    fn write_request(&self) -> Result<(WriteRequest, FieldCheck), Failure> {
        let content_type = self.parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let mut name = self.target.name.clone().unwrap_or_default();
        let is_scoped = !self.resource.namespaced || self.target.namespace.is_some();
        let is_named = self.target.name.is_some();
        let mut duplicates = Vec::new();
        let mut body = || {
            let (value, doubles) =
                write::read_body(self.body_kind(), self.resource.custom, content_type, self.body)?;
            duplicates = doubles;
            Ok::<_, Failure>(value)
        };
        let mut dry_run = None;
        let action = match (self.parts.method.as_str(), self.subresource) {
            ("POST", None) if !is_named && is_scoped => Action::Create(body()?),
            ("POST", Some(Subresource::Eviction)) => {
                let body = body()?;
                if body.pointer("/deleteOptions/dryRun/0").is_some_and(|it| it == "All") {
                    dry_run = Some(true);
                }
                Action::Create(body)
            }
            ("POST", Some(Subresource::Binding)) => {
                let body = body()?;
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
                Action::Update(body()?)
            }
            ("PATCH", None | Some(Subresource::Status | Subresource::Scale)) if is_named => {
                let (patch, doubles) =
                    PatchBody::parse(content_type, self.resource.custom, &self.query, self.body)?;
                duplicates = doubles;
                Action::Patch(patch)
            }
            // No namespace goes with others.
            ("DELETE", None) if is_scoped && (is_named || !self.resource.is("namespaces")) => {
                let (options, dry) = DeleteOptions::parse(&self.query, self.body)?;
                dry_run = Some(dry);
                if is_named {
                    Action::Delete(options)
                } else {
                    let selection = Selection::parse(&self.resource, &self.query)?;
                    Action::DeleteCollection(options, selection, At::of_list(&self.query, false)?)
                }
            }
            _ => return Err(Failure::method_not_allowed()),
        };
        let options_kind = match &action {
            Action::Create(_) => "CreateOptions",
            Action::Update(_) => "UpdateOptions",
            _ => "PatchOptions",
        };
        let fields = FieldCheck::parse(&self.query, options_kind, duplicates)?;
        let request = WriteRequest {
            resource: Arc::clone(&self.resource),
            namespace: self.target.namespace.clone().unwrap_or_default(),
            name,
            subresource: self.subresource,
            manager: self.manager(options_kind)?,
            dry_run: dry_run.map_or_else(|| self.query.dry_run(options_kind), Ok)?,
            action,
        };
        Ok((request, fields))
    }

    /// The kind of object that a body is to be.
    fn body_kind(&self) -> &str {
        match self.subresource {
            Some(Subresource::Scale) => "Scale",
            Some(Subresource::Eviction) => "Eviction",
            Some(Subresource::Binding) => "Binding",
            None | Some(Subresource::Status | Subresource::Finalize) => &self.resource.kind,
        }
    }

    /// Who writes, by name. Objects carry it, so there is an end to it.
    fn manager(&self, options: &str) -> Result<String, Failure> {
        let Some(name) = self.query.get("fieldManager").filter(|_| self.parts.method != Method::DELETE)
        else {
            let agent =
                self.parts.headers.get(USER_AGENT).and_then(|it| it.to_str().ok()).unwrap_or_default();
            return Ok(agent.split('/').next().unwrap_or_default().chars().take(LONGEST_MANAGER).collect());
        };
        let cause = if name.len() > LONGEST_MANAGER {
            Cause::too_long("fieldManager", LONGEST_MANAGER)
        } else if let Some((at, char)) = name.char_indices().find(|(_, it)| it.is_control()) {
            let detail = format!("invalid character U+{:04X} (at position {at})", u32::from(char));
            Cause::invalid("fieldManager", &format!("{name:?}"), &detail)
        } else {
            return Ok(name.to_owned());
        };
        Err(Failure::invalid_options(options, cause))
    }

    fn written(&self, result: &Answer, form: Form) -> Response<Body> {
        match result {
            Answer::Created(object) | Answer::Object(object) => {
                let object = self.resource.present(object);
                answer(result.code(), object.encode(&self.resource, form, self.server.store().now()))
            }
            Answer::Deleted(items) => {
                let store = self.server.store();
                let revision = store.revision().to_string();
                let metadata = Map::from_iter([("resourceVersion".to_owned(), revision.into())]);
                let items: Vec<Arc<Object>> = items.iter().map(|it| self.resource.present(it)).collect();
                answer(200, read::encode_list(&self.resource, form, store.now(), &metadata, &items))
            }
            Answer::Other(code, value) => answer_value(*code, value),
        }
    }
}

/// As long as the name of a manager may be.
const LONGEST_MANAGER: usize = 128;

/// As many warnings as an answer has, and as many characters as one has.
const MOST_WARNINGS: usize = 20;
const LONGEST_WARNING: usize = 256;

/// Adds warnings in the form in which clients show them to people.
fn warn(response: &mut Response<Body>, warnings: &[String]) {
    for warning in warnings.iter().take(MOST_WARNINGS) {
        let text: String = warning.chars().take(LONGEST_WARNING).filter(|it| !it.is_control()).collect();
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::try_from(format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}
