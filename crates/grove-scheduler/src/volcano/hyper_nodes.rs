//! HyperNodes for the levels of a binding: one for each domain, named by its whole path.
//!
//! The narrowest are told their nodes by labels, so that a node which comes or goes costs no write; the others are told
//! the HyperNodes below them.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::{
    constants::{annotations, labels},
    wire::ClusterTopologyBinding,
};
use kube::core::ApiResource;
use serde_json::{Map, Value, json};

use crate::{backend::Object, domains::Domains, topology::TopologyTree};

/// Most HyperNodes that are made for a binding.
const MOST: usize = 2_000;
/// As with Volcano's own label discovery, a node is no HyperNode: Volcano would try each of them before any rack.
const HOST: &str = "kubernetes.io/hostname";
/// Longest part of a HyperNode's name that is there for people.
const MAX_READABLE: usize = 40;

/// Volcano's topology objects.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyperNodes;

/// The values of a domain and of those around it, the broadest first.
type Path<'a> = &'a [String];

impl TopologyTree for HyperNodes {
    fn resource(&self) -> ApiResource {
        super::hyper_nodes()
    }

    fn render(&self, binding: &ClusterTopologyBinding, domains: &Domains) -> Result<Vec<Object>, String> {
        let keys = keys(binding);
        let mut tree: BTreeMap<Path<'_>, BTreeSet<Path<'_>>> = BTreeMap::new();
        for path in domains.paths() {
            for depth in 1..=keys.len().min(path.len()) {
                let below = tree.entry(&path[..depth]).or_default();
                below.extend((depth < keys.len()).then(|| &path[..=depth]));
            }
        }
        if tree.len() > MOST {
            return Err(format!(
                "there are {} domains, and HyperNodes are made for {MOST} at most: take the narrowest level out of spec.levels, \
                 or make HyperNodes yourself and name volcano in spec.schedulerTopologyBindings",
                tree.len()
            ));
        }
        Ok(tree.iter().map(|(path, below)| hyper_node(binding, &keys, path, below)).collect())
    }

    fn drift(&self, binding: &ClusterTopologyBinding, there: &[Value]) -> Option<String> {
        let mut around: Option<(&str, i64)> = None;
        for key in keys(binding) {
            let specs = there.iter().map(|it| &it["spec"]).filter(|it| it["tierName"] == key);
            let tiers: BTreeSet<i64> = specs.filter_map(|it| it["tier"].as_i64()).collect();
            let tier = match (tiers.first(), tiers.len()) {
                (Some(tier), 1) => *tier,
                (None, _) => return Some(format!("no HyperNode has the tierName {key:?}")),
                _ => return Some(format!("HyperNodes of different tiers have the tierName {key:?}")),
            };
            if let Some((broader, above)) = around.filter(|it| it.1 <= tier) {
                return Some(format!(
                    "HyperNodes of {broader:?} are of tier {above}, and those of {key:?}, which is narrower, of tier {tier}"
                ));
            }
            around = Some((key, tier));
        }
        None
    }
}

/// The node labels that HyperNodes are made for, the broadest first.
fn keys(binding: &ClusterTopologyBinding) -> Vec<&str> {
    let mut keys: Vec<&str> = binding.spec.levels.iter().map(|it| it.key.as_str()).collect();
    keys.pop_if(|it| *it == HOST);
    keys
}

fn hyper_node(
    binding: &ClusterTopologyBinding,
    keys: &[&str],
    path: Path<'_>,
    below: &BTreeSet<Path<'_>>,
) -> Object {
    let topology = binding.metadata.name.as_deref().unwrap_or_default();
    let name = |path| name(topology, keys, path);
    let domain: Map<String, Value> =
        keys.iter().zip(path).map(|(key, value)| ((*key).to_owned(), value.clone().into())).collect();
    let members: Vec<Value> = if below.is_empty() {
        vec![json!({ "type": "Node", "selector": { "labelMatch": { "matchLabels": domain } } })]
    } else {
        let member = |it| json!({ "type": "HyperNode", "selector": { "exactMatch": { "name": name(it) } } });
        below.iter().map(|it| member(*it)).collect()
    };
    let mut marks = domain;
    marks.insert(labels::MANAGED_BY.to_owned(), labels::MANAGED_BY_VALUE.into());
    let resource = super::hyper_nodes();
    let value = json!({
        "apiVersion": resource.api_version, "kind": resource.kind,
        "metadata": {
            "name": name(path), "labels": marks, "annotations": { annotations::TOPOLOGY_NAME: topology },
        },
        "spec": {
            "tier": keys.len() - path.len() + 1,
            "tierName": keys.get(path.len() - 1),
            "members": members,
        },
    });
    Object { resource, value, once: Vec::new(), immutable: Vec::new() }
}

/// The last value for people, and a hash of everything for all others. The levels are in it, so that with other levels the
/// tree is another one: Volcano does not take a HyperNode that goes from one parent to another.
fn name(topology: &str, keys: &[&str], path: Path<'_>) -> String {
    let value = path.last().map(String::as_str).unwrap_or_default().to_ascii_lowercase();
    let readable: String = value
        .chars()
        .map(|it| if it.is_ascii_alphanumeric() { it } else { '-' })
        .take(MAX_READABLE)
        .collect();
    let readable = Some(readable.trim_matches('-')).filter(|it| !it.is_empty()).unwrap_or("domain");
    let values = path.iter().map(String::as_str);
    // FNV-1a, 64 bit. No name, label or value has a zero byte.
    let text = [topology].into_iter().chain(keys.iter().copied()).chain([""]).chain(values);
    let bytes = text.flat_map(|it| it.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{readable}-{hash:016x}")
}
