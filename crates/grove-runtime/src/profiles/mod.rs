//! CPU profiles of this process, as `go tool pprof` reads them: `GET /debug/pprof/profile?seconds=30`.
//!
//! The `pprof` crate takes the samples: a timer sends SIGPROF, and the handler of the signal walks the stack of the thread that
//! it interrupts. Handler and timer are there while a profile is taken, and not before.

mod format;

use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use pprof::{ProfilerGuard, ProfilerGuardBuilder, Report};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::spawn_blocking;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use self::format::{Place, Sample, Timing};
use crate::listener::Limits;

/// Where `go tool pprof` looks for a CPU profile.
const PATH: &str = "/debug/pprof/profile";
/// Seconds of a profile that does not say how long; also Go's default.
const DEFAULT_SECONDS: u64 = 30;
/// Seconds of the longest profile.
const MAX_SECONDS: u64 = 120;
/// Besides the profile itself: to start it, and to look up the names of functions, which takes seconds in a program with debug
/// information.
const OVERHEAD: Duration = Duration::from_mins(1);
/// Samples per second of processor time.
const FREQUENCY: i32 = 100;
/// Processor time between two samples.
const PERIOD: Duration = Duration::from_millis(10);
/// Shared libraries in which a stack is not walked, as the crate advises: the unwinder needs their locks, and the vdso may describe
/// its frames wrongly. A static program has none of the others.
const SKIPPED_LIBRARIES: &[&str] = &["libc.so", "libgcc_s.so", "libpthread.so", "vdso.so"];
/// The profiler needs a file for the samples that do not fit into its table. The operator's container has a read-only root without
/// `/tmp`; shared memory is writable in every container.
const SHARED_MEMORY: &str = "/dev/shm";

/// One profile at a time in the whole process: there is one SIGPROF. The profiler itself would let a second one wait in a busy loop.
static SLOT: Semaphore = Semaphore::const_new(1);

