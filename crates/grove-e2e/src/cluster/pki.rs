//! Certificates and kubeconfigs of one cluster.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
    path::Path,
};

use anyhow::Result;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, SanType,
};

/// Where pods with a network of their own find the API server.
pub(crate) const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 127, 0, 1);

/// A client: file name, user, group.
const CLIENTS: [(&str, &str, Option<&str>); 3] = [
    ("admin", "admin", Some("system:masters")),
    ("controller-manager", "system:kube-controller-manager", None),
    ("scheduler", "system:kube-scheduler", None),
];

/// Writes a certificate authority, the server's certificate, the clients' and a kubeconfig for each of them.
pub(super) fn write(folder: &Path, api_port: u16) -> Result<()> {
    let pki = folder.join("pki");
    fs::create_dir_all(&pki)?;

    let mut ca = CertificateParams::default();
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    ca.distinguished_name = name("e2e-ca", None);
    let ca_key = KeyPair::generate()?;
    fs::write(pki.join("ca.crt"), ca.self_signed(&ca_key)?.pem())?;
    let issuer = Issuer::new(ca, ca_key);

    let mut server =
        CertificateParams::new(vec!["localhost".to_owned(), "kubernetes.default.svc".to_owned()])?;
    for address in [Ipv4Addr::LOCALHOST, Ipv4Addr::new(10, 0, 0, 1), GATEWAY] {
        server.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(address)));
    }
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.distinguished_name = name("kube-apiserver", None);
    issue(&pki, "apiserver", &server, &issuer)?;

    for (file, user, group) in CLIENTS {
        let mut client = CertificateParams::default();
        client.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        client.distinguished_name = name(user, group);
        issue(&pki, file, &client, &issuer)?;
        fs::write(folder.join(format!("{file}.kubeconfig")), kubeconfig(&pki, file, api_port))?;
    }

    let service_accounts = KeyPair::generate()?;
    fs::write(pki.join("sa.key"), service_accounts.serialize_pem())?;
    fs::write(pki.join("sa.pub"), service_accounts.public_key_pem())?;
    Ok(())
}

fn name(common: &str, organisation: Option<&str>) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    if let Some(organisation) = organisation {
        name.push(DnType::OrganizationName, organisation);
    }
    name
}

fn issue(pki: &Path, file: &str, params: &CertificateParams, issuer: &Issuer<'_, KeyPair>) -> Result<()> {
    let key = KeyPair::generate()?;
    fs::write(pki.join(format!("{file}.crt")), params.signed_by(&key, issuer)?.pem())?;
    fs::write(pki.join(format!("{file}.key")), key.serialize_pem())?;
    Ok(())
}

fn kubeconfig(pki: &Path, client: &str, port: u16) -> String {
    let pki = pki.display();
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters: [{{ name: e2e, cluster: {{ server: \"https://127.0.0.1:{port}\", certificate-authority: \"{pki}/ca.crt\" }} }}]\n\
         users: [{{ name: {client}, user: {{ client-certificate: \"{pki}/{client}.crt\", client-key: \"{pki}/{client}.key\" }} }}]\n\
         contexts: [{{ name: e2e, context: {{ cluster: e2e, user: {client} }} }}]\n\
         current-context: e2e\n"
    )
}
