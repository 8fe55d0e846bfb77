//! The certificate that TLS uses now. It is swapped while connections come in; none of them notices.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use parking_lot::RwLock;
use prometheus_client::{metrics::gauge::Gauge, registry::Registry};
use rustls::{
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};

use super::facts::{Span, certified, validity};

/// The certificate in use, or why there is none.
#[derive(Debug)]
pub struct Served {
    current: RwLock<Result<Current, String>>,
    /// Why clients do not trust it yet, where that is ours to see to.
    distrust: RwLock<Option<String>>,
    /// When the certificate in use runs out; 0 while there is none.
    expiry: Gauge,
}

#[derive(Clone, Debug)]
struct Current {
    key: Arc<CertifiedKey>,
    validity: Span,
}

impl Default for Served {
    fn default() -> Self {
        let current = RwLock::new(Err("there is no certificate yet".to_owned()));
        Self { current, distrust: RwLock::default(), expiry: Gauge::default() }
    }
}

impl Served {
    /// Adds what is to be known of the certificate in use to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "grove_webhook_certificate_expiration_timestamp_seconds",
            "When the webhook certificate in use expires, in seconds since the epoch; 0 while there is none",
            self.expiry.clone(),
        );
    }

    /// Uses these from now on. What was in use stays where they cannot be used.
    pub fn load(&self, certificate: &[u8], key: &[u8]) -> Result<(), String> {
        let current =
            Current { key: certified("tls.key", certificate, key)?, validity: validity(certificate)? };
        self.expiry.set(current.validity.until.as_second());
        *self.current.write() = Ok(current);
        Ok(())
    }

    /// Says why there is no certificate, unless there is one.
    pub(super) fn lacks(&self, why: &str) {
        let mut current = self.current.write();
        if current.is_err() {
            *current = Err(why.to_owned());
        }
    }

    /// Says why clients do not trust the certificate, or that they do.
    pub(super) fn trusted(&self, result: Result<(), String>) {
        *self.distrust.write() = result.err();
    }

    /// Whether clients can be served; else why not.
    pub fn ready(&self, now: Timestamp) -> Result<(), String> {
        match &*self.current.read() {
            Err(why) => Err(why.clone()),
            Ok(current) if now >= current.validity.until => {
                Err(format!("the certificate ran out at {}", current.validity.until))
            }
            Ok(_) => self.distrust.read().clone().map_or(Ok(()), Err),
        }
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.current.read().as_ref().ok().map(|it| Arc::clone(&it.key))
    }
}
