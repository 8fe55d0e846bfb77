//! A registry over HTTP. An answer that is not the expected one becomes an error with what the registry said.

use std::fmt::Write;

use anyhow::{Context, Result, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, Uri, header};
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use oci_spec::image::Descriptor;
use rustls::{ClientConfig, RootCertStore};
use serde::Deserialize;

use super::{answer::Answer, challenge::Challenge, credentials::Credentials, reference::Reference};

const OCTETS: &str = "application/octet-stream";

/// A registry and what it wants to see.
pub struct Registry {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    target: Reference,
    credentials: Option<Credentials>,
    authorization: Option<HeaderValue>,
}

impl Registry {
    /// Prepares to talk to the registry of `target`.
    pub fn connect(target: &Reference, credentials: Option<Credentials>) -> Result<Self> {
        let (provider, tls) = (rustls::crypto::ring::default_provider(), HttpsConnectorBuilder::new());
        let tls = if target.is_local() {
            // Whom to trust is not asked there, and a machine without certificates may have a registry.
            let config =
                ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions()?;
            tls.with_tls_config(config.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
        } else {
            let tls = tls.with_provider_and_native_roots(provider);
            tls.context("the certificates of this machine cannot be read")?
        };
        // The scheme is that of the target: without TLS only on this machine.
        let connector = tls.https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { client, target: target.clone(), credentials, authorization: None })
    }

    /// Asks for nothing, so that the registry says whom it wants to see: its answers to `HEAD` have no text.
    pub async fn authenticate(&mut self) -> Result<()> {
        let uri = self.base("")?;
        let answer = self.send(Method::GET, &uri, None, Bytes::new()).await?;
        if answer.status.is_server_error() {
            bail!(self.refusal("does not answer", &answer));
        }
        Ok(())
    }

    /// Whether the registry has a blob.
    pub async fn has_blob(&mut self, blob: &Descriptor) -> Result<bool> {
        let uri = self.uri(&format!("blobs/{}", blob.digest()))?;
        let answer = self.send(Method::HEAD, &uri, None, Bytes::new()).await?;
        match answer.status {
            StatusCode::NOT_FOUND => Ok(false),
            // Some keep blobs elsewhere, and say where.
            status if status.is_success() || status.is_redirection() => Ok(true),
            _ => bail!(self.refusal(&format!("does not say whether it has {}", blob.digest()), &answer)),
        }
    }

    /// Sends a blob.
    pub async fn upload(&mut self, blob: &Descriptor, bytes: &[u8]) -> Result<()> {
        let uri = self.uri("blobs/uploads/")?;
        let answer = self.send(Method::POST, &uri, None, Bytes::new()).await?;
        if answer.status != StatusCode::ACCEPTED {
            bail!(self.refusal("does not take uploads", &answer));
        }
        let place = answer.headers.get(header::LOCATION).and_then(|it| it.to_str().ok());
        let place =
            place.with_context(|| format!("{} does not say where to upload", self.target.registry))?;
        let uri = with_digest(&absolute(place, &uri)?, blob.digest().as_ref())?;
        let answer = self.send(Method::PUT, &uri, Some(OCTETS), Bytes::copy_from_slice(bytes)).await?;
        if answer.status != StatusCode::CREATED {
            bail!(self.refusal(&format!("does not take {}", blob.digest()), &answer));
        }
        Ok(())
    }

    /// Stores a manifest under a tag or its digest.
    pub async fn put_manifest(&mut self, name: &str, media_type: &str, bytes: &[u8]) -> Result<()> {
        let uri = self.uri(&format!("manifests/{name}"))?;
        let answer = self.send(Method::PUT, &uri, Some(media_type), Bytes::copy_from_slice(bytes)).await?;
        if answer.status != StatusCode::CREATED {
            bail!(self.refusal("does not take the manifest", &answer));
        }
        Ok(())
    }

    fn uri(&self, path: &str) -> Result<Uri> {
        self.base(&format!("{}/{path}", self.target.repository))
    }

    fn base(&self, path: &str) -> Result<Uri> {
        Ok(format!("{}://{}/v2/{path}", self.target.scheme(), self.target.registry).parse()?)
    }

    /// Sends a request, and again with what the registry wants to see.
    async fn send(&mut self, method: Method, uri: &Uri, kind: Option<&str>, body: Bytes) -> Result<Answer> {
        // Where uploads go may be another machine, which our credentials are none of.
        let is_ours = self.target.is_at(uri);
        let authorization = self.authorization.clone().filter(|_| is_ours);
        let answer = self.request(&method, uri, kind, authorization, body.clone()).await?;
        if answer.status != StatusCode::UNAUTHORIZED || !is_ours {
            return Ok(answer);
        }
        let challenge = answer.headers.get(header::WWW_AUTHENTICATE).and_then(|it| it.to_str().ok());
        let Some(challenge) = challenge else {
            bail!(self.refusal("does not say what it wants to see", &answer))
        };
        let challenge = Challenge::parse(challenge, self.target.is_local())?;
        let authorization = self.authorize(challenge, &answer).await?;
        let answer = self.request(&method, uri, kind, Some(authorization.clone()), body).await?;
        if answer.status == StatusCode::UNAUTHORIZED {
            bail!(self.refusal("does not accept the credentials", &answer));
        }
        self.authorization = Some(authorization);
        Ok(answer)
    }

