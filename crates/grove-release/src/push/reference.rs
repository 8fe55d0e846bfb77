//! Where an image goes: `registry/name:tag`.

use std::fmt::{self, Display, Formatter};

use anyhow::{Result, ensure};
use http::Uri;

/// A tag in a repository of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Host, and port if there is one.
    pub registry: String,
    /// Name of the repository.
    pub repository: String,
    /// The tag.
    pub tag: String,
}

impl Reference {
    /// Reads `registry/name:tag`. All three are needed: no registry is the one that is meant when none is named.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| format!("{text:?}: {what}: give registry/name:tag");
        let (registry, rest) = text.split_once('/').unwrap_or(("", text));
        let is_host = registry.contains(['.', ':']) || registry == "localhost";
        ensure!(is_host && registry.parse::<http::uri::Authority>().is_ok(), wrong("no registry"));
        let (repository, tag) = rest.rsplit_once(':').unwrap_or((rest, ""));
        ensure!(!repository.contains('@') && !tag.contains('@'), wrong("a digest cannot be chosen"));
        ensure!(repository.split('/').all(is_component), wrong("not the name of a repository"));
        ensure!(is_tag(tag), wrong("no tag"));
        Ok(Self { registry: registry.to_owned(), repository: repository.to_owned(), tag: tag.to_owned() })
    }

    /// The same with more at the end of the repository's name.
    #[must_use]
    pub fn with_suffix(&self, suffix: &str) -> Self {
        Self { repository: format!("{}{suffix}", self.repository), ..self.clone() }
    }

    /// Whether the registry is on this machine: only there it is asked without TLS.
    pub fn is_local(&self) -> bool {
        let host = format!("http://{}", self.registry).parse::<Uri>().ok();
        let host = host.as_ref().and_then(Uri::host).unwrap_or_default();
        matches!(host, "localhost" | "127.0.0.1" | "[::1]")
    }
}

impl Reference {
    /// `http` only on this machine.
    pub fn scheme(&self) -> &'static str {
        if self.is_local() { "http" } else { "https" }
    }

    /// Whether `uri` is of this registry, and asked as safely: only there our credentials are shown.
    pub fn is_at(&self, uri: &Uri) -> bool {
        let authority = uri.authority().map(http::uri::Authority::as_str);
        authority == Some(self.registry.as_str()) && uri.scheme_str() == Some(self.scheme())
    }
}

impl Display for Reference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}:{}", self.registry, self.repository, self.tag)
    }
}

/// A part of a repository's name, between slashes.
fn is_component(text: &str) -> bool {
    let is_inner = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit();
    text.starts_with(is_inner)
        && text.ends_with(is_inner)
        && text.chars().all(|it| is_inner(it) || "._-".contains(it))
}

fn is_tag(text: &str) -> bool {
    let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.len() <= 128 && text.starts_with(is_word) && text.chars().all(|it| is_word(it) || ".-".contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_understood() {
        let rows = [
            ("registry.example.com/grove:1.0", ("registry.example.com", "grove", "1.0")),
            ("localhost/grove:1", ("localhost", "grove", "1")),
            ("127.0.0.1:5000/a/b-c/grove:v1_2", ("127.0.0.1:5000", "a/b-c/grove", "v1_2")),
        ];
        for (text, (registry, repository, tag)) in rows {
            let got = Reference::parse(text).unwrap();
            assert_eq!((&*got.registry, &*got.repository, &*got.tag), (registry, repository, tag));
            assert_eq!(got.to_string(), text);
        }
        let initc = Reference::parse("registry.example.com/grove:1.0").unwrap().with_suffix("-initc");
        assert_eq!(initc.to_string(), "registry.example.com/grove-initc:1.0");
    }

    #[test]
    fn what_is_missing_is_named() {
        let rows = [
            ("grove:1.0", "no registry"),
            ("team/grove:1.0", "no registry"),
            ("registry.example.com/grove", "no tag"),
            ("registry.example.com/grove:", "no tag"),
            ("registry.example.com/grove:a b", "no tag"),
            ("registry.example.com/Grove:1", "not the name of a repository"),
            ("registry.example.com/:1", "not the name of a repository"),
            ("registry.example.com/../grove:1", "not the name of a repository"),
            ("registry.example.com/grove@sha256:0", "a digest cannot be chosen"),
        ];
        for (text, what) in rows {
            let error = Reference::parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("{text:?}: {what}: give registry/name:tag"));
        }
    }

    /// A registry behind a proxy may name itself without TLS.
    #[test]
    fn credentials_are_for_the_registry_alone() {
        let remote = Reference::parse("registry.example.com/grove:1").unwrap();
        for (uri, want) in [
            ("https://registry.example.com/v2/", true),
            ("http://registry.example.com/v2/", false),
            ("https://registry.example.com:444/v2/", false),
            ("https://registry.example.com.evil.example/v2/", false),
            ("https://registry.example.com@evil.example/v2/", false),
        ] {
            assert_eq!(remote.is_at(&uri.parse().unwrap()), want, "{uri}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        for (registry, want) in [
            ("localhost:5000", true),
            ("127.0.0.1:5000", true),
            ("[::1]:5000", true),
            ("localhost.example.com", false),
            ("registry.example.com:80", false),
        ] {
            let reference = Reference { registry: registry.into(), repository: "a".into(), tag: "b".into() };
            assert_eq!(reference.is_local(), want, "{registry}");
        }
    }
}
