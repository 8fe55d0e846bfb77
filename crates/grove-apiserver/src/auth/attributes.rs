//! What a request asks for, as authorization and the audit log see it.

use http::Method;
use http::request::Parts;

use crate::query::Query;
use crate::route::{Route, Target, route};

/// What a request asks for. All fields but `verb` are empty where they do not apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// The verb, such as `list`; of a path that is no resource, the method in lower case.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// The API version.
    pub version: String,
    /// The resource, such as `pods`.
    pub resource: String,
    /// The subresource, such as `status`.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The path of a request that is about no resource.
    pub path: String,
}

impl Attributes {
    pub(crate) fn of(parts: &Parts) -> Self {
        let path = parts.uri.path();
        match route(path) {
            Route::Objects(target) => {
                Self::of_target(&parts.method, target, &Query::parse(parts.uri.query().unwrap_or_default()))
            }
            _ => {
                Self { verb: parts.method.as_str().to_lowercase(), path: path.to_owned(), ..Self::default() }
            }
        }
    }

    fn of_target(method: &Method, target: Target, query: &Query) -> Self {
        let is_named = target.name.is_some();
        let verb = match method.as_str() {
            "GET" | "HEAD" if is_named => "get",
            "GET" | "HEAD" if query.flag("watch") => "watch",
            "GET" | "HEAD" => "list",
            "POST" => "create",
            "PUT" => "update",
            "PATCH" => "patch",
            "DELETE" if is_named => "delete",
            "DELETE" => "deletecollection",
            _ => "",
        };
        // A list of the one object of a name can be permitted by the name.
        let by_field = || {
            let selector = query.get("fieldSelector").filter(|_| !is_named && method != Method::POST)?;
            selector.strip_prefix("metadata.name=").filter(|name| !name.contains([',', '=', '!']))
        };
        let name = target.name.as_deref().or_else(by_field).unwrap_or_default().to_owned();
        // A namespace is in itself.
        let is_namespace = target.group.is_empty() && target.plural == "namespaces";
        let namespace = if is_namespace { target.name } else { target.namespace };
        Self {
            verb: verb.to_owned(),
            group: target.group,
            version: target.version,
            resource: target.plural,
            subresource: target.subresource.unwrap_or_default(),
            namespace: namespace.unwrap_or_default(),
            name,
            path: String::new(),
        }
    }

    /// Whether it is about a resource, as opposed to a path such as `/version`.
    pub fn is_resource(&self) -> bool {
        !self.resource.is_empty()
    }

    /// The resource with its subresource, such as `pods/binding`.
    pub fn full_resource(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn show(method: &str, uri: &str) -> String {
        let (parts, ()) = Request::builder().method(method).uri(uri).body(()).unwrap().into_parts();
        let it = Attributes::of(&parts);
        if !it.is_resource() {
            return format!("{} {}", it.verb, it.path);
        }
        format!("{} {}/{} {}/{}", it.verb, it.group, it.full_resource(), it.namespace, it.name)
    }

    #[test]
    fn verbs_and_objects() {
        for (method, uri, expected) in [
            ("GET", "/version?verbose", "get /version"),
            ("POST", "/nonsense", "post /nonsense"),
            ("GET", "/api/v1/pods", "list /pods /"),
            ("GET", "/api/v1/namespaces/a/pods?watch=1", "watch /pods a/"),
            ("GET", "/api/v1/namespaces/a/pods?watch=false", "list /pods a/"),
            ("GET", "/api/v1/namespaces/a/pods/b", "get /pods a/b"),
            ("POST", "/api/v1/namespaces/a/pods/b/binding", "create /pods/binding a/b"),
            ("PUT", "/apis/grove.io/v1/namespaces/a/sets/b/status", "update grove.io/sets/status a/b"),
            ("PATCH", "/apis/grove.io/v1/namespaces/a/sets/b", "patch grove.io/sets a/b"),
            ("DELETE", "/api/v1/namespaces/a/pods", "deletecollection /pods a/"),
            ("DELETE", "/api/v1/namespaces/a/pods/b", "delete /pods a/b"),
            ("GET", "/api/v1/namespaces/a", "get /namespaces a/a"),
            ("GET", "/api/v1/nodes/a", "get /nodes /a"),
            ("GET", "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db", "list /pods a/b"),
            (
                "GET",
                "/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db,spec.nodeName%3Dn",
                "list /pods a/",
            ),
        ] {
            assert_eq!(show(method, uri), expected, "{method} {uri}");
        }
    }
}
