//! Whether and where gangs fit: each gang's minimum in the order of the plan, then the pods above the minima, as the operator
//! lets them go.

use std::{collections::BTreeMap, io};

use grove_placement::{
    Cluster, GangPod, Group, Members, Outcome, Placement, PodRequirements, gang::from_tree, place, pod,
};
use serde::Serialize;

use super::{
    objects::{Objects, PlannedGang},
    room::Room,
};

/// What becomes of a gang.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "result")]
pub(super) enum Fit {
    /// Its minimum has its place.
    #[serde(rename_all = "camelCase")]
    Fits {
        /// The domains of its parts: name, node label, value.
        domains: Vec<Domain>,
        /// Nodes of its pods, by pod.
        nodes: BTreeMap<String, String>,
        /// Pods above the minimum without a place.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        unplaced: Vec<String>,
    },
    /// Its minimum has no place, for this reason.
    NoRoom { why: String },
    /// It waits for its base gang, which does not fit.
    Waits { base: String },
    /// Too many possibilities to know.
    Unknown { tried: u64 },
}

/// Where a part of a gang is together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Domain {
    pub(super) group: String,
    pub(super) key: String,
    pub(super) value: String,
}

/// The gangs of each set in the order of the plan.
pub(super) fn place_all(room: &Room, planned: &[Objects]) -> io::Result<Vec<Vec<Fit>>> {
    let mut cluster = room.cluster.clone();
    let mut all = Vec::new();
    for objects in planned {
        let mut fits: Vec<(&PlannedGang, Fit)> = Vec::new();
        for gang in &objects.gangs {
            let base = gang.base.as_ref();
            let base =
                base.and_then(|name| fits.iter().find(|it| it.0.tree.name == *name && !it.1.is_placed()));
            let fit = match base {
                Some((base, _)) => Fit::Waits { base: base.tree.name.clone() },
                None => Placer::new(gang)?.minimum(&mut cluster),
            };
            fits.push((gang, fit));
        }
        all.push(fits);
    }
    for (gang, fit) in all.iter_mut().flatten() {
        Placer::new(gang)?.above(&mut cluster, fit);
    }
    Ok(all.into_iter().map(|it| it.into_iter().map(|it| it.1).collect()).collect())
}

impl Fit {
    pub(super) fn is_placed(&self) -> bool {
        matches!(self, Self::Fits { .. })
    }
}

struct Placer<'a> {
    gang: &'a PlannedGang,
    pods: BTreeMap<&'a str, PodRequirements>,
}

impl<'a> Placer<'a> {
    fn new(gang: &'a PlannedGang) -> io::Result<Self> {
        let read = |(name, it): (&'a String, _)| match pod::requirements(it) {
            Ok(requirements) => Ok((name.as_str(), requirements)),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, format!("pod {name}: {error}"))),
        };
        Ok(Self { gang, pods: gang.pods.iter().map(read).collect::<io::Result<_>>()? })
    }

    /// The tree to place, with pods that have their node already.
    fn tree(&self, nodes: &BTreeMap<String, String>) -> Group {
        from_tree(&self.gang.tree, |_, name| {
            let requirements = self.pods.get(name)?.clone();
            Some(GangPod { name: name.to_owned(), requirements, node: nodes.get(name).cloned() })
        })
    }

    fn minimum(&self, cluster: &mut Cluster) -> Fit {
        let mut tree = self.tree(&BTreeMap::new());
        only_minima(&mut tree);
        match place(cluster, &tree) {
            Outcome::Placed(placement) => {
                self.take(cluster, &placement);
                fits(placement)
            }
            Outcome::DoesNotFit(reason) => Fit::NoRoom { why: reason.to_string() },
            Outcome::GaveUp { tried } => Fit::Unknown { tried },
        }
    }

    /// Adds the pods above the minimum, as far as there is room.
    fn above(&self, cluster: &mut Cluster, fit: &mut Fit) {
        let Fit::Fits { nodes, unplaced, .. } = fit else { return };
        if nodes.len() == self.pods.len() {
            return;
        }
        match place(cluster, &self.tree(nodes)) {
            Outcome::Placed(placement) => {
                self.take(cluster, &placement);
                nodes.extend(placement.pods.into_iter().map(|it| (it.pod, it.node)));
                *unplaced = placement.unplaced;
            }
            // The minimum has its place: what is left over has none.
            Outcome::DoesNotFit(_) | Outcome::GaveUp { .. } => {
                let rest = self.pods.keys().filter(|it| !nodes.contains_key(**it));
                *unplaced = rest.map(|it| (*it).to_owned()).collect();
            }
        }
    }

    fn take(&self, cluster: &mut Cluster, placement: &Placement) {
        for it in &placement.pods {
            if let (Some(node), Some(pod)) = (cluster.node_mut(&it.node), self.pods.get(it.pod.as_str())) {
                node.add_pod(pod);
            }
        }
    }
}

fn fits(placement: Placement) -> Fit {
    let domain = |it: grove_placement::GroupDomain| Domain { group: it.group, key: it.key, value: it.value };
    Fit::Fits {
        domains: placement.domains.into_iter().map(domain).collect(),
        nodes: placement.pods.into_iter().map(|it| (it.pod, it.node)).collect(),
        unplaced: Vec::new(),
    }
}

/// Leaves out the pods above the minima: they go last, when the minima of all gangs have their place.
fn only_minima(group: &mut Group) {
    match &mut group.members {
        Members::Pods(pods) => pods.truncate(group.min_count as usize),
        Members::Groups(groups) => groups.iter_mut().for_each(only_minima),
    }
}

#[cfg(test)]
mod tests;
