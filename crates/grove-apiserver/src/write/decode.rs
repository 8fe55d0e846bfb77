//! From bytes to an object of the right kind, with metadata of the right types.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{apply, duplicates};
use crate::failure::Failure;
use crate::metadata;
use crate::resource::Resource;

/// As many bytes of a body as a refusal shows.
const SHOWN: usize = 30;

/// Reads a body of the form that the client names, which is to be an object of `kind`, and says which fields come twice in
/// it. A client that names no form means JSON. Objects of built-in kinds may come as protobuf, which was made JSON by now.
pub(crate) fn read(
    kind: &str,
    custom: bool,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<(Value, Vec<String>), Failure> {
    let read = match media_type(content_type.unwrap_or_default()) {
        "" | "application/json" => duplicates::parse(body).map_err(|it| unreadable(&it)),
        "application/yaml" => {
            apply::parse(body).map(|it| (it, Vec::new())).map_err(|it| format!("yaml: {it}"))
        }
        _ => {
            let forms = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
            return Err(Failure::unsupported_media_type(&forms[..if custom { 2 } else { 3 }]));
        }
    };
    read.map_err(|why| {
        let shown = summary(body);
        Failure::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {why} ({shown})"
        ))
    })
}

/// How a body begins: as text if it looks like JSON, else in hexadecimal.
fn summary(body: &[u8]) -> String {
    let shown = body.get(..SHOWN).unwrap_or(body);
    let more = if shown.len() < body.len() { " ..." } else { "" };
    match shown.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(shown)),
        Some(_) => {
            let mut text = String::with_capacity(2 * SHOWN);
            for byte in shown {
                // Writing to a string cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
            text + more
        }
    }
}

/// The media type without its parameters.
pub(super) fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

/// Why a body is no JSON. What is said most often is said in the words of the real server.
pub(super) fn unreadable(error: &serde_json::Error) -> String {
    let why = match error.to_string() {
        _ if error.is_eof() => "unexpected end of JSON input".to_owned(),
        why if why.starts_with("recursion limit exceeded") => {
            why.replace("recursion limit exceeded", "exceeded max depth")
        }
        why => why,
    };
    format!("couldn't get version/kind; json parse error: {why}")
}

/// Makes a body an object of `resource`, in the order in which objects are stored.
pub(super) fn object(resource: &Resource, body: Value) -> Result<Value, Failure> {
    let Value::Object(mut body) = body else {
        return Err(Failure::bad_request(
            "couldn't get version/kind; json parse error: json: cannot unmarshal into an object",
        ));
    };
    check_kind(resource, &body)?;
    let mut out = Map::with_capacity(body.len() + 2);
    out.insert("apiVersion".to_owned(), resource.api_version().into());
    out.insert("kind".to_owned(), resource.kind.as_str().into());
    out.insert("metadata".to_owned(), body.shift_remove("metadata").unwrap_or_default());
    out.extend(body.into_iter().filter(|(field, _)| field != "apiVersion" && field != "kind"));
    // To a type of Go, null is the same as nothing. Custom resources are of no such type.
    if !resource.custom {
        out.retain(|field, value| field == "metadata" || !value.is_null());
    }
    let mut out = Value::Object(out);
    check_metadata(&out)?;
    metadata::tidy(&mut out);
    Ok(out)
}

/// Built-in kinds may leave their kind out; custom ones may not.
fn check_kind(resource: &Resource, body: &Map<String, Value>) -> Result<(), Failure> {
    let text = |field: &str| body.get(field).and_then(Value::as_str).unwrap_or_default();
    let (kind, version) = (text("kind"), text("apiVersion"));
    let missing = |what: &str| {
        let shown = serde_json::to_string(body).unwrap_or_default();
        let (wanted, why) = (&resource.kind, format!("Object '{what}' is missing in '{shown}'"));
        Failure::bad_request(if kind.is_empty() {
            let shown = summary(shown.as_bytes());
            format!("the object provided is unrecognized (must be of type {wanted}): {why} ({shown})")
        } else {
            format!("{kind} in version {version:?} cannot be handled as a {wanted}: {why}")
        })
    };
    if resource.custom && kind.is_empty() {
        return Err(missing("Kind"));
    }
    if resource.custom && version.is_empty() {
        return Err(missing("apiVersion"));
    }
    if !version.is_empty() && version != resource.api_version() {
        let expected = resource.api_version();
        return Err(Failure::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        )));
    }
    if !kind.is_empty() && kind != resource.kind {
        let (version, wanted) = (&resource.version, &resource.kind);
        return Err(Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {wanted}: no kind {kind:?} is expected here"
        )));
    }
    Ok(())
}

