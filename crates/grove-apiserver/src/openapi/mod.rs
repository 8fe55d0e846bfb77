//! OpenAPI v3: what kubectl needs for `explain`, and to know that the server checks fields itself.
//!
//! `builtin` has the schemas that come with Kubernetes, `document` puts those of a group version together with its `paths`.
//! Each document has a name that changes with its content, so that clients keep it for as long as it is good.

mod builtin;
mod document;
mod paths;

use http::header::{CACHE_CONTROL, ETAG, EXPIRES, HeaderValue, IF_NONE_MATCH, LOCATION, VARY};
use http::request::Parts;
use http::{HeaderMap, Response};
use serde_json::{Map, json};

use crate::body::Body;
use crate::discovery::{Catalog, VersionEntry};
use crate::object::encode;
use crate::query::Query;
use crate::resource::Resources;
use crate::service::{answer, answer_text, answer_value};
use document::Document;

/// Far enough away: another content has another address.
const FAR_FUTURE: HeaderValue = HeaderValue::from_static("Tue, 18 Nov 2036 00:00:00 GMT");

/// `/openapi/v3`
pub(crate) fn index(resources: &Resources) -> Response<Body> {
    let catalog = Catalog::of(resources);
    let mut paths = Map::new();
    for (group, version) in
        catalog.0.iter().flat_map(|group| group.versions.iter().map(move |it| (group, it)))
    {
        let document = Document::new(resources, &group.name, version);
        let path = path_of(&group.name, version);
        let url = format!("/openapi/v3/{path}?hash={}", document.digest());
        paths.insert(path, json!({"serverRelativeURL": url}));
    }
    answer_value(200, &json!({"paths": paths}))
}

/// `/openapi/v3/apis/grove.io/v1alpha1`
pub(crate) fn document(resources: &Resources, parts: &Parts, group: &str, version: &str) -> Response<Body> {
    let catalog = Catalog::of(resources);
    let entry = catalog.group(group).and_then(|it| it.versions.iter().find(|it| it.name == version));
    let Some(entry) = entry else { return answer_text(404, "404 page not found\n") };
    let document = Document::new(resources, group, entry);
    let digest = document.digest();
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    match query.get("hash") {
        Some(hash) if hash != digest => moved(&path_of(group, entry), &digest),
        hash => respond(&parts.headers, &document, &digest, hash.is_some()),
    }
}

fn path_of(group: &str, version: &VersionEntry) -> String {
    let version = &version.name;
    if group.is_empty() { format!("api/{version}") } else { format!("apis/{group}/{version}") }
}

/// The client asks for a content that there no longer is.
fn moved(path: &str, digest: &str) -> Response<Body> {
    let mut response = answer(301, bytes::Bytes::new());
    if let Ok(url) = HeaderValue::from_str(&format!("/openapi/v3/{path}?hash={digest}")) {
        response.headers_mut().insert(LOCATION, url);
    }
    response
}

fn respond(headers: &HeaderMap, document: &Document<'_>, digest: &str, is_named: bool) -> Response<Body> {
    let tag = format!("\"{digest}\"");
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes());
    let mut response =
        if is_known { answer(304, bytes::Bytes::new()) } else { answer(200, encode(&document.build())) };
    let out = response.headers_mut();
    out.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(ETAG, tag);
    }
    if is_named {
        out.insert(CACHE_CONTROL, HeaderValue::from_static("public, immutable"));
        out.insert(EXPIRES, FAR_FUTURE);
    }
    response
}