/// The route of CPU profiles. A profile that is being taken when `stop` is cancelled ends and is answered with what it has; one
/// whose client leaves ends, too.
pub fn routes(stop: CancellationToken) -> Router {
    let get = get(move |uri: Uri| profile(uri, stop.clone()));
    // Otherwise `get` answers HEAD, too, and takes a profile for it.
    let methods = get.head(|| async { (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET")]) });
    Router::new().route(PATH, methods)
}

/// Limits for a server of [`routes`]: an answer takes as long as the profile.
pub fn limits() -> Limits {
    Limits { answer_time: Duration::from_secs(MAX_SECONDS) + OVERHEAD, ..Limits::without_bodies() }
}

async fn profile(uri: Uri, stop: CancellationToken) -> Response {
    let seconds = match seconds(uri.query()) {
        Ok(seconds) => seconds,
        Err(wrong) => return (StatusCode::BAD_REQUEST, wrong + "\n").into_response(),
    };
    let Ok(slot) = SLOT.try_acquire() else {
        return (StatusCode::TOO_MANY_REQUESTS, "another CPU profile is being taken\n").into_response();
    };
    info!(seconds, "taking a CPU profile");
    match take(slot, Duration::from_secs(seconds), &stop).await {
        Ok(profile) => ([(header::CONTENT_TYPE, "application/octet-stream")], profile).into_response(),
        Err(error) => {
            warn!(%error, "CPU profile failed");
            (StatusCode::INTERNAL_SERVER_ERROR, format!("CPU profile failed: {error}\n")).into_response()
        }
    }
}

/// `seconds` of a query. Other parameters are ignored, as Go does.
fn seconds(query: Option<&str>) -> Result<u64, String> {
    let mut parameters =
        query.unwrap_or_default().split('&').map(|it| it.split_once('=').unwrap_or((it, "")));
    let Some((_, value)) = parameters.find(|(name, _)| *name == "seconds") else {
        return Ok(DEFAULT_SECONDS);
    };
    let seconds = value.parse::<u64>().ok().filter(|it| (1..=MAX_SECONDS).contains(it));
    seconds.ok_or_else(|| format!("seconds: must be a whole number from 1 to {MAX_SECONDS}, not {value:?}"))
}

async fn take(
    slot: SemaphorePermit<'static>,
    time: Duration,
    stop: &CancellationToken,
) -> Result<Vec<u8>, String> {
    let profile = off_the_runtime(move || Profile::start(slot)).await?;
    stop.run_until_cancelled(sleep(time)).await;
    off_the_runtime(move || profile.finish()).await
}

/// Runs `work` on a thread that may block: both ends of a profile read symbols of the whole program.
async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> pprof::Result<T> + Send + 'static,
) -> Result<T, String> {
    let done = spawn_blocking(move || work().map_err(|error| error.to_string())).await;
    done.map_err(|error| error.to_string())?
}

/// A profile that is being taken. It ends when it is dropped, and then frees its slot: the fields are in this order.
struct Profile {
    guard: ProfilerGuard<'static>,
    _slot: SemaphorePermit<'static>,
}

impl Profile {
    fn start(slot: SemaphorePermit<'static>) -> pprof::Result<Self> {
        let folder = Path::new(SHARED_MEMORY);
        if tempfile::tempfile_in(folder).is_ok() {
            // Fails from the second profile on, and changes nothing then.
            let _ = tempfile::env::override_temp_dir(folder);
        }
        let builder = ProfilerGuardBuilder::default().frequency(FREQUENCY).blocklist(SKIPPED_LIBRARIES);
        Ok(Self { guard: builder.build()?, _slot: slot })
    }

    /// The profile so far as protocol buffer. It is not compressed: `go tool pprof` reads both.
    fn finish(self) -> pprof::Result<Vec<u8>> {
        let report = self.guard.report().build()?;
        let start = report.timing.start_time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let timing = Timing { start, duration: report.timing.duration, period: PERIOD };
        Ok(format::encode(&samples(&report), timing))
    }
}

fn samples(report: &Report) -> Vec<Sample> {
    let place = |symbol: &pprof::Symbol| Place {
        function: symbol.name(),
        file: symbol.filename().into_owned(),
        line: symbol.lineno().into(),
    };
    let sample = |(frames, count): (&pprof::Frames, &isize)| Sample {
        // A frame has several symbols where calls were inlined.
        stack: frames.frames.iter().flatten().map(place).collect(),
        count: u64::try_from(*count).unwrap_or_default(),
    };
    report.data.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::{Method, Request};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    #[test]
    fn seconds_are_read_from_the_query() {
        let wrong =
            |value: &str| Err(format!("seconds: must be a whole number from 1 to 120, not {value:?}"));
        for (query, want) in [
            (None, Ok(30)),
            (Some(""), Ok(30)),
            (Some("debug=1"), Ok(30)),
            (Some("Seconds=5"), Ok(30)),
            (Some("seconds=1"), Ok(1)),
            (Some("seconds=120"), Ok(120)),
            (Some("debug=1&seconds=5"), Ok(5)),
            (Some("seconds=5&seconds=500"), Ok(5)),
            (Some("seconds=0"), wrong("0")),
            (Some("seconds=121"), wrong("121")),
            (Some("seconds=-1"), wrong("-1")),
            (Some("seconds=1.5"), wrong("1.5")),
            (Some("seconds=5s"), wrong("5s")),
            (Some("seconds=%35"), wrong("%35")),
            (Some("seconds=18446744073709551616"), wrong("18446744073709551616")),
            (Some("seconds="), wrong("")),
            (Some("seconds"), wrong("")),
        ] {
            assert_eq!(seconds(query), want, "{query:?}");
        }
    }

    #[tokio::test]
    async fn what_is_not_a_profile_is_refused() {
        let routes = routes(CancellationToken::new());
        let wrong = "seconds: must be a whole number from 1 to 120, not \"0\"\n";
        for (method, uri, code, text) in [
            (Method::GET, "/debug/pprof/profile?seconds=0", 400, wrong),
            (Method::GET, "/debug/pprof/heap", 404, ""),
            (Method::GET, "/", 404, ""),
            (Method::POST, "/debug/pprof/profile?seconds=1", 405, ""),
            (Method::HEAD, "/debug/pprof/profile?seconds=1", 405, ""),
        ] {
            let request = Request::builder().method(&method).uri(uri).body(Body::empty()).unwrap();
            let answer = routes.clone().oneshot(request).await.unwrap();
            assert_eq!(answer.status().as_u16(), code, "{method} {uri}");
            assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), text, "{method} {uri}");
        }
    }
}
