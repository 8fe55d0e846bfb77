//! Tokens that are given to the server when it starts.

use std::collections::BTreeMap;

use ring::digest::{SHA256, digest};

use super::user::UserInfo;

/// Bearer tokens of users. Kept as digests, so that a lookup takes no longer for a token that is nearly right.
#[derive(Clone, Debug, Default)]
pub struct StaticTokens(BTreeMap<Vec<u8>, UserInfo>);

impl StaticTokens {
    /// These and one more. An empty token is nobody's.
    #[must_use]
    pub fn with(mut self, token: &str, user: UserInfo) -> Self {
        if !token.is_empty() {
            self.0.insert(key(token), user);
        }
        self
    }

    pub(super) fn user(&self, token: &str) -> Option<&UserInfo> {
        self.0.get(&key(token))
    }
}

fn key(token: &str) -> Vec<u8> {
    digest(&SHA256, token.as_bytes()).as_ref().to_vec()
}
