//! What can be told from certificates: from when until when, for whom, signed by whom.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
    time::Duration,
};

use k8s_openapi::jiff::{Span as Time, Timestamp};
use rcgen::{KeyPair, PublicKeyData as _};
use rustls::{
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    sign::CertifiedKey,
};
use x509_parser::{certificate::X509Certificate, extensions::GeneralName, prelude::FromDer as _};

use super::{content::Content, skew};

/// From when until when something holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first moment.
    pub from: Timestamp,
    /// The last moment.
    pub until: Timestamp,
}

impl Span {
    pub(super) fn holds(&self, now: Timestamp) -> bool {
        self.from <= now && now < self.until
    }

    /// When it is time for a successor: two thirds have gone by.
    pub(super) fn due(&self) -> Timestamp {
        self.after(self.length() * 2 / 3)
    }

    /// When it was made, which is a bit after it holds.
    pub(super) fn made(&self) -> Timestamp {
        self.after(skew(self.length() * 10 / 11))
    }

    fn length(&self) -> Duration {
        let seconds = self.until.as_second().saturating_sub(self.from.as_second());
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    }

    fn after(&self, time: Duration) -> Timestamp {
        let time = Time::new().seconds(i64::try_from(time.as_secs()).unwrap_or_default());
        self.from.saturating_add(time).unwrap_or(self.until)
    }
}

/// What is known of a complete content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The server's certificate.
    pub leaf: Span,
    /// What it is for.
    pub names: BTreeSet<String>,
    /// Which authority signed it.
    pub issuer: usize,
    /// The authorities, the newest first.
    pub authorities: Vec<Span>,
}

impl Facts {
    /// Looks into a content; or says why it cannot be used at all.
    pub fn of(content: &Content) -> Result<Self, String> {
        if let Some(key) = content.missing() {
            return Err(format!("{key} is missing"));
        }
        let leaf_der = certificates("tls.crt", &content.leaf)?;
        certified("tls.key", &content.leaf, &content.leaf_key)?;
        let leaf = parse("tls.crt", &leaf_der[0])?;
        let authorities_der = certificates("ca.crt", &content.authorities)?;
        let authorities =
            authorities_der.iter().map(|it| parse("ca.crt", it)).collect::<Result<Vec<_>, _>>()?;
        let key = std::str::from_utf8(&content.authority_key).map_err(|_| "ca.key is no PEM".to_owned())?;
        let key = KeyPair::from_pem(key).map_err(|error| format!("ca.key: {error}"))?;
        if key.der_bytes() != &*authorities[0].public_key().subject_public_key.data {
            return Err("ca.key is not the key of the first certificate in ca.crt".to_owned());
        }
        if let Some(other) = authorities.iter().find(|it| !it.is_ca()) {
            return Err(format!("ca.crt has a certificate that is no authority: {}", other.subject()));
        }
        let signed = |it: &X509Certificate<'_>| leaf.verify_signature(Some(it.public_key())).is_ok();
        let issuer = authorities.iter().position(signed);
        Ok(Self {
            leaf: span(&leaf)?,
            names: names(&leaf),
            issuer: issuer.ok_or("tls.crt is signed by none of ca.crt")?,
            authorities: authorities.iter().map(span).collect::<Result<_, _>>()?,
        })
    }
}

/// The certificates of a PEM text; at least one.
pub(super) fn certificates(file: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| format!("{file}: {error}"))?;
    if all.is_empty() { Err(format!("{file} has no certificate")) } else { Ok(all) }
}

/// A certificate and its key as TLS uses them. They belong to each other.
pub(super) fn certified(file: &str, certificate: &[u8], key: &[u8]) -> Result<Arc<CertifiedKey>, String> {
    let chain = certificates("tls.crt", certificate)?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| format!("{file}: {error}"))?;
    let certified = CertifiedKey::from_der(chain, key, &default_provider());
    certified.map(Arc::new).map_err(|error| format!("{file}: {error}"))
}

/// From when until when the first certificate of a PEM text holds.
pub(super) fn validity(pem: &[u8]) -> Result<Span, String> {
    span(&parse("tls.crt", &certificates("tls.crt", pem)?[0])?)
}

fn parse<'a>(file: &str, der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, String> {
    let parsed = X509Certificate::from_der(der).map_err(|error| format!("{file}: {error}"))?;
    Ok(parsed.1)
}

fn span(certificate: &X509Certificate<'_>) -> Result<Span, String> {
    let time = |it: x509_parser::time::ASN1Time| {
        Timestamp::from_second(it.timestamp()).map_err(|error| error.to_string())
    };
    let validity = certificate.validity();
    Ok(Span { from: time(validity.not_before)?, until: time(validity.not_after)? })
}

fn names(certificate: &X509Certificate<'_>) -> BTreeSet<String> {
    let extension = certificate.subject_alternative_name().ok().flatten();
    let names = extension.iter().flat_map(|it| &it.value.general_names);
    names.filter_map(name).collect()
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four = <[u8; 4]>::try_from(*bytes).map(|it| IpAddr::from(Ipv4Addr::from(it)));
            let address = four.or_else(|_| <[u8; 16]>::try_from(*bytes).map(|it| Ipv6Addr::from(it).into()));
            address.ok().map(|it| it.to_string())
        }
        _ => None,
    }
}
