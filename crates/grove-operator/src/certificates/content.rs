//! What the Secret holds.

use std::{collections::BTreeMap, fmt};

use k8s_openapi::{ByteString, api::core::v1::Secret};

const LEAF: &str = "tls.crt";
const LEAF_KEY: &str = "tls.key";
const AUTHORITIES: &str = "ca.crt";
const AUTHORITY_KEY: &str = "ca.key";

/// Certificates and keys as PEM. Empty where the Secret has nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// The server's certificate.
    pub leaf: Vec<u8>,
    /// Its key.
    pub leaf_key: Vec<u8>,
    /// The authorities that clients have to trust, the newest first.
    pub authorities: Vec<u8>,
    /// Key of the newest authority.
    pub authority_key: Vec<u8>,
}

impl Content {
    /// What a Secret holds.
    pub fn of(secret: &Secret) -> Self {
        let get = |key: &str| {
            secret.data.as_ref().and_then(|it| it.get(key)).map(|it| it.0.clone()).unwrap_or_default()
        };
        Self {
            leaf: get(LEAF),
            leaf_key: get(LEAF_KEY),
            authorities: get(AUTHORITIES),
            authority_key: get(AUTHORITY_KEY),
        }
    }

    /// Puts it into a Secret; other keys of it stay.
    pub(super) fn put_into(&self, secret: &mut Secret) {
        let data: &mut BTreeMap<String, ByteString> = secret.data.get_or_insert_default();
        for (key, value) in [
            (LEAF, &self.leaf),
            (LEAF_KEY, &self.leaf_key),
            (AUTHORITIES, &self.authorities),
            (AUTHORITY_KEY, &self.authority_key),
        ] {
            data.insert(key.to_owned(), ByteString(value.clone()));
        }
    }

    /// The first key that is missing.
    pub(super) fn missing(&self) -> Option<&'static str> {
        let all = [
            (LEAF, &self.leaf),
            (LEAF_KEY, &self.leaf_key),
            (AUTHORITIES, &self.authorities),
            (AUTHORITY_KEY, &self.authority_key),
        ];
        all.iter().find(|(_, value)| value.is_empty()).map(|(key, _)| *key)
    }
}

/// Without the keys: logs are read by many.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content").field("missing", &self.missing()).finish_non_exhaustive()
    }
}
