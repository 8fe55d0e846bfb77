//! The server: resources, a store, and those who interfere.

use std::net::SocketAddr;
use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use crate::admission::{Admission, Session, is_exempt};
use crate::definitions::Registry;
use crate::failure::Failure;
use crate::fault::{Fault, Faults};
use crate::resource::Resources;
use crate::service::ApiService;
use crate::store::{Event, Store};
use crate::write::{self, Answer, FieldCheck, Stale, WriteRequest};

/// How many events are remembered for watches and lists of the past.
const DEFAULT_RING: usize = 100_000;

/// How often a write begins again because the definition of its resource changed meanwhile.
const STALE_ATTEMPTS: usize = 8;

/// How often a write begins again because webhooks are to be asked: twice where nobody else writes meanwhile.
const ADMISSION_ATTEMPTS: usize = 16;

/// A Kubernetes-compatible API in memory. Clones are the same server.
#[derive(Clone, Debug)]
pub struct ApiServer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    registry: Registry,
    store: Arc<Store>,
    faults: Faults,
    admission: Admission,
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
        write::begin(&store, &resources);
        let registry = Registry::new(resources);
        Self {
            shared: Arc::new(Shared {
                registry,
                store,
                faults: Faults::default(),
                admission: Admission::default(),
            }),
        }
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

    /// What it serves now.
    pub fn resources(&self) -> Arc<Resources> {
        self.shared.registry.resources(&self.shared.store)
    }

    /// Performs a write as if a client had asked for it, without faults and without asking webhooks.
    pub fn write(&self, request: WriteRequest) -> Result<Answer, Failure> {
        self.write_checked(request, &mut FieldCheck::default())
    }

    fn write_checked(&self, mut request: WriteRequest, fields: &mut FieldCheck) -> Result<Answer, Failure> {
        for _ in 0..STALE_ATTEMPTS {
            match write::perform(&self.shared.store, request, fields, &mut None) {
                Ok(result) => return result,
                Err(Stale(again)) => request = self.found_again(*again)?,
            }
        }
        Err(Failure::definition_changes())
    }

    /// Performs a write of a client: policies apply, webhooks are asked. What they warn of comes along.
    pub(crate) async fn write_admitted(
        &self,
        mut request: WriteRequest,
        fields: &mut FieldCheck,
        user: Value,
    ) -> (Result<Answer, Failure>, Vec<String>) {
        let store = &self.shared.store;
        let Some(configured) = self.shared.admission.configured(store) else {
            return (self.write_checked(request, fields), Vec::new());
        };
        if is_exempt(request.resource.id()) {
            return (self.write_checked(request, fields), Vec::new());
        }
        let session = Session::new(configured, Arc::clone(&request.resource), user);
        let mut session = Some(session);
        let warnings = |session: Option<Session>| session.map(Session::warnings).unwrap_or_default();
        for _ in 0..ADMISSION_ATTEMPTS {
            // Each attempt checks all fields, and only the last one says what there is to warn of.
            let mut attempt = fields.clone();
            match write::perform(store, request.clone(), &mut attempt, &mut session) {
                Err(Stale(again)) => match self.found_again(*again) {
                    Ok(again) => request = again,
                    Err(failure) => return (Err(failure), warnings(session)),
                },
                Ok(result) => {
                    let Some(session) = session.as_mut().filter(|it| it.is_pending()) else {
                        *fields = attempt;
                        return (result, warnings(session));
                    };
                    session.ask().await;
                }
            }
        }
        let failure = Failure::modified(&request.resource, &request.name);
        write::refused(store, &request, &failure);
        (Err(failure), warnings(session))
    }

    /// From now on, the webhooks that are configured in the store are asked about what clients write, and its mutating policies
    /// apply to it. `resolve` finds the address of a service: namespace, name and port.
    pub fn call_webhooks(
        &self,
        resolve: impl Fn(&str, &str, u16) -> Option<SocketAddr> + Send + Sync + 'static,
    ) {
        self.shared.admission.enable(Arc::new(resolve));
    }

    /// The request with its resource as it is defined now.
    fn found_again(&self, mut request: WriteRequest) -> Result<WriteRequest, Failure> {
        let old = &request.resource;
        let resources = self.resources();
        let found =
            resources.find(&old.group, &old.version, &old.plural).ok_or_else(Failure::no_such_resource)?;
        request.resource = Arc::clone(found);
        Ok(request)
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

    /// Takes the last `changes` back, revisions included, as a restored backup does. Says what that changed.
    ///
    /// `noticed`: open watches end, and one from a revision that is yet to come is refused from now on. Otherwise they stay open
    /// and show nothing until their revision has passed.
    pub fn restore(&self, changes: u64, noticed: bool) -> Vec<Event> {
        self.shared.store.restore(changes, noticed)
    }
}
