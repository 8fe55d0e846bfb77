//! Patches: what a client wants changed rather than what it wants.

use json_patch::PatchOperation;
use serde_json::Value;

use super::apply::{self, Apply};
use super::decode::media_type;
use super::{duplicates, strategic};
use crate::failure::{Cause, Failure};
use crate::kinds::Definition;
use crate::object::encode;
use crate::query::Query;

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// The real server's bounds on one JSON patch: its operations, and the bytes that they copy.
const MOST_OPERATIONS: usize = 10_000;
const MOST_COPIED: usize = 3 * 1024 * 1024;

/// No JSON that can be read is deeper, so no patch may make any: deep values overflow the stack of whoever walks them.
const DEEPEST: usize = 128;

/// A change of an object.
#[derive(Clone, Debug)]
pub enum PatchBody {
    /// Steps to take (RFC 6902).
    Json(json_patch::Patch),
    /// What is to be different (RFC 7386).
    Merge(Value),
    /// What is to be different, with lists of built-in kinds merged by item.
    Strategic(Value),
    /// What is to be so, whoever said what before.
    Apply(Apply),
}

/// Said of a patch that is no object.
const NO_MAP: &str = "json: cannot unmarshal into Go value of type map[string]interface {}";

impl PatchBody {
    /// Reads a patch of the form that the client names, and says which fields come twice in it.
    pub(crate) fn parse(
        content_type: Option<&str>,
        custom: bool,
        query: &Query,
        body: &[u8],
    ) -> Result<(Self, Vec<String>), Failure> {
        let form = media_type(content_type.unwrap_or_default());
        if form == APPLY {
            return Ok((Self::parse_apply(query, body)?, Vec::new()));
        }
        if query.get("force").is_some() {
            let cause = Cause::forbidden("force", "may not be specified for non-apply patch");
            return Err(Failure::invalid_options("PatchOptions", cause));
        }
        // The real server does not say what is wrong with one that is no JSON.
        let no_json = |_: serde_json::Error| Failure::bad_request("invalid JSON patch");
        let (patch, doubles) = match form {
            JSON => (serde_json::from_slice(body).map_err(no_json)?, Vec::new()),
            MERGE | STRATEGIC if form == MERGE || !custom => duplicates::parse(body).map_err(no_json)?,
            _ if custom => return Err(Failure::unsupported_media_type(&[JSON, MERGE, APPLY])),
            // Nobody looks at the list of forms: the real server's router has said no before.
            _ => {
                let message = "415: Unsupported Media Type";
                return Err(Failure::new(415, "UnsupportedMediaType", message).with_no_details());
            }
        };
        let undecodable = |why: &str| Failure::bad_request(format!("error decoding patch: {why}"));
        match (form, patch) {
            (JSON, patch) => {
                let patch: json_patch::Patch =
                    serde_json::from_value(patch).map_err(|it| undecodable(&it.to_string()))?;
                if patch.0.len() > MOST_OPERATIONS {
                    let message = format!(
                        "Request entity too large: The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {}",
                        patch.0.len()
                    );
                    return Err(Failure::new(413, "RequestEntityTooLarge", message));
                }
                Ok((Self::Json(patch), Vec::new()))
            }
            (MERGE, patch @ Value::Object(_)) => Ok((Self::Merge(patch), doubles)),
            (_, patch @ Value::Object(_)) => Ok((Self::Strategic(patch), doubles)),
            // By the letter of the RFC it would replace the object as a whole.
            (MERGE, _) => Err(undecodable(NO_MAP)),
            _ => Err(Failure::bad_request(NO_MAP)),
        }
    }

    fn parse_apply(query: &Query, body: &[u8]) -> Result<Self, Failure> {
        let object = apply::parse(body).map_err(|why| {
            Failure::bad_request(format!("error decoding patch: error converting YAML to JSON: yaml: {why}"))
        })?;
        if query.get("fieldManager").is_none() {
            let cause = Cause::required("fieldManager", "is required for apply patch");
            return Err(Failure::invalid_options("PatchOptions", cause));
        }
        Ok(Self::Apply(Apply { object, force: query.flag("force") }))
    }

