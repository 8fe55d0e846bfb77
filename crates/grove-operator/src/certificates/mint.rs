//! Makes certificates: ECDSA P-256, an authority that signs leaves only, leaves that are for servers only.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use x509_parser::time::ASN1Time;

use super::{Lifetimes, content::Content, facts, names::Names, skew};

/// A new authority and a leaf.
pub(super) fn fresh(names: &Names, now: Timestamp, lifetimes: Lifetimes) -> Result<Content, String> {
    let (authorities, authority_key) = authority(now, lifetimes.authority)?;
    let content = Content { authorities, authority_key, ..Content::default() };
    with_leaf(&content, names, now, lifetimes)
}

/// The same with a new authority in front of the others. The leaf stays.
pub(super) fn with_authority(
    content: &Content,
    now: Timestamp,
    lifetimes: Lifetimes,
) -> Result<Content, String> {
    let (mut authorities, authority_key) = authority(now, lifetimes.authority)?;
    authorities.extend_from_slice(&content.authorities);
    Ok(Content { authorities, authority_key, ..content.clone() })
}

/// The same with a new leaf, signed by the newest authority.
pub(super) fn with_leaf(
    content: &Content,
    names: &Names,
    now: Timestamp,
    lifetimes: Lifetimes,
) -> Result<Content, String> {
    let newest = facts::certificates("ca.crt", &content.authorities)?.swap_remove(0);
    let end = facts::validity(&content.authorities)?.until;
    let key = std::str::from_utf8(&content.authority_key).map_err(failed)?;
    let key = KeyPair::from_pem(key).map_err(failed)?;
    let issuer = Issuer::from_ca_cert_der(&newest, key).map_err(failed)?;

    let names: Vec<String> = names.iter().map(str::to_owned).collect();
    let mut params = CertificateParams::new(names).map_err(failed)?;
    params.distinguished_name = name("grove-operator");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    // None outlives the authority that it depends on.
    set_validity(&mut params, now, lifetimes.leaf, Some(end))?;
    let key = KeyPair::generate().map_err(failed)?;
    let leaf = params.signed_by(&key, &issuer).map_err(failed)?;
    Ok(Content {
        leaf: leaf.pem().into_bytes(),
        leaf_key: key.serialize_pem().into_bytes(),
        ..content.clone()
    })
}

/// The same with the newest authority only.
pub(super) fn with_newest_authority(content: &Content) -> Result<Content, String> {
    const END: &str = "-----END CERTIFICATE-----";
    let text = std::str::from_utf8(&content.authorities).map_err(failed)?;
    let (newest, _) = text.split_once(END).ok_or_else(|| failed("ca.crt is no PEM"))?;
    Ok(Content { authorities: format!("{newest}{END}\n").into_bytes(), ..content.clone() })
}

fn authority(now: Timestamp, life: Duration) -> Result<(Vec<u8>, Vec<u8>), String> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params.distinguished_name = name("Grove-CA");
    params.distinguished_name.push(DnType::OrganizationName, "Grove");
    set_validity(&mut params, now, life, None)?;
    let key = KeyPair::generate().map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?;
    Ok((certificate.pem().into_bytes(), key.serialize_pem().into_bytes()))
}

fn set_validity(
    params: &mut CertificateParams,
    now: Timestamp,
    life: Duration,
    end: Option<Timestamp>,
) -> Result<(), String> {
    let seconds = |it: Duration| i64::try_from(it.as_secs()).unwrap_or(i64::MAX / 2);
    let from = now.as_second() - seconds(skew(life));
    let until = now.as_second() + seconds(life);
    let until = end.map_or(until, |end| until.min(end.as_second()));
    let time = |at: i64| ASN1Time::from_timestamp(at).map(|it| it.to_datetime());
    params.not_before = time(from).map_err(failed)?;
    params.not_after = time(until).map_err(failed)?;
    Ok(())
}

fn name(common: &str) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}

fn failed(error: impl std::fmt::Display) -> String {
    format!("cannot make a certificate: {error}")
}
