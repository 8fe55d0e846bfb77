//! Questions about users and their rights: objects that are answered when they are posted, and never stored.

use http::request::Parts;
use http::{Method, Response};
use serde_json::{Value, json};

use super::attributes::Attributes;
use super::authorization::Access;
use super::rules_review::rules_of;
use super::service_accounts::token_request;
use super::user::UserInfo;
use crate::body::Body;
use crate::failure::{Cause, Failure};
use crate::route::Target;
use crate::server::ApiServer;
use crate::service::{answer_value, refuse};
use crate::write;

/// A kind of review.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReviewKind {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) namespaced: bool,
    answer: Answer,
}

/// How the status of a review is found.
#[derive(Clone, Copy, Debug)]
enum Answer {
    SelfSubject,
    Token,
    Rules,
    SelfAccess,
    Access,
}

/// All are of version v1.
const KINDS: [ReviewKind; 6] = [
    cluster("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews", Answer::SelfSubject),
    cluster("authentication.k8s.io", "TokenReview", "tokenreviews", Answer::Token),
    ReviewKind {
        namespaced: true,
        ..cluster(
            "authorization.k8s.io",
            "LocalSubjectAccessReview",
            "localsubjectaccessreviews",
            Answer::Access,
        )
    },
    cluster(
        "authorization.k8s.io",
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        Answer::SelfAccess,
    ),
    cluster("authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews", Answer::Rules),
    cluster("authorization.k8s.io", "SubjectAccessReview", "subjectaccessreviews", Answer::Access),
];

const fn cluster(
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    answer: Answer,
) -> ReviewKind {
    ReviewKind { group, kind, plural, namespaced: false, answer }
}

/// A review as it was posted.
struct Question<'a> {
    server: &'a ApiServer,
    access: &'a Access,
    user: &'a UserInfo,
    kind: ReviewKind,
    body: Value,
}

/// All kinds of reviews, for discovery.
pub(crate) fn review_kinds() -> &'static [ReviewKind] {
    &KINDS
}

/// The answer to a review, or to a request for a token. None if the target is something else.
pub(crate) fn review(
    server: &ApiServer,
    parts: &Parts,
    target: &Target,
    body: &[u8],
) -> Option<Response<Body>> {
    let result = if is_token_request(target) {
        answer_token_request(server, parts, target, body)
    } else {
        let kind = KINDS.iter().find(|it| it.is_target(target))?;
        answer(server, parts, *kind, body)
    };
    Some(match result {
        Ok(review) => answer_value(201, &review),
        Err(failure) => refuse(&failure),
    })
}

impl ReviewKind {
    fn is_target(&self, target: &Target) -> bool {
        target.group == self.group
            && target.version == "v1"
            && target.plural == self.plural
            && target.name.is_none()
            && target.namespace.is_some() == self.namespaced
    }

    fn api_version(&self) -> String {
        format!("{}/v1", self.group)
    }
}

fn is_token_request(target: &Target) -> bool {
    target.group.is_empty()
        && target.version == "v1"
        && target.plural == "serviceaccounts"
        && target.namespace.is_some()
        && target.subresource.as_deref() == Some("token")
}

