//! Namespaces in which a ResourceQuota is exhausted, and whose turn it is there to create pods.

use std::collections::BTreeMap;

use grove_plan::quota::{Change, Ledger, Plan, Share};
use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;

/// By namespace.
#[derive(Default)]
pub(crate) struct Quotas(Mutex<BTreeMap<String, Exhausted>>);

#[derive(Clone, Default)]
struct Exhausted {
    ledger: Ledger,
    /// By UID of a gang; none before the first plan.
    shares: Option<BTreeMap<String, Share>>,
    /// Whether there is more room than at the last plan.
    has_more_room: bool,
}

/// What a plan changed.
pub(crate) struct Decided {
    pub(crate) plan: Plan,
    /// The shares before it.
    pub(crate) before: BTreeMap<String, Share>,
    /// Whether there is more room than at the plan before it.
    pub(crate) has_more_room: bool,
}

impl Quotas {
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }

    /// A pod was refused because a quota is exceeded.
    pub(crate) fn refused(&self, namespace: &str) {
        self.0.lock().entry(namespace.to_owned()).or_default();
    }

    pub(crate) fn is_exhausted(&self, namespace: &str) -> bool {
        self.0.lock().contains_key(namespace)
    }

    /// A quota of the namespace changed. Whether anybody waits for that.
    pub(crate) fn note(&self, namespace: &str, change: Change, now: Timestamp) -> bool {
        let mut all = self.0.lock();
        let Some(exhausted) = all.get_mut(namespace) else { return false };
        exhausted.has_more_room = true;
        exhausted.ledger.note(change, now);
        true
    }

    /// How many pods a gang may create. One that came after the last plan waits for the next.
    pub(crate) fn share(&self, namespace: &str, gang: &str) -> Share {
        let all = self.0.lock();
        let shares = all.get(namespace).and_then(|it| it.shares.as_ref());
        shares.map_or(Share::All, |shares| {
            let new = || Share::Nothing("waiting for quota: other gangs are older".to_owned());
            shares.get(gang).cloned().unwrap_or_else(new)
        })
    }

    /// Plans again. `None` where no quota of the namespace is exhausted.
    pub(crate) fn plan(&self, namespace: &str, plan: impl FnOnce(&Ledger) -> Plan) -> Option<Decided> {
        let mut all = self.0.lock();
        let exhausted = all.get_mut(namespace)?;
        let plan = plan(&exhausted.ledger);
        let before = exhausted.shares.take().unwrap_or_default();
        let has_more_room = std::mem::take(&mut exhausted.has_more_room);
        if plan.shares.is_empty() {
            all.remove(namespace);
        } else {
            exhausted.ledger = plan.ledger.clone();
            exhausted.shares = Some(plan.shares.clone());
        }
        Some(Decided { plan, before, has_more_room })
    }
}
