//! Tokens of service accounts: signed JSON Web Tokens, as the `serviceaccounts/token` subresource gives them out.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use ring::{hmac, rand::SecureRandom as _, rand::SystemRandom};
use serde_json::{Value, json};

use super::user::UserInfo;
use crate::failure::{Cause, Failure};
use crate::object::Object;
use crate::store::Store;

const ISSUER: &str = "https://kubernetes.default.svc";
const PREFIX: &str = "system:serviceaccount:";
/// `{"alg":"HS256","typ":"JWT"}`
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// Seconds that a token is valid if the client does not say; the least and the most that it may say.
const DEFAULT_LIFETIME: i64 = 3600;
const SHORTEST_LIFETIME: i64 = 600;
const LONGEST_LIFETIME: i64 = 1 << 32;

/// Signs and checks tokens of service accounts.
#[derive(Clone, Debug)]
pub struct ServiceAccountTokens {
    key: hmac::Key,
}

impl ServiceAccountTokens {
    /// With a key of its own: tokens are valid as long as the process runs.
    pub fn generate() -> io::Result<Self> {
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).map_err(|_| io::Error::other("no randomness for a key"))?;
        Ok(Self::with_secret(&secret))
    }

    /// With a key that another process may have, too.
    pub fn with_secret(secret: &[u8]) -> Self {
        Self { key: hmac::Key::new(hmac::HMAC_SHA256, secret) }
    }

    /// A token for a service account that exists. `lifetime` is in seconds.
    pub(super) fn sign(
        &self,
        account: &Object,
        audiences: &[String],
        lifetime: i64,
        now: Timestamp,
    ) -> String {
        let (namespace, name) = (account.namespace(), account.name());
        let now = now.as_second();
        let claims = json!({
            "aud": audiences, "exp": now.saturating_add(lifetime), "iat": now, "nbf": now, "iss": ISSUER,
            "kubernetes.io": {"namespace": namespace, "serviceaccount": {"name": name, "uid": account.uid()}},
            "sub": format!("{PREFIX}{namespace}:{name}"),
        });
        let signed = format!("{}.{}", BASE64.encode(HEADER), BASE64.encode(claims.to_string()));
        let signature = hmac::sign(&self.key, signed.as_bytes());
        format!("{signed}.{}", BASE64.encode(signature))
    }

    /// The service account of a token that is signed, not expired, and whose account still exists.
    pub(super) fn user(&self, token: &str, store: &Store) -> Option<UserInfo> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = BASE64.decode(signature).ok()?;
        hmac::verify(&self.key, signed.as_bytes(), &signature).ok()?;
        let (_, claims) = signed.split_once('.')?;
        let claims: Value = serde_json::from_slice(&BASE64.decode(claims).ok()?).ok()?;
        let is_current = claims["exp"].as_i64()? > store.now().as_second();
        let is_ours = claims["aud"].as_array()?.iter().any(|it| it == ISSUER);
        let (namespace, name) = split_account(claims["sub"].as_str()?)?;
        let account = store.get("serviceaccounts", namespace, name)?;
        let uid = account.uid();
        let is_same = claims["kubernetes.io"]["serviceaccount"]["uid"] == uid;
        (is_current && is_ours && is_same).then(|| UserInfo {
            username: format!("{PREFIX}{namespace}:{name}"),
            uid: uid.to_owned(),
            groups: groups_of_account(namespace),
            extra: std::collections::BTreeMap::new(),
        })
    }
}

/// Answers a POST to the `token` subresource of a service account.
pub(crate) fn token_request(
    tokens: Option<&ServiceAccountTokens>,
    store: &Store,
    account: &Object,
    body: &Value,
) -> Result<Value, Failure> {
    let Some(tokens) = tokens else {
        return Err(Failure::not_implemented("this server gives out no tokens of service accounts"));
    };
    let lifetime = match &body["spec"]["expirationSeconds"] {
        Value::Null => DEFAULT_LIFETIME,
        value => value.as_i64().unwrap_or_default(),
    };
    let invalid = |detail: &str| {
        let cause = Cause::invalid("spec.expirationSeconds", &lifetime.to_string(), detail);
        Failure::invalid_kind("TokenRequest", "authentication.k8s.io", account.name(), vec![cause])
    };
    if lifetime < SHORTEST_LIFETIME {
        return Err(invalid("may not specify a duration less than 10 minutes"));
    }
    if lifetime > LONGEST_LIFETIME {
        return Err(invalid("may not specify a duration larger than 2^32 seconds"));
    }
    let audiences = body["spec"]["audiences"].as_array().into_iter().flatten();
    let mut audiences: Vec<String> = audiences.filter_map(Value::as_str).map(str::to_owned).collect();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let now = store.now();
    let expires = now.checked_add(SignedDuration::from_secs(lifetime)).unwrap_or(Timestamp::MAX);
    Ok(json!({
        "kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1",
        "metadata": {"name": account.name(), "namespace": account.namespace()},
        "spec": {"audiences": audiences, "expirationSeconds": lifetime},
        "status": {
            "token": tokens.sign(account, &audiences, lifetime, now),
            "expirationTimestamp": crate::store::time(expires),
        },
    }))
}

/// The namespace and name of `system:serviceaccount:NAMESPACE:NAME`.
pub(super) fn split_account(username: &str) -> Option<(&str, &str)> {
    username
        .strip_prefix(PREFIX)?
        .split_once(':')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty())
}

/// The groups of every service account of a namespace.
pub(super) fn groups_of_account(namespace: &str) -> Vec<String> {
    vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]
}
