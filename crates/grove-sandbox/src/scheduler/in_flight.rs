//! What was begun and is not over: bindings of a decision, places for which others make room, and units that failed and wait for
//! their next try.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_placement::PodRequirements;
use k8s_openapi::api::core::v1::ObjectReference;
use tokio::time::Instant;

use super::{observe::pod_view::PodKey, plan::unit::UnitKey};

/// Delay before a unit of which a binding failed is looked at again, doubled with every failure.
const FIRST_RETRY: Duration = Duration::from_millis(10);
const LAST_RETRY: Duration = Duration::from_secs(10);

/// Nodes on which others make room for a unit.
#[derive(Clone, Debug)]
pub(super) struct Nomination {
    pub(super) priority: i32,
    /// Nodes, and what is to be placed on them.
    pub(super) places: Vec<(String, Arc<PodRequirements>)>,
    /// Node of each pod, by its name.
    pub(super) node_of: BTreeMap<String, String>,
    /// Pods that are being deleted, with their UIDs.
    pub(super) victims: BTreeMap<PodKey, String>,
}

/// Bindings of one decision.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    pub(super) regarding: Option<ObjectReference>,
    pub(super) waiting: BTreeSet<PodKey>,
    pub(super) nodes: BTreeSet<String>,
    pub(super) bound: usize,
}

impl Decided {
    pub(super) fn of(regarding: Option<ObjectReference>) -> Self {
        Self { regarding, waiting: BTreeSet::new(), nodes: BTreeSet::new(), bound: 0 }
    }
}

/// Units that failed and wait for their next try.
#[derive(Debug, Default)]
pub(super) struct Retries {
    failures: BTreeMap<UnitKey, u32>,
    due: BTreeSet<(Instant, UnitKey)>,
}

impl Retries {
    /// A binding of the unit failed.
    pub(super) fn add(&mut self, unit: UnitKey) {
        let failures = self.failures.entry(unit.clone()).or_default();
        let delay = FIRST_RETRY.saturating_mul(2_u32.saturating_pow(*failures)).min(LAST_RETRY);
        *failures = failures.saturating_add(1);
        self.due.insert((Instant::now() + delay, unit));
    }

    /// The unit succeeded, or is gone.
    pub(super) fn forget(&mut self, unit: &UnitKey) {
        self.failures.remove(unit);
    }

    pub(super) fn next(&self) -> Option<Instant> {
        self.due.first().map(|it| it.0)
    }

    /// Units whose time has come.
    pub(super) fn take(&mut self, now: Instant) -> Vec<UnitKey> {
        let mut units = Vec::new();
        while let Some(first) = self.due.first().filter(|it| it.0 <= now).cloned() {
            self.due.remove(&first);
            units.push(first.1);
        }
        units
    }
}
