//! What the installed Volcano understands, read from its CRDs and HyperNodes.

use std::collections::{BTreeMap, BTreeSet};

use kube::core::GroupVersionResource;
use serde_json::json;

use crate::{
    backend::Example,
    probe::{Probe, Probed},
};

const DEFINITION: &str = "podgroups.scheduling.volcano.sh";
const VERSION: &str = "v1beta1";

const TOO_OLD_FOR_LEVELS: &str = "Volcano before 1.14 does not support topology levels";
pub(super) const TOO_OLD_FOR_GROUPS: &str = "Volcano before 1.14 cannot place a part of a gang on its own";
const NO_HYPER_NODES: &str = "the cluster has no HyperNodes, from which Volcano knows its topology";

/// What Volcano knows of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tiers {
    /// There are no HyperNodes.
    None,
    /// There may be some; which ones could not be read.
    Unread,
    /// By name: the tiers that are called so.
    Named(BTreeMap<String, BTreeSet<i64>>),
}

/// What the installed Volcano understands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Groups have policies of their own.
    pub(super) sub_groups: bool,
    /// A PodGroup may be placed by the network.
    pub(super) network: bool,
    /// The tier may be given by name.
    pub(super) tier_names: bool,
    pub(super) tiers: Tiers,
}

pub(super) fn probes() -> Vec<Probe> {
    vec![
        Probe::Definition(DEFINITION.to_owned()),
        Probe::Served(hyper_nodes()),
        Probe::Objects(hyper_nodes()),
    ]
}

fn hyper_nodes() -> GroupVersionResource {
    GroupVersionResource::gvr("topology.volcano.sh", "v1alpha1", "hypernodes")
}

/// Releases that differ, with and without HyperNodes.
pub(super) fn examples() -> Vec<Example> {
    const NEW: &[&str] = &[
        "spec.subGroupPolicy[].minSubGroups",
        "spec.networkTopology.mode",
        "spec.networkTopology.highestTierName",
    ];
    let release = |fields: &[&str]| Probed::default().with_fields(DEFINITION, VERSION, fields);
    let in_racks = |cluster: Probed| {
        let rack = json!({ "spec": { "tier": 1, "tierName": "topology.example.com/rack" } });
        cluster.with_served(&hyper_nodes(), true).with_objects(&hyper_nodes(), vec![rack])
    };
    let example = |title, cluster| Example { title, cluster };
    vec![
        example("1.14 or newer, with HyperNodes", in_racks(release(NEW))),
        example("1.14 or newer, without HyperNodes", release(NEW)),
        example("1.12 or 1.13, with HyperNodes", in_racks(release(&["spec.networkTopology.mode"]))),
        example("before 1.12", release(&["spec.minTaskMember"])),
    ]
}

impl Form {
    pub(super) fn of(cluster: &Probed) -> Result<Self, String> {
        if cluster.schema(DEFINITION, VERSION).is_none() {
            return Err(format!(
                "the cluster has no CRD {DEFINITION} that serves {VERSION}: install Volcano"
            ));
        }
        let has = |path: &[&str]| cluster.has_field(DEFINITION, VERSION, path);
        Ok(Self {
            sub_groups: has(&["spec", "subGroupPolicy", "[]", "minSubGroups"]),
            network: has(&["spec", "networkTopology", "mode"]),
            tier_names: has(&["spec", "networkTopology", "highestTierName"]),
            tiers: tiers(cluster),
        })
    }

    /// The releases that look like this.
    pub(super) fn version(&self) -> &'static str {
        match (self.sub_groups, self.network) {
            (true, _) => "1.14 or newer",
            (false, true) => "1.12 or 1.13",
            (false, false) => "before 1.12",
        }
    }

    /// Why HyperNodes would not do.
    pub(super) fn lacks_names(&self) -> Option<&'static str> {
        (!self.tier_names).then_some(TOO_OLD_FOR_LEVELS)
    }

    /// Why nothing can be placed by a level at all.
    pub(super) fn lacks_levels(&self) -> Option<&'static str> {
        let without = (self.tiers == Tiers::None).then_some(NO_HYPER_NODES);
        self.lacks_names().or(without)
    }

    /// Whether Volcano itself can pack by the network, whatever the level.
    pub(super) fn packs(&self) -> bool {
        self.network && self.tiers != Tiers::None
    }

    /// The tier of the level of this node label, by which label discovery names it; nothing where nobody could read it.
    pub(super) fn tier(&self, key: &str) -> Result<Option<i64>, String> {
        if let Some(why) = self.lacks_levels() {
            return Err(format!("{why}, so that {key:?} cannot be required"));
        }
        let Tiers::Named(names) = &self.tiers else { return Ok(None) };
        match names.get(key) {
            Some(tiers) if tiers.len() == 1 => Ok(tiers.first().copied()),
            Some(_) => Err(format!(
                "HyperNodes of different tiers have the tierName {key:?}, so that it means no level"
            )),
            None => {
                let known: Vec<&str> = names.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(format!("no HyperNode has the tierName {key:?}; there are: {known}"))
            }
        }
    }
}

fn tiers(cluster: &Probed) -> Tiers {
    let Some(nodes) = cluster.objects(&hyper_nodes()) else {
        return if cluster.serves(&hyper_nodes()) { Tiers::Unread } else { Tiers::None };
    };
    if nodes.is_empty() {
        return Tiers::None;
    }
    let mut names: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    for spec in nodes.iter().map(|it| &it["spec"]) {
        if let (Some(name), Some(tier)) = (spec["tierName"].as_str(), spec["tier"].as_i64()) {
            names.entry(name.to_owned()).or_default().insert(tier);
        }
    }
    names.remove("");
    Tiers::Named(names)
}
