//! The user of a client certificate: its common name, with its organisations as groups.

use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::user::UserInfo;

/// The user of a certificate that TLS has verified. None if it names nobody.
pub(crate) fn certificate_user(certificate: &CertificateDer<'_>) -> Option<UserInfo> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok().filter(|it| !it.is_empty())?;
    let groups: Vec<&str> = subject.iter_organization().filter_map(|it| it.as_str().ok()).collect();
    Some(UserInfo::new(name, &groups))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    fn user_of(name: &str, organizations: &[&str]) -> Option<UserInfo> {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        for organization in organizations {
            params.distinguished_name.push(DnType::OrganizationName, *organization);
        }
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        certificate_user(certificate.der())
    }

    #[test]
    fn common_name_and_organization() {
        assert_eq!(user_of("jane", &["dev"]), Some(UserInfo::new("jane", &["dev"])));
        assert_eq!(user_of("jane", &[]), Some(UserInfo::new("jane", &[])));
        assert_eq!(user_of("", &["dev"]), None);
        assert_eq!(certificate_user(&CertificateDer::from(vec![1, 2, 3])), None);
    }
}
