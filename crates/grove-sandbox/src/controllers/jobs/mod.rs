//! Jobs: pods are created until enough of them have succeeded.
//!
//! `facts` reads Job and pods, `plan` decides, `pod` is what is created, `status` what is told; here it is done. Not known are pod failure and success
//! policies, backoff by index, and the time to live after the end.

mod facts;
mod plan;
mod pod;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use grove_runtime::{
    Cache, Delete, Deleted, Index, Outcome, Queue, WriteError, Writer, inform_guarded, patiently,
};
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{Api, runtime::watcher::Config};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use self::{
    facts::{JobFacts, job_of},
    plan::{Finish, Plan, plan},
};
use super::{Context, DEADLINE, error::ControllerError, queue, serve};
use crate::{
    caches::without_managers,
    event_recorder::{NewEvent, about},
    pod_key::PodKey,
};

const COMPONENT: &str = "job-controller";
const GROUP: &str = "batch";

pub(super) struct JobController {
    context: Context,
    writer: Writer,
    /// Keys of Jobs, which are like those of pods.
    queue: Queue<PodKey>,
    jobs: Cache<Job>,
    /// Pods by the UID of their Job.
    pods: Index<Pod>,
}

impl JobController {
    pub(super) fn new(context: Context) -> Arc<Self> {
        let (queue, jobs) = (queue::<PodKey>(COMPONENT), Cache::<Job>::new());
        let woken = queue.clone();
        jobs.listen(move |change| {
            if let Some(job) = change.new {
                woken.add(key(job));
            }
        });
        let woken = queue.clone();
        context.caches.pods.listen(move |change| {
            for pod in change.old.into_iter().chain(change.new) {
                let Some(job) = job_of(pod) else { continue };
                let namespace = pod.metadata.namespace.clone().unwrap_or_default();
                woken.add(PodKey { namespace, name: job.name.clone() });
            }
        });
        let pods =
            context.caches.pods.index(|pod| job_of(pod).map(|it| it.uid.clone()).into_iter().collect());
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, queue, jobs, pods })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if stop.run_until_cancelled(self.is_served()).await != Some(true) {
            // A server without Jobs does not get them later.
            stop.cancelled().await;
            return;
        }
        let api = Api::all(self.context.client.clone());
        let watching =
            inform_guarded(api, Config::default(), self.jobs.clone(), without_managers, stop.clone());
        let working = async {
            let synced = async {
                self.context.caches.synced().await;
                self.jobs.synced().await;
            };
            if stop.run_until_cancelled(synced).await.is_none() {
                return;
            }
            let jobs = self.jobs.list().iter().map(|it| key(it)).collect();
            let this = Arc::clone(&self);
            serve(&self.queue, &stop, jobs, move |key| Arc::clone(&this).reconcile(key)).await;
        };
        tokio::join!(watching, working);
    }

    async fn is_served(&self) -> bool {
        let groups = patiently(DEADLINE, || self.context.client.list_api_groups()).await;
        let groups = groups.inspect_err(|error| warn!(%error, "Jobs are not run"));
        groups.is_ok_and(|it| it.groups.iter().any(|it| it.name == GROUP))
    }

    async fn reconcile(self: Arc<Self>, key: PodKey) -> Result<Outcome, ControllerError> {
        let Some(job) = self.jobs.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        if !facts::is_ours(&job) {
            return Ok(Outcome::Done);
        }
        // Tenants choose names and UIDs of owners: only what is in the Job's namespace is its own.
        let mut pods = self.pods.get(job.metadata.uid.as_deref().unwrap_or_default());
        pods.retain(|it| it.metadata.namespace == job.metadata.namespace);
        let now = self.context.clock.now();
        let plan = plan(&JobFacts::of(&job), &pods, now);
        self.act(&key, &job, &plan).await?;
        let wanted = status::status(&job, &plan, now);
        if job.status.as_ref() != Some(&wanted) {
            let patch = status::patch(&job, &wanted);
            match self.writer.patch_status::<Job>(&key.namespace, &key.name, &patch).await {
                Err(error) if error.is_not_found() => return Ok(Outcome::Done),
                written => drop(self.jobs.written(written?)),
            }
            self.tell_end(&job, &plan);
        }
        Ok(plan.next.map_or(Outcome::Done, |it| Outcome::After(self.context.clock.until(it))))
    }

    /// Deletes and creates pods.
    async fn act(&self, key: &PodKey, job: &Job, plan: &Plan) -> Result<(), ControllerError> {
        let pods = &self.context.caches.pods;
        for pod in &plan.delete {
            let (name, uid) = (&pod.name, &pod.uid);
            match self.writer.delete::<Pod>(&key.namespace, name, uid, Delete::default()).await? {
                Deleted::Gone => pods.gone(&key.namespace, name, uid),
                Deleted::Accepted(pod) => drop(pods.written(pod)),
            }
            self.record(job, false, "SuccessfulDelete", format!("Deleted pod: {name}"));
        }
        for index in &plan.create {
            let created = self.writer.create::<Pod>(&key.namespace, &pod::pod(job, *index)).await;
            let created: Pod = created.inspect_err(|error| self.tell_refusal(job, error))?;
            let name = created.metadata.name.clone().unwrap_or_default();
            drop(pods.written(created));
            self.record(job, false, "SuccessfulCreate", format!("Created pod: {name}"));
        }
        Ok(())
    }

    fn tell_refusal(&self, job: &Job, error: &WriteError) {
        if !error.is_namespace_terminating() {
            self.record(job, true, "FailedCreate", format!("Error creating: {error}"));
        }
    }

    /// Says once that the Job has ended.
    fn tell_end(&self, job: &Job, plan: &Plan) {
        if facts::is_finished(job) || !plan.is_over {
            return;
        }
        match &plan.finish {
            Some(Finish::Complete) => self.record(job, false, "Completed", "Job completed".to_owned()),
            Some(Finish::Failed { reason, message }) => self.record(job, true, reason, message.clone()),
            None => {}
        }
    }

    fn record(&self, job: &Job, is_warning: bool, reason: &'static str, message: String) {
        let about = about(job);
        self.context.recorder.record(NewEvent {
            about,
            component: COMPONENT,
            host: None,
            is_warning,
            reason,
            message,
        });
    }
}

fn key(job: &Job) -> PodKey {
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    PodKey { namespace: text(&job.metadata.namespace), name: text(&job.metadata.name) }
}
