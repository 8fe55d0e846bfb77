//! Reads the API server's audit log.

use std::{
    fs::File,
    io::{BufRead, BufReader, Seek, SeekFrom},
    path::Path,
};

use anyhow::{Context, Result};
use serde::Deserialize;

/// A request that changed something.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Write {
    /// `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Resource, with its subresource: `pods/status`.
    pub resource: String,
    /// Namespace of the object.
    pub namespace: String,
    /// Name of the object; empty where the server made it up.
    pub name: String,
    /// Who asked.
    pub user: String,
    /// Program that asked.
    pub user_agent: String,
    /// Answer.
    pub code: u16,
}

impl Write {
    /// `create pods`.
    pub fn what(&self) -> String {
        format!("{} {}", self.verb, self.resource)
    }
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
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    code: Option<u16>,
}

const READS: [&str; 3] = ["get", "list", "watch"];

/// All requests of an audit log that may have changed something, in order.
pub fn writes(log: &Path) -> Result<Vec<Write>> {
    Tail::open(log)?.more()
}

/// A place in an audit log that is still being written.
pub struct Tail {
    file: BufReader<File>,
    /// The beginning of a line whose end is not written yet.
    half: String,
}

impl Tail {
    fn open(log: &Path) -> Result<Self> {
        let file = File::open(log).with_context(|| log.display().to_string())?;
        Ok(Self { file: BufReader::new(file), half: String::new() })
    }

    /// Only what is written from now on.
    pub(super) fn from_now(log: &Path) -> Result<Self> {
        let mut tail = Self::open(log)?;
        tail.file.seek(SeekFrom::End(0))?;
        Ok(tail)
    }

    /// What was written since the last call.
    pub fn more(&mut self) -> Result<Vec<Write>> {
        let mut writes = Vec::new();
        while self.file.read_line(&mut self.half)? > 0 {
            if !self.half.ends_with('\n') {
                break;
            }
            writes.extend(parse(&self.half));
            self.half.clear();
        }
        Ok(writes)
    }
}

/// The write that a line tells of; `None` where it tells of a read, or where we came in at its middle.
fn parse(line: &str) -> Option<Write> {
    let entry: Entry = serde_json::from_str(line).ok()?;
    let object = entry.object_ref.filter(|_| !READS.contains(&entry.verb.as_str()))?;
    let resource = match object.subresource {
        Some(sub) => format!("{}/{sub}", object.resource),
        None => object.resource,
    };
    Some(Write {
        verb: entry.verb,
        resource,
        namespace: object.namespace,
        name: object.name,
        user: entry.user.username,
        user_agent: entry.user_agent,
        code: entry.response_status.and_then(|it| it.code).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_left_out_and_subresources_named() {
        let line = |verb: &str| {
            format!(
                r#"{{"verb":"{verb}","userAgent":"us/1","user":{{"username":"admin"}},
                "objectRef":{{"resource":"pods","subresource":"status","namespace":"n","name":"p"}},
                "responseStatus":{{"code":409}}}}"#
            )
        };
        assert_eq!(parse(&line("watch")), None);
        let write = parse(&line("patch")).unwrap();
        assert_eq!(write.what(), "patch pods/status");
        assert_eq!((write.namespace.as_str(), write.name.as_str(), write.code), ("n", "p", 409));
        assert_eq!(parse("half a li"), None);
    }
}
