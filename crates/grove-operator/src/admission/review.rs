//! The question: an AdmissionReview as the API server sends it.

use serde::Deserialize;
use serde_json::Value;

/// The only version that is spoken.
pub(super) const API_VERSION: &str = "admission.k8s.io/v1";
/// The only kind that is spoken.
pub(super) const KIND: &str = "AdmissionReview";
/// Bytes of a uid, which is repeated in the answer. An API server's have 36.
const LONGEST_UID: usize = 256;

/// What somebody is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Operation {
    /// A new object.
    Create,
    /// A change.
    Update,
    /// A deletion.
    Delete,
    /// A connection to a pod and the like.
    Connect,
}

/// A group, version and kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[allow(clippy::struct_field_names, reason = "so it is called on the wire")]
pub struct Kind {
    /// Group; empty for the core one.
    #[serde(default)]
    pub group: String,
    /// Version.
    #[serde(default)]
    pub version: String,
    /// Kind.
    #[serde(default)]
    pub kind: String,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct User {
    /// Name; of a service account `system:serviceaccount:<namespace>:<name>`.
    #[serde(default)]
    pub username: String,
}

/// One question.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// To be repeated in the answer.
    pub uid: String,
    /// Kind of the object.
    #[serde(default)]
    pub kind: Kind,
    /// Subresource that is changed; empty for the object itself.
    #[serde(default)]
    pub sub_resource: String,
    /// Name, where it is known already.
    #[serde(default)]
    pub name: String,
    /// Namespace; empty in cluster scope.
    #[serde(default)]
    pub namespace: String,
    /// What is about to be done.
    pub operation: Operation,
    /// By whom.
    #[serde(default)]
    pub user_info: User,
    /// The object as it is to be; null in a deletion.
    #[serde(default)]
    pub object: Value,
    /// The object as it is; null in a creation.
    #[serde(default)]
    pub old_object: Value,
}

impl Request {
    /// The object that the request is about: the old one, where there is one.
    pub(super) fn subject(&self) -> &Value {
        if self.old_object.is_null() { &self.object } else { &self.old_object }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Review {
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    kind: String,
    request: Option<Request>,
}

/// The question in a body, or what is wrong with the body.
pub(super) fn decode(body: &[u8]) -> Result<Request, String> {
    let review: Review =
        serde_json::from_slice(body).map_err(|error| format!("the body is not an {KIND}: {error}"))?;
    if review.api_version != API_VERSION || review.kind != KIND {
        let (version, kind) = (&review.api_version, &review.kind);
        return Err(format!("the body is a {kind:?} of {version:?}; this is for {KIND} of {API_VERSION}"));
    }
    let request = review.request.ok_or_else(|| format!("the {KIND} has no request"))?;
    if request.uid.is_empty() {
        return Err("the request has no uid".to_owned());
    }
    if request.uid.len() > LONGEST_UID {
        return Err(format!("the uid has more than {LONGEST_UID} bytes"));
    }
    Ok(request)
}
