//! Whether the cluster is there, and new enough.

use std::fmt;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::version::Info;
use kube::Client;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::patience::is_passing;

/// First and longest pause before an API server that does not answer is asked again.
const PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// Why the cluster cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// It says nothing of itself.
    #[error("asking the API server for its version: {0}")]
    Silent(Box<kube::Error>),
    /// It is not new enough.
    #[error("the cluster cannot be used: {0}")]
    TooOld(TooOld),
}

/// Asks the server what it is, and checks that against the oldest version that will do. Says whether the work can begin:
/// it cannot when `stop` was cancelled before there was an answer.
///
/// A server that cannot be reached is asked until it answers: to exit would only mean longer and longer pauses between
/// restarts. The process is not ready meanwhile.
pub async fn ask(client: &Client, minimum: (u32, u32), stop: &CancellationToken) -> Result<bool, Unusable> {
    let asking = async {
        let mut pause = PAUSE.0;
        loop {
            match client.apiserver_version().await {
                Err(error) if is_passing(&error) => {
                    warn!(%error, ?pause, "the API server cannot be reached, asking again");
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSE.1);
                }
                answer => return answer,
            }
        }
    };
    let Some(answer) = stop.run_until_cancelled(asking).await else { return Ok(false) };
    let server = answer.map_err(|error| Unusable::Silent(Box::new(error)))?;
    info!(kubernetes = server.git_version, "connected");
    check(&server, minimum).map_err(Unusable::TooOld)?;
    Ok(true)
}

/// The cluster is older than what we need, or does not say how old it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooOld {
    found: String,
    minimum: (u32, u32),
}

impl fmt::Display for TooOld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, minimum: (major, minor) } = self;
        write!(f, "the cluster runs Kubernetes {found}, but {major}.{minor} or newer is required")
    }
}

impl std::error::Error for TooOld {}

/// Checks what the server says of itself against the oldest version that will do.
fn check(server: &Info, minimum: (u32, u32)) -> Result<(), TooOld> {
    match version(server) {
        Some(found) if found >= minimum => Ok(()),
        Some((major, minor)) => Err(TooOld { found: format!("{major}.{minor}"), minimum }),
        None => Err(TooOld { found: format!("of an unknown version ({:?})", server.git_version), minimum }),
    }
}

/// Major and minor version; managed clusters write minors such as `37+`.
fn version(server: &Info) -> Option<(u32, u32)> {
    let fields = number(&server.major).zip(number(&server.minor));
    fields.or_else(|| {
        let mut parts = server.git_version.trim_start_matches('v').split('.');
        Some((number(parts.next()?)?, number(parts.next()?)?))
    })
}

/// The number that `text` begins with.
fn number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mock::server;

    fn info(major: &str, minor: &str, git: &str) -> Info {
        Info { major: major.into(), minor: minor.into(), git_version: git.into(), ..Info::default() }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        for (major, minor, git, fits) in [
            ("1", "33", "v1.33.0", true),
            ("1", "32", "v1.32.9", false),
            ("1", "9", "v1.9.0", false),
            ("1", "100", "v1.100.0", true),
            ("1", "37+", "v1.37.2-gke.1", true),
            ("1", "32+", "v1.32.2-eks", false),
            ("2", "0", "v2.0.0", true),
            ("0", "99", "v0.99.0", false),
            ("", "", "v1.34.1+k3s1", true),
            ("", "", "v1.31.1+k3s1", false),
            ("", "", "main", false),
        ] {
            assert_eq!(check(&info(major, minor, git), (1, 33)).is_ok(), fits, "{major}.{minor} {git}");
        }
    }

    #[test]
    fn the_message_says_what_is_and_what_must_be() {
        let error = check(&info("1", "32+", "v1.32.2"), (1, 33)).unwrap_err();
        assert_eq!(error.to_string(), "the cluster runs Kubernetes 1.32, but 1.33 or newer is required");
        let error = check(&info("", "", "main"), (1, 33)).unwrap_err();
        assert!(error.to_string().contains("unknown version (\"main\")"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_cannot_be_reached_is_asked_until_it_answers() {
        let (client, mut calls) = server();
        let asking =
            tokio::spawn(async move { ask(&client, (1, 33), &CancellationToken::new()).await.unwrap() });
        let version = json!({
            "major": "1", "minor": "34", "gitVersion": "v1.34.0", "gitCommit": "", "gitTreeState": "",
            "buildDate": "", "goVersion": "", "compiler": "", "platform": "",
        });
        let (begun, mut asked) = (tokio::time::Instant::now(), 0);
        loop {
            let call = calls.recv().await.unwrap();
            assert_eq!(call.line(), "GET /version");
            if begun.elapsed() > Duration::from_mins(10) {
                break call.answer(&version);
            }
            asked += 1;
            match asked % 2 {
                // The connection is lost.
                0 => drop(call),
                _ => call.refuse(503, "ServiceUnavailable", "starting"),
            }
        }
        assert!(asking.await.unwrap());
        assert!((100..150).contains(&asked), "{asked}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_refuses_is_not_asked_again() {
        let (client, mut calls) = server();
        let asking = tokio::spawn(async move { ask(&client, (1, 33), &CancellationToken::new()).await });
        calls.recv().await.unwrap().refuse(401, "Unauthorized", "who are you");
        let error = asking.await.unwrap().unwrap_err();
        assert!(error.to_string().contains("asking the API server for its version"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_told_to_stop_does_not_wait_for_an_answer() {
        let (client, mut calls) = server();
        let stop = CancellationToken::new();
        let told = stop.clone();
        let asking = tokio::spawn(async move { ask(&client, (1, 33), &told).await });
        let _unanswered = calls.recv().await.unwrap();
        stop.cancel();
        assert!(!asking.await.unwrap().unwrap());
    }
}
