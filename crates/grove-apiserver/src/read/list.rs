//! Lists, in pages if wanted. All pages of a list are of one moment: that of the first.

use std::sync::Arc;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::revision::At;
use super::token::Token;
use crate::accept::Form;
use crate::failure::{Cause, Failure};
use crate::object::{Object, encode};
use crate::query::Query;
use crate::resource::Resource;
use crate::selector::Selection;
use crate::store::{Expired, Key, Store};
use crate::table::Rows;

/// What a list asks for.
#[derive(Clone, Debug)]
pub(crate) struct ListOptions {
    pub(crate) selection: Selection,
    pub(crate) at: At,
    limit: usize,
    token: Option<Token>,
}

/// A list, or a page of one.
#[derive(Debug)]
pub(crate) struct List {
    items: Vec<Arc<Object>>,
    revision: u64,
    token: Option<Token>,
    remaining: Option<usize>,
}

impl ListOptions {
    pub(crate) fn parse(resource: &Resource, query: &Query) -> Result<Self, Failure> {
        let selection = Selection::parse(resource, query)?;
        if query.get("sendInitialEvents").is_some() {
            let cause = Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(Failure::invalid_options("ListOptions", cause));
        }
        let limit = query.number("limit")?.and_then(|it| usize::try_from(it).ok()).unwrap_or(0);
        let token = query.get("continue").map(Token::read).transpose()?;
        let at = match &token {
            Some(_) if query.get("resourceVersion").is_some_and(|it| it != "0") => {
                let message = "specifying resource version is not allowed when using continue";
                return Err(Failure::bad_request(message));
            }
            Some(token) => At::Exactly(token.revision),
            None => At::of_list(query, limit > 0)?,
        };
        Ok(Self { selection, at, limit, token })
    }
}

/// Reads a list.
pub(crate) fn list(
    store: &Store,
    resource: &Resource,
    namespace: Option<&str>,
    options: &ListOptions,
) -> Result<List, Failure> {
    let mut list = store.view(|state| match options.at {
        At::Exactly(revision) if revision != state.revision() => {
            let objects = state.at(revision, resource.id(), namespace).map_err(|it| expired(it, options))?;
            Ok(page(objects.iter(), revision, options))
        }
        _ => Ok(page(state.range(resource.id(), namespace), state.revision(), options)),
    })?;
    for object in &mut list.items {
        *object = resource.present(object);
    }
    Ok(list)
}

fn expired(_: Expired, options: &ListOptions) -> Failure {
    if options.token.is_none() {
        return Failure::expired_list();
    }
    Failure::expired(
        "The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.",
    )
}

fn page<'a>(
    objects: impl Iterator<Item = (&'a Key, &'a Arc<Object>)>,
    revision: u64,
    options: &ListOptions,
) -> List {
    let is_after = |key: &Key| {
        let position = |token: &Token| (&*key.namespace, &*key.name) > (&*token.namespace, &*token.name);
        options.token.as_ref().is_none_or(position)
    };
    let mut selected = objects.filter(|(key, object)| is_after(key) && options.selection.matches(object));
    if options.limit == 0 {
        let items = selected.map(|(_, object)| Arc::clone(object)).collect();
        return List { items, revision, token: None, remaining: None };
    }
    let mut items = Vec::new();
    let mut last = None;
    for (key, object) in selected.by_ref().take(options.limit) {
        items.push(Arc::clone(object));
        last = Some(key);
    }
    let remaining = selected.count();
    let token = last.filter(|_| remaining > 0).map(|key| Token::after(key, revision));
    // With a selector the real server does not look beyond the page, so clients do not expect it.
    let tells = token.is_some() && options.selection.is_everything();
    List { items, revision, token, remaining: tells.then_some(remaining) }
}

impl List {
    /// The list as a client wants it.
    pub(crate) fn encode(&self, resource: &Resource, form: Form, now: Timestamp) -> Bytes {
        let mut metadata = Map::from_iter([("resourceVersion".to_owned(), self.revision.to_string().into())]);
        if resource.custom && resource.strict && form == Form::Whole {
            // Lists of custom kinds say that there is no more.
            metadata.insert("continue".to_owned(), "".into());
        }
        if let Some(token) = &self.token {
            metadata.insert("continue".to_owned(), token.write().into());
        }
        if let Some(remaining) = self.remaining {
            metadata.insert("remainingItemCount".to_owned(), remaining.into());
        }
        encode_list(resource, form, now, &metadata, &self.items)
    }
}

/// Puts a list together from objects that are already serialised.
pub(crate) fn encode_list(
    resource: &Resource,
    form: Form,
    now: Timestamp,
    metadata: &Map<String, Value>,
    items: &[Arc<Object>],
) -> Bytes {
    let (kind, version) = match form {
        Form::Whole => (format!("{}List", resource.kind), resource.api_version()),
        Form::Metadata => ("PartialObjectMetadataList".to_owned(), "meta.k8s.io/v1".to_owned()),
        Form::Table(include) => {
            return Rows { resource, include, now }.encode(metadata, items.iter().map(AsRef::as_ref), true);
        }
    };
    let mut head = encode(&json!({"kind": kind, "apiVersion": version, "metadata": metadata})).to_vec();
    // Objects of built-in kinds do not repeat their kind in a list; it is what they begin with.
    let cut = match form {
        Form::Whole if !resource.custom => {
            let head = json!({"apiVersion": resource.api_version(), "kind": resource.kind});
            encode(&head).len()
        }
        _ => 0,
    };
    let items: Vec<Bytes> = items.iter().map(|it| it.encode(resource, form, now)).collect();
    head.reserve(items.iter().map(Bytes::len).sum::<usize>() + items.len() + 16);
    head.pop();
    head.extend_from_slice(b",\"items\":[");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            head.push(b',');
        }
        if cut > 0 {
            head.push(b'{');
        }
        head.extend_from_slice(item.get(cut..).unwrap_or_default());
    }
    head.extend_from_slice(b"]}");
    head.into()
}