fn read_body(kind: &str, parts: &Parts, body: &[u8]) -> Result<Value, Failure> {
    if parts.method != Method::POST {
        return Err(Failure::method_not_allowed());
    }
    let content_type = parts.headers.get(http::header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let (body, _) = write::read_body(kind, false, content_type, body)?;
    if body.is_object() {
        Ok(body)
    } else {
        Err(Failure::bad_request("the body of the request must be an object"))
    }
}

fn answer(server: &ApiServer, parts: &Parts, kind: ReviewKind, body: &[u8]) -> Result<Value, Failure> {
    let (default_access, default_user) = (Access::default(), UserInfo::default());
    let access = parts.extensions.get::<std::sync::Arc<Access>>().map_or(&default_access, |it| it);
    let user = parts.extensions.get::<UserInfo>().unwrap_or(&default_user);
    let body = read_body(kind.kind, parts, body)?;
    let said = body["kind"].as_str().unwrap_or_default();
    if !said.is_empty() && said != kind.kind {
        let wanted = kind.kind;
        let message = format!(
            "{said} in version \"v1\" cannot be handled as a {wanted}: no kind {said:?} is expected here"
        );
        return Err(Failure::bad_request(message));
    }
    let question = Question { server, access, user, kind, body };
    let status = match kind.answer {
        Answer::SelfSubject => json!({"userInfo": user.to_json()}),
        Answer::Token => token(&question),
        Answer::Rules => rules(&question)?,
        Answer::SelfAccess => decision(&question, user, &wanted(&question)?),
        Answer::Access => subject_access(&question)?,
    };
    let mut review = json!({"kind": kind.kind, "apiVersion": kind.api_version(), "metadata": {}});
    if let Some(spec) = question.body.get("spec") {
        review["spec"] = spec.clone();
    }
    if matches!(kind.answer, Answer::SelfSubject) {
        review["metadata"]["creationTimestamp"] = crate::store::time(server.store().now());
    }
    review["status"] = status;
    Ok(review)
}

fn answer_token_request(
    server: &ApiServer,
    parts: &Parts,
    target: &Target,
    body: &[u8],
) -> Result<Value, Failure> {
    let body = read_body("TokenRequest", parts, body)?;
    let (name, namespace) = (target.name.as_deref().unwrap_or_default(), target.namespace.as_deref());
    let store = server.store();
    let Some(account) = store.get("serviceaccounts", namespace.unwrap_or_default(), name) else {
        return Err(match server.resources().by_id("serviceaccounts") {
            Some(resource) => Failure::not_found(resource, name),
            None => Failure::no_such_resource(),
        });
    };
    let access = parts.extensions.get::<std::sync::Arc<Access>>();
    let tokens = access.and_then(|it| it.authentication.service_accounts.as_ref());
    token_request(tokens, store, &account, &body)
}

fn token(question: &Question<'_>) -> Value {
    let token = question.body["spec"]["token"].as_str().unwrap_or_default();
    match question.access.authentication.user_of(token, question.server.store()) {
        Some(user) => json!({"authenticated": true, "user": user.to_json()}),
        None => json!({"user": {}, "error": "[invalid bearer token]"}),
    }
}

fn rules(question: &Question<'_>) -> Result<Value, Failure> {
    let namespace = question.body["spec"]["namespace"].as_str().filter(|it| !it.is_empty());
    let Some(namespace) = namespace else {
        return Err(Failure::bad_request("no namespace on request"));
    };
    let store = question.server.store();
    Ok(rules_of(question.access.authorization, store, question.user, namespace))
}

fn subject_access(question: &Question<'_>) -> Result<Value, Failure> {
    let attributes = wanted(question)?;
    let spec = &question.body["spec"];
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let user = UserInfo {
        username: spec["user"].as_str().unwrap_or_default().to_owned(),
        uid: spec["uid"].as_str().unwrap_or_default().to_owned(),
        groups: texts(&spec["groups"]),
        extra: std::collections::BTreeMap::new(),
    };
    if user.username.is_empty() && user.groups.is_empty() {
        let cause = Cause::invalid("spec.user", "\"\"", "at least one of user or group must be specified");
        return Err(invalid(question, cause));
    }
    Ok(decision(question, &user, &attributes))
}

fn decision(question: &Question<'_>, user: &UserInfo, attributes: &Attributes) -> Value {
    let allowed = question.access.authorize(question.server.store(), user, attributes).is_allowed();
    json!({"allowed": allowed})
}

/// What an access review asks about.
fn wanted(question: &Question<'_>) -> Result<Attributes, Failure> {
    let spec = &question.body["spec"];
    let (resource, path) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let text = |of: &Value, field: &str| of[field].as_str().unwrap_or_default().to_owned();
    match (resource.is_object(), path.is_object()) {
        (true, false) => Ok(Attributes {
            verb: text(resource, "verb"),
            group: text(resource, "group"),
            version: text(resource, "version"),
            resource: text(resource, "resource"),
            subresource: text(resource, "subresource"),
            namespace: text(resource, "namespace"),
            name: text(resource, "name"),
            path: String::new(),
        }),
        (false, true) => {
            Ok(Attributes { verb: text(path, "verb"), path: text(path, "path"), ..Attributes::default() })
        }
        (both, _) => {
            let detail = if both {
                "cannot be specified in combination with resourceAttributes"
            } else {
                "exactly one of nonResourceAttributes or resourceAttributes must be specified"
            };
            let field = if both { "spec.nonResourceAttributes" } else { "spec.resourceAttributes" };
            Err(invalid(question, Cause::invalid(field, "null", detail)))
        }
    }
}

fn invalid(question: &Question<'_>, cause: Cause) -> Failure {
    Failure::invalid_kind(question.kind.kind, question.kind.group, "", vec![cause])
}
