//! How much one replica of a set consists of, by its template.
//!
//! Numbers are the user's, so all arithmetic saturates. Negative ones, a finding of their own, count as 0.

use serde::Serialize;

use crate::wire::{PodCliqueSet, ScalingGroupConfig, SetTemplate};

/// What one replica of a set consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicaSize {
    /// Pods of the base gang.
    pub base_pods: u64,
    /// Pods.
    pub pods: u64,
    /// PodCliques of the base gang.
    pub base_cliques: u64,
    /// PodCliques. A scaling group that is scaled to zero counts with its minimum, so that it can come back.
    pub cliques: u64,
    /// PodCliqueScalingGroups.
    pub groups: u64,
}

impl ReplicaSize {
    /// By the template.
    pub fn of(template: &SetTemplate) -> Self {
        let mut size = Self { groups: template.scaling_groups.len() as u64, ..Self::default() };
        for clique in &template.cliques {
            let pods = count(clique.spec.replicas);
            let (in_base, copies, pod_copies) = match template.group_of(&clique.name) {
                None => (1, 1, 1),
                Some(group) => (count(group.min_available), copies(group), count(group.replicas)),
            };
            size.base_pods = size.base_pods.saturating_add(pods.saturating_mul(in_base));
            size.pods = size.pods.saturating_add(pods.saturating_mul(pod_copies));
            size.base_cliques = size.base_cliques.saturating_add(in_base);
            size.cliques = size.cliques.saturating_add(copies);
        }
        size
    }
}

/// Replicas of a set.
pub fn replicas(set: &PodCliqueSet) -> u64 {
    u64::try_from(set.spec.replicas).unwrap_or(0)
}

/// Bytes of PodCliques: their templates as JSON, and what every PodClique has besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliqueBytes {
    /// Those of the base of one set replica.
    pub base: u64,
    /// Those of one replica of each scaling group, in the order of the template.
    pub members: Vec<u64>,
}

impl CliqueBytes {
    /// By the template.
    pub fn of(template: &SetTemplate) -> Self {
        /// Names, labels, owner and status.
        const BESIDES: u64 = 1024;
        let groups = &template.scaling_groups;
        let mut bytes = Self { base: 0, members: vec![0; groups.len()] };
        for clique in &template.cliques {
            let each = json_bytes(clique).saturating_add(BESIDES);
            let at = groups.iter().position(|it| it.clique_names.contains(&clique.name));
            let in_base = at.and_then(|at| groups.get(at)).map_or(1, |it| count(it.min_available));
            bytes.base = bytes.base.saturating_add(each.saturating_mul(in_base));
            if let Some(member) = at.and_then(|at| bytes.members.get_mut(at)) {
                *member = member.saturating_add(each);
            }
        }
        bytes
    }
}

/// Bytes of the PodCliques of one replica of a set.
pub fn clique_bytes(template: &SetTemplate) -> u64 {
    let bytes = CliqueBytes::of(template);
    let further = template.scaling_groups.iter().zip(bytes.members).map(|(group, member)| {
        copies(group).saturating_sub(count(group.min_available)).saturating_mul(member)
    });
    further.fold(bytes.base, u64::saturating_add)
}

/// Replicas of a scaling group that count: at least its minimum.
fn copies(group: &ScalingGroupConfig) -> u64 {
    count(group.replicas).max(count(group.min_available))
}

fn count(value: Option<i32>) -> u64 {
    u64::try_from(value.unwrap_or(1)).unwrap_or(0)
}

fn json_bytes(value: &impl Serialize) -> u64 {
    /// Counts what is written, and keeps nothing of it.
    struct Counter(u64);

    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len() as u64);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut counter = Counter(0);
    // Our types have string keys only, so that they always serialise.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
