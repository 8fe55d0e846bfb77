//! How urgent a write is.

use http::{Method, Request};

/// How urgent a write is; the first one is the most urgent.
///
/// A request may carry a lane as an extension. Without one, method and path decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Brings objects into being or removes them: what users wait for.
    Create,
    /// Changes objects.
    Change,
    /// Reports what is.
    Status,
    /// Tells a story, for whoever reads it.
    Event,
}

impl Lane {
    /// All lanes, the most urgent first.
    pub(super) const ALL: [Self; 4] = [Self::Create, Self::Change, Self::Status, Self::Event];

    /// Its label in metrics.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Change => "change",
            Self::Status => "status",
            Self::Event => "event",
        }
    }

    /// Lane of a request, or `None` if it must never wait: reads, watches, and leases, on which leadership depends.
    pub(crate) fn of<B>(request: &Request<B>) -> Option<Self> {
        let path = request.uri().path();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if is_read || resource(path) == Some("leases") {
            return None;
        }
        if let Some(lane) = request.extensions().get() {
            return Some(*lane);
        }
        if resource(path) == Some("events") {
            return Some(Self::Event);
        }
        if path.ends_with("/status") {
            return Some(Self::Status);
        }
        Some(match *request.method() {
            Method::POST | Method::DELETE => Self::Create,
            _ => Self::Change,
        })
    }
}

/// `pods` of `/api/v1/namespaces/n/pods/x` and of `/api/v1/pods`. A namespace or an object may have any name.
fn resource(path: &str) -> Option<&str> {
    let mut segments = path.split('/').skip_while(|it| !matches!(*it, "api" | "apis"));
    // Past the version, or group and version.
    let versions = if segments.next()? == "api" { 1 } else { 2 };
    let mut rest = segments.skip(versions);
    match rest.next()? {
        "namespaces" => rest.nth(1).or(Some("namespaces")),
        resource => Some(resource),
    }
}

/// The namespace that a request is about; `""` for cluster scope, to which namespaces themselves belong.
pub(super) fn namespace(path: &str) -> &str {
    let mut segments = path.split('/').skip_while(|it| !matches!(*it, "api" | "apis"));
    let versions = if segments.next() == Some("api") { 1 } else { 2 };
    let mut rest = segments.skip(versions);
    match (rest.next(), rest.next(), rest.next()) {
        (Some("namespaces"), Some(namespace), Some(_)) => namespace,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn method_and_path_decide() {
        let pods = "/api/v1/namespaces/ns/pods";
        for (method, path, want) in [
            ("GET", "/api/v1/pods?watch=true", None),
            ("HEAD", pods, None),
            ("PUT", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/grove", None),
            ("POST", pods, Some(Lane::Create)),
            ("POST", "/api/v1/namespaces/status/pods?", Some(Lane::Create)),
            ("DELETE", "/api/v1/namespaces/ns/pods/a", Some(Lane::Create)),
            ("PATCH", "/api/v1/namespaces/ns/pods/a?fieldManager=x", Some(Lane::Change)),
            ("PUT", "/api/v1/namespaces/ns/pods/a", Some(Lane::Change)),
            ("PATCH", "/api/v1/namespaces/ns/pods/a/status?", Some(Lane::Status)),
            ("POST", "/apis/events.k8s.io/v1/namespaces/ns/events", Some(Lane::Event)),
            // Whatever a namespace or an object is called.
            ("POST", "/api/v1/namespaces/events/pods", Some(Lane::Create)),
            ("PATCH", "/apis/grove.io/v1alpha1/namespaces/leases/podcliquesets/leases", Some(Lane::Change)),
            ("POST", "/prefix/apis/events.k8s.io/v1/namespaces/api/events", Some(Lane::Event)),
            ("PATCH", "/api/v1/namespaces/ns", Some(Lane::Change)),
        ] {
            let request = Request::builder().method(method).uri(path).body(()).unwrap();
            assert_eq!(Lane::of(&request), want, "{method} {path}");
        }
    }

    #[test]
    fn requests_know_their_namespace() {
        for (path, want) in [
            ("/api/v1/namespaces/ns/pods", "ns"),
            ("/api/v1/namespaces/ns/pods/a/status", "ns"),
            ("/apis/grove.io/v1alpha1/namespaces/pods/podgangs/x", "pods"),
            ("/prefix/apis/grove.io/v1alpha1/namespaces/ns/podgangs/x", "ns"),
            ("/apis/grove.io/v1alpha1/schedulerbackends/kai", ""),
            ("/api/v1/namespaces/ns", ""),
            ("/api/v1/nodes/namespaces", ""),
            ("/pods", ""),
        ] {
            assert_eq!(namespace(path), want, "{path}");
        }
    }

    #[test]
    fn an_extension_goes_before_method_and_path() {
        let request = Request::post("/api/v1/namespaces/ns/pods").extension(Lane::Status).body(()).unwrap();
        assert_eq!(Lane::of(&request), Some(Lane::Status));
    }
}
