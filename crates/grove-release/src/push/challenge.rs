//! What a registry wants to see before it answers: the header `WWW-Authenticate` (RFC 9110).

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use http::Uri;

/// What it asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Challenge {
    /// User and password with every request.
    Basic,
    /// A token from somebody else.
    Bearer {
        /// Who gives it.
        realm: Uri,
        /// For which service.
        service: Option<String>,
    },
}

impl Challenge {
    /// Reads the header. A realm without TLS is refused, unless `local`: it is told the password.
    pub fn parse(header: &str, local: bool) -> Result<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Ok(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            bail!("the registry wants {scheme:?}, which is neither Basic nor Bearer");
        }
        let mut parameters = parameters(rest);
        let realm = parameters.remove("realm").context("the registry names no realm that gives tokens")?;
        let realm: Uri = realm.parse().with_context(|| format!("the realm {realm:?} is no URL"))?;
        let scheme = realm.scheme_str().unwrap_or_default();
        ensure!(
            scheme == "https" || (local && scheme == "http"),
            "the realm {realm} is not asked without TLS"
        );
        // Not the scope: some registries name an example there.
        Ok(Self::Bearer { realm, service: parameters.remove("service") })
    }
}

/// `a="b",c=d`; a comma in quotes belongs to the value.
fn parameters(text: &str) -> BTreeMap<String, String> {
    let mut parts = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for letter in text.chars() {
        let Some(part) = parts.last_mut() else { break };
        match letter {
            _ if escaped => {
                part.push(letter);
                escaped = false;
            }
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            ',' if !quoted => parts.push(String::new()),
            _ => part.push(letter),
        }
    }
    let pairs = parts.iter().filter_map(|it| it.split_once('='));
    pairs.map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let header = r#"Bearer realm="https://auth.example.com/token",service="a, b",scope="repository:an/example:pull""#;
        let want = Challenge::Bearer {
            realm: "https://auth.example.com/token".parse().unwrap(),
            service: Some("a, b".to_owned()),
        };
        assert_eq!(Challenge::parse(header, false).unwrap(), want);
        assert_eq!(Challenge::parse("basic realm=\"x\"", false).unwrap(), Challenge::Basic);
        let bare = Challenge::parse("Bearer realm=http://127.0.0.1:1/t", true).unwrap();
        assert!(matches!(bare, Challenge::Bearer { service: None, .. }), "{bare:?}");
    }

    #[test]
    fn a_password_goes_nowhere_without_tls() {
        let rows = [
            (
                "Bearer realm=\"http://auth.example.com/t\"",
                "the realm http://auth.example.com/t is not asked without TLS",
            ),
            ("Bearer service=\"x\"", "the registry names no realm that gives tokens"),
            ("Negotiate", "the registry wants \"Negotiate\", which is neither Basic nor Bearer"),
        ];
        for (header, want) in rows {
            assert_eq!(Challenge::parse(header, false).unwrap_err().to_string(), want);
        }
    }
}