    /// The object as it is to be; `of` is its type, where it is known.
    pub(crate) fn apply(&self, old: &Value, of: Option<&'static Definition>) -> Result<Value, Failure> {
        let mut new = old.clone();
        match self {
            Self::Json(patch) => steps(&mut new, &patch.0)?,
            Self::Merge(patch) => json_patch::merge(&mut new, patch),
            Self::Strategic(patch) => {
                let (Value::Object(old), Value::Object(patch)) = (new, patch.clone()) else {
                    return Err(Failure::bad_request("a strategic merge patch is an object, for an object"));
                };
                return strategic::apply(old, patch, of).map(Value::Object);
            }
            // Not a patch of what is there: see `apply`.
            Self::Apply(apply) => new = apply.object.clone(),
        }
        Ok(new)
    }
}

/// Takes the steps of a JSON patch one by one, because some grow what they work on.
fn steps(object: &mut Value, operations: &[PatchOperation]) -> Result<(), Failure> {
    let refused = || {
        Failure::new(422, "Invalid", "the server rejected our request due to an error in our request")
            .with_no_details()
    };
    let mut copied = 0;
    for operation in operations {
        if operation.path().count() > DEEPEST {
            return Err(refused());
        }
        if let PatchOperation::Copy(copy) = operation {
            copied += copy.from.resolve(object).map_or(0, |it| encode(it).len());
            if copied > MOST_COPIED {
                return Err(refused());
            }
        }
        if !is_test_for_nothing(object, operation) {
            json_patch::patch_unsafe(object, std::slice::from_ref(operation)).map_err(|_| refused())?;
        }
        let nests = matches!(operation, PatchOperation::Copy(_) | PatchOperation::Move(_));
        if nests && depth(object) > 2 * DEEPEST {
            return Err(refused());
        }
    }
    Ok(())
}

/// To the real server, a test for null also says yes to a field that is not there. Clients that add the first
/// finalizer rely on it.
fn is_test_for_nothing(object: &Value, operation: &PatchOperation) -> bool {
    let PatchOperation::Test(test) = operation else { return false };
    let has_parent = || test.path.parent().is_some_and(|it| it.resolve(object).is_ok_and(Value::is_object));
    test.value.is_null() && test.path.resolve(object).is_err() && has_parent()
}

/// How deep a value is nested.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(list) => open.extend(list.iter().map(|it| (it, depth + 1))),
            Value::Object(map) => open.extend(map.values().map(|it| (it, depth + 1))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn apply(operations: &Value) -> Result<Value, u16> {
        let body = operations.to_string();
        let patch =
            PatchBody::parse(Some(JSON), false, &Query::default(), body.as_bytes()).map_err(|it| it.code)?.0;
        patch.apply(&json!({"data": {"a": "1"}}), None).map_err(|it| it.code)
    }

    #[test]
    fn steps_are_taken_in_order() {
        let operations = json!([
            {"op": "test", "path": "/data/a", "value": "1"},
            {"op": "copy", "from": "/data/a", "path": "/data/b"},
            {"op": "remove", "path": "/data/a"},
        ]);
        assert_eq!(apply(&operations), Ok(json!({"data": {"b": "1"}})));
        assert_eq!(apply(&json!([{"op": "test", "path": "/data/a", "value": "2"}])), Err(422));
        assert_eq!(apply(&json!([{"op": "remove", "path": "/data/none"}])), Err(422));
        assert!(apply(&json!([{"op": "test", "path": "/data/none", "value": null}])).is_ok());
        assert_eq!(apply(&json!([{"op": "test", "path": "/data/a", "value": null}])), Err(422));
        assert_eq!(apply(&json!([{"op": "test", "path": "/none/none", "value": null}])), Err(422));
        assert_eq!(apply(&json!({"op": "remove"})), Err(400));
    }

    #[test]
    fn patches_that_grow_without_bounds_are_refused() {
        let doubling: Vec<Value> = (0..100)
            .map(|at| json!({"op": "copy", "from": "/data", "path": format!("/data/{at}")}))
            .collect();
        assert_eq!(apply(&doubling.into()), Err(422));
        let wrapping: Vec<Value> = (0..3000)
            .map(|at| match at % 3 {
                0 => json!({"op": "add", "path": "/wrap", "value": {}}),
                1 => json!({"op": "move", "from": "/data", "path": "/wrap/data"}),
                _ => json!({"op": "move", "from": "/wrap", "path": "/data"}),
            })
            .collect();
        assert_eq!(apply(&wrapping.into()), Err(422));
        let nesting: Vec<Value> =
            (1..1000).map(|at| json!({"op": "add", "path": "/a".repeat(at), "value": {}})).collect();
        assert_eq!(apply(&nesting.into()), Err(422));
        let many = vec![json!({"op": "test", "path": "/data/a", "value": "1"}); 10_001];
        assert_eq!(apply(&many.into()), Err(413));
    }
}