    async fn authorize(&self, challenge: Challenge, refusal: &Answer) -> Result<HeaderValue> {
        let (realm, service) = match (challenge, &self.credentials) {
            (Challenge::Basic, Some(Credentials::Password { user, password })) => {
                return basic(user, password);
            }
            (Challenge::Basic, _) => {
                let hint = "REGISTRY_USERNAME and REGISTRY_PASSWORD, or a file as `docker login` writes it";
                bail!("{} ({hint})", self.refusal("wants a user and a password", refusal))
            }
            (Challenge::Bearer { realm, service }, _) => (realm, service),
        };
        let scope = format!("repository:{}:pull,push", self.target.repository);
        let mut fields = vec![("scope", scope.as_str())];
        fields.extend(service.as_deref().map(|it| ("service", it)));
        let answer = match &self.credentials {
            Some(Credentials::Identity(token)) => {
                fields.extend([
                    ("grant_type", "refresh_token"),
                    ("client_id", "grove-release"),
                    ("refresh_token", token.as_str()),
                ]);
                let body = Bytes::from(form(&fields));
                let kind = Some("application/x-www-form-urlencoded");
                self.request(&Method::POST, &realm, kind, None, body).await?
            }
            other => {
                let authorization = match other {
                    Some(Credentials::Password { user, password }) => Some(basic(user, password)?),
                    _ => None,
                };
                let start = if realm.query().is_some() { '&' } else { '?' };
                let uri: Uri = format!("{realm}{start}{}", form(&fields)).parse()?;
                self.request(&Method::GET, &uri, None, authorization, Bytes::new()).await?
            }
        };
        if !answer.status.is_success() {
            bail!(self.refusal(&format!("gets no token from {realm}"), &answer));
        }
        // What is wrong with it is not said with a piece of it.
        let Ok(token) = serde_json::from_slice::<Token>(&answer.body) else {
            bail!("{realm} answers with no token")
        };
        sensitive(&format!("Bearer {}", token.token.or(token.access_token).unwrap_or_default()))
    }

    async fn request(
        &self,
        method: &Method,
        uri: &Uri,
        kind: Option<&str>,
        authorization: Option<HeaderValue>,
        body: Bytes,
    ) -> Result<Answer> {
        let mut request = Request::builder().method(method).uri(uri);
        if let Some(kind) = kind {
            request = request.header(header::CONTENT_TYPE, kind);
        }
        if let Some(authorization) = authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        // Without what may be a signature in the query.
        let place = format!("{}{}", uri.host().unwrap_or_default(), uri.path());
        let response = self.client.request(request.body(Full::new(body))?).await;
        let response = response.with_context(|| format!("{method} {place}"))?;
        Answer::read(response).await.with_context(|| format!("{method} {place}"))
    }

    /// What the registry said, and to what.
    fn refusal(&self, what: &str, answer: &Answer) -> String {
        format!("{} {what}: {}: {}", self.target.registry, answer.status, answer.said())
    }
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

fn basic(user: &str, password: &str) -> Result<HeaderValue> {
    sensitive(&format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
}

/// A header that is not printed.
fn sensitive(text: &str) -> Result<HeaderValue> {
    let Ok(mut value) = HeaderValue::from_str(text) else {
        bail!("the credentials cannot be sent in a header")
    };
    value.set_sensitive(true);
    Ok(value)
}

/// The place that a registry named, which may be a path only.
fn absolute(place: &str, base: &Uri) -> Result<Uri> {
    let uri: Uri = place.parse().with_context(|| format!("not a place to upload to: {place}"))?;
    if uri.authority().is_some() {
        return Ok(uri);
    }
    let mut parts = uri.into_parts();
    (parts.scheme, parts.authority) = (base.scheme().cloned(), base.authority().cloned());
    Ok(Uri::from_parts(parts)?)
}

fn with_digest(uri: &Uri, digest: &str) -> Result<Uri> {
    let start = if uri.query().is_some() { '&' } else { '?' };
    Ok(format!("{uri}{start}{}", form(&[("digest", digest)])).parse()?)
}

/// Fields as a query and a form write them.
fn form(fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    fields.join("&")
}

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_to_upload_to() {
        let base: Uri = "https://r.example.com/v2/g/blobs/uploads/".parse().unwrap();
        let rows = [
            ("/v2/g/u/1", "https://r.example.com/v2/g/u/1?digest=sha256%3Aab"),
            ("/v2/g/u/1?_state=x", "https://r.example.com/v2/g/u/1?_state=x&digest=sha256%3Aab"),
            ("https://blobs.example.com/1", "https://blobs.example.com/1?digest=sha256%3Aab"),
        ];
        for (place, want) in rows {
            let got = with_digest(&absolute(place, &base).unwrap(), "sha256:ab").unwrap();
            assert_eq!(got.to_string(), want);
        }
    }
}
