//! Raw requests: what the server says, word for word, also when it refuses.

use anyhow::{Context, Result};
use futures::{AsyncBufReadExt, Stream};
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE};
use kube::client::Body;
use serde_json::Value;

use super::{table, variables::Variables};

/// A request with its variables filled in.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    content_type: String,
    accept: Option<String>,
    body: Vec<u8>,
}

/// What the server said.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// In the order they came; a name may come more than once.
    pub(super) headers: Vec<(String, String)>,
    /// JSON, or the text if it is none.
    pub(super) body: Value,
}

impl Request {
    /// The request of a row.
    pub(super) fn new(row: &table::Request, variables: &Variables) -> Result<Self> {
        let body = match &row.body {
            None => Vec::new(),
            Some(Value::String(text)) => variables.fill_text(text)?.into_bytes(),
            Some(value) => serde_json::to_vec(&variables.fill(value)?)?,
        };
        let content_type = variables.fill_text(row.content_type.as_deref().unwrap_or("application/json"))?;
        let accept = row.accept.as_deref().map(|it| variables.fill_text(it)).transpose()?;
        // Selectors read better with their spaces.
        let path = variables.fill_text(&row.path)?.replace(' ', "%20");
        Ok(Self { method: row.method.clone(), path, content_type, accept, body })
    }

    fn to_http(&self) -> Result<http::Request<Vec<u8>>> {
        let mut request = http::Request::builder().method(self.method.as_str()).uri(&self.path);
        if !self.body.is_empty() {
            request = request.header(CONTENT_TYPE, &self.content_type);
        }
        if let Some(accept) = &self.accept {
            request = request.header(ACCEPT, accept);
        }
        request.body(self.body.clone()).with_context(|| format!("{} {}", self.method, self.path))
    }

    /// Sends it and takes the whole answer.
    pub(super) async fn send(&self, client: &kube::Client) -> Result<Answer> {
        let response = client.send(self.to_http()?.map(Body::from)).await?;
        let (parts, body) = response.into_parts();
        let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = parts.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let bytes = body.collect_bytes().await?;
        let body = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
        Ok(Answer { status: parts.status.as_u16(), headers, body })
    }

    /// Sends it and takes the answer line by line; or the whole answer, if it is a refusal.
    pub(super) async fn open(
        &self,
        client: &kube::Client,
    ) -> Result<Result<impl Stream<Item = std::io::Result<String>> + use<>, Answer>> {
        let mut request = self.to_http()?;
        // Each event would be compressed by itself, and nobody here unpacks that.
        request.headers_mut().insert(ACCEPT_ENCODING, http::HeaderValue::from_static("identity"));
        match client.request_stream(request).await {
            Ok(reader) => Ok(Ok(reader.lines())),
            // What kube keeps of it.
            Err(kube::Error::Api(status)) => {
                let body = serde_json::to_value(&status)?;
                Ok(Err(Answer { status: status.code, headers: Vec::new(), body }))
            }
            Err(error) => Err(error.into()),
        }
    }
}
