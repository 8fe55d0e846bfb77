//! The scheduler of gangs, where it has objects of its own for them.

use crate::random::Random;

/// A scheduler with objects for gangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// The stock scheduler with one PodGroup for each gang.
    KubeFlat,
    /// The stock scheduler with CompositePodGroups.
    KubeTree,
    /// KAI, with its PodGroups and its topology.
    Kai,
}

impl Backend {
    pub(super) fn random(random: &mut Random) -> Self {
        *random.pick(&[Self::KubeFlat, Self::KubeTree, Self::Kai]).unwrap_or(&Self::KubeFlat)
    }
}
