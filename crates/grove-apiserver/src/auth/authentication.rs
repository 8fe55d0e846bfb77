//! Who sends a request.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::service_accounts::ServiceAccountTokens;
use super::static_tokens::StaticTokens;
use super::user::UserInfo;
use crate::failure::Failure;
use crate::store::Store;

/// How clients are known, besides by their certificates, which TLS checks.
#[derive(Clone, Debug, Default)]
pub struct Authentication {
    /// Tokens that were given out before the server started.
    pub tokens: StaticTokens,
    /// Tokens of service accounts, which the server gives out itself.
    pub service_accounts: Option<ServiceAccountTokens>,
    /// Whether requests without credentials are let in, as `system:anonymous`.
    pub anonymous: bool,
}

const AUTHENTICATED: &str = "system:authenticated";

impl Authentication {
    /// Every request is let in; those without credentials as `system:anonymous`.
    pub fn anonymous() -> Self {
        Self { anonymous: true, ..Self::default() }
    }

    /// The user of a request. `certificate` is the user of the client certificate.
    pub(crate) fn authenticate(
        &self,
        certificate: Option<&UserInfo>,
        headers: &HeaderMap,
        store: &Store,
    ) -> Result<UserInfo, Failure> {
        if let Some(user) = certificate {
            return Ok(authenticated(user.clone()));
        }
        let Some(header) = headers.get(AUTHORIZATION) else {
            return if self.anonymous { Ok(anonymous()) } else { Err(Failure::unauthorized()) };
        };
        let token = header.to_str().ok().and_then(bearer_token).ok_or_else(Failure::unauthorized)?;
        self.user_of(token, store).ok_or_else(Failure::unauthorized)
    }

    /// The user of a token.
    pub(super) fn user_of(&self, token: &str, store: &Store) -> Option<UserInfo> {
        let of_account = || self.service_accounts.as_ref()?.user(token, store);
        self.tokens.user(token).cloned().or_else(of_account).map(authenticated)
    }
}

fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// A user who is known is in this group, whatever else.
pub(super) fn authenticated(mut user: UserInfo) -> UserInfo {
    if !user.is_in(AUTHENTICATED) {
        user.groups.push(AUTHENTICATED.to_owned());
    }
    user
}

fn anonymous() -> UserInfo {
    UserInfo::new("system:anonymous", &["system:unauthenticated"])
}
