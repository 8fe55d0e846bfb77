//! What is between the grouper and the API server.

use std::{
    collections::BTreeMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use grove_apiserver::{ApiService, Body as ServerBody};
use http::{Request, Response, StatusCode};
use http_body_util::{Either, Full};
use kube::client::Body;
use serde_json::json;

/// What is between the grouper and the API server: forbids, stalls, and counts what is read.
#[derive(Clone)]
pub(crate) struct Gate {
    inner: ApiService,
    state: Arc<Mutex<GateState>>,
}

#[derive(Default)]
struct GateState {
    /// Plurals that may not be read.
    forbidden: Vec<String>,
    /// Prefixes of paths that are never answered.
    stalled: Vec<String>,
    /// By plural: objects that were asked for one by one, and lists.
    reads: BTreeMap<String, (u64, u64)>,
    /// By plural.
    watches: BTreeMap<String, u64>,
    /// Questions which kinds there are.
    discoveries: u64,
}

impl Gate {
    pub(crate) fn new(inner: ApiService) -> Self {
        Self { inner, state: Arc::default() }
    }

    pub(crate) fn forbid(&self, plural: &str) {
        self.state.lock().unwrap().forbidden.push(plural.to_owned());
    }

    pub(crate) fn allow_all(&self) {
        self.state.lock().unwrap().forbidden.clear();
    }

    /// From now on what is asked for at this path, or below it, is not answered.
    pub(crate) fn stall(&self, path: &str) {
        self.state.lock().unwrap().stalled.push(path.to_owned());
    }

    /// Everything is answered again; what was asked before is not.
    pub(crate) fn answer_all(&self) {
        self.state.lock().unwrap().stalled.clear();
    }

    /// How often it was asked which kinds there are.
    pub(crate) fn discoveries(&self) -> u64 {
        self.state.lock().unwrap().discoveries
    }

    /// Kinds that a watch was begun of, by their plurals.
    pub(crate) fn watched(&self) -> Vec<String> {
        self.state.lock().unwrap().watches.keys().cloned().collect()
    }

    /// Objects of a kind that were asked for one by one, and lists of it.
    pub(crate) fn reads(&self, plural: &str) -> (u64, u64) {
        self.state.lock().unwrap().reads.get(plural).copied().unwrap_or_default()
    }
}

impl tower::Service<Request<Body>> for Gate {
    type Response = Response<Either<ServerBody, Full<Bytes>>>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path().to_owned();
        let parts: Vec<&str> = path.split('/').filter(|it| !it.is_empty()).collect();
        let after = if parts[0] == "api" { 2 } else { 3 };
        let rest: Vec<&str> = parts.into_iter().skip(after).collect();
        let rest = if rest.first() == Some(&"namespaces") && rest.len() > 2 { &rest[2..] } else { &rest[..] };
        let is_watch = request.uri().query().is_some_and(|it| it.contains("watch=true"));
        let (mut forbidden, mut state) = (false, self.state.lock().unwrap());
        if let Some(plural) = rest.first() {
            forbidden = state.forbidden.iter().any(|it| it == plural);
            if request.method() == http::Method::GET && !is_watch {
                let reads = state.reads.entry((*plural).to_owned()).or_default();
                if rest.len() == 1 { reads.1 += 1 } else { reads.0 += 1 }
            }
            if is_watch {
                *state.watches.entry((*plural).to_owned()).or_default() += 1;
            }
        } else {
            state.discoveries += 1;
        }
        let is_stalled = state.stalled.iter().any(|it| path.starts_with(it));
        drop(state);
        if is_stalled {
            return Box::pin(std::future::pending());
        }
        if forbidden {
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
                "message": "not for you",
            });
            let body = Either::Right(Full::from(serde_json::to_vec(&status).unwrap()));
            let answer = Response::builder().status(StatusCode::FORBIDDEN).body(body).unwrap();
            return Box::pin(std::future::ready(Ok(answer)));
        }
        let answer = tower::Service::call(&mut self.inner, request);
        Box::pin(async move { Ok(answer.await?.map(Either::Left)) })
    }
}
