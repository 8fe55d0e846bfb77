//! What the certificate has to be for.

use std::{collections::BTreeSet, net::IpAddr};

/// Name of the Service in front of the operator.
const SERVICE: &str = "grove-operator";

/// Names and addresses by which an API server calls us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Those of the Service in `namespace`, and the address that we listen on where it is a certain one: then a webhook
    /// configuration may have it in a `url`.
    pub fn new(namespace: &str, bind_address: &str) -> Self {
        let mut names = BTreeSet::from([
            SERVICE.to_owned(),
            format!("{SERVICE}.{namespace}"),
            format!("{SERVICE}.{namespace}.svc"),
            format!("{SERVICE}.{namespace}.svc.cluster.local"),
        ]);
        let host = bind_address.trim_start_matches('[').trim_end_matches(']');
        match host.parse::<IpAddr>() {
            Ok(address) if address.is_unspecified() => {}
            Ok(address) => _ = names.insert(address.to_string()),
            Err(_) if host.is_empty() => {}
            Err(_) => _ = names.insert(host.to_owned()),
        }
        Self(names)
    }

    /// In words.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The first that `others` lack.
    pub(super) fn missing_in(&self, others: &BTreeSet<String>) -> Option<&str> {
        self.0.iter().find(|it| !others.contains(*it)).map(String::as_str)
    }

    /// These and those.
    #[must_use]
    pub(super) fn and(&self, others: &BTreeSet<String>) -> Self {
        Self(self.0.union(others).cloned().collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
