//! SchedulerBackends: one object for each backend, which says whether it can be used and what it can do. Read by people
//! and tools; the operator itself reads of it only who was the default before.

use std::{sync::Arc, time::Duration};

use grove_api::{constants::labels, wire::SchedulerBackend};
use grove_plan::status::status_patch;
use grove_runtime::{Lane, Outcome};
use tokio_util::sync::CancellationToken;
use tracing::info;

use super::{Grove, version};
use crate::{
    backends::report::{self, Known},
    error::Error,
    seen::label,
};

/// The kind was taken away under us. Nobody tells when it comes back, and nothing but these objects depends on it.
const WITHOUT_KIND: Duration = Duration::from_secs(30);

impl Grove {
    /// Somebody created, changed or deleted an object: it is mended.
    pub(crate) fn backend_changed(
        &self,
        old: Option<&Arc<SchedulerBackend>>,
        new: Option<&Arc<SchedulerBackend>>,
    ) {
        if let Some(name) = new.or(old).and_then(|it| it.metadata.name.clone()) {
            self.queues.backends.add(name);
        }
    }

    /// Has all backends looked at when the objects are known, and whenever something new is found of one, until `stop`.
    /// In a cluster without the kind that never happens, and nothing else waits for it.
    pub(crate) async fn follow_reports(self: Arc<Self>, stop: CancellationToken) {
        let following = async {
            let mut news = self.backends.news();
            self.seen.backends.synced().await;
            loop {
                self.look_at_backends();
                if news.changed().await.is_err() {
                    return;
                }
            }
        };
        stop.run_until_cancelled(following).await;
    }

    /// Has all backends looked at, where their objects are known.
    pub(crate) fn look_at_backends(&self) {
        if !self.seen.backends.is_synced() {
            return;
        }
        for name in self.backends.names() {
            self.queues.backends.add(name.to_owned());
        }
        // Also those of no backend that is compiled in.
        for object in self.seen.backends.list() {
            self.backend_changed(None, Some(&object));
        }
    }

    pub(crate) async fn reconcile_backend(&self, name: String) -> Result<Outcome, Error> {
        // What is not known may be there.
        if !self.seen.backends.is_synced() {
            return Ok(Outcome::Done);
        }
        match self.report_in_order(&name).await {
            Err(Error::Write(error)) if error.is_not_found() => Ok(Outcome::After(WITHOUT_KIND)),
            done => done.map(|()| Outcome::Done),
        }
    }

    /// A new default speaks before the former one: who that was is known only for as long as its object says so.
    async fn report_in_order(&self, name: &str) -> Result<(), Error> {
        let default = self.backends.default_name();
        if name != default && self.says_default(name) {
            self.report_backend(default).await?;
            if !self.says_default(default) {
                // It is not looked for yet; when it is, all are looked at again.
                return Ok(());
            }
        }
        self.report_backend(name).await
    }

    async fn report_backend(&self, name: &str) -> Result<(), Error> {
        let Some(known) = self.known(name) else { return Ok(()) };
        let cache = &self.seen.backends;
        let object = match cache.get("", name) {
            Some(object) => object,
            None if known == Known::Absent => return Ok(()),
            None => cache.written(self.writer.create("", &report::object(name)).await?),
        };
        let is_ours = label(&object.metadata, labels::MANAGED_BY) == Some(labels::MANAGED_BY_VALUE);
        // What is being deleted is made again when it is gone; what somebody else calls so is theirs.
        if object.metadata.deletion_timestamp.is_some() || (known == Known::Absent && !is_ours) {
            return Ok(());
        }
        let is_default = name == self.backends.default_name();
        let (old, new) = (object.status.as_ref(), report::status(&object, &known, is_default, self.now()));
        if old == Some(&new) {
            return Ok(());
        }
        let former = self.former_default().filter(|_| is_default && !report::says_default(&object));
        let patch = status_patch(old, &new, version(object.as_ref()));
        cache.written(self.writer.in_lane(Lane::Status).patch_status("", name, &patch).await?);
        if let Some((status, why)) = report::verdict(&new) {
            let version = new.scheduler_version.as_deref();
            info!(
                backend = name,
                version,
                status,
                why,
                default = is_default,
                "reported on a scheduler backend"
            );
        }
        for news in report::news(name, old, &new, former.as_deref()) {
            self.tell(object.as_ref(), news.kind, news.reason, news.action, news.note);
        }
        Ok(())
    }

    /// `None` while there is nothing to say.
    fn known(&self, name: &str) -> Option<Known> {
        if self.backends.names().any(|it| it == name) {
            Known::of(&self.backends.readiness(name))
        } else {
            Some(Known::Absent)
        }
    }

    fn says_default(&self, name: &str) -> bool {
        self.seen.backends.get("", name).is_some_and(|it| report::says_default(&it))
    }

    /// The backend whose object says that it is the default, although it is not any more.
    fn former_default(&self) -> Option<String> {
        let default = self.backends.default_name();
        let names = self.seen.backends.list().into_iter().filter(|it| report::says_default(it));
        names.filter_map(|it| it.metadata.name.clone()).find(|it| it != default)
    }
}
