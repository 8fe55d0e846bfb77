//! A registry in memory, with what the distribution specification demands of a push, and some that are in a bad mood.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use grove_release::{push::reference::Reference, sha256};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const REPOSITORY: &str = "team/grove";
const TOKEN: &str = "t0ken";

/// Who may push, and what happens then.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    Open,
    Basic {
        password: &'static str,
    },
    Token {
        password: &'static str,
    },
    /// Takes no uploads.
    ReadOnly,
    /// Answers nothing but 503.
    Broken,
    /// Takes blobs, and has none.
    Forgetful,
    /// Blobs are uploaded to another host.
    Elsewhere {
        password: &'static str,
        host: SocketAddr,
    },
}

#[derive(Default)]
struct Stored {
    blobs: BTreeMap<String, Vec<u8>>,
    manifests: BTreeMap<String, (String, Vec<u8>)>,
    uploads: usize,
    tokens: Vec<String>,
    authorizations: usize,
    complaints: Vec<String>,
}

#[derive(Clone)]
pub(crate) struct Registry {
    access: Access,
    address: SocketAddr,
    stored: Arc<Mutex<Stored>>,
}

impl Registry {
    pub(crate) async fn start(access: Access) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let registry = Self { access, address, stored: Arc::default() };
        let router = Router::new().fallback(answer).layer(DefaultBodyLimit::disable());
        let router = router.with_state(registry.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        registry
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn target(&self, tag: &str) -> Reference {
        Reference::parse(&format!("{}/{REPOSITORY}:{tag}", self.address)).unwrap()
    }

    pub(crate) fn manifest(&self, name: &str) -> Vec<u8> {
        self.stored().manifests[name].1.clone()
    }

    pub(crate) fn manifest_type(&self, name: &str) -> String {
        self.stored().manifests[name].0.clone()
    }

    pub(crate) fn uploads(&self) -> usize {
        self.stored().uploads
    }

    /// The scopes that tokens were asked for.
    pub(crate) fn tokens(&self) -> Vec<String> {
        self.stored().tokens.clone()
    }

    pub(crate) fn seen_authorizations(&self) -> usize {
        self.stored().authorizations
    }

    /// Requests that broke the specification.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.stored().complaints.clone()
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap()
    }

    fn challenge(&self) -> Option<Response> {
        let (scheme, code) = match self.access {
            Access::Basic { .. } => ("Basic realm=\"registry\"".to_owned(), "who are you"),
            Access::Token { .. } | Access::Elsewhere { .. } => {
                let realm = format!("http://{}/token", self.address);
                (format!("Bearer realm=\"{realm}\",service=\"registry\""), "a token is needed")
            }
            _ => return None,
        };
        let mut response = refuse(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", code);
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme.parse().unwrap());
        Some(response)
    }

    fn accepts(&self, headers: &HeaderMap) -> bool {
        let shown = headers.get(header::AUTHORIZATION).map(|it| it.to_str().unwrap().to_owned());
        match self.access {
            Access::Basic { password } => shown == Some(basic(password)),
            Access::Token { .. } | Access::Elsewhere { .. } => shown == Some(format!("Bearer {TOKEN}")),
            _ => true,
        }
    }

    /// Gives a token for a password in a header, or for another token in a form.
    fn token(&self, password: &str, query: &str, headers: &HeaderMap, body: &[u8]) -> Response {
        let form = String::from_utf8_lossy(body).into_owned();
        let shown = headers.get(header::AUTHORIZATION).map(|it| it.to_str().unwrap().to_owned());
        let identity =
            form.contains("grant_type=refresh_token") && form.contains(&format!("refresh_token={password}"));
        if shown != Some(basic(password)) && !identity {
            return refuse(StatusCode::UNAUTHORIZED, "DENIED", "wrong password");
        }
        let fields = if identity { form.as_str() } else { query };
        let of = |name: &str| {
            fields.split('&').find_map(|it| it.strip_prefix(name)).unwrap_or_default().to_owned()
        };
        assert_eq!(of("service="), "registry");
        self.stored().tokens.push(of("scope=").replace("%3A", ":").replace("%2F", "/").replace("%2C", ","));
        let name = if identity { "access_token" } else { "token" };
        json!({ name: TOKEN, "expires_in": 300 }).to_string().into_response()
    }

