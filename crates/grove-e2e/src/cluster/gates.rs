//! Which of Kubernetes' workload features a cluster has.

/// Workload features of the API server and the scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Gates {
    /// Everything: hierarchical groups with topology.
    #[default]
    All,
    /// Flat pod groups only.
    Workload,
    /// Flat pod groups with a level of the topology.
    Levels,
    /// No pod groups.
    None,
    /// The API serves everything, and the scheduler does not know it.
    ApiOnly,
}

const ALL: &str = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,\
                   PodGroupPreemptionPolicy=true,WorkloadWithJob=true";
const WORKLOAD: &str = "GenericWorkload=true";
const LEVELS: &str = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true";
const NONE: &str = "GenericWorkload=false";

impl Gates {
    /// For the API server and the controller-manager.
    pub(super) fn api(self) -> &'static str {
        match self {
            Self::All | Self::ApiOnly => ALL,
            Self::Workload => WORKLOAD,
            Self::Levels => LEVELS,
            Self::None => NONE,
        }
    }

    /// For the scheduler.
    pub(super) fn scheduler(self) -> &'static str {
        match self {
            Self::ApiOnly => NONE,
            other => other.api(),
        }
    }
}
