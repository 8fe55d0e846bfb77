//! What a group asks for against what its queue has left, by resource.

use grove_scheduler::workload::{Bound, QueueShare, ResourceShare};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Serialize;

use crate::amount::Amount;

/// A queue that may not have what a group asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Quota {
    pub(super) queue: String,
    /// `limit`, or `quota`: the bound that would be crossed.
    pub(super) bound: &'static str,
    pub(super) resources: Vec<Row>,
}

/// One resource; what has no bound, or is not known, is absent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row {
    pub(super) resource: String,
    /// What the minimum of the group asks for, as far as the bound is about it.
    pub(super) requested: Amount,
    /// What is left below the bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) available: Option<Amount>,
    /// What the queue has.
    pub(super) allocated: Amount,
    /// What of that may not be preempted.
    pub(super) allocated_non_preemptible: Amount,
    /// What all of the queue's groups ask for.
    pub(super) queue_requested: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) quota: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) limit: Option<Amount>,
}

impl Quota {
    pub(super) fn of(share: &QueueShare) -> Self {
        let bound = match share.bound {
            Bound::Limit => "limit",
            Bound::Quota => "quota",
        };
        let rows = share.resources.iter().map(|(name, it)| Row::of(name, it, share.bound));
        Self { queue: share.queue.clone(), bound, resources: rows.collect() }
    }

    /// Resources of which there is not enough.
    pub(super) fn short(&self) -> impl Iterator<Item = &Row> {
        self.resources.iter().filter(|it| it.missing().is_some())
    }
}

impl Row {
    fn of(resource: &str, share: &ResourceShare, bound: Bound) -> Self {
        let amount = |it: &Option<String>| it.clone().map(|it| Amount::of(&Quantity(it)));
        let known = |it: &Option<String>| amount(it).unwrap_or_default();
        // A negative one means that there is no bound.
        let bounded = |it: &Option<String>| amount(it).filter(|it| *it >= Amount::default());
        let (allocated, fixed) = (known(&share.allocated), known(&share.allocated_non_preemptible));
        let (quota, limit) = (bounded(&share.deserved), bounded(&share.limit));
        let (requested, most, used) = match bound {
            Bound::Limit => (known(&share.requested), limit, allocated),
            Bound::Quota => {
                let fixed_request = amount(&share.requested_non_preemptible);
                (fixed_request.unwrap_or_else(|| known(&share.requested)), quota, fixed)
            }
        };
        Self {
            resource: resource.to_owned(),
            requested,
            available: most.map(|it| it.left_after(used)),
            allocated,
            allocated_non_preemptible: fixed,
            queue_requested: known(&share.queue_requested),
            quota,
            limit,
        }
    }

    /// How much more would have to be left.
    pub(super) fn missing(&self) -> Option<Amount> {
        let available = self.available?;
        (self.requested > available).then(|| self.requested.left_after(available))
    }
}

#[cfg(test)]
mod tests;