    fn store_manifest(&self, name: &str, kind: &str, body: &[u8]) -> Response {
        let manifest: Value = serde_json::from_slice(body).unwrap();
        let digest = format!("sha256:{}", sha256::hex(body));
        let mut stored = self.stored();
        if manifest["mediaType"] != kind {
            stored.complaints.push(format!("the manifest {name} is sent as {kind}"));
        }
        let parts = ["config", "layers", "manifests"].map(|it| manifest[it].clone());
        let parts = parts.iter().flat_map(|it| it.as_array().cloned().unwrap_or_else(|| vec![it.clone()]));
        for part in parts.filter(|it| !it.is_null()) {
            let part = part["digest"].as_str().unwrap();
            if !stored.blobs.contains_key(part) && !stored.manifests.contains_key(part) {
                stored.complaints.push(format!("{name} comes before {part}"));
                return refuse(StatusCode::NOT_FOUND, "MANIFEST_BLOB_UNKNOWN", "blob unknown to registry");
            }
        }
        if name.starts_with("sha256:") && name != digest {
            return refuse(StatusCode::BAD_REQUEST, "DIGEST_INVALID", "not its digest");
        }
        for name in [name, &digest] {
            stored.manifests.insert(name.to_owned(), (kind.to_owned(), body.to_vec()));
        }
        (StatusCode::CREATED, [(header::LOCATION, format!("/v2/{REPOSITORY}/manifests/{digest}"))])
            .into_response()
    }

    fn store_blob(&self, query: &str, body: &[u8]) -> Response {
        let digest = query.split('&').find_map(|it| it.strip_prefix("digest=")).unwrap_or_default();
        let digest = digest.replace("%3A", ":");
        let mut stored = self.stored();
        if digest != format!("sha256:{}", sha256::hex(body)) || !query.contains("_state=") {
            return refuse(StatusCode::BAD_REQUEST, "DIGEST_INVALID", "other content, or no upload");
        }
        stored.uploads += 1;
        if !matches!(self.access, Access::Forgetful) {
            stored.blobs.insert(digest, body.to_vec());
        }
        StatusCode::CREATED.into_response()
    }
}

async fn answer(
    State(registry): State<Registry>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let query = uri.query().unwrap_or_default();
    registry.stored().authorizations += usize::from(headers.contains_key(header::AUTHORIZATION));
    match registry.access {
        Access::Broken => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Access::Token { password } | Access::Elsewhere { password, .. } if uri.path() == "/token" => {
            return registry.token(password, query, &headers, &body);
        }
        _ => {}
    }
    if !registry.accepts(&headers) {
        return registry.challenge().unwrap();
    }
    if uri.path() == "/v2/" {
        return StatusCode::OK.into_response();
    }
    let Some(path) = uri.path().strip_prefix(&format!("/v2/{REPOSITORY}/")) else {
        return refuse(StatusCode::NOT_FOUND, "NAME_UNKNOWN", "no such repository");
    };
    match (method.as_str(), path.split_once('/').unwrap_or_default()) {
        ("HEAD", ("blobs", digest)) if registry.stored().blobs.contains_key(digest) => {
            StatusCode::OK.into_response()
        }
        ("HEAD", ("blobs", _)) => StatusCode::NOT_FOUND.into_response(),
        ("POST", ("blobs", "uploads/")) => {
            let host = match registry.access {
                Access::ReadOnly => {
                    return refuse(StatusCode::FORBIDDEN, "DENIED", "this registry is read only");
                }
                Access::Elsewhere { host, .. } => format!("http://{host}"),
                _ => String::new(),
            };
            let place = format!("{host}/v2/{REPOSITORY}/uploads/1?_state=x%3D");
            (StatusCode::ACCEPTED, [(header::LOCATION, place)]).into_response()
        }
        ("PUT", ("uploads", "1")) => registry.store_blob(query, &body),
        ("PUT", ("manifests", name)) => {
            let kind = headers.get(header::CONTENT_TYPE).map(|it| it.to_str().unwrap()).unwrap_or_default();
            registry.store_manifest(name, kind, &body)
        }
        _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "UNSUPPORTED", "what is that"),
    }
}

fn refuse(status: StatusCode, code: &str, message: &str) -> Response {
    (status, json!({ "errors": [{ "code": code, "message": message }] }).to_string()).into_response()
}

fn basic(password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("pusher:{password}")))
}
