//! How close together something is placed, by topology domain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{MAX_LABEL_LENGTH, MAX_NAME_LENGTH};

/// Packs what it is attached to into one domain of a topology.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyConstraint {
    /// The ClusterTopologyBinding that defines the domains. Inherited from the level above where absent; where no level
    /// names one, the admin's default is filled in on create.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub topology_name: Option<String>,
    /// The domains to pack into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack: Option<TopologyPack>,
    /// Deprecated spelling of pack.required; refused on new sets.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH), regex(pattern = r"^[a-z][a-z0-9-]*$"))]
    pub pack_domain: Option<String>,
}

/// The domains to pack into.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopologyPack {
    /// Domain that has to hold: all pods in one such domain, or none is placed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH), regex(pattern = r"^[a-z][a-z0-9-]*$"))]
    pub required: Option<String>,
    /// Domain to try for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = MAX_LABEL_LENGTH), regex(pattern = r"^[a-z][a-z0-9-]*$"))]
    pub preferred: Option<String>,
}

impl TopologyConstraint {
    /// The topology that is named here; an empty name is none.
    pub fn topology(&self) -> Option<&str> {
        self.topology_name.as_deref().filter(|it| !it.is_empty())
    }

    /// The domain that has to hold, in either spelling.
    pub fn required(&self) -> Option<&str> {
        self.pack.as_ref().and_then(|pack| pack.required.as_deref()).or(self.pack_domain.as_deref())
    }

    /// The domain to try for.
    pub fn preferred(&self) -> Option<&str> {
        self.pack.as_ref().and_then(|pack| pack.preferred.as_deref())
    }
}
