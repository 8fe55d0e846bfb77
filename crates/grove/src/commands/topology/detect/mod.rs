//! `grove topology detect`: what a topology could be, by the labels of the nodes.
//!
//! `labels` says which labels may be levels, `chain` which of them fit together, `manifest` writes it down.

mod chain;
mod labels;
mod manifest;

use std::io;

use clap::{Args, ValueEnum};
use grove_api::limits::MAX_NAME_LENGTH;

use self::chain::Chain;
use super::{Answer, RESOURCE, facts::Node, known::HOST, read, text::counted};
use crate::{
    cli::Outcome,
    cluster::{Cluster, Reach},
    columns::line,
    program,
};

/// Propose a ClusterTopologyBinding from node labels.
///
/// Considers nodes that offer the resource, or all nodes if none does. Uses well-known topology labels (of Kubernetes,
/// clouds and Topograph) and others with similar names, if they nest: each domain of a narrower level is in exactly one
/// domain of the broader level. Prints the manifest to standard output and omitted labels to standard error. Read-only.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove topology detect > topology.yaml\n  \
    grove topology detect --name gb200 | kubectl apply -f -\n\n\
    Exit codes: 0 success, 1 no topology labels found, 2 the cluster cannot be reached.")]
pub(super) struct Detect {
    /// Name of the ClusterTopologyBinding.
    #[arg(long, default_value = "cluster", value_parser = object_name)]
    name: String,

    /// Consider only nodes that offer this resource.
    #[arg(long, value_name = "NAME", default_value = RESOURCE)]
    resource: String,

    /// Output format.
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,

    #[command(flatten)]
    pub(super) reach: Reach,
}

/// How a manifest is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Output {
    /// YAML, with the reasons as comments.
    #[default]
    Yaml,
    /// JSON.
    Json,
}

impl Detect {
    pub(super) async fn answer(&self, cluster: &Cluster) -> io::Result<Answer> {
        let nodes = read::nodes(cluster, &self.resource).await?;
        self.proposal(&nodes)
    }

    fn proposal(&self, nodes: &[Node]) -> io::Result<Answer> {
        let offering: Vec<&Node> = nodes.iter().filter(|it| !it.allocatable.is_zero()).collect();
        let (nodes, of) = match offering.len() {
            0 => (nodes.iter().collect(), String::new()),
            _ => (offering, format!(" with {}", self.resource)),
        };
        let looked_at = format!("{}{of}", counted(nodes.len(), "node"));
        let chain = Chain::of(&nodes);
        let mut stderr = String::new();
        for note in chain.notes() {
            line(&mut stderr, &format!("note: {note}"));
        }
        if chain.levels.iter().all(|it| it.key == HOST) {
            let nothing = format!(
                "{}: no label says where nodes are, but for hosts: looked at {looked_at}; label them, such as \
                 `kubectl label node NODE topology.kubernetes.io/rack=RACK`, and ask again",
                program::name()
            );
            line(&mut stderr, &nothing);
            return Ok(Answer { stdout: String::new(), stderr, outcome: Outcome::Findings });
        }
        let stdout = match self.output {
            Output::Yaml => manifest::yaml(&self.name, &looked_at, &chain.levels),
            Output::Json => serde_json::to_string_pretty(&manifest::json(&self.name, &chain.levels))
                .map(|it| format!("{it}\n"))
                .map_err(io::Error::other)?,
        };
        Ok(Answer { stdout, stderr, outcome: Outcome::Success })
    }
}

/// What Kubernetes takes for the name of an object, so that the manifest can be applied.
fn object_name(text: &str) -> Result<String, String> {
    let part = |it: &str| {
        let inner = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
        !it.is_empty() && it.chars().all(inner) && !it.starts_with('-') && !it.ends_with('-')
    };
    if text.len() > MAX_NAME_LENGTH || !text.split('.').all(part) {
        return Err("names are made of lower case letters, digits, '-' and '.', and begin and end with a letter or digit"
            .to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests;
