//! Rules for the objects that Grove makes. Users reach them through `/scale`, where only the CRD's own rules hold;
//! these functions say the same offline.

use crate::{
    field::{Error, Errors, Path},
    limits::MAX_POD_CLIQUES_PER_SET,
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

/// Checks a PodCliqueScalingGroup, and what becomes of `old`. One that is beyond the cap already may be changed, as long as it
/// does not grow.
pub fn validate_scaling_group(group: &PodCliqueScalingGroup, old: Option<&PodCliqueScalingGroup>) -> Errors {
    let (mut errors, path) = (Errors::new(), || Path::of(&["spec", "replicas"]));
    let replicas = group.spec.replicas;
    if let Some(min) = group.spec.min_available.filter(|min| replicas != 0 && replicas < *min) {
        errors.push(Error::invalid(path(), replicas, format!("{} ({min})", messages::BETWEEN)));
    }
    let total = |it: &PodCliqueScalingGroup| {
        u64::try_from(it.spec.replicas).unwrap_or(0).saturating_mul(it.spec.clique_names.len() as u64)
    };
    let now = total(group);
    if now > MAX_POD_CLIQUES_PER_SET && old.is_some_and(|old| now > total(old)) {
        let detail = format!("{} (there would be {now} in this group alone)", messages::TOO_MANY_CLIQUES);
        errors.push(Error::invalid(path(), replicas, detail));
    }
    errors
}
