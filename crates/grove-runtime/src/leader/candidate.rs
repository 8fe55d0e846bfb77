//! One process that has or wants a lease: when it tries, and when it gives up.

use std::fmt;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tracing::{debug, warn};

use super::record::{self, Decision, Observed};
use super::{Election, Fence, JITTER};
use crate::jitter::spread;

/// How an attempt to take or renew the lease ended.
#[derive(Debug)]
enum Attempt {
    /// The lease is ours, by a request that was sent at this time.
    Ours(Instant),
    /// Another process holds it.
    Taken(String),
    /// Something wrote it since we read it: the next attempt reads first.
    Conflict,
    /// There was no answer, or one that says nothing of the holder.
    Failed,
}

/// Why a leader does not lead any longer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The lease could not be renewed in time.
    Silence,
    /// The lease has another holder.
    Taken(String),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence => f.write_str("the lease could not be renewed in time"),
            Self::Taken(holder) => write!(f, "{holder:?} holds the lease"),
        }
    }
}

pub(super) struct Candidate {
    api: Api<Lease>,
    pub(super) election: Election,
    observed: Observed,
    /// The lease as we wrote it last.
    ours: Option<Lease>,
    /// The holder that was logged last.
    leader: Option<String>,
}

impl Candidate {
    pub(super) fn new(client: Client, election: Election) -> Self {
        let api = Api::namespaced(client, &election.namespace);
        Self { api, election, observed: Observed::default(), ours: None, leader: None }
    }

    pub(super) fn lease_name(&self) -> String {
        format!("{}/{}", self.election.namespace, self.election.name)
    }

    /// Waits for the lease. Returns when the request was sent that took it.
    pub(super) async fn win(&mut self) -> Instant {
        loop {
            // A request that hangs must not keep us from the next attempt.
            let end = Instant::now() + self.election.renew_deadline;
            if let Attempt::Ours(since) = self.attempt_before(end, false).await {
                return since;
            }
            sleep(spread(self.election.retry_period, JITTER)).await;
        }
    }

    /// Holds the lease that was taken by a request sent at `renewed`, until it cannot be renewed in time or has another
    /// holder. What other candidates saw is not older than a request, however late its answer comes.
    pub(super) async fn hold(&mut self, mut renewed: Instant, fence: &Fence) -> Lost {
        loop {
            let end = renewed + self.election.renew_deadline;
            fence.open_until(end);
            sleep_until((renewed + self.election.retry_period).min(end)).await;
            match self.renew_before(end).await {
                Ok(sent) => renewed = sent,
                Err(lost) => return lost,
            }
        }
    }

    async fn renew_before(&mut self, end: Instant) -> Result<Instant, Lost> {
        let mut conflicts = 0_u32;
        loop {
            match self.attempt_before(end, true).await {
                Attempt::Ours(sent) => return Ok(sent),
                Attempt::Taken(holder) => return Err(Lost::Taken(holder)),
                // The holder may be another one: the lease is read at once.
                Attempt::Conflict if conflicts == 0 => {
                    conflicts += 1;
                    continue;
                }
                Attempt::Conflict | Attempt::Failed => {}
            }
            if Instant::now() + self.election.retry_period >= end {
                sleep_until(end).await;
                return Err(Lost::Silence);
            }
            sleep(self.election.retry_period).await;
        }
    }

    async fn attempt_before(&mut self, end: Instant, leads: bool) -> Attempt {
        match timeout_at(end, self.attempt(leads)).await {
            Ok(Ok(attempt)) => attempt,
            Ok(Err(kube::Error::Api(status))) if status.code == 409 => {
                debug!(lease = %self.lease_name(), "another candidate was faster");
                Attempt::Conflict
            }
            Ok(Err(error)) => {
                warn!(lease = %self.lease_name(), %error, "lease could not be read or written");
                Attempt::Failed
            }
            Err(_) => {
                warn!(lease = %self.lease_name(), "no answer about the lease in time");
                Attempt::Failed
            }
        }
    }

    /// Takes or renews the lease if that is allowed. One who `leads` never takes it from another holder, not even from a
    /// silent one.
    async fn attempt(&mut self, leads: bool) -> kube::Result<Attempt> {
        // We know what we wrote; if it has changed since, the version is refused and the next attempt reads first.
        if let Some(ours) = self.ours.take() {
            return self.write(ours).await;
        }
        let Some(lease) = self.api.get_opt(&self.election.name).await? else {
            return self.create().await;
        };
        let spec = lease.spec.clone().unwrap_or_default();
        let decision = self.observed.decide(&spec, &self.election.identity, Instant::now());
        let holder = record::holder(&lease).map(str::to_owned);
        self.log_change(holder.as_deref());
        match (decision, holder) {
            (Decision::Wait, holder) => Ok(Attempt::Taken(holder.unwrap_or_default())),
            (Decision::Take, Some(holder)) if leads => Ok(Attempt::Taken(holder)),
            (Decision::Take | Decision::Renew, _) => self.write(lease).await,
        }
    }

    async fn create(&mut self) -> kube::Result<Attempt> {
        let spec =
            record::held(None, &self.election.identity, self.election.lease_duration, Timestamp::now());
        let metadata = ObjectMeta {
            name: Some(self.election.name.clone()),
            namespace: Some(self.election.namespace.clone()),
            ..ObjectMeta::default()
        };
        let lease = Lease { metadata, spec: Some(spec) };
        let sent = Instant::now();
        self.ours = Some(self.api.create(&PostParams::default(), &lease).await?);
        Ok(Attempt::Ours(sent))
    }

    /// Writes ourselves into `lease`, whose version must still be the server's.
    async fn write(&mut self, mut lease: Lease) -> kube::Result<Attempt> {
        let (me, lasts) = (&self.election.identity, self.election.lease_duration);
        lease.spec = Some(record::held(lease.spec.as_ref(), me, lasts, Timestamp::now()));
        let sent = Instant::now();
        let written = self.api.replace(&self.election.name, &PostParams::default(), &lease).await?;
        match record::holder(&written) {
            Some(holder) if holder != self.election.identity => Ok(Attempt::Taken(holder.to_owned())),
            _ => {
                self.ours = Some(written);
                Ok(Attempt::Ours(sent))
            }
        }
    }

    /// Frees the lease, if it is still ours.
    pub(super) async fn give_up(&self) -> kube::Result<()> {
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

    fn log_change(&mut self, holder: Option<&str>) {
        if self.leader.as_deref() != holder {
            self.leader = holder.map(str::to_owned);
            debug!(lease = %self.lease_name(), leader = holder.unwrap_or("none"), "new leader");
        }
    }
}
