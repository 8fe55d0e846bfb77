//! Which handler answers which path, and that every request gets an answer.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use grove_api::constants::{GROUP, VERSION, webhooks};
use http::StatusCode;
use tracing::{debug, error};

use super::{
    authorizer::Authorizer,
    defaulting::default_set,
    knowledge::{Knowledge, Snapshot},
    live::{LiveTopology, Lookup, unknown_topology},
    metrics::AdmissionMetrics,
    review::{Kind, Request, decode},
    scaling::scale,
    validation::validate,
    verdict::Verdict,
};

/// All handlers.
#[derive(Clone)]
pub struct Desk {
    knowledge: Arc<dyn Knowledge>,
    authorizer: Option<Authorizer>,
    metrics: AdmissionMetrics,
}

/// The answer to a body: a status of HTTP, and what is sent.
pub(super) struct Answer {
    pub(super) code: StatusCode,
    pub(super) body: Vec<u8>,
    /// Kinds of findings for which the request is denied.
    pub(super) rules: Vec<&'static str>,
}

/// What becomes of a body.
pub(super) enum Reply {
    /// It is answered.
    Answer(Answer),
    /// It is refused for a topology that may be younger than the caches: that is asked first.
    Doubt(Box<Doubt>),
}

/// A refusal for a topology that nobody knows.
pub(super) struct Doubt {
    path: String,
    request: Request,
    snapshot: Snapshot,
    refusal: Verdict,
    /// Its name.
    pub(super) topology: String,
}

impl Desk {
    /// A desk that knows the cluster by `knowledge`; without an authorizer its path is not served.
    pub fn new(knowledge: Arc<dyn Knowledge>, authorizer: Option<Authorizer>) -> Self {
        Self { knowledge, authorizer, metrics: AdmissionMetrics::default() }
    }

    /// Likewise; `metrics` learn what it answers.
    #[must_use]
    pub fn with_metrics(self, metrics: AdmissionMetrics) -> Self {
        Self { metrics, ..self }
    }

    pub(super) fn metrics(&self) -> &AdmissionMetrics {
        &self.metrics
    }

    /// Whether something is served there.
    pub(super) fn serves(&self, path: &str) -> bool {
        kind_of(path).is_some() || (path == webhooks::AUTHORIZER.path && self.authorizer.is_some())
    }

    /// Reads a review and answers it. What can be read is answered with a review, whatever happens.
    pub(super) fn answer(&self, path: &str, body: &[u8]) -> Reply {
        let request = match decode(body) {
            Ok(request) => request,
            Err(text) => {
                let (code, body) = (StatusCode::BAD_REQUEST, text.into_bytes());
                return Reply::Answer(Answer { code, body, rules: Vec::new() });
            }
        };
        let judged = catch_unwind(AssertUnwindSafe(|| {
            let snapshot = self.knowledge.snapshot(path, &request);
            let verdict = self.judge(path, &request, &snapshot);
            let unknown = unknown_topology(&request, &verdict);
            (snapshot, verdict, unknown)
        }));
        match judged {
            Ok((snapshot, refusal, Some(topology))) => {
                let path = path.to_owned();
                Reply::Doubt(Box::new(Doubt { path, request, snapshot, refusal, topology }))
            }
            Ok((_, verdict, None)) => Reply::Answer(answered(path, &request, &verdict)),
            Err(_) => Reply::Answer(answered(path, &request, &panicked(path, &request))),
        }
    }

    /// Asks the API server for a topology.
    pub(super) fn look_up<'a>(&'a self, topology: &'a str) -> Lookup<'a> {
        self.knowledge.look_up(topology)
    }

    /// Answers a request again, with what was found; the refusal stands where nothing was.
    pub(super) fn answer_again(&self, doubt: Doubt, found: Option<LiveTopology>) -> Answer {
        let Doubt { path, request, mut snapshot, refusal, topology } = doubt;
        let Some(found) = found else { return answered(&path, &request, &refusal) };
        found.add_to(&mut snapshot.environment, &topology);
        let verdict = catch_unwind(AssertUnwindSafe(|| self.judge(&path, &request, &snapshot)));
        answered(&path, &request, &verdict.unwrap_or_else(|_| panicked(&path, &request)))
    }

    /// The decision: a pure function of the request and of what is known.
    pub fn judge(&self, path: &str, request: &Request, snapshot: &Snapshot) -> Verdict {
        if let Some(kind) = kind_of(path)
            && !is_about(request, kind)
        {
            return wrong_kind(path, kind, &request.kind);
        }
        match (path, &self.authorizer) {
            (path, _) if path == webhooks::SET_DEFAULTING.path => default_set(request, &snapshot.environment),
            (path, Some(authorizer)) if path == webhooks::AUTHORIZER.path => {
                authorizer.authorize(request, snapshot)
            }
            (path, _)
                if [webhooks::CLIQUE_VALIDATING.path, webhooks::GROUP_VALIDATING.path].contains(&path) =>
            {
                scale(request, snapshot)
            }
            _ => validate(request, snapshot),
        }
    }
}

fn answered(path: &str, request: &Request, verdict: &Verdict) -> Answer {
    let (kind, name, namespace) = (&request.kind.kind, &request.name, &request.namespace);
    debug!(path, kind, namespace, name, allowed = verdict.denial.is_none(), "admission");
    Answer { code: StatusCode::OK, body: verdict.to_body(&request.uid), rules: verdict.rules() }
}

fn panicked(path: &str, request: &Request) -> Verdict {
    error!(path, kind = request.kind.kind, name = request.name, "admission handler panicked, request denied");
    let text = "internal error while checking the object, which is a bug: see the operator's log";
    Verdict::denied(StatusCode::INTERNAL_SERVER_ERROR, text)
}

/// The only kind that is served there; `None` where it may be any.
fn kind_of(path: &str) -> Option<&'static str> {
    match path {
        _ if path == webhooks::SET_DEFAULTING.path || path == webhooks::SET_VALIDATING.path => {
            Some("PodCliqueSet")
        }
        _ if path == webhooks::TOPOLOGY_VALIDATING.path => Some("ClusterTopologyBinding"),
        _ if path == webhooks::CLIQUE_VALIDATING.path => Some(CLIQUE),
        _ if path == webhooks::GROUP_VALIDATING.path => Some(SCALING_GROUP),
        _ => None,
    }
}

const CLIQUE: &str = "PodClique";
const SCALING_GROUP: &str = "PodCliqueScalingGroup";

/// Whether a request is about an object of this kind, or about its `/scale`.
fn is_about(request: &Request, kind: &str) -> bool {
    let asked = &request.kind;
    let is_scale = request.sub_resource == "scale" && asked.kind == "Scale" && asked.group == "autoscaling";
    (asked.kind == kind && asked.group == GROUP) || (is_scale && [CLIQUE, SCALING_GROUP].contains(&kind))
}

fn wrong_kind(path: &str, wanted: &str, got: &Kind) -> Verdict {
    let got = format!("{} ({}/{})", got.kind, got.group, got.version);
    let text = format!("{path} reviews {wanted} ({GROUP}/{VERSION}), got {got}");
    Verdict::denied(StatusCode::BAD_REQUEST, text)
}
