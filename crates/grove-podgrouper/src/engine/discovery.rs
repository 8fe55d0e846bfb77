//! Which kinds the API server serves.
//!
//! Owner references name any kind that a user can think of. So kinds are looked up in what the API server says that it has:
//! what is kept here is a part of its answers, and nothing is kept or asked for the sake of a kind that does not exist.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::{Client, api::ApiResource};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{
    circuit_breaker::{CircuitBreaker, stalled},
    object_key::KindName,
    objects::NotRead,
};

/// How long it is believed that a kind is there.
const FOUND: Duration = Duration::from_mins(10);
/// How long it is believed that one is not: its definition may be created any time.
const MISSING: Duration = Duration::from_secs(15);
/// The only version of the core group.
const CORE: &str = "v1";

/// A kind that is served.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ServedKind {
    pub(crate) resource: ApiResource,
    pub(crate) is_namespaced: bool,
}

type Kinds = BTreeMap<String, ServedKind>;

/// What the API server said.
pub(crate) struct Discovery {
    client: Client,
    /// All API versions (`group/version`) but that of the core.
    versions: Answer<BTreeSet<String>>,
    /// By API version, of those that there are.
    kinds: Mutex<BTreeMap<String, Arc<Answer<Kinds>>>>,
}

impl Discovery {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, versions: Answer::default(), kinds: Mutex::default() }
    }

    pub(crate) async fn find(&self, kind: &KindName) -> Result<ServedKind, NotRead> {
        if !self.has_version(&kind.api_version).await? {
            return Err(NotRead::NoKind);
        }
        let answer = {
            let mut all = self.kinds.lock();
            Arc::clone(all.entry(kind.api_version.clone()).or_default())
        };
        let known = answer.not_older_than(FOUND);
        if let Some(found) = known.and_then(|it| it.get(&kind.kind).cloned()) {
            return Ok(found);
        }
        let kinds = answer.or_ask(MISSING, self.ask_kinds(&kind.api_version)).await?;
        kinds.get(&kind.kind).cloned().ok_or(NotRead::NoKind)
    }

    async fn has_version(&self, api_version: &str) -> Result<bool, NotRead> {
        let known = self.versions.not_older_than(FOUND);
        if api_version == CORE || known.is_some_and(|it| it.contains(api_version)) {
            return Ok(true);
        }
        // The core has no other one.
        if !api_version.contains('/') {
            return Ok(false);
        }
        let versions = self.versions.or_ask(MISSING, self.ask_versions()).await?;
        self.kinds.lock().retain(|it, _| it == CORE || versions.contains(it));
        Ok(versions.contains(api_version))
    }

    async fn ask_versions(&self) -> kube::Result<BTreeSet<String>> {
        let groups = self.client.list_api_groups().await?.groups;
        Ok(groups.into_iter().flat_map(|it| it.versions).map(|it| it.group_version).collect())
    }

    async fn ask_kinds(&self, api_version: &str) -> kube::Result<Kinds> {
        let asked = match api_version {
            CORE => self.client.list_core_api_resources(CORE).await,
            _ => self.client.list_api_group_resources(api_version).await,
        };
        match asked {
            Ok(list) => Ok(kinds(api_version, list)),
            // It is gone since the versions were asked for.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(Kinds::new()),
            Err(error) => Err(error),
        }
    }

    /// API versions of which something is kept.
    #[cfg(test)]
    fn size(&self) -> usize {
        self.kinds.lock().len()
    }
}

fn kinds(api_version: &str, list: APIResourceList) -> Kinds {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let mut kinds = Kinds::new();
    for row in list.resources.into_iter().filter(|it| !it.name.contains('/')) {
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: api_version.to_owned(),
            kind: row.kind.clone(),
            plural: row.name,
        };
        kinds.entry(row.kind).or_insert(ServedKind { resource, is_namespaced: row.namespaced });
    }
    kinds
}

/// One answer, and when it came. One asks at a time, and the others wait for the same answer.
struct Answer<T> {
    known: Mutex<Option<(Instant, Arc<T>)>>,
    asking: tokio::sync::Mutex<()>,
    breaker: CircuitBreaker,
}

impl<T> Default for Answer<T> {
    fn default() -> Self {
        Self {
            known: Mutex::new(None),
            asking: tokio::sync::Mutex::default(),
            breaker: CircuitBreaker::default(),
        }
    }
}

impl<T> Answer<T> {
    fn not_older_than(&self, age: Duration) -> Option<Arc<T>> {
        self.known.lock().as_ref().filter(|it| it.0.elapsed() < age).map(|it| Arc::clone(&it.1))
    }

    /// What is known, if it is young enough, else what `asking` brings.
    async fn or_ask(
        &self,
        age: Duration,
        asking: impl Future<Output = kube::Result<T>>,
    ) -> Result<Arc<T>, NotRead> {
        if let Some(known) = self.not_older_than(age) {
            return Ok(known);
        }
        // Before the lock: who would only wait for a refusal need not wait.
        if self.breaker.is_open() {
            return Err(stalled());
        }
        let _one = self.asking.lock().await;
        if let Some(known) = self.not_older_than(age) {
            return Ok(known);
        }
        match self.breaker.run(asking).await? {
            Ok(answer) => {
                let answer = Arc::new(answer);
                *self.known.lock() = Some((Instant::now(), Arc::clone(&answer)));
                Ok(answer)
            }
            Err(kube::Error::Api(status)) if status.code == 403 => Err(NotRead::Forbidden),
            Err(error) => Err(NotRead::Failed(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests;
