//! Admission: policies that change what clients write, and webhooks, which are programs that change or refuse it.
//!
//! ```text
//! handler ─► Session ─► write, in a transaction ─┬─► done
//!               ▲        policies, then:         └─► pending question: nothing is stored
//!               │        what is to be judged?                       │
//!               └── ask (mutating one by one, validating at once) ◄──┘
//! ```
//!
//! Writes are transactions and cannot wait, so one that has something to be judged ends without having stored anything.
//! The webhooks are asked, and the write begins again with their verdict at hand. The verdict counts only for exactly what
//! was judged: after a concurrent write the new state is judged. So what is stored is what was judged.

mod ask;
mod attributes;
mod client;
mod conditions;
mod configuration;
mod matching;
mod policies;
mod review;
mod session;

use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

pub(crate) use attributes::{Attributes, Operation};
pub(crate) use matching::is_exempt;
pub(crate) use session::{Session, Stage};

use crate::object::Object;
use crate::store::Store;
use configuration::Configured;

/// The resources that configure admission.
const CONFIGURATIONS: [&str; 6] = [
    "mutatingadmissionpolicies.admissionregistration.k8s.io",
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
];

/// Finds the address of a port of a service: namespace, name, port.
type Resolve = Arc<dyn Fn(&str, &str, u16) -> Option<SocketAddr> + Send + Sync>;

/// The webhooks and policies that are configured in the store.
#[derive(Default)]
pub(crate) struct Admission {
    resolve: RwLock<Option<Resolve>>,
    known: Mutex<Known>,
}

/// What was compiled, and of which objects.
#[derive(Default)]
struct Known {
    objects: Vec<Arc<Object>>,
    configured: Arc<Configured>,
}

impl Admission {
    /// From now on, webhooks are called and policies apply.
    pub(crate) fn enable(&self, resolve: Resolve) {
        *self.resolve.write() = Some(resolve);
        *self.known.lock() = Known::default();
    }

    /// The webhooks and policies of now. None if there are none, or if they are not called.
    pub(crate) fn configured(&self, store: &Store) -> Option<Arc<Configured>> {
        let resolve = self.resolve.read().clone()?;
        let objects: Vec<Arc<Object>> =
            CONFIGURATIONS.iter().flat_map(|resource| store.list(resource, None)).collect();
        if objects.is_empty() {
            return None;
        }
        let mut known = self.known.lock();
        let is_same = known.objects.len() == objects.len()
            && known.objects.iter().zip(&objects).all(|(known, now)| Arc::ptr_eq(known, now));
        if !is_same {
            let configured = Configured::of(&objects, &known.configured, &resolve);
            *known = Known { objects, configured: Arc::new(configured) };
        }
        Some(Arc::clone(&known.configured)).filter(|it| !it.is_empty())
    }
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Admission")
    }
}
