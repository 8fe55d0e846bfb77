//! How a deletion is to be done.

use serde_json::Value;

use super::decode::unreadable;
use crate::failure::{Cause, Failure};
use crate::query::Query;

/// How a deletion is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeleteOptions {
    /// How long a pod has to end.
    pub grace_period_seconds: Option<i64>,
    /// What becomes of the objects that it owns.
    pub policy: Option<Policy>,
    /// What must be so, or nothing is deleted.
    pub preconditions: Preconditions,
}

/// What must be so, or nothing is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The uid of the object.
    pub uid: Option<String>,
    /// The version of the object.
    pub resource_version: Option<String>,
}

/// What becomes of the objects that a deleted object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// They stay.
    Orphan,
    /// They go after it.
    Background,
    /// They go before it.
    Foreground,
}

impl DeleteOptions {
    /// A deletion of this very object, with its dependents after it.
    pub(crate) fn background(uid: &str) -> Self {
        let preconditions = Preconditions { uid: Some(uid.to_owned()), resource_version: None };
        Self { policy: Some(Policy::Background), preconditions, ..Self::default() }
    }

    /// The options that a body says.
    pub(super) fn read(body: &Value) -> Result<Self, Failure> {
        let text = |pointer: &str| {
            body.pointer(pointer).and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
        };
        Ok(Self {
            grace_period_seconds: body["gracePeriodSeconds"].as_i64(),
            policy: policy(body["propagationPolicy"].as_str(), body["orphanDependents"].as_bool())?,
            preconditions: Preconditions {
                uid: text("/preconditions/uid"),
                resource_version: text("/preconditions/resourceVersion"),
            },
        })
    }

    /// The options of a request, and whether it is a dry run. A body, if there is one, says it all: without one, a
    /// `resourceVersion` in the query is a precondition, also where it says which list is meant.
    pub(crate) fn parse(query: &Query, body: &[u8]) -> Result<(Self, bool), Failure> {
        if body.iter().all(u8::is_ascii_whitespace) {
            let text = |name: &str| query.get(name).filter(|it| !it.is_empty()).map(str::to_owned);
            let options = Self {
                grace_period_seconds: query.number("gracePeriodSeconds")?,
                policy: policy(
                    query.get("propagationPolicy"),
                    query.get("orphanDependents").map(|it| it == "true"),
                )?,
                preconditions: Preconditions { uid: text("uid"), resource_version: text("resourceVersion") },
            };
            return Ok((options, query.dry_run("DeleteOptions")?));
        }
        let body: Value = serde_json::from_slice(body).map_err(|it| Failure::bad_request(unreadable(&it)))?;
        if !body.is_object() {
            return Err(Failure::bad_request(
                "json: cannot unmarshal into Go value of type v1.DeleteOptions",
            ));
        }
        let options = Self::read(&body)?;
        let dry_run = match body["dryRun"].as_array().map(Vec::as_slice) {
            None | Some([]) => query.dry_run("DeleteOptions")?,
            Some([Value::String(all)]) if all == "All" => true,
            Some(other) => {
                let shown = Value::from(other.to_vec()).to_string();
                let cause = Cause::not_supported_shown("dryRun", &shown, &["All"]);
                return Err(Failure::invalid_options("DeleteOptions", cause));
            }
        };
        Ok((options, dry_run))
    }
}

/// Clients of old say `orphanDependents`.
fn policy(policy: Option<&str>, orphan_dependents: Option<bool>) -> Result<Option<Policy>, Failure> {
    let invalid = |cause| Err(Failure::invalid_options("DeleteOptions", cause));
    match (policy, orphan_dependents) {
        (Some(policy), Some(_)) => {
            let detail = "orphanDependents and deletionPropagation cannot be both set";
            invalid(Cause::invalid("propagationPolicy", &format!("{policy:?}"), detail))
        }
        (None, None) => Ok(None),
        (None, Some(true)) | (Some("Orphan"), None) => Ok(Some(Policy::Orphan)),
        (None, Some(false)) | (Some("Background"), None) => Ok(Some(Policy::Background)),
        (Some("Foreground"), None) => Ok(Some(Policy::Foreground)),
        (Some(other), None) => {
            let known = ["Foreground", "Background", "Orphan", "nil"];
            invalid(Cause::not_supported("propagationPolicy", other, &known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_a_body_or_a_query() {
        let read = |query: &str, body: &str| DeleteOptions::parse(&Query::parse(query), body.as_bytes());
        let (options, dry_run) =
            read("propagationPolicy=Orphan&gracePeriodSeconds=3&dryRun=All", "").unwrap();
        assert_eq!((options.policy, options.grace_period_seconds), (Some(Policy::Orphan), Some(3)));
        assert!(dry_run);
        let (options, _) = read("uid=a&resourceVersion=7", "").unwrap();
        let both = Preconditions { uid: Some("a".to_owned()), resource_version: Some("7".to_owned()) };
        assert_eq!(options.preconditions, both);
        assert_eq!(read("uid=a&resourceVersion=7", "{}").unwrap().0, DeleteOptions::default());
        let body = r#"{"propagationPolicy":"Foreground","preconditions":{"uid":"a"},"dryRun":["All"]}"#;
        let (options, dry_run) = read("", body).unwrap();
        assert_eq!(options.policy, Some(Policy::Foreground));
        assert_eq!(options.preconditions.uid.as_deref(), Some("a"));
        assert!(dry_run);
        assert_eq!(read("", r#"{"orphanDependents":true}"#).unwrap().0.policy, Some(Policy::Orphan));
        for (query, body, code) in [
            ("propagationPolicy=Sideways", "", 422),
            ("", r#"{"propagationPolicy":"Orphan","orphanDependents":true}"#, 422),
            ("", r#"{"dryRun":["Some"]}"#, 422),
            ("gracePeriodSeconds=x", "", 400),
            ("", "[]", 400),
            ("", "{broken", 400),
        ] {
            assert_eq!(read(query, body).unwrap_err().code, code, "{query} {body}");
        }
    }
}
