//! Leader election as client-go does it, with one difference: a leader that loses its lease becomes a follower again,
//! and its process goes on.
//!
//! `candidate` decides when to try and when to give up, `record` whether a lease may be taken. [`lead`] is the life of a
//! process: it follows until it wins, works for one [`Term`], and follows again when the term is lost. What it writes goes
//! through a [`Fence`], which is open for as long as the lease is surely ours: until `renewDeadline` after the last renewal
//! was *sent*, and no longer than until another holder is seen. Others wait for `leaseDuration`, which is longer, after
//! they saw that renewal.

mod candidate;
mod fence;
mod record;
mod term;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use candidate::Candidate;
use kube::Client;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

pub(crate) use fence::FenceLayer;
pub use fence::{Fence, NotLeading};
pub use term::{Handover, Term, lead};

/// client-go's: candidates wait between one and 2.2 retry periods.
const JITTER: f64 = 1.2;

/// Where a pod finds the name of its own namespace.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// Who competes for which lease, and how patiently.
#[derive(Clone, Debug)]
pub struct Election {
    /// Namespace of the lease.
    pub namespace: String,
    /// Name of the lease.
    pub name: String,
    /// Our name, different in every process.
    pub identity: String,
    /// How long others wait for a silent leader.
    pub lease_duration: Duration,
    /// How long a leader tries to renew before it gives up; less than `lease_duration`.
    pub renew_deadline: Duration,
    /// Pause between attempts.
    pub retry_period: Duration,
}

/// Timings with which there could be two leaders, or none.
#[derive(Debug, thiserror::Error)]
#[error(
    "leader election needs leaseDuration (in whole seconds) > renewDeadline > 1.2 * retryPeriod > 0, not {lease:?}, {renew:?} and {retry:?}"
)]
pub struct BadTiming {
    lease: Duration,
    renew: Duration,
    retry: Duration,
}

impl Election {
    fn check(&self) -> Result<(), BadTiming> {
        let (lease, renew, retry) = (self.lease_duration, self.renew_deadline, self.retry_period);
        // The API knows whole seconds only, and those are how long others wait.
        let waited = Duration::from_secs(lease.as_secs());
        if waited > renew && renew > retry.mul_f64(JITTER) && !retry.is_zero() {
            Ok(())
        } else {
            Err(BadTiming { lease, renew, retry })
        }
    }
}

/// Namespace for a lease: the configured one, or the pod's own, or `fallback` outside of a cluster.
pub fn namespace(configured: Option<&str>, fallback: &str) -> String {
    namespace_from(configured, Path::new(NAMESPACE_FILE), fallback)
}

fn namespace_from(configured: Option<&str>, file: &Path, fallback: &str) -> String {
    let own = || std::fs::read_to_string(file).ok().map(|text| text.trim().to_owned());
    let configured = configured.map(str::to_owned).filter(|name| !name.is_empty());
    configured.or_else(|| own().filter(|name| !name.is_empty())).unwrap_or_else(|| fallback.to_owned())
}

/// A name that no other process has: the pod's, and something random for those that have the same. Outside of a cluster it
/// begins with `program`.
pub fn identity(program: &str) -> String {
    let host = std::env::var("HOSTNAME").ok().filter(|it| !it.is_empty());
    let random = std::fs::read_to_string("/proc/sys/kernel/random/uuid");
    let random = random.map_or_else(|_| std::process::id().to_string(), |it| it.trim().to_owned());
    format!("{}_{random}", host.as_deref().unwrap_or(program))
}

/// Waits until we are the leader; `fence` is open from then on. `None` when `stop` was cancelled before that.
pub async fn campaign(
    client: Client,
    election: &Election,
    fence: &Fence,
    stop: &CancellationToken,
) -> Result<Option<Leadership>, BadTiming> {
    election.check()?;
    let mut candidate = Candidate::new(client, election.clone());
    info!(lease = %candidate.lease_name(), identity = election.identity, "waiting to become the leader");
    let elected = stop.run_until_cancelled(candidate.win()).await;
    Ok(elected.map(|since| Leadership::start(candidate, since, fence.clone())))
}

/// Proof that we are the leader. It renews itself until it is released, lost or dropped.
#[derive(Debug)]
pub struct Leadership {
    lost: CancellationToken,
    release: CancellationToken,
    fence: Fence,
    task: JoinHandle<()>,
}

impl Leadership {
    /// `since` is when the request was sent that made us the leader.
    fn start(mut candidate: Candidate, since: Instant, fence: Fence) -> Self {
        info!(lease = %candidate.lease_name(), identity = candidate.election.identity, "became the leader");
        let (lost, release) = (CancellationToken::new(), CancellationToken::new());
        let (ended, released, open) = (lost.clone(), release.clone(), fence.clone());
        // Before anything can be written.
        fence.open_until(since + candidate.election.renew_deadline);
        let task = tokio::spawn(async move {
            let holding = candidate.hold(since, &open);
            let lost = released.run_until_cancelled(holding).await;
            open.close();
            if let Some(lost) = lost {
                warn!(lease = %candidate.lease_name(), reason = %lost, "leadership is lost, following again");
                return ended.cancel();
            }
            let end = Instant::now() + candidate.election.retry_period;
            match timeout_at(end, candidate.give_up()).await {
                Ok(Ok(())) => info!(lease = %candidate.lease_name(), "leadership is released"),
                // Others find out when the lease expires.
                Ok(Err(error)) => debug!(lease = %candidate.lease_name(), %error, "lease was not released"),
                Err(_) => debug!(lease = %candidate.lease_name(), "lease was not released in time"),
            }
        });
        Self { lost, release, fence, task }
    }

    /// Cancelled when we are the leader no longer. The fence is closed then, and the lease must not be released.
    pub fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }

    /// Frees the lease for the next candidate. To be called when nothing acts any longer.
    pub async fn release(mut self) {
        self.release.cancel();
        // It ends by itself, in time; if it panicked, there is nothing left to release.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Leadership {
    fn drop(&mut self) {
        // A leadership that was forgotten does not last for ever.
        self.task.abort();
        self.fence.close();
    }
}
