//! Regular expressions that the schema and the validation functions share.

/// A DNS label: what hostnames, and so cliques and groups, may be called.
pub(crate) const DNS_LABEL: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// A DNS label that begins with a letter: what a Service, and so a set, may be called.
pub(crate) const SERVICE_NAME: &str = "^[a-z]([-a-z0-9]*[a-z0-9])?$";
/// A positive or zero duration in Go's syntax.
pub(crate) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$";
/// A path to a field, as [`JsonPath`](crate::json_path::JsonPath) reads it.
pub(crate) const JSON_PATH: &str =
    r#"^\$?(\.([A-Za-z0-9_/-]|\\\.)+|\[(\*|[0-9]{1,4}|'[^']+'|"[^"]+")\]){1,32}$"#;
/// An API group; empty for the core.
pub(crate) const API_GROUP: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$";
/// An API version, or `*` for any.
pub(crate) const ANY_VERSION: &str = r"^(\*|[a-z]([-a-z0-9]*[a-z0-9])?)$";
/// A kind.
pub(crate) const KIND: &str = "^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$";
/// A label key.
pub(crate) const LABEL_KEY: &str =
    r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
/// A resource quantity such as 500m or 8Gi.
pub(super) const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";
/// The type of a condition.
pub(super) const CONDITION_TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
/// The reason of a condition.
pub(super) const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
