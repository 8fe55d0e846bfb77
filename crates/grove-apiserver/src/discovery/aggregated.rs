//! Discovery in one answer, `apidiscovery.k8s.io/v2`, which clients ask for by the parameters of `Accept`.

use http::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::{HeaderMap, Response};
use serde_json::{Value, json};

use super::catalog::{Catalog, GroupEntry, ResourceEntry};
use crate::body::Body;
use crate::digest::digest;
use crate::failure::Failure;
use crate::object::encode;
use crate::service::answer;

/// Exactly so: clients compare the parameters.
const MEDIA_TYPE: HeaderValue =
    HeaderValue::from_static("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");

/// Whether the client wants this form most, of the two that there are.
pub(super) fn is_wanted(headers: &HeaderMap) -> Result<bool, Failure> {
    let Some(accept) = headers.get(ACCEPT).and_then(|it| it.to_str().ok()) else { return Ok(false) };
    accept.split(',').find_map(read_range).ok_or_else(Failure::not_acceptable)
}

/// Whether a media range means this form, or the other; none if neither.
fn read_range(range: &str) -> Option<bool> {
    let mut parts = range.split(';').map(str::trim);
    if !matches!(parts.next()?, "application/json" | "application/*" | "*/*" | "") {
        return None;
    }
    let parts: Vec<(&str, &str)> = parts.filter_map(|it| it.split_once('=')).collect();
    let get = |name: &str| parts.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    match (get("g"), get("v"), get("as")) {
        (None, None, None) => Some(false),
        (Some("apidiscovery.k8s.io"), Some("v2"), Some("APIGroupDiscoveryList")) => Some(true),
        _ => None,
    }
}

/// The answer, unless the client has it already.
pub(super) fn respond(headers: &HeaderMap, list: &Value) -> Response<Body> {
    let json = encode(list);
    let tag = format!("\"{}\"", digest(&json));
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == tag.as_bytes());
    let mut response = if is_known { answer(304, bytes::Bytes::new()) } else { answer(200, json) };
    let out = response.headers_mut();
    out.insert(CONTENT_TYPE, MEDIA_TYPE);
    out.insert(VARY, HeaderValue::from_static("Accept"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(ETAG, tag);
    }
    response
}

/// The core group, or all others.
pub(super) fn groups(catalog: &Catalog, is_core: bool) -> Value {
    let groups: Vec<Value> = catalog.0.iter().filter(|it| it.name.is_empty() == is_core).map(group).collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": groups,
    })
}

fn group(group: &GroupEntry) -> Value {
    let versions = group.versions.iter().map(|version| {
        let resource = |it| resource(&group.name, &version.name, it);
        let resources: Vec<Value> = version.resources.iter().map(resource).collect();
        json!({"version": version.name, "resources": resources, "freshness": "Current"})
    });
    let metadata = if group.name.is_empty() { json!({}) } else { json!({"name": group.name}) };
    json!({"metadata": metadata, "versions": versions.collect::<Vec<_>>()})
}

fn resource(group: &str, version: &str, entry: &ResourceEntry) -> Value {
    // Only custom kinds say their group and version where they are those of the list.
    let (group, version) = if entry.custom { (group, version) } else { ("", "") };
    let kind =
        |group: &str, version: &str, kind: &str| json!({"group": group, "version": version, "kind": kind});
    let mut out = json!({
        "resource": entry.plural, "responseKind": kind(group, version, &entry.kind),
        "scope": if entry.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": entry.singular, "verbs": entry.verbs,
    });
    if !entry.short_names.is_empty() {
        out["shortNames"] = json!(entry.short_names);
    }
    if !entry.categories.is_empty() {
        out["categories"] = json!(entry.categories);
    }
    if !entry.parts.is_empty() {
        let part = |it: &super::catalog::PartEntry| {
            let (group, version) = it.group_version.unwrap_or((group, version));
            json!({"subresource": it.name, "responseKind": kind(group, version, &it.kind), "verbs": it.verbs})
        };
        out["subresources"] = entry.parts.iter().map(part).collect();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_accept() {
        let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        for (accept, expected) in [
            (format!("{aggregated},application/json"), Some(true)),
            (format!("{aggregated};profile=nopeer, application/json"), Some(true)),
            (aggregated.replace("v=v2", "v=v3") + ",application/json", Some(false)),
            (aggregated.replace("v=v2", "v=v3"), None),
            ("application/vnd.kubernetes.protobuf, */*".to_owned(), Some(false)),
            ("application/json".to_owned(), Some(false)),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(&accept).unwrap())]);
            assert_eq!(is_wanted(&headers).ok(), expected, "{accept}");
        }
        assert_eq!(is_wanted(&HeaderMap::new()), Ok(false));
    }
}
