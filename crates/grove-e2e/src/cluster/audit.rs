//! Reads the API server's audit log.

use std::{
    collections::BTreeMap,
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
    /// Who asked, or for whom an admin asked.
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

/// Any request of somebody whose requests are all logged.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// What was to be done.
    pub verb: String,
    /// API group; empty for the core group.
    pub group: String,
    /// Resource, with its subresource.
    pub resource: String,
    /// Namespace of the object; empty for all, and for objects without.
    pub namespace: String,
    /// Name of the object; empty for many.
    pub name: String,
    /// Whether it was refused for want of a right. A quota refuses with the same code, but is no right.
    pub refused: bool,
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { verb, group, resource, namespace, name, .. } = self;
        write!(f, "{verb} {resource} ({group}) {namespace}/{name}")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    verb: String,
    #[serde(rename = "requestURI", default)]
    request_uri: String,
    #[serde(default)]
    user_agent: String,
    user: User,
    impersonated_user: Option<User>,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRef {
    #[serde(default)]
    api_group: String,
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

impl ObjectRef {
    fn full_resource(&self) -> String {
        match &self.subresource {
            Some(sub) => format!("{}/{sub}", self.resource),
            None => self.resource.clone(),
        }
    }
}

const READS: [&str; 3] = ["get", "list", "watch"];
/// Group of leases, which are a heartbeat and no writes that count.
const HEARTBEAT: &str = "coordination.k8s.io";
/// Part of the address of a dry run.
const DRY_RUN: &str = "dryRun=All";
/// What the server notes about its decision.
const DECISION: &str = "authorization.k8s.io/decision";

/// All requests of an audit log that may have changed something, in order.
pub fn writes(log: &Path) -> Result<Vec<Write>> {
    Tail::open(log)?.more()
}

/// All dry runs of an audit log, in order. They change nothing, and are no writes.
pub(super) fn dry_runs(log: &Path) -> Result<Vec<Write>> {
    let mut file = BufReader::new(File::open(log).with_context(|| log.display().to_string())?);
    let (mut line, mut dry_runs) = (String::new(), Vec::new());
    while file.read_line(&mut line)? > 0 {
        if line.contains(DRY_RUN) {
            dry_runs.extend(entry_of(&line).filter(|it| it.0).map(|it| it.1));
        }
        line.clear();
    }
    Ok(dry_runs)
}

/// All requests of a user, in order. The policy has to log reads of this user.
pub(super) fn requests_of(log: &Path, user: &str) -> Result<Vec<Request>> {
    let mut file = BufReader::new(File::open(log).with_context(|| log.display().to_string())?);
    let (mut line, mut requests) = (String::new(), Vec::new());
    while file.read_line(&mut line)? > 0 {
        // Most lines are other people's and need not be understood.
        if line.contains(user) {
            requests.extend(request_of(&line, user));
        }
        line.clear();
    }
    Ok(requests)
}

/// The request that a line tells of, if it is this user's and about an object.
fn request_of(line: &str, user: &str) -> Option<Request> {
    let entry: Entry = serde_json::from_str(line).ok()?;
    let object = entry.object_ref.filter(|_| entry.user.username == user)?;
    Some(Request {
        verb: entry.verb,
        resource: object.full_resource(),
        group: object.api_group,
        namespace: object.namespace,
        name: object.name,
        refused: entry.annotations.get(DECISION).is_some_and(|it| it == "forbid"),
    })
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

/// The write that a line tells of; `None` where it tells of a read, a dry run or a heartbeat, or where we came in at its
/// middle.
fn parse(line: &str) -> Option<Write> {
    entry_of(line).filter(|it| !it.0).map(|it| it.1)
}

/// The write that a line tells of, and whether it was a dry run.
fn entry_of(line: &str) -> Option<(bool, Write)> {
    let entry: Entry = serde_json::from_str(line).ok()?;
    let object = entry.object_ref.filter(|_| !READS.contains(&entry.verb.as_str()))?;
    if object.api_group == HEARTBEAT {
        return None;
    }
    let write = Write {
        verb: entry.verb,
        resource: object.full_resource(),
        namespace: object.namespace,
        name: object.name,
        user: entry.impersonated_user.unwrap_or(entry.user).username,
        user_agent: entry.user_agent,
        code: entry.response_status.and_then(|it| it.code).unwrap_or_default(),
    };
    Some((entry.request_uri.contains(DRY_RUN), write))
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

    #[test]
    fn dry_runs_are_no_writes() {
        let line = |query: &str| {
            format!(
                r#"{{"verb":"create","requestURI":"/api/v1/namespaces/n/pods?{query}&fieldManager=x",
                "user":{{"username":"us"}},"objectRef":{{"resource":"pods","namespace":"n"}}}}"#
            )
        };
        assert_eq!(parse(&line("dryRun=All")), None);
        assert!(entry_of(&line("dryRun=All")).unwrap().0);
        assert_eq!(parse(&line("pretty=1")).unwrap().what(), "create pods");
    }

    #[test]
    fn an_impersonated_user_is_who_asked() {
        let line = r#"{"verb":"create","user":{"username":"admin"},"impersonatedUser":{"username":"tenant"},
            "objectRef":{"resource":"pods","namespace":"n"}}"#;
        assert_eq!(parse(line).unwrap().user, "tenant");
    }

    #[test]
    fn heartbeats_are_no_writes() {
        let line = r#"{"verb":"update","user":{"username":"us"},
            "objectRef":{"apiGroup":"coordination.k8s.io","resource":"leases","namespace":"n","name":"l"}}"#;
        assert_eq!(parse(line), None);
        let request = request_of(line, "us").unwrap();
        assert_eq!(request.to_string(), "update leases (coordination.k8s.io) n/l");
    }

    /// A quota says 403 too, and so does a namespace that ends.
    #[test]
    fn only_a_missing_right_is_a_refusal() {
        let line = |decision: &str| {
            format!(
                r#"{{"verb":"create","user":{{"username":"us"}},"objectRef":{{"resource":"pods","namespace":"n"}},
                "responseStatus":{{"code":403}},"annotations":{{"authorization.k8s.io/decision":"{decision}"}}}}"#
            )
        };
        assert!(request_of(&line("forbid"), "us").unwrap().refused);
        assert!(!request_of(&line("allow"), "us").unwrap().refused);
        assert_eq!(request_of(&line("forbid"), "them"), None);
    }
}
