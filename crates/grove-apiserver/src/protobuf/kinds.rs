//! The kinds that kubectl sends as protobuf, with the numbers of their fields as in Kubernetes' `generated.proto`.
//!
//! A field that is missing here, such as a status, is one that the server fills in anyway; of a kind that is too large for that, it is refused.

/// A message: its fields.
pub(super) struct Message(pub(super) &'static [Field]);

/// A field of a message.
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) kind: Type,
    pub(super) repeated: bool,
}

/// What a field has.
#[derive(Clone, Copy)]
pub(super) enum Type {
    Bool,
    Int,
    String,
    StringMap,
    BytesMap,
    Message(&'static Message),
}

const fn one(number: u64, name: &'static str, kind: Type) -> Field {
    Field { number, name, kind, repeated: false }
}

const fn many(number: u64, name: &'static str, kind: Type) -> Field {
    Field { number, name, kind, repeated: true }
}

/// What becomes of fields that are not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The server fills them in.
    Ignored,
    /// They are refused unless they say nothing: Go's encoder writes some of them empty.
    Refused,
}

/// What becomes of fields of a kind that are not in its message.
pub(super) fn rest(kind: &str) -> Rest {
    if kind == "Job" { Rest::Refused } else { Rest::Ignored }
}

/// The message of a kind.
pub(super) fn message(api_version: &str, kind: &str) -> Option<&'static Message> {
    Some(match (api_version, kind) {
        ("v1", "Namespace") => &NAMESPACE,
        ("v1", "ConfigMap") => &CONFIG_MAP,
        ("v1", "Secret") => &SECRET,
        ("v1", "ServiceAccount") => &SERVICE_ACCOUNT,
        ("authentication.k8s.io/v1", "TokenRequest") => &TOKEN_REQUEST,
        ("authentication.k8s.io/v1", "TokenReview") => &TOKEN_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => &METADATA_ONLY,
        (
            "authorization.k8s.io/v1",
            "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview",
        ) => &ACCESS_REVIEW,
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => &RULES_REVIEW,
        ("batch/v1", "Job") => &JOB,
        ("policy/v1", "Eviction") => &EVICTION,
        ("rbac.authorization.k8s.io/v1", "Role" | "ClusterRole") => &ROLE,
        ("rbac.authorization.k8s.io/v1", "RoleBinding" | "ClusterRoleBinding") => &ROLE_BINDING,
        _ => return None,
    })
}

const METADATA: Field = one(1, "metadata", Type::Message(&OBJECT_META));

static OBJECT_META: Message = Message(&[
    one(1, "name", Type::String),
    one(2, "generateName", Type::String),
    one(3, "namespace", Type::String),
    one(5, "uid", Type::String),
    one(6, "resourceVersion", Type::String),
    one(11, "labels", Type::StringMap),
    one(12, "annotations", Type::StringMap),
    many(13, "ownerReferences", Type::Message(&OWNER_REFERENCE)),
    many(14, "finalizers", Type::String),
]);

static OWNER_REFERENCE: Message = Message(&[
    one(5, "apiVersion", Type::String),
    one(1, "kind", Type::String),
    one(3, "name", Type::String),
    one(4, "uid", Type::String),
    one(6, "controller", Type::Bool),
    one(7, "blockOwnerDeletion", Type::Bool),
]);

static METADATA_ONLY: Message = Message(&[METADATA]);

/// The finalizers of its spec are the server's.
static NAMESPACE: Message = Message(&[METADATA]);

static CONFIG_MAP: Message = Message(&[
    METADATA,
    one(2, "data", Type::StringMap),
    one(3, "binaryData", Type::BytesMap),
    one(4, "immutable", Type::Bool),
]);

static SECRET: Message = Message(&[
    METADATA,
    one(2, "data", Type::BytesMap),
    one(3, "type", Type::String),
    one(4, "stringData", Type::StringMap),
    one(5, "immutable", Type::Bool),
]);

static SERVICE_ACCOUNT: Message = Message(&[
    METADATA,
    many(3, "imagePullSecrets", Type::Message(&NAME)),
    one(4, "automountServiceAccountToken", Type::Bool),
]);

static NAME: Message = Message(&[one(1, "name", Type::String)]);

static TOKEN_REQUEST: Message = Message(&[METADATA, one(2, "spec", Type::Message(&TOKEN_REQUEST_SPEC))]);

static TOKEN_REQUEST_SPEC: Message = Message(&[
    many(1, "audiences", Type::String),
    one(3, "boundObjectRef", Type::Message(&BOUND_OBJECT)),
    one(4, "expirationSeconds", Type::Int),
]);

static BOUND_OBJECT: Message = Message(&[
    one(1, "kind", Type::String),
    one(2, "apiVersion", Type::String),
    one(3, "name", Type::String),
    one(4, "uid", Type::String),
]);

static TOKEN_REVIEW: Message = Message(&[METADATA, one(2, "spec", Type::Message(&TOKEN_REVIEW_SPEC))]);

static TOKEN_REVIEW_SPEC: Message =
    Message(&[one(1, "token", Type::String), many(2, "audiences", Type::String)]);

