//! Rules for the objects that Grove makes. Users reach them through `/scale`, where only the CRD's own rules hold;
//! these functions say the same offline.

use crate::{
    field::{Error, Errors, Path},
    messages,
    wire::{PodClique, PodCliqueScalingGroup},
};

/// Checks a PodClique.
pub fn validate_pod_clique(clique: &PodClique) -> Errors {
    let spec = &clique.spec;
    match (spec.min_available, spec.replicas) {
        (Some(min), Some(replicas)) if min > replicas => {
            let detail = format!("{} ({replicas})", messages::ABOVE_REPLICAS);
            vec![Error::invalid(Path::of(&["spec", "minAvailable"]), min, detail)]
        }
        _ => Errors::new(),
    }
}

/// Checks a PodCliqueScalingGroup.
pub fn validate_scaling_group(group: &PodCliqueScalingGroup) -> Errors {
    match group.spec.min_available {
        Some(min) if group.spec.replicas < min => {
            let detail = format!("{} ({min})", messages::BELOW_MIN_AVAILABLE);
            vec![Error::invalid(Path::of(&["spec", "replicas"]), group.spec.replicas, detail)]
        }
        _ => Errors::new(),
    }
}
