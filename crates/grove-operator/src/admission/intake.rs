//! One HTTP request: what is wrong with it is said before its body is read, and the body is read and judged within bounds.
//!
//! What is scarce (memory for large bodies, processors for judging) goes to one client address after the other, so that a flood of
//! reviews delays those of an API server by one.

use std::{net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use grove_runtime::{
    fair_semaphore::{FairSemaphore, Permit},
    listener::{Connection, Limits, Phase},
};
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use tokio::{
    sync::Semaphore,
    task::spawn_blocking,
    time::{Instant, sleep, timeout},
};
use tracing::warn;

use super::{
    desk::{Answer, Desk, Doubt, Reply},
    live::LiveTopology,
    weight::weight,
};

/// Larger bodies are read and judged a few at a time. Reviews of ordinary sets are smaller.
const LARGE: u64 = 256 << 10;
/// Large bodies in memory at the same time.
const LARGE_AT_ONCE: usize = 8;
/// How long a large body may take while another one waits. From an API server it comes in milliseconds.
const LARGE_WHILE_WANTED: Duration = Duration::from_secs(1);
/// Reviews that are judged at the same time: that is processor time, and parsed objects in memory.
const JUDGED_AT_ONCE: usize = 4;
/// Reviews above this [`weight`] are judged one at a time. Those of ordinary sets are below it.
const HEAVY: usize = 8 << 20;
/// Reviews above it are refused. An update of a set that fills its 1.5 MiB in the store has less than half of it.
const HEAVIEST: usize = 96 << 20;
/// Topologies that the API server is asked for at the same time: whoever names those that do not exist must not keep it busy.
const LOOKED_UP_AT_ONCE: usize = 4;
/// The part of the time for an answer in which the API server has to say whether a topology exists.
const LOOKUP_SHARE: f64 = 0.4;

/// What all connections share.
pub(super) struct Intake {
    desk: Desk,
    limits: Limits,
    large: Arc<FairSemaphore>,
    heavy: Arc<FairSemaphore>,
    judged: Arc<FairSemaphore>,
    looked_up: Semaphore,
}

/// A request that gets no review as its answer.
struct Refusal(StatusCode, String);

impl Intake {
    pub(super) fn new(desk: Desk, limits: Limits) -> Self {
        Self {
            desk,
            limits,
            large: FairSemaphore::new(LARGE_AT_ONCE),
            heavy: FairSemaphore::new(1),
            judged: FairSemaphore::new(JUDGED_AT_ONCE),
            looked_up: Semaphore::new(LOOKED_UP_AT_ONCE),
        }
    }

    /// Answers one request of a connection.
    pub(super) async fn handle(
        &self,
        connection: Arc<Connection>,
        request: Request<Incoming>,
    ) -> Response<Full<Bytes>> {
        let started = Instant::now();
        connection.enter(Phase::Receiving);
        let path = request.uri().path().to_owned();
        let answer = self.answer(&connection, &path, request).await;
        let code = match &answer {
            Ok(answer) => answer.code,
            Err(Refusal(code, _)) => *code,
        };
        let rules = answer.as_ref().map(|it| it.rules.as_slice()).unwrap_or_default();
        self.desk.metrics().answered(&path, code, rules, started.elapsed());
        match answer {
            Ok(Answer { code, body, .. }) => response(code, "application/json", body),
            Err(Refusal(code, text)) => {
                warn!(path, code = code.as_u16(), "{text}");
                let mut response = response(code, "text/plain; charset=utf-8", text.into_bytes());
                // What is left of the request is not worth reading.
                response.headers_mut().insert(header::CONNECTION, header::HeaderValue::from_static("close"));
                response
            }
        }
    }

    async fn answer(
        &self,
        connection: &Connection,
        path: &str,
        request: Request<Incoming>,
    ) -> Result<Answer, Refusal> {
        self.check_head(path, &request)?;
        let peer = connection.peer();
        let body = timeout(self.limits.body_time, self.read(peer, request.into_body())).await;
        let seconds = |it: Duration| it.as_secs_f64();
        // Large bodies are kept in memory until they are judged, so the permit is, too.
        let (body, _large) = body.unwrap_or_else(|_| {
            let text = format!("the body did not come within {} s", seconds(self.limits.body_time));
            Err(Refusal(StatusCode::REQUEST_TIMEOUT, text))
        })?;
        connection.enter(Phase::Working);
        let answer = timeout(self.limits.answer_time, self.judge(peer, path.to_owned(), body)).await;
        answer.unwrap_or_else(|_| {
            let text = format!("no answer within {} s", seconds(self.limits.answer_time));
            Err(Refusal(StatusCode::GATEWAY_TIMEOUT, text))
        })
    }

    fn check_head(&self, path: &str, request: &Request<Incoming>) -> Result<(), Refusal> {
        if !self.desk.serves(path) {
            return Err(Refusal(StatusCode::NOT_FOUND, "there is nothing at this path".to_owned()));
        }
        if request.method() != Method::POST {
            return Err(Refusal(StatusCode::METHOD_NOT_ALLOWED, "only POST is served here".to_owned()));
        }
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = kind.and_then(|it| it.split(';').next()).unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let text = format!("unsupported content type {kind:?}: use application/json");
            return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        if request.body().size_hint().lower() > self.limits.body_bytes as u64 {
            return Err(self.too_large());
        }
        Ok(())
    }

    /// Reads a body. A large one comes with a permit.
    async fn read(&self, peer: IpAddr, body: Incoming) -> Result<(Bytes, Option<Permit>), Refusal> {
        // A body of unknown length may become large.
        let is_large = body.size_hint().upper().is_none_or(|it| it > LARGE);
        let reading = Limited::new(body, self.limits.body_bytes).collect();
        let mut large = None;
        let read = if is_large {
            let permit = large.insert(self.large.acquire(peer).await);
            tokio::select! {
                read = reading => read,
                () = outlasts(permit) => {
                    let seconds = LARGE_WHILE_WANTED.as_secs();
                    let text = format!("the body took longer than {seconds} s while others waited");
                    return Err(Refusal(StatusCode::REQUEST_TIMEOUT, text));
                }
            }
        } else {
            reading.await
        };
        match read {
            Ok(body) => Ok((body.to_bytes(), large)),
            Err(error) if error.is::<LengthLimitError>() => Err(self.too_large()),
            Err(error) => Err(Refusal(StatusCode::BAD_REQUEST, format!("the body broke off: {error}"))),
        }
    }

    async fn judge(&self, peer: IpAddr, path: String, body: Bytes) -> Result<Answer, Refusal> {
        let weight = weight(&body);
        if weight > HEAVIEST {
            let text = "the review has too many values: parsed, it would take too much memory".to_owned();
            return Err(Refusal(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
        // Before the other permit, which lighter reviews need.
        let heavy = if weight > HEAVY { Some(self.heavy.acquire(peer).await) } else { None };
        let (reply, heavy) = self.work(peer, heavy, move |desk| desk.answer(&path, &body)).await?;
        let doubt = match reply {
            Reply::Answer(answer) => return Ok(answer),
            Reply::Doubt(doubt) => doubt,
        };
        let found = self.look_up(&doubt).await;
        let (answer, _) = self.work(peer, heavy, move |desk| desk.answer_again(*doubt, found)).await?;
        Ok(answer)
    }

    /// What the API server says of a topology, if it does in time.
    async fn look_up(&self, doubt: &Doubt) -> Option<LiveTopology> {
        let topology = &doubt.topology;
        let asking = async {
            let _permit = self.looked_up.acquire().await.ok();
            self.desk.look_up(topology).await
        };
        let found = timeout(self.limits.answer_time.mul_f64(LOOKUP_SHARE), asking).await;
        found.unwrap_or_else(|_| {
            warn!(topology, "the API server did not say in time whether a topology exists");
            None
        })
    }

    /// Beside the threads that serve connections: judging is work for the processor, and may take a while. `heavy` is held
    /// meanwhile, and given back.
    async fn work<T: Send + 'static>(
        &self,
        peer: IpAddr,
        heavy: Option<Permit>,
        judge: impl FnOnce(&Desk) -> T + Send + 'static,
    ) -> Result<(T, Option<Permit>), Refusal> {
        let failed =
            |_| Refusal(StatusCode::INTERNAL_SERVER_ERROR, "the review could not be judged".to_owned());
        let permit = self.judged.acquire(peer).await;
        let desk = self.desk.clone();
        let judging = spawn_blocking(move || {
            // Until the work is done, also where nobody waits for it any longer.
            let _permit = permit;
            (judge(&desk), heavy)
        });
        judging.await.map_err(failed)
    }

    fn too_large(&self) -> Refusal {
        let text = format!("the body is larger than {} bytes", self.limits.body_bytes);
        Refusal(StatusCode::PAYLOAD_TOO_LARGE, text)
    }
}

/// Resolves when a large body has had its time and another one waits.
async fn outlasts(permit: &Permit) {
    sleep(LARGE_WHILE_WANTED).await;
    permit.until_wanted().await;
}

fn response(code: StatusCode, kind: &'static str, body: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
    response
}
