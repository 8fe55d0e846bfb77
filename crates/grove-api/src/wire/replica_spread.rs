//! How far apart the replicas of a set are placed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::MAX_NAME_LENGTH;

/// Places the replicas of a set in different domains of a topology. A change holds for replicas that are made from then on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSpread {
    /// The topology whose level it is. Needed where the template names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME_LENGTH))]
    pub topology_name: Option<String>,
    /// The level: pods of two replicas do not share a domain of it.
    #[schemars(length(min = 1, max = 317))]
    pub topology_domain: String,
    /// Whether a pod waits rather than to share one.
    #[serde(default)]
    pub mode: SpreadMode,
}

/// Whether replicas have to be apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum SpreadMode {
    /// Where it can be.
    #[default]
    Preferred,
    /// Pods for which there is no such domain are not placed.
    Required,
}

impl ReplicaSpread {
    /// The topology that is named; an empty name is none.
    pub fn topology(&self) -> Option<&str> {
        self.topology_name.as_deref().filter(|it| !it.is_empty())
    }
}
