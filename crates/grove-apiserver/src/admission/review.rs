//! `AdmissionReview`, version v1: the question and the answer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use json_patch::Patch;
use serde_json::{Value, json};

use super::attributes::Attributes;

use crate::failure::{Cause, Details, Failure};

/// As many warnings as a webhook may give, and as long as each may be.
const MOST_WARNINGS: usize = 16;
const LONGEST_WARNING: usize = 256;

/// What a webhook says.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) refusal: Option<Failure>,
    pub(super) patch: Option<Patch>,
    pub(super) warnings: Vec<String>,
}

/// The `request` of a review.
pub(super) fn request(uid: &str, write: &Attributes, user: &Value) -> Value {
    let resource = &write.resource;
    let (group, version, kind) = write.kind();
    let kind = json!({"group": group, "version": version, "kind": kind});
    let place = json!({"group": resource.group, "version": resource.version, "resource": resource.plural});
    let mut request = json!({
        "uid": uid, "kind": kind, "resource": place, "requestKind": kind, "requestResource": place,
        "operation": write.operation.name(), "userInfo": user, "object": write.object,
        "oldObject": write.old.as_ref().map(|it| it.value()), "dryRun": write.dry_run, "options": write.options(),
    });
    for (field, text) in [("name", write.name.as_str()), ("namespace", write.namespace.as_str())] {
        if !text.is_empty() {
            request[field] = text.into();
        }
    }
    if let Some(part) = write.subresource {
        request["subResource"] = part.into();
        request["requestSubResource"] = part.into();
    }
    request
}

/// The review around a request.
pub(super) fn review(request: &Value) -> Value {
    json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
}

/// Reads the answer of a webhook.
pub(super) fn read(name: &str, uid: &str, answer: &Value) -> Result<Answer, String> {
    let text = |field: &str| answer[field].as_str().unwrap_or_default();
    if text("kind") != "AdmissionReview" || text("apiVersion") != "admission.k8s.io/v1" {
        return Err(format!(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got {}, Kind={}",
            text("apiVersion"),
            text("kind")
        ));
    }
    let Some(response) = answer["response"].as_object() else {
        return Err("webhook response was absent".to_owned());
    };
    let text = |field: &str| response.get(field).and_then(Value::as_str).unwrap_or_default();
    if text("uid") != uid {
        return Err(format!("expected response.uid={uid:?}, got {:?}", text("uid")));
    }
    let warnings = response.get("warnings").and_then(Value::as_array).into_iter().flatten();
    let warnings = warnings.filter_map(Value::as_str).take(MOST_WARNINGS).map(plain).collect();
    let allowed = response.get("allowed") == Some(&Value::Bool(true));
    let refusal = (!allowed).then(|| refusal(name, response.get("status").unwrap_or(&Value::Null)));
    let patch = match (text("patch"), text("patchType")) {
        ("", "") => None,
        ("", _) => return Err("webhook returned response.patchType but not response.patch".to_owned()),
        (patch, "JSONPatch") => {
            let patch = STANDARD.decode(patch).map_err(|_| "response.patch is not base64")?;
            Some(
                serde_json::from_slice(&patch)
                    .map_err(|it| format!("response.patch is no JSON patch: {it}"))?,
            )
        }
        (_, other) => return Err(format!("webhook returned invalid response.patchType of {other:?}")),
    };
    Ok(Answer { refusal, patch, warnings })
}

/// A warning as it fits into a header.
fn plain(warning: &str) -> String {
    warning.chars().filter(|it| !it.is_control()).take(LONGEST_WARNING).collect()
}

/// The words of a refusal, with whatever else the webhook said.
fn refusal(name: &str, status: &Value) -> Failure {
    let text = |field: &str| status[field].as_str().unwrap_or_default();
    let denied = format!("admission webhook {name:?} denied the request");
    let message = match (text("message"), text("reason")) {
        ("", "") => format!("{denied} without explanation"),
        ("", reason) => format!("{denied}: {reason}"),
        (message, _) => format!("{denied}: {message}"),
    };
    let code = status["code"].as_u64().and_then(|it| u16::try_from(it).ok()).unwrap_or_default();
    let code = if (400..600).contains(&code) { code } else { 400 };
    let mut failure = Failure::new(code, text("reason"), message);
    if let Some(details) = status["details"].as_object() {
        let text = |field: &str| details.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let causes = details.get("causes").and_then(Value::as_array).into_iter().flatten();
        let cause = |it: &Value| {
            let text = |field: &str| it[field].as_str().unwrap_or_default().to_owned();
            Cause { reason: text("reason"), message: text("message"), field: text("field") }
        };
        failure.details = Some(Box::new(Details {
            name: text("name"),
            group: text("group"),
            kind: text("kind"),
            causes: causes.take(100).map(cause).collect(),
            retry_after_seconds: None,
        }));
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(response: &Value) -> Result<Answer, String> {
        let review =
            json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "response": response});
        read("x.example.com", "u", &review)
    }

    #[test]
    fn words_of_a_refusal() {
        for (status, code, message) in [
            (json!({"message": "no", "code": 422, "reason": "Invalid"}), 422, ": no"),
            (json!({"reason": "Forbidden", "code": 403}), 403, ": Forbidden"),
            (json!({"code": 200}), 400, " without explanation"),
            (Value::Null, 400, " without explanation"),
        ] {
            let refusal =
                answer(&json!({"uid": "u", "allowed": false, "status": status})).unwrap().refusal.unwrap();
            let expected = format!("admission webhook \"x.example.com\" denied the request{message}");
            assert_eq!((refusal.code, refusal.message), (code, expected));
        }
    }

    #[test]
    fn answers_that_are_none() {
        assert!(
            answer(&json!({"uid": "other", "allowed": true})).unwrap_err().contains("expected response.uid")
        );
        assert!(answer(&Value::Null).unwrap_err().contains("absent"));
        assert!(answer(&json!({"uid": "u", "allowed": true, "patch": "W10=", "patchType": "Odd"})).is_err());
        assert!(
            answer(&json!({"uid": "u", "allowed": true, "patch": "e30=", "patchType": "JSONPatch"})).is_err()
        );
        assert!(read("x", "u", &json!({"kind": "Pod"})).unwrap_err().contains("expected webhook response"));
        let good = answer(
            &json!({"uid": "u", "allowed": true, "patch": "W10=", "patchType": "JSONPatch", "warnings": ["a\nb"]}),
        );
        let good = good.unwrap();
        assert!(good.refusal.is_none() && good.patch.is_some());
        assert_eq!(good.warnings, ["ab"]);
    }
}
