//! What a gang may ask of a scheduler, and what a scheduler answers, feature by feature.

/// Declares the features and the table of answers together: a backend that answers all but one does not compile.
macro_rules! features {
    ($($(#[doc = $doc:literal])+ $variant:ident, $field:ident, $name:literal;)+) => {
        /// Something that a gang may ask for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Feature {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in status, tables and messages.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What it is, in a sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }

        /// The answers of one backend to all features.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Capabilities {
            $($(#[doc = $doc])+ pub $field: Answer,)+
        }

        impl Capabilities {
            /// The answer to one feature.
            pub fn of(&self, feature: Feature) -> Answer {
                match feature {
                    $(Feature::$variant => self.$field,)+
                }
            }
        }
    };
}

features! {
    /// One group of pods of which a minimum is placed together.
    SingleGroupGang, single_group_gang, "SingleGroupGang";
    /// Several groups, each with a minimum of its own, placed all or none.
    MultiGroupGang, multi_group_gang, "MultiGroupGang";
    /// Bundles of groups inside of a gang, for example the replicas of a scaling group.
    HierarchicalGang, hierarchical_gang, "HierarchicalGang";
    /// Pods above the minimum are placed as room allows.
    BestEffortAboveMinimum, best_effort_above_minimum, "BestEffortAboveMinimum";
    /// The minimum of a gang that runs is changed.
    MinimumChange, minimum_change, "MinimumChange";
    /// The whole gang in one domain of a topology level.
    RequiredTopologyGang, required_topology_gang, "RequiredTopologyGang";
    /// A bundle of groups in one domain of a topology level.
    RequiredTopologyBundle, required_topology_bundle, "RequiredTopologyBundle";
    /// The pods of one group in one domain of a topology level.
    RequiredTopologyGroup, required_topology_group, "RequiredTopologyGroup";
    /// Required levels inside of one another.
    NestedRequiredTopology, nested_required_topology, "NestedRequiredTopology";
    /// Packing by a level where it is possible.
    PreferredTopology, preferred_topology, "PreferredTopology";
    /// A required and a preferred level for the same pods.
    RequiredAndPreferredTopology, required_and_preferred_topology, "RequiredAndPreferredTopology";
    /// A PriorityClass of the gang.
    PriorityClass, priority_class, "PriorityClass";
    /// The gang makes room for itself as a whole.
    GangPreemptor, gang_preemptor, "GangPreemptor";
    /// The gang gives room as a whole or not at all.
    GangVictim, gang_victim, "GangVictim";
    /// Capacity of a former gang is taken over.
    ReservationReuse, reservation_reuse, "ReservationReuse";
    /// What is scaled out follows when its base gang is placed.
    ScaledAfterBase, scaled_after_base, "ScaledAfterBase";
    /// A queue or tenant of the scheduler.
    Queue, queue, "Queue";
    /// The scheduler says what became of the gang.
    GroupStatus, group_status, "GroupStatus";
}

/// What a backend does about one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The scheduler does it.
    Native,
    /// It is done by other means, which are these.
    Emulated(&'static str),
    /// It is not possible, for this reason: a set that asks for it is refused.
    Reject(&'static str),
    /// It is not possible, for this reason: a set that asks for it runs without, and a condition says so.
    Pass(&'static str),
}

impl Answer {
    /// Whether a gang that asks for it gets it.
    pub fn is_supported(self) -> bool {
        matches!(self, Self::Native | Self::Emulated(_))
    }

    /// How it is emulated, or why it is not possible.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::Native => None,
            Self::Emulated(note) | Self::Reject(note) | Self::Pass(note) => Some(note),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_name_of_its_own_and_a_sentence() {
        for (number, feature) in Feature::ALL.iter().enumerate() {
            assert!(feature.about().ends_with('.'), "{feature:?}");
            assert!(Feature::ALL[..number].iter().all(|it| it.name() != feature.name()), "{feature:?}");
        }
    }
}