/// Everything else relies on these types.
fn check_metadata(object: &Value) -> Result<(), Failure> {
    let wrong = |field: &str, expected: &str| {
        Failure::bad_request(format!(
            "json: cannot unmarshal into Go struct field ObjectMeta.metadata.{field} of type {expected}"
        ))
    };
    let metadata = match object.get("metadata") {
        Some(Value::Object(metadata)) => metadata,
        None | Some(Value::Null) => return Ok(()),
        Some(_) => return Err(wrong("", "v1.ObjectMeta")),
    };
    for (field, value) in metadata.iter().filter(|(_, value)| !value.is_null()) {
        match field.as_str() {
            "name" | "generateName" | "namespace" | "uid" | "resourceVersion" | "creationTimestamp"
            | "deletionTimestamp"
                if !value.is_string() =>
            {
                return Err(wrong(field, "string"));
            }
            "generation" | "deletionGracePeriodSeconds" if !value.is_i64() => {
                return Err(wrong(field, "int64"));
            }
            "labels" | "annotations" => {
                let fits = |map: &Map<String, Value>| map.values().all(|it| it.is_string() || it.is_null());
                if !value.as_object().is_some_and(fits) {
                    return Err(wrong(field, "map[string]string"));
                }
            }
            "finalizers" if !value.as_array().is_some_and(|list| list.iter().all(Value::is_string)) => {
                return Err(wrong(field, "[]string"));
            }
            "ownerReferences" if !value.as_array().is_some_and(|list| list.iter().all(Value::is_object)) => {
                return Err(wrong(field, "[]v1.OwnerReference"));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_stored_objects() {
        let resource = Resource::built_in("", "v1", "ConfigMap", "configmaps");
        let body = json!({"data": {"a": "1"}, "metadata": {"name": "a", "labels": {}}, "kind": "ConfigMap", "more": null});
        let object = object(&resource, body).unwrap();
        let expected = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1"}}"#;
        assert_eq!(object.to_string(), expected);
    }

    #[test]
    fn what_is_no_object() {
        let built_in = Resource::built_in("", "v1", "ConfigMap", "configmaps");
        let custom = Resource::custom("grove.io", "v1", "Widget", "widgets");
        for (resource, body) in [
            (&built_in, json!(1)),
            (&built_in, json!([])),
            (&built_in, json!({"kind": "Secret"})),
            (&built_in, json!({"apiVersion": "v2"})),
            (&built_in, json!({"metadata": 1})),
            (&built_in, json!({"metadata": {"name": 1}})),
            (&built_in, json!({"metadata": {"labels": {"a": 1}}})),
            (&built_in, json!({"metadata": {"labels": []}})),
            (&built_in, json!({"metadata": {"finalizers": [1]}})),
            (&built_in, json!({"metadata": {"ownerReferences": ["a"]}})),
            (&built_in, json!({"metadata": {"generation": "1"}})),
            (&custom, json!({"metadata": {}})),
            (&custom, json!({"kind": "Widget"})),
            (&custom, json!({"kind": "Widget", "apiVersion": "grove.io/v2"})),
        ] {
            assert_eq!(object(resource, body.clone()).unwrap_err().code, 400, "{body}");
        }
    }

    #[test]
    fn custom_objects_say_what_they_are() {
        let widget = Resource::custom("grove.io", "v1", "Widget", "widgets");
        let refused = |body| object(&widget, body).unwrap_err().message;
        assert_eq!(
            refused(json!({"metadata": {"name": "without-a-kind"}})),
            r#"the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"without-a-kind"}}' ({"metadata":{"name":"without-a ...)"#
        );
        assert_eq!(
            refused(json!({"kind": "Widget"})),
            r#"Widget in version "" cannot be handled as a Widget: Object 'apiVersion' is missing in '{"kind":"Widget"}'"#
        );
    }
}
