//! What a registry answers.

use anyhow::Result;
use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;

/// What is read of an answer: tokens and errors are short.
const MAX_ANSWER: usize = 1 << 20;
/// What is shown of an answer that is not JSON.
const SHOWN: usize = 300;

/// An answer, read to its end.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Answer {
    pub(super) async fn read(response: Response<hyper::body::Incoming>) -> Result<Self> {
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, MAX_ANSWER).collect().await.map_err(|error| anyhow::anyhow!(error))?;
        Ok(Self { status: parts.status, headers: parts.headers, body: body.to_bytes() })
    }

    /// The errors of the specification, or else the text.
    pub(super) fn said(&self) -> String {
        if let Ok(it) = serde_json::from_slice::<Errors>(&self.body) {
            let errors = it.errors.iter().map(|it| format!("{} {}", it.code, it.message).trim().to_owned());
            return errors.collect::<Vec<_>>().join("; ");
        }
        let text: String = String::from_utf8_lossy(&self.body).chars().take(SHOWN).collect();
        if text.trim().is_empty() { "it said nothing more".to_owned() } else { text.trim().to_owned() }
    }
}

#[derive(Deserialize)]
struct Errors {
    errors: Vec<Error>,
}

#[derive(Deserialize)]
struct Error {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}
