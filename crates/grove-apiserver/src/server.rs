//! The server: resources, a store, and those who interfere.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;

use crate::failure::Failure;
use crate::fault::{Fault, Faults};
use crate::resource::Resources;
use crate::service::ApiService;
use crate::store::Store;
use crate::write::{self, Answer, WriteRequest};

/// How many events are remembered for watches and lists of the past.
const DEFAULT_RING: usize = 100_000;

/// A Kubernetes-compatible API in memory. Clones are the same server.
#[derive(Clone, Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    resources: Resources,
    store: Arc<Store>,
    faults: Faults,
}

impl ApiServer {
    /// A server with the namespaces that every cluster has, and nothing else.
    ///
    /// Times come from `clock`, uids and generated names from `seed`: the same requests give the same objects.
    pub fn new(
        resources: Resources,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        seed: u64,
    ) -> Self {
        Self::with_ring(resources, clock, seed, DEFAULT_RING)
    }

    /// A server that remembers so many events. A watch that falls further behind must list again.
    pub fn with_ring(
        resources: Resources,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        seed: u64,
        events: usize,
    ) -> Self {
        let store = Arc::new(Store::new(Box::new(clock), seed, events));
        write::begin(&store);
        Self { shared: Arc::new(Shared { resources, store, faults: Faults::default() }) }
    }

    /// The server as a service, for `kube::Client::new(server.service(), "default")`.
    pub fn service(&self) -> ApiService {
        ApiService::new(self.clone())
    }

    /// All objects, and what happened to them.
    pub fn store(&self) -> &Store {
        &self.shared.store
    }

    pub(crate) fn shared_store(&self) -> &Arc<Store> {
        &self.shared.store
    }

    /// What it serves.
    pub fn resources(&self) -> &Resources {
        &self.shared.resources
    }

    /// Performs a write as if a client had asked for it, without faults.
    pub fn write(&self, request: WriteRequest) -> Result<Answer, Failure> {
        write::perform(&self.shared.store, request)
    }

    /// Asks `decide` before every write of a client what is to go wrong with it. Replaces who was asked before.
    ///
    /// `decide` may look at the store and write, but not replace itself. The collector's writes are not asked about.
    pub fn before_write(&self, decide: impl FnMut(&WriteRequest) -> Fault + Send + 'static) {
        self.shared.faults.decide_by(decide);
    }

    pub(crate) fn fault(&self, request: &WriteRequest) -> Fault {
        self.shared.faults.decide(request)
    }

    /// Ends every open watch. Clients go on from where they were.
    pub fn cut_watches(&self) {
        self.shared.store.cut();
    }

    /// Forgets the past: every revision but the current one is too old from now on.
    pub fn compact(&self) {
        self.shared.store.compact();
    }
}
