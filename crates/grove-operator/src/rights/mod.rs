//! What the operator may do in a cluster, and why.
//!
//! `table` says what each part of the operator asks for; a configuration decides which parts there are and what the
//! objects are called. `schedulers` adds what the scheduler backends say of themselves. Roles, the documentation and the
//! scenarios are made from the result.

mod schedulers;
mod table;
#[cfg(test)]
mod tests;

use grove_api::config::{CertProvisionMode, OperatorConfiguration};
use grove_scheduler::ResourceUse;

pub use self::schedulers::used_by;
use self::table::{Row, TABLE, Where, Which};

/// A part of the operator that needs rights of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// What becomes of a PodCliqueSet.
    Workloads,
    /// Placement by topology.
    Topology,
    /// What the schedulers are told, and what is known of them.
    Schedulers,
    /// Nodes that are lost, and the domains that nodes are in.
    Nodes,
    /// Which of several operators works.
    LeaderElection,
    /// A webhook certificate that the operator makes itself.
    Certificates,
    /// The same for the authorizer's webhook.
    AuthorizerCertificate,
}

impl Feature {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Workloads => "workloads",
            Self::Topology => "topology",
            Self::Schedulers => "schedulers",
            Self::Nodes => "nodes",
            Self::LeaderElection => "leader election",
            Self::Certificates => "certificates",
            Self::AuthorizerCertificate => "authorizer",
        }
    }

    /// Whether an operator with this configuration has the part.
    fn is_on(self, config: &OperatorConfiguration) -> bool {
        let makes_certificates = config.server.webhooks.cert_provision_mode == CertProvisionMode::Auto;
        match self {
            Self::Workloads | Self::Topology | Self::Schedulers => true,
            Self::Nodes => config.node_loss.enabled || config.topology_aware(),
            Self::LeaderElection => config.leader_election.enabled,
            Self::Certificates => makes_certificates,
            Self::AuthorizerCertificate => makes_certificates && config.authorizer.enabled,
        }
    }
}

/// Where a right holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the whole cluster.
    Cluster,
    /// In this namespace.
    Namespace(String),
}

/// Something that the operator may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Right {
    /// The part of the operator that needs it.
    pub feature: Feature,
    /// Where it holds.
    pub place: Place,
    /// API group; empty for the core group.
    pub group: String,
    /// Resources, with their subresource: `podcliques/status`.
    pub resources: Vec<String>,
    /// Names of the objects; empty for all.
    pub names: Vec<String>,
    /// Verbs.
    pub verbs: &'static [&'static str],
    /// What for.
    pub reason: &'static str,
}

/// The rights of an operator with this configuration that runs in `namespace`, with backends that use `uses`.
pub fn rights(config: &OperatorConfiguration, namespace: &str, uses: &[ResourceUse]) -> Vec<Right> {
    let rows = TABLE.iter().filter(|row| row.feature.is_on(config));
    let mut rights: Vec<Right> = rows.map(|row| row.right(config, namespace)).collect();
    rights.extend(schedulers::rights(uses));
    // Stable: within a part, the order is that of the table, then that of the backends.
    rights.sort_by_key(|it| it.feature);
    rights
}

impl Row {
    fn right(&self, config: &OperatorConfiguration, namespace: &str) -> Right {
        let lease = &config.leader_election;
        let place = match self.place {
            Where::Cluster => Place::Cluster,
            Where::Own => Place::Namespace(namespace.to_owned()),
            Where::Lease if lease.resource_namespace.is_empty() => Place::Namespace(namespace.to_owned()),
            Where::Lease => Place::Namespace(lease.resource_namespace.clone()),
        };
        let names = match self.which {
            Which::Any => Vec::new(),
            Which::Named(names) => names.iter().map(|it| (*it).to_owned()).collect(),
            Which::Lease => vec![lease.resource_name.clone()],
            Which::Certificate => vec![config.server.webhooks.secret_name.clone()],
        };
        let Self { feature, group, resources, verbs, reason, .. } = *self;
        let resources = resources.iter().map(|it| (*it).to_owned()).collect();
        Right { feature, place, group: group.to_owned(), resources, names, verbs, reason }
    }
}
