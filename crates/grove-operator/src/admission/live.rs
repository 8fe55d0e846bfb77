//! The one question that admission asks the API server: whether a topology exists, with the levels, that the caches do not have.
//!
//! A client that applies a ClusterTopologyBinding and a set together may be faster than the watch that fills the cache. So
//! a set is not refused for a topology that "does not exist", or for a level that it "does not have", before the API server has said so too. Nothing else waits for it.

use futures::future::BoxFuture;
use grove_api::{
    field::ErrorKind,
    manifest::without_nulls,
    validation::Environment,
    wire::{ClusterTopologyBinding, PodCliqueSet, TopologyLevel},
};
use grove_plan::topology::topology_name;
use grove_runtime::object_name::is_dns_subdomain;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
};
use tracing::warn;

use super::{
    review::{Operation, Request},
    verdict::Verdict,
};
use crate::kueue::decoded;

/// A topology as the API server has it.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveTopology {
    /// A ClusterTopologyBinding with these levels.
    Binding(Vec<TopologyLevel>),
    /// A Topology of Kueue with these levels.
    Kueue(Vec<TopologyLevel>),
}

/// The answer to the question; `None` where there is no such topology, or nobody can tell.
pub type Lookup<'a> = BoxFuture<'a, Option<LiveTopology>>;

impl LiveTopology {
    /// Makes it known to the rules.
    pub(super) fn add_to(self, environment: &mut Environment, name: &str) {
        let (map, levels) = match self {
            Self::Binding(levels) => (&mut environment.topologies, levels),
            Self::Kueue(levels) => {
                // A binding goes before, and there is none any more.
                environment.topologies.remove(name);
                (&mut environment.kueue_topologies, levels)
            }
        };
        map.insert(name.to_owned(), levels);
    }
}

/// Fields that name a level.
const LEVELS: [&str; 4] = [".pack.required", ".pack.preferred", ".topologyKey", ".topologyDomain"];

/// The topology that a set is refused for because it, or a level of it, is not in the cache.
pub(super) fn unknown_topology(request: &Request, verdict: &Verdict) -> Option<String> {
    let mut errors = verdict.denial.iter().flat_map(|it| &it.errors);
    let is_unknown = errors.any(|it| {
        let path = it.path.to_string();
        match it.kind {
            ErrorKind::NotFound => path.ends_with(".topologyName"),
            ErrorKind::Invalid => LEVELS.iter().any(|level| path.ends_with(level)),
            _ => false,
        }
    });
    if !is_unknown || !matches!(request.operation, Operation::Create | Operation::Update) {
        return None;
    }
    let set: PodCliqueSet = serde_json::from_value(without_nulls(&request.object)).ok()?;
    // It becomes a part of a path: a user must not choose what else is read there.
    topology_name(&set).filter(|it| is_dns_subdomain(it)).map(str::to_owned)
}

/// Asks the API server. `kueue` is the kind of Kueue's Topologies, where they are served.
pub(super) async fn read(client: Client, kueue: Option<ApiResource>, name: &str) -> Option<LiveTopology> {
    let asked = async {
        let bindings: Api<ClusterTopologyBinding> = Api::all(client.clone());
        if let Some(binding) = bindings.get_opt(name).await? {
            return Ok(Some(LiveTopology::Binding(binding.spec.levels)));
        }
        let Some(resource) = kueue else { return Ok(None) };
        let topologies: Api<DynamicObject> = Api::all_with(client, &resource);
        let topology = topologies.get_opt(name).await?;
        Ok(topology.map(|it| LiveTopology::Kueue(decoded(&it).spec.levels())))
    };
    asked.await.unwrap_or_else(|error: kube::Error| {
        warn!(topology = name, %error, "cannot ask the API server for a topology; by the cache, it does not exist");
        None
    })
}
