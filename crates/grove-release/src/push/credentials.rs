//! Who pushes: from the environment, or from the file that `docker login` and `podman login` write. Never printed.

use std::{collections::BTreeMap, env, fmt, fs, path::PathBuf};

use anyhow::{Context, Result, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;

use super::reference::Reference;

/// What a registry is shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// User and password.
    Password {
        /// Name of the user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token with which others are got (`identitytoken`).
    Identity(String),
}

/// Not derived: whatever prints it prints no secret.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials(not shown)")
    }
}

impl Credentials {
    /// Looks for those of a registry: REGISTRY_USERNAME and REGISTRY_PASSWORD, else the file REGISTRY_AUTH_FILE, else the one of Docker.
    pub fn find(target: &Reference) -> Result<Option<Self>> {
        Self::find_in(target, |name| env::var(name).ok().filter(|it| !it.is_empty()))
    }

    fn find_in(target: &Reference, variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        match (variable("REGISTRY_USERNAME"), variable("REGISTRY_PASSWORD")) {
            (Some(user), Some(password)) => return Ok(Some(Self::Password { user, password })),
            (None, None) => {}
            _ => bail!("REGISTRY_USERNAME and REGISTRY_PASSWORD: give both or neither"),
        }
        let named = variable("REGISTRY_AUTH_FILE").map(PathBuf::from);
        let folder = variable("DOCKER_CONFIG").map(PathBuf::from);
        let folder = folder.or_else(|| variable("HOME").map(|it| PathBuf::from(it).join(".docker")));
        let Some(path) = named.clone().or_else(|| folder.map(|it| it.join("config.json"))) else {
            return Ok(None);
        };
        if named.is_none() && !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::from_file(&text, target).with_context(|| format!("in {}", path.display()))
    }

    /// Reads the file of `docker login` or `podman login`.
    fn from_file(text: &str, target: &Reference) -> Result<Option<Self>> {
        // What is wrong with the file is not said with a piece of it.
        let Ok(file) = serde_json::from_str::<File>(text) else {
            bail!("not a file with the credentials of registries")
        };
        let wanted = format!("{}/{}", target.registry, target.repository);
        let fits = |key: &str| wanted == key || wanted.starts_with(&format!("{key}/"));
        let fitting =
            file.auths.iter().map(|(key, entry)| (host_of(key), entry)).filter(|(key, _)| fits(key));
        // The file of podman may know a user for a part of a registry.
        if let Some((_, entry)) = fitting.max_by_key(|(key, _)| key.len())
            && let Some(found) = entry.credentials()?
        {
            return Ok(Some(found));
        }
        if file.credential_helpers.contains_key(&target.registry) || file.credentials_store.is_some() {
            bail!(
                "the credentials of {} are kept by a helper program, which is not asked: give REGISTRY_USERNAME and REGISTRY_PASSWORD",
                target.registry
            );
        }
        Ok(None)
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    auths: BTreeMap<String, Entry>,
    #[serde(default, rename = "credHelpers")]
    credential_helpers: BTreeMap<String, String>,
    #[serde(default, rename = "credsStore")]
    credentials_store: Option<String>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    auth: String,
    #[serde(default, rename = "identitytoken")]
    identity_token: String,
}

impl Entry {
    fn credentials(&self) -> Result<Option<Credentials>> {
        if !self.identity_token.is_empty() {
            return Ok(Some(Credentials::Identity(self.identity_token.clone())));
        }
        if self.auth.is_empty() {
            return Ok(None);
        }
        let decoded = STANDARD.decode(&self.auth).ok().and_then(|it| String::from_utf8(it).ok());
        match decoded.as_deref().and_then(|it| it.split_once(':')) {
            Some((user, password)) => {
                Ok(Some(Credentials::Password { user: user.to_owned(), password: password.to_owned() }))
            }
            None => bail!("`auth` is not a user and a password in base64"),
        }
    }
}

/// Docker writes some registries as URLs.
fn host_of(key: &str) -> &str {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    let key = key.trim_end_matches('/');
    key.strip_suffix("/v1").or_else(|| key.strip_suffix("/v2")).unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Reference {
        Reference::parse("registry.example.com/team/grove:1").unwrap()
    }

    fn password(user: &str) -> Credentials {
        Credentials::Password { user: user.to_owned(), password: "s3cret:x".to_owned() }
    }

    fn auth(user: &str) -> String {
        format!(r#"{{"auth":"{}"}}"#, STANDARD.encode(format!("{user}:s3cret:x")))
    }

    #[test]
    fn files_of_docker_and_podman() {
        let rows = [
            (format!(r#"{{"auths":{{"registry.example.com":{}}}}}"#, auth("a")), Some(password("a"))),
            (
                format!(r#"{{"auths":{{"https://registry.example.com/v1/":{}}}}}"#, auth("a")),
                Some(password("a")),
            ),
            (
                format!(
                    r#"{{"auths":{{"registry.example.com":{},"registry.example.com/team":{},"registry.example.com/te":{}}}}}"#,
                    auth("a"),
                    auth("b"),
                    auth("c")
                ),
                Some(password("b")),
            ),
            (format!(r#"{{"auths":{{"registry.example.com.evil":{}}}}}"#, auth("a")), None),
            (
                r#"{"auths":{"registry.example.com":{"identitytoken":"t"}}}"#.to_owned(),
                Some(Credentials::Identity("t".to_owned())),
            ),
            ("{}".to_owned(), None),
        ];
        for (text, want) in rows {
            assert!(Credentials::from_file(&text, &target()).unwrap() == want, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        let secret = STANDARD.encode("s3cret-without-user");
        let rows = [
            (
                format!(r#"{{"auths":{{"registry.example.com":{{"auth":"{secret}"}}}}}}"#),
                "`auth` is not a user",
            ),
            (format!(r#"{{"auths":"{secret}"}}"#), "not a file with"),
            (r#"{"credsStore":"desktop"}"#.to_owned(), "kept by a helper program"),
            (r#"{"credHelpers":{"registry.example.com":"x"}}"#.to_owned(), "kept by a helper program"),
        ];
        for (text, want) in rows {
            let error = format!("{:?}", Credentials::from_file(&text, &target()).unwrap_err());
            assert!(error.contains(want) && !error.contains(&secret), "{error}");
        }
        assert_eq!(format!("{:?}", password("a")), "Credentials(not shown)");
    }

    #[test]
    fn the_environment_comes_first() {
        let find = |rows: &'static [(&str, &str)]| {
            Credentials::find_in(&target(), |name| {
                rows.iter().find(|it| it.0 == name).map(|it| it.1.to_owned())
            })
        };
        let both =
            find(&[("REGISTRY_USERNAME", "a"), ("REGISTRY_PASSWORD", "s3cret:x"), ("HOME", "/nowhere")]);
        assert_eq!(both.unwrap(), Some(password("a")));
        assert_eq!(find(&[("HOME", "/nowhere")]).unwrap(), None);
        assert!(
            find(&[("REGISTRY_USERNAME", "a")]).unwrap_err().to_string().contains("give both or neither")
        );
        let error = find(&[("REGISTRY_AUTH_FILE", "/nowhere/auth.json")]).unwrap_err().to_string();
        assert_eq!(error, "cannot read /nowhere/auth.json");
    }
}
