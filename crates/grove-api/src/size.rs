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

/// Bytes of the PodCliques of one replica: their templates as JSON, and what every PodClique has besides.
pub fn clique_bytes(template: &SetTemplate) -> u64 {
    /// Names, labels, owner and status.
    const BESIDES: u64 = 1024;
    let of_clique = template.cliques.iter().map(|clique| {
        let copies = template.group_of(&clique.name).map_or(1, copies);
        json_bytes(clique).saturating_add(BESIDES).saturating_mul(copies)
    });
    of_clique.fold(0, u64::saturating_add)
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
