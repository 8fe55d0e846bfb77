//! How fresh a cache is: when its informer last heard of the server.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use tokio::time::Instant;

use super::{Cache, Stored};

/// When the server was last heard; nothing while no informer runs, or before its first list.
#[derive(Debug, Default)]
pub(crate) struct Contact(Mutex<Option<Instant>>);

impl<K: Stored> Cache<K> {
    /// When the last event, bookmark or page of a list arrived. Nothing before the first one, and where no informer runs.
    ///
    /// A server sends bookmarks about once a minute where nothing changes. So what a cache shows was true at this time,
    /// give or take the delay of the watch; nothing is known of what happened since.
    pub fn last_contact(&self) -> Option<Instant> {
        *self.shared.contact.0.lock()
    }

    /// Something arrived from the server.
    pub(crate) fn contacted(&self) {
        *self.shared.contact.0.lock() = Some(Instant::now());
    }

    /// The informer ended.
    pub(crate) fn contact_ended(&self) {
        *self.shared.contact.0.lock() = None;
    }
}

/// The ages of all caches of the process, read when somebody asks.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContactAges(Arc<Mutex<BTreeMap<String, Vec<Weak<Contact>>>>>);

impl ContactAges {
    pub(super) fn add(&self, kind: &str, contact: &Arc<Contact>) {
        let mut all = self.0.lock();
        let of_kind = all.entry(kind.to_owned()).or_default();
        of_kind.retain(|it| it.strong_count() > 0);
        of_kind.push(Arc::downgrade(contact));
    }

    /// The age of the oldest cache of each kind. Kinds without contact have none.
    fn read(&self) -> Vec<(String, Duration)> {
        let now = Instant::now();
        let all = self.0.lock();
        let oldest = all.iter().filter_map(|(kind, contacts)| {
            let last = contacts.iter().filter_map(|it| *it.upgrade()?.0.lock()).min()?;
            Some((kind.clone(), now.saturating_duration_since(last)))
        });
        oldest.collect()
    }
}

impl Collector for ContactAges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let mut family = encoder.encode_descriptor(
            "informer_cache_age_seconds",
            "Seconds since the last event, bookmark or list",
            None,
            MetricType::Gauge,
        )?;
        for (kind, age) in self.read() {
            ConstGauge::new(age.as_secs_f64()).encode(family.encode_family(&[("kind", kind)])?)?;
        }
        Ok(())
    }
}
