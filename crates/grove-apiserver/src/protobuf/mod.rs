//! Bodies in Kubernetes' protobuf form, which some commands of kubectl send: made JSON before anything else sees them.
//!
//! Only the kinds of `kinds` are known. Everything else is refused as an unsupported media type, and answers are always JSON.

mod kinds;
mod wire;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::object::encode;
use kinds::{Field, Message, Rest, Type};
use wire::{BadWire, Reader, Wire};

const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
const MAGIC: &[u8] = b"k8s\0";
/// A field that would be lost.
const UNKNOWN: BadWire = BadWire("a field is not known");

/// Makes a body JSON if it is not. The headers say so afterwards.
pub(crate) fn to_json(headers: &mut HeaderMap, body: Bytes) -> Result<Bytes, Failure> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    if content_type.split(';').next().map(str::trim) != Some(MEDIA_TYPE) {
        return Ok(body);
    }
    let object = decode(&body)?;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(encode(&object))
}

/// Reads the envelope: what kind it is, and its bytes.
fn decode(body: &[u8]) -> Result<Value, Failure> {
    let bad = |error: BadWire| Failure::bad_request(format!("the body is no Kubernetes protobuf: {error}"));
    let envelope = body.strip_prefix(MAGIC).ok_or_else(|| bad(BadWire("the prefix is missing")))?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    for field in Reader::new(envelope) {
        match field.map_err(bad)? {
            (1, Wire::Bytes(type_meta)) => {
                for field in Reader::new(type_meta) {
                    match field.map_err(bad)? {
                        (1, Wire::Bytes(text)) => api_version = string(text).map_err(bad)?,
                        (2, Wire::Bytes(text)) => kind = string(text).map_err(bad)?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let Some(message) = kinds::message(&api_version, &kind) else {
        let message = format!(
            "the body of the request was in an unsupported format: {kind} of {api_version} is only read as application/json"
        );
        return Err(Failure::new(415, "UnsupportedMediaType", message));
    };
    let rest = kinds::rest(&kind);
    let mut object =
        Map::from_iter([("apiVersion".to_owned(), api_version.into()), ("kind".to_owned(), kind.into())]);
    let unsupported = format!(
        "the body of the request was in an unsupported format: a field of this {} is only read as application/json",
        object["kind"].as_str().unwrap_or_default()
    );
    read_message(message, rest, raw, &mut object).map_err(|error| match error {
        UNKNOWN => Failure::new(415, "UnsupportedMediaType", unsupported),
        error => bad(error),
    })?;
    Ok(Value::Object(object))
}

/// Reads the fields of a message. Goes no deeper than the table of kinds, which has an end.
fn read_message(
    message: &Message,
    rest: Rest,
    bytes: &[u8],
    out: &mut Map<String, Value>,
) -> Result<(), BadWire> {
    for entry in Reader::new(bytes) {
        let (number, wire) = entry?;
        match message.0.iter().find(|it| it.number == number) {
            Some(field) => read_field(field, rest, wire, out)?,
            None if rest == Rest::Ignored || matches!(wire, Wire::Number(0) | Wire::Bytes([])) => {}
            None => return Err(UNKNOWN),
        }
    }
    Ok(())
}

fn read_field(
    field: &Field,
    rest: Rest,
    wire: Wire<'_>,
    out: &mut Map<String, Value>,
) -> Result<(), BadWire> {
    let value = match (field.kind, wire) {
        (Type::Bool, Wire::Number(number)) => (number != 0).into(),
        // Negative numbers come as their two's complement.
        (Type::Int, Wire::Number(number)) => number.cast_signed().into(),
        (Type::String, Wire::Bytes(bytes)) => string(bytes)?.into(),
        (Type::Message(message), Wire::Bytes(bytes)) => {
            let mut inner = Map::new();
            read_message(message, rest, bytes, &mut inner)?;
            Value::Object(inner)
        }
        (Type::StringMap | Type::BytesMap, Wire::Bytes(bytes)) => {
            let (key, value) = read_entry(field.kind, bytes)?;
            let map = out.entry(field.name).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(map) = map {
                map.insert(key, value);
            }
            return Ok(());
        }
        _ => return Err(BadWire("a field has the wrong type")),
    };
    if field.repeated {
        if let Value::Array(list) = out.entry(field.name).or_insert_with(|| Value::Array(Vec::new())) {
            list.push(value);
        }
    } else if value != "" {
        // Go's encoder also writes empty strings, which mean nothing.
        out.insert(field.name.to_owned(), value);
    }
    Ok(())
}

/// An entry of a map.
fn read_entry(kind: Type, bytes: &[u8]) -> Result<(String, Value), BadWire> {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let (mut key, mut value) = (String::new(), Value::from(""));
    for field in Reader::new(bytes) {
        match field? {
            (1, Wire::Bytes(bytes)) => key = string(bytes)?,
            (2, Wire::Bytes(bytes)) if matches!(kind, Type::BytesMap) => {
                value = STANDARD.encode(bytes).into();
            }
            (2, Wire::Bytes(bytes)) => value = string(bytes)?.into(),
            _ => {}
        }
    }
    Ok((key, value))
}

fn string(bytes: &[u8]) -> Result<String, BadWire> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| BadWire("a text is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A field of bytes.
    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(content.len()).unwrap()];
        out.extend_from_slice(content);
        out
    }

    fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let type_meta = [bytes(1, api_version.as_bytes()), bytes(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), bytes(1, &type_meta), bytes(2, raw), bytes(3, b""), bytes(4, b"")].concat()
    }

    #[test]
    fn reads_objects() {
        let label = bytes(11, &[bytes(1, b"app"), bytes(2, b"x")].concat());
        let metadata = bytes(1, &[bytes(1, b"a"), bytes(2, b""), label].concat());
        let data = bytes(2, &[bytes(1, b"key"), bytes(2, &[0xff, 0])].concat());
        let raw = [metadata, data, bytes(3, b"Opaque"), vec![5 << 3, 1]].concat();
        let expected = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "labels": {"app": "x"}},
            "data": {"key": "/wA="}, "type": "Opaque", "immutable": true,
        });
        assert_eq!(decode(&envelope("v1", "Secret", &raw)).unwrap(), expected);
    }

    #[test]
    fn numbers_and_lists() {
        let verbs = [bytes(1, b"get"), bytes(1, b"list"), bytes(2, b"")].concat();
        let raw = [bytes(2, &verbs), bytes(2, &bytes(1, b"watch"))].concat();
        let role = decode(&envelope("rbac.authorization.k8s.io/v1", "Role", &raw)).unwrap();
        assert_eq!(
            role["rules"],
            json!([{"verbs": ["get", "list"], "apiGroups": [""]}, {"verbs": ["watch"]}])
        );
        let raw = bytes(2, &[vec![4 << 3, 0xac, 2], bytes(1, b"us")].concat());
        let request = decode(&envelope("authentication.k8s.io/v1", "TokenRequest", &raw)).unwrap();
        assert_eq!(request["spec"], json!({"expirationSeconds": 300, "audiences": ["us"]}));
    }

    #[test]
    fn a_job_is_read_as_a_whole_or_not_at_all() {
        let job = |container: &[u8]| {
            // As Go's encoder does, with empty fields and numbers that are zero.
            let spec = bytes(
                2,
                &[bytes(2, container), bytes(3, b"Never"), bytes(10, b""), vec![11 << 3, 0]].concat(),
            );
            let metadata = bytes(1, &[bytes(1, b"hello"), bytes(8, b""), vec![7 << 3, 0]].concat());
            let template = bytes(6, &[bytes(1, &bytes(8, b"")), spec].concat());
            let raw = [metadata, bytes(2, &template), bytes(3, &[4 << 3, 0])].concat();
            decode(&envelope("batch/v1", "Job", &raw))
        };
        let container = [bytes(1, b"hello"), bytes(2, b"busybox"), bytes(3, b"echo"), bytes(8, b"")].concat();
        let expected = json!({"metadata": {}, "spec": {
            "containers": [{"name": "hello", "image": "busybox", "command": ["echo"]}], "restartPolicy": "Never"}});
        assert_eq!(job(&container).unwrap()["spec"]["template"], expected);
        let context = [container, bytes(15, b"x")].concat();
        assert_eq!(job(&context).unwrap_err().code, 415, "a security context would be lost");
    }

    #[test]
    fn other_kinds_and_bad_bytes_are_refused() {
        let code = |body: &[u8]| decode(body).unwrap_err().code;
        assert_eq!(code(&envelope("v1", "Pod", b"")), 415);
        assert_eq!(code(b"nonsense"), 400);
        assert_eq!(code(b"k8s\0\xff\xff\xff"), 400);
        assert_eq!(code(&envelope("v1", "ConfigMap", &bytes(1, &bytes(1, &[0xff])))), 400);
        assert_eq!(code(&envelope("v1", "ConfigMap", &[1 << 3, 1])), 400, "metadata is no number");
        let whole = envelope("v1", "ConfigMap", &bytes(1, &bytes(1, b"name")));
        for end in MAGIC.len()..whole.len() {
            // Cut anywhere, it is refused or read as something smaller.
            if let Err(failure) = decode(&whole[..end]) {
                assert!(matches!(failure.code, 400 | 415));
            }
        }
    }

    #[test]
    fn json_is_left_as_it_is() {
        let mut headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        let body = Bytes::from_static(b"k8s\0");
        assert_eq!(to_json(&mut headers, body.clone()).unwrap(), body);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/vnd.kubernetes.protobuf"));
        let body = to_json(&mut headers, envelope("v1", "Namespace", b"").into()).unwrap();
        assert_eq!(body, r#"{"apiVersion":"v1","kind":"Namespace"}"#);
        assert_eq!(headers[CONTENT_TYPE], "application/json");
    }
}
