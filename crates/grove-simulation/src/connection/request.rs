//! What a request is, as far as the connection cares.

use http::{Method, Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Watch,
    /// A change that may be refused as a conflict.
    Write,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    /// The plural name of the resource that is watched.
    pub(super) resource: String,
}

impl Asked {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let query = request.uri().query().unwrap_or_default();
        let kind = if request.method() != Method::GET {
            Kind::Write
        } else if query.split('&').any(|it| it == "watch=true" || it == "watch=1") {
            Kind::Watch
        } else {
            Kind::Read
        };
        let resource = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        Self { kind, resource }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watches_are_told_from_lists() {
        let asked = |method: &str, uri: &str| {
            let asked = Asked::of(&Request::builder().method(method).uri(uri).body(()).unwrap());
            (asked.kind, asked.resource)
        };
        assert_eq!(asked("GET", "/api/v1/pods?limit=5"), (Kind::Read, "pods".to_owned()));
        let watch = "/apis/grove.io/v1alpha1/podcliques?&watch=true&timeoutSeconds=290";
        assert_eq!(asked("GET", watch), (Kind::Watch, "podcliques".to_owned()));
        assert_eq!(asked("POST", "/api/v1/namespaces/ml/pods").0, Kind::Write);
    }
}