static ACCESS_REVIEW: Message = Message(&[METADATA, one(2, "spec", Type::Message(&ACCESS_REVIEW_SPEC))]);

/// The spec of a review of oneself has no user.
static ACCESS_REVIEW_SPEC: Message = Message(&[
    one(1, "resourceAttributes", Type::Message(&RESOURCE_ATTRIBUTES)),
    one(2, "nonResourceAttributes", Type::Message(&NON_RESOURCE_ATTRIBUTES)),
    one(3, "user", Type::String),
    many(4, "groups", Type::String),
    one(6, "uid", Type::String),
]);

static RESOURCE_ATTRIBUTES: Message = Message(&[
    one(1, "namespace", Type::String),
    one(2, "verb", Type::String),
    one(3, "group", Type::String),
    one(4, "version", Type::String),
    one(5, "resource", Type::String),
    one(6, "subresource", Type::String),
    one(7, "name", Type::String),
]);

static NON_RESOURCE_ATTRIBUTES: Message =
    Message(&[one(1, "path", Type::String), one(2, "verb", Type::String)]);

static RULES_REVIEW: Message = Message(&[METADATA, one(2, "spec", Type::Message(&RULES_REVIEW_SPEC))]);

static RULES_REVIEW_SPEC: Message = Message(&[one(1, "namespace", Type::String)]);

/// As `kubectl create job` makes it.
static JOB: Message = Message(&[
    METADATA,
    one(2, "spec", Type::Message(&JOB_SPEC)),
    // Numbers that are all zero.
    one(3, "status", Type::Message(&Message(&[]))),
]);

static JOB_SPEC: Message = Message(&[
    one(1, "parallelism", Type::Int),
    one(2, "completions", Type::Int),
    one(3, "activeDeadlineSeconds", Type::Int),
    one(6, "template", Type::Message(&POD_TEMPLATE)),
    one(7, "backoffLimit", Type::Int),
    one(8, "ttlSecondsAfterFinished", Type::Int),
    one(9, "completionMode", Type::String),
    one(10, "suspend", Type::Bool),
]);

static POD_TEMPLATE: Message = Message(&[METADATA, one(2, "spec", Type::Message(&POD_SPEC))]);

static POD_SPEC: Message = Message(&[
    many(2, "containers", Type::Message(&CONTAINER)),
    one(3, "restartPolicy", Type::String),
    one(4, "terminationGracePeriodSeconds", Type::Int),
    one(6, "dnsPolicy", Type::String),
    one(7, "nodeSelector", Type::StringMap),
    one(8, "serviceAccountName", Type::String),
    one(19, "schedulerName", Type::String),
    one(24, "priorityClassName", Type::String),
]);

static CONTAINER: Message = Message(&[
    one(1, "name", Type::String),
    one(2, "image", Type::String),
    many(3, "command", Type::String),
    many(4, "args", Type::String),
    one(5, "workingDir", Type::String),
    one(14, "imagePullPolicy", Type::String),
]);

static EVICTION: Message = Message(&[METADATA, one(2, "deleteOptions", Type::Message(&DELETE_OPTIONS))]);

static DELETE_OPTIONS: Message = Message(&[
    one(1, "gracePeriodSeconds", Type::Int),
    one(2, "preconditions", Type::Message(&PRECONDITIONS)),
    one(4, "propagationPolicy", Type::String),
    many(5, "dryRun", Type::String),
]);

static PRECONDITIONS: Message =
    Message(&[one(1, "uid", Type::String), one(2, "resourceVersion", Type::String)]);

static ROLE: Message = Message(&[
    METADATA,
    many(2, "rules", Type::Message(&POLICY_RULE)),
    one(3, "aggregationRule", Type::Message(&AGGREGATION_RULE)),
]);

static POLICY_RULE: Message = Message(&[
    many(1, "verbs", Type::String),
    many(2, "apiGroups", Type::String),
    many(3, "resources", Type::String),
    many(4, "resourceNames", Type::String),
    many(5, "nonResourceURLs", Type::String),
]);

static AGGREGATION_RULE: Message =
    Message(&[many(1, "clusterRoleSelectors", Type::Message(&LABEL_SELECTOR))]);

static LABEL_SELECTOR: Message = Message(&[
    one(1, "matchLabels", Type::StringMap),
    many(2, "matchExpressions", Type::Message(&LABEL_REQUIREMENT)),
]);

static LABEL_REQUIREMENT: Message = Message(&[
    one(1, "key", Type::String),
    one(2, "operator", Type::String),
    many(3, "values", Type::String),
]);

static ROLE_BINDING: Message = Message(&[
    METADATA,
    many(2, "subjects", Type::Message(&SUBJECT)),
    one(3, "roleRef", Type::Message(&ROLE_REF)),
]);

static SUBJECT: Message = Message(&[
    one(1, "kind", Type::String),
    one(2, "apiGroup", Type::String),
    one(3, "name", Type::String),
    one(4, "namespace", Type::String),
]);

static ROLE_REF: Message =
    Message(&[one(1, "apiGroup", Type::String), one(2, "kind", Type::String), one(3, "name", Type::String)]);
