//! Rules for the objects that Grove makes. Users reach them through `/scale`, where only the CRD's own rules hold;
//! these functions say the same offline.

use crate::{
    field::{Error, Errors, Path},
    messages,
    wire::{PodClique, PodCliqueScalingGroup},
};

/// Checks a PodClique.
pub fn validate_pod_clique(clique: &PodClique) -> Errors {
    let (spec, path) = (&clique.spec, Path::of(&["spec"]));
    let mut errors = Errors::new();
    if let (Some(min), Some(replicas)) = (spec.min_available, spec.replicas)
        && replicas != 0
        && min > replicas
    {
        let detail = format!("{} ({replicas})", messages::ABOVE_REPLICAS);
        errors.push(Error::invalid(path.child("minAvailable"), min, detail));
    }
    if let Some(config) = &spec.auto_scaling_config
        && let Some(low) = config.min_replicas.filter(|low| *low > config.max_replicas)
    {
        let path = path.child("autoScalingConfig").child("maxReplicas");
        errors.push(Error::invalid(
            path,
            config.max_replicas,
            format!("{} ({low})", messages::MAX_BELOW_MIN),
        ));
    }
    errors
}

/// Checks a PodCliqueScalingGroup.
pub fn validate_scaling_group(group: &PodCliqueScalingGroup) -> Errors {
    match group.spec.min_available {
        Some(min) if group.spec.replicas != 0 && group.spec.replicas < min => {
            let detail = format!("{} ({min})", messages::BETWEEN);
            vec![Error::invalid(Path::of(&["spec", "replicas"]), group.spec.replicas, detail)]
        }
        _ => Errors::new(),
    }
}
