//! Reads the API server's audit log.

use std::{io::BufRead, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;

/// A request that changed something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Write {
    /// `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Resource, with its subresource: `pods/status`.
    pub resource: String,
    /// Who asked.
    pub user: String,
    /// Program that asked.
    pub user_agent: String,
    /// Answer.
    pub code: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    verb: String,
    #[serde(default)]
    user_agent: String,
    user: User,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
struct ObjectRef {
    #[serde(default)]
    resource: String,
    subresource: Option<String>,
}

#[derive(Deserialize)]
struct ResponseStatus {
    code: Option<u16>,
}

const READS: [&str; 3] = ["get", "list", "watch"];

/// All requests of an audit log that may have changed something, in order.
pub fn writes(log: &Path) -> Result<Vec<Write>> {
    let file = std::fs::File::open(log).with_context(|| log.display().to_string())?;
    let mut writes = Vec::new();
    for line in std::io::BufReader::new(file).lines() {
        // The last line may be half written.
        let Ok(entry) = serde_json::from_str::<Entry>(&line?) else { continue };
        let Some(object) = entry.object_ref.filter(|_| !READS.contains(&entry.verb.as_str())) else {
            continue;
        };
        let resource = match object.subresource {
            Some(sub) => format!("{}/{sub}", object.resource),
            None => object.resource,
        };
        let code = entry.response_status.and_then(|it| it.code).unwrap_or_default();
        writes.push(Write {
            verb: entry.verb,
            resource,
            user: entry.user.username,
            user_agent: entry.user_agent,
            code,
        });
    }
    Ok(writes)
}
