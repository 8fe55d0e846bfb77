//! `grove bundle`: what a bug report needs, in one archive, without secrets.
//!
//! `scope` is what is asked for. `collect` reads it, kind by kind (`kinds`, `read`), with `operator` for what is installed, `node`
//! for nodes and `events` for what was said of all of it. `contents` takes everything in, redacted by `redact` and `text`, and
//! `archive` packs it.

mod archive;
mod collect;
mod contents;
mod events;
#[cfg(test)]
mod fixture;
mod kinds;
mod node;
mod operator;
mod read;
mod redact;
mod scope;
#[cfg(test)]
mod tests;
mod text;

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use grove_api::wire::PodCliqueSet;
use grove_scheduler::Registry;
use k8s_openapi::jiff::Timestamp;
use kube::Api;

use self::{collect::Request, contents::Contents, scope::Scope};
use crate::{
    cli::{Outcome, object_name, print},
    cluster::{Cluster, Reach, block_on, failure},
    commands::kinds::{Kind, did_you_mean},
    program::complain,
};

/// Collect what a bug report needs in one archive, without secrets.
///
/// Objects of Grove and of the schedulers, pods, nodes, Events, the operator's configuration and logs. Values of environment
/// variables, commands and arguments are taken out, and Secrets are never read. Read-only; what you may not read is listed
/// in errors.txt.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove bundle\n  \
    grove bundle pcs/chat -n ml\n  \
    grove bundle -A --output report.tar.gz\n\n\
    Exit codes: 0 success, 1 something could not be read or there is no such set, 2 the cluster cannot be reached, or \
    the file cannot be written.")]
pub(crate) struct Bundle {
    /// Only what belongs to this PodCliqueSet: NAME or pcs/NAME.
    #[arg(value_name = "NAME", value_parser = set_name)]
    set: Option<String>,

    /// Namespace [default: the context's].
    #[arg(short, long, value_parser = object_name)]
    namespace: Option<String>,

    /// All namespaces.
    #[arg(short = 'A', long, conflicts_with_all = ["namespace", "set"])]
    all_namespaces: bool,

    /// File to write [default: grove-bundle-TIME.tar.gz].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file if it exists.
    #[arg(long)]
    force: bool,

    /// Namespace of the operator.
    #[arg(long, value_name = "NAME", default_value = "grove-system", value_parser = object_name)]
    operator_namespace: String,

    /// How many of the last lines of each log are read.
    #[arg(long, value_name = "COUNT", default_value_t = 5_000)]
    log_lines: u32,

    #[command(flatten)]
    reach: Reach,
}

impl Bundle {
    pub(crate) fn run(self, registry: &Registry) -> io::Result<Outcome> {
        block_on(self.answer(registry))
    }

    async fn answer(self, registry: &Registry) -> io::Result<Outcome> {
        let now = Timestamp::now();
        let folder = folder_name(now);
        let file = self.output.clone().unwrap_or_else(|| PathBuf::from(format!("{folder}.tar.gz")));
        // Before all the reading, which takes a while.
        if !self.force && file.exists() {
            return Err(exists(&file));
        }
        let cluster = self.reach.cluster().await?;
        let scope = self.scope(&cluster);
        if let Scope::Set { namespace, name } = &scope
            && !is_there(&cluster, namespace, name).await?
        {
            let hint = did_you_mean(Kind::Set.similar(&cluster.client, namespace, name).await.as_deref());
            complain(format_args!("no PodCliqueSet {name:?} in namespace {namespace:?}{hint}"));
            return Ok(Outcome::Findings);
        }
        let request = Request {
            cluster: &cluster,
            registry,
            scope: &scope,
            operator_namespace: &self.operator_namespace,
            log_lines: self.log_lines,
        };
        let contents = collect::collect(&request).await?;
        let (objects, problems) = (contents.objects(), contents.problems().to_vec());
        write(&file, self.force, &packed(contents, &scope, now)?)?;
        for it in &problems {
            anstream::eprintln!("not read: {it}");
        }
        let plural = if objects == 1 { "" } else { "s" };
        let unread =
            if problems.is_empty() { String::new() } else { format!(", {} not read", problems.len()) };
        print(&format!("{}: {objects} object{plural}{unread}\n", file.display()))?;
        Ok(if problems.is_empty() { Outcome::Success } else { Outcome::Findings })
    }

    fn scope(&self, cluster: &Cluster) -> Scope {
        let namespace = self.namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        match &self.set {
            _ if self.all_namespaces => Scope::Cluster,
            Some(name) => Scope::Set { namespace, name: name.clone() },
            None => Scope::Namespace(namespace),
        }
    }
}

/// The archive.
fn packed(contents: Contents, scope: &Scope, now: Timestamp) -> io::Result<Vec<u8>> {
    let of = match scope {
        Scope::Cluster => "all namespaces".to_owned(),
        Scope::Namespace(namespace) => format!("namespace {namespace}"),
        Scope::Set { namespace, name } => format!("PodCliqueSet {name} in namespace {namespace}"),
    };
    let files = contents.into_files(&format!("Read {} from {of}:", now.strftime("%Y-%m-%dT%H:%M:%SZ")));
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    archive::pack(&folder_name(now), &files, seconds)
}

fn folder_name(now: Timestamp) -> String {
    format!("grove-bundle-{}", now.strftime("%Y%m%dT%H%M%SZ"))
}

fn write(path: &Path, force: bool, bytes: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    if !force {
        // It may have come while we read.
        options.create_new(true);
    }
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => exists(path),
        kind => io::Error::new(kind, format!("{}: {error}", path.display())),
    })
}

fn exists(path: &Path) -> io::Error {
    let text = format!("{} exists; --force overwrites it", path.display());
    io::Error::new(io::ErrorKind::AlreadyExists, text)
}

/// Whether there is such a set, or may be: who may not read it still gets what else there is.
async fn is_there(cluster: &Cluster, namespace: &str, name: &str) -> io::Result<bool> {
    let api: Api<PodCliqueSet> = Api::namespaced(cluster.client.clone(), namespace);
    match api.get_metadata_opt(name).await {
        Ok(found) => Ok(found.is_some()),
        Err(kube::Error::Api(_)) => Ok(true),
        Err(error) => Err(failure(&cluster.server, &error)),
    }
}

/// `chat` or `pcs/chat`.
fn set_name(text: &str) -> Result<String, String> {
    let (kind, name) = text.split_once('/').unwrap_or(("pcs", text));
    match Kind::of(kind) {
        Some(Kind::Set) => object_name(name),
        _ => Err("is not NAME or pcs/NAME of a PodCliqueSet".to_owned()),
    }
}
