//! From a path to what it names. Whether that exists is for others to say.

use crate::query::decode;

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// `/version`
    Version,
    /// `/healthz`, `/livez`, `/readyz`, with the name of a single check.
    Health(String, Option<String>),
    /// `/metrics`
    Metrics,
    /// `/openapi/v3`
    OpenApi,
    /// `/openapi/v3/api/v1`, `/openapi/v3/apis/grove.io/v1alpha1`
    OpenApiDocument(String, String),
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/grove.io`
    Group(String),
    /// `/api/v1`, `/apis/grove.io/v1alpha1`
    GroupVersion(String, String),
    /// Objects, or one object, or a part of one.
    Objects(Target),
    /// Anything else.
    Nothing,
}

/// Objects, or one object, or a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

pub(crate) fn route(path: &str) -> Route {
    let segments: Vec<String> =
        path.trim_matches('/').split('/').map(|segment| decode(segment, false)).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    if segments.iter().any(|it| it.is_empty()) {
        return Route::Nothing;
    }
    match segments.as_slice() {
        ["version"] => Route::Version,
        [endpoint @ ("healthz" | "livez" | "readyz")] => Route::Health((*endpoint).to_owned(), None),
        [endpoint @ ("healthz" | "livez" | "readyz"), check] => {
            Route::Health((*endpoint).to_owned(), Some((*check).to_owned()))
        }
        ["metrics"] => Route::Metrics,
        ["openapi", "v3"] => Route::OpenApi,
        ["openapi", "v3", "api", version] => Route::OpenApiDocument(String::new(), (*version).to_owned()),
        ["openapi", "v3", "apis", group, version] => {
            Route::OpenApiDocument((*group).to_owned(), (*version).to_owned())
        }
        ["api"] => Route::CoreVersions,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group((*group).to_owned()),
        ["api", version] => Route::GroupVersion(String::new(), (*version).to_owned()),
        ["apis", group, version] => Route::GroupVersion((*group).to_owned(), (*version).to_owned()),
        ["api", version, rest @ ..] => objects("", version, rest),
        ["apis", group, version, rest @ ..] => objects(group, version, rest),
        _ => Route::Nothing,
    }
}

fn objects(group: &str, version: &str, rest: &[&str]) -> Route {
    // A namespace is itself an object with subresources; every other third segment is a resource in it.
    let (namespace, rest) = match rest {
        ["namespaces", _] | ["namespaces", _, "status" | "finalize"] => (None, rest),
        ["namespaces", namespace, rest @ ..] => (Some((*namespace).to_owned()), rest),
        _ => (None, rest),
    };
    let (plural, name, subresource) = match rest {
        [plural] => (*plural, None, None),
        [plural, name] => (*plural, Some(*name), None),
        [plural, name, subresource] => (*plural, Some(*name), Some(*subresource)),
        _ => return Route::Nothing,
    };
    Route::Objects(Target {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: plural.to_owned(),
        namespace,
        name: name.map(str::to_owned),
        subresource: subresource.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `group/version namespace/plural name/subresource`, with `-` for what is not there.
    fn show(path: &str) -> String {
        match route(path) {
            Route::Objects(it) => {
                let or = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
                let (namespace, name, subresource) = (or(it.namespace), or(it.name), or(it.subresource));
                format!("{}/{} {namespace}/{} {name}/{subresource}", it.group, it.version, it.plural)
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn paths() {
        for (path, expected) in [
            ("/version", "Version"),
            ("/readyz", "Health(\"readyz\", None)"),
            ("/readyz/ping", "Health(\"readyz\", Some(\"ping\"))"),
            ("/metrics", "Metrics"),
            ("/openapi/v3", "OpenApi"),
            ("/openapi/v3/api/v1", "OpenApiDocument(\"\", \"v1\")"),
            ("/openapi/v3/apis/grove.io/v1", "OpenApiDocument(\"grove.io\", \"v1\")"),
            ("/openapi/v2", "Nothing"),
            ("/api", "CoreVersions"),
            ("/apis/", "Groups"),
            ("/apis/grove.io", "Group(\"grove.io\")"),
            ("/api/v1", "GroupVersion(\"\", \"v1\")"),
            ("/apis/grove.io/v1alpha1", "GroupVersion(\"grove.io\", \"v1alpha1\")"),
            ("/api/v1/pods", "/v1 -/pods -/-"),
            ("/api/v1/namespaces", "/v1 -/namespaces -/-"),
            ("/api/v1/namespaces/a", "/v1 -/namespaces a/-"),
            ("/api/v1/namespaces/a/status", "/v1 -/namespaces a/status"),
            ("/api/v1/namespaces/a/finalize", "/v1 -/namespaces a/finalize"),
            ("/api/v1/namespaces/a/pods", "/v1 a/pods -/-"),
            ("/api/v1/namespaces/a/pods/b", "/v1 a/pods b/-"),
            ("/api/v1/namespaces/a/pods/b/binding", "/v1 a/pods b/binding"),
            (
                "/apis/grove.io/v1alpha1/namespaces/a/podcliques/b/scale",
                "grove.io/v1alpha1 a/podcliques b/scale",
            ),
            ("/apis/grove.io/v1/widgets/b", "grove.io/v1 -/widgets b/-"),
            ("/apis/rbac/v1/clusterroles/system%3Anode", "rbac/v1 -/clusterroles system:node/-"),
            ("/", "Nothing"),
            ("", "Nothing"),
            ("/api//pods", "Nothing"),
            ("/api/v1/namespaces/a/pods/b/proxy/c", "Nothing"),
            ("/nonsense", "Nothing"),
        ] {
            assert_eq!(show(path), expected, "{path}");
        }
    }
}
