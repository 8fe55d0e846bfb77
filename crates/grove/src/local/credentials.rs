//! Certificates of the API server, and kubeconfigs.

use std::{
    fmt::Write as _,
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::json;

/// A certificate authority, and a certificate of the server that it signed. PEM.
pub(super) struct ServerCertificate {
    pub(super) authority: String,
    pub(super) certificate: String,
    pub(super) key: String,
}

impl ServerCertificate {
    /// For a server on the loopback interface.
    pub(super) fn generate() -> io::Result<Self> {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        authority.distinguished_name.push(DnType::CommonName, "grove-sandbox-ca");
        let authority_key = KeyPair::generate().map_err(io::Error::other)?;
        let authority_pem = authority.self_signed(&authority_key).map_err(io::Error::other)?.pem();
        let issuer = Issuer::new(authority, authority_key);

        let names = ["localhost", "kubernetes.default.svc"].map(str::to_owned).to_vec();
        let mut server = CertificateParams::new(names).map_err(io::Error::other)?;
        server.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        server.distinguished_name.push(DnType::CommonName, "kube-apiserver");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let certificate = server.signed_by(&key, &issuer).map_err(io::Error::other)?.pem();
        Ok(Self { authority: authority_pem, certificate, key: key.serialize_pem() })
    }
}

/// A bearer token that cannot be guessed.
pub(super) fn random_token() -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| io::Error::other("no randomness for a token"))?;
    let mut token = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing into a string does not fail.
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

/// A kubeconfig for a user with a token. The certificate of the authority is inside, so that the file works wherever it is copied to.
pub(super) fn kubeconfig(
    address: SocketAddr,
    authority: &str,
    user: &str,
    token: &str,
    namespace: &str,
) -> String {
    let authority = k8s_openapi::ByteString(authority.as_bytes().to_vec());
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "grove",
            "cluster": { "server": format!("https://{address}"), "certificate-authority-data": authority },
        }],
        "users": [{ "name": user, "user": { "token": token } }],
        "contexts": [{ "name": "grove", "context": { "cluster": "grove", "user": user, "namespace": namespace } }],
        "current-context": "grove",
    });
    // JSON is YAML, and kubectl reads both.
    format!("{config:#}\n")
}

#[cfg(test)]
mod tests {
    use kube::config::Kubeconfig;

    use super::*;

    #[test]
    fn clients_can_read_the_kubeconfig() {
        let server = ServerCertificate::generate().unwrap();
        let token = random_token().unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 6443));
        let text = kubeconfig(address, &server.authority, "admin", &token, "default");
        let read = Kubeconfig::from_yaml(&text).unwrap();
        assert_eq!(read.current_context.as_deref(), Some("grove"));
        let cluster = read.clusters[0].cluster.as_ref().unwrap();
        assert_eq!(cluster.server.as_deref(), Some("https://127.0.0.1:6443"));
        assert!(cluster.certificate_authority_data.is_some());
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (random_token().unwrap(), random_token().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
    }
}
