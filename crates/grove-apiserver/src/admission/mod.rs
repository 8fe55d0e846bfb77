//! Admission webhooks: programs that change or refuse what clients write.
//!
//! ```text
//! handler ─► Session ─► write, in a transaction ─┬─► done
//!               ▲        what is to be judged?   └─► pending question: nothing is stored
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

/// The resources of webhook configurations. Webhooks are not asked about them: one that refuses could never be removed.
const MUTATING: &str = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const VALIDATING: &str = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/// Finds the address of a port of a service: namespace, name, port.
type Resolve = Arc<dyn Fn(&str, &str, u16) -> Option<SocketAddr> + Send + Sync>;

/// The webhooks that are configured in the store.
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
    /// From now on, webhooks are called.
    pub(crate) fn enable(&self, resolve: Resolve) {
        *self.resolve.write() = Some(resolve);
        *self.known.lock() = Known::default();
    }

    /// The webhooks of now. None if there are none, or if they are not called.
    pub(crate) fn configured(&self, store: &Store) -> Option<Arc<Configured>> {
        let resolve = self.resolve.read().clone()?;
        let mut objects = store.list(MUTATING, None);
        objects.extend(store.list(VALIDATING, None));
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
