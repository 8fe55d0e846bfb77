//! Leader election as client-go does it: at most one of several processes acts.
//!
//! Decides when to try and when to give up; `record` decides whether a lease may be taken. A leader that cannot renew
//! in time says so through [`Leadership::lost`], and its process must exit: another one may be acting already.

mod record;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, info, warn};

use crate::jitter::spread;
use record::{Decision, Observed};

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
    "leader election needs leaseDuration > renewDeadline > 1.2 * retryPeriod > 0 and leaseDuration >= 1s, not {lease:?}, {renew:?} and {retry:?}"
)]
pub struct BadTiming {
    lease: Duration,
    renew: Duration,
    retry: Duration,
}

impl Election {
    fn check(&self) -> Result<(), BadTiming> {
        let (lease, renew, retry) = (self.lease_duration, self.renew_deadline, self.retry_period);
        let ordered = lease > renew && renew > retry.mul_f64(JITTER) && !retry.is_zero();
        // The API knows whole seconds only.
        if ordered && lease >= Duration::from_secs(1) {
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

/// Waits until we are the leader. `None` when `stop` was cancelled before that.
pub async fn campaign(
    client: Client,
    election: &Election,
    stop: &CancellationToken,
) -> Result<Option<Leadership>, BadTiming> {
    election.check()?;
    let mut candidate = Candidate::new(client, election.clone());
    info!(lease = %candidate.lease_name(), identity = election.identity, "waiting to become the leader");
    let elected = stop.run_until_cancelled(candidate.win()).await;
    Ok(elected.map(|()| Leadership::start(candidate)))
}

/// One process that has or wants a lease.
struct Candidate {
    api: Api<Lease>,
    election: Election,
    observed: Observed,
    /// The lease as we wrote it last.
    ours: Option<Lease>,
    /// Whom we have told of, so that a change is logged once.
    leader: Option<String>,
}

impl Candidate {
    fn new(client: Client, election: Election) -> Self {
        let api = Api::namespaced(client, &election.namespace);
        Self { api, election, observed: Observed::default(), ours: None, leader: None }
    }

    fn lease_name(&self) -> String {
        format!("{}/{}", self.election.namespace, self.election.name)
    }

    async fn win(&mut self) {
        loop {
            // A request that hangs must not keep us from the next attempt.
            let end = Instant::now() + self.election.renew_deadline;
            if self.attempt_before(end).await {
                return;
            }
            sleep(spread(self.election.retry_period, JITTER)).await;
        }
    }

    /// Holds the lease until it cannot be renewed in time.
    async fn hold(&mut self) {
        let mut renewed = Instant::now();
        loop {
            sleep(self.election.retry_period).await;
            let end = renewed + self.election.renew_deadline;
            let started = Instant::now();
            if self.attempt_before(end).await {
                // What others see is not older than the start of the write.
                renewed = started;
            } else if Instant::now() + self.election.retry_period >= end {
                sleep_until(end).await;
                return;
            }
        }
    }

    async fn attempt_before(&mut self, end: Instant) -> bool {
        match timeout_at(end, self.attempt()).await {
            Ok(Ok(leading)) => leading,
            Ok(Err(kube::Error::Api(status))) if status.code == 409 => {
                debug!(lease = %self.lease_name(), "somebody else was faster");
                false
            }
            Ok(Err(error)) => {
                warn!(lease = %self.lease_name(), %error, "lease could not be read or written");
                false
            }
            Err(_) => {
                warn!(lease = %self.lease_name(), "no answer about the lease in time");
                false
            }
        }
    }

    /// Takes or renews the lease if that is allowed. Says whether it is ours now.
    async fn attempt(&mut self) -> kube::Result<bool> {
        // We know what we wrote; if it has changed since, the version is refused and the next attempt reads first.
        if let Some(ours) = self.ours.take() {
            return self.write(ours).await;
        }
        let Some(lease) = self.api.get_opt(&self.election.name).await? else {
            return self.create().await;
        };
        let spec = lease.spec.clone().unwrap_or_default();
        let decision = self.observed.decide(&spec, &self.election.identity, Instant::now());
        self.tell(record::holder(&lease));
        match decision {
            Decision::Wait => Ok(false),
            Decision::Take | Decision::Renew => self.write(lease).await,
        }
    }

    async fn create(&mut self) -> kube::Result<bool> {
        let spec =
            record::held(None, &self.election.identity, self.election.lease_duration, Timestamp::now());
        let metadata = ObjectMeta {
            name: Some(self.election.name.clone()),
            namespace: Some(self.election.namespace.clone()),
            ..ObjectMeta::default()
        };
        let lease = Lease { metadata, spec: Some(spec) };
        self.ours = Some(self.api.create(&PostParams::default(), &lease).await?);
        Ok(true)
    }

    /// Writes ourselves into `lease`, whose version must still be the server's.
    async fn write(&mut self, mut lease: Lease) -> kube::Result<bool> {
        let (me, lasts) = (&self.election.identity, self.election.lease_duration);
        lease.spec = Some(record::held(lease.spec.as_ref(), me, lasts, Timestamp::now()));
        let written = self.api.replace(&self.election.name, &PostParams::default(), &lease).await?;
        self.ours = Some(written);
        Ok(true)
    }

    /// Frees the lease, if it is still ours.
    async fn give_up(&self) -> kube::Result<()> {
        loop {
            // Read first: a renewal that was interrupted may have been written.
            let Some(mut lease) = self.api.get_opt(&self.election.name).await? else { return Ok(()) };
            if record::holder(&lease) != Some(&self.election.identity) {
                return Ok(());
            }
            lease.spec = lease.spec.map(|spec| record::released(&spec, Timestamp::now()));
            match self.api.replace(&self.election.name, &PostParams::default(), &lease).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                written => return written.map(drop),
            }
        }
    }

    fn tell(&mut self, holder: Option<&str>) {
        if self.leader.as_deref() != holder {
            self.leader = holder.map(str::to_owned);
            debug!(lease = %self.lease_name(), leader = holder.unwrap_or("nobody"), "new leader");
        }
    }
}

/// Proof that we are the leader. It renews itself until it is released, lost or dropped.
#[derive(Debug)]
pub struct Leadership {
    lost: CancellationToken,
    release: CancellationToken,
    task: JoinHandle<()>,
}

impl Leadership {
    fn start(mut candidate: Candidate) -> Self {
        info!(lease = %candidate.lease_name(), identity = candidate.election.identity, "became the leader");
        let (lost, release) = (CancellationToken::new(), CancellationToken::new());
        let (ended, released) = (lost.clone(), release.clone());
        let task = tokio::spawn(async move {
            if released.run_until_cancelled(candidate.hold()).await.is_some() {
                error!(lease = %candidate.lease_name(), "leadership is lost: it could not be renewed in time");
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
        Self { lost, release, task }
    }

    /// Cancelled when we are the leader no longer. The process must exit then, without releasing.
    pub fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }

    /// Gives the lease to whoever wants it. To be called when nothing acts any longer.
    pub async fn release(mut self) {
        self.release.cancel();
        // It ends by itself, in time; if it panicked, there is nothing left to release.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Leadership {
    fn drop(&mut self) {
        // Whoever forgets it does not lead for ever.
        self.task.abort();
    }
}
