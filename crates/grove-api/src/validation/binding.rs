//! Rules for a ClusterTopologyBinding.

use std::collections::BTreeSet;

use super::{Environment, Verdict};
use crate::{
    field::{Error, Path},
    wire::ClusterTopologyBinding,
};

/// Checks a ClusterTopologyBinding on create and update; deleting is never refused.
pub fn validate_topology_binding(binding: &ClusterTopologyBinding, environment: &Environment) -> Verdict {
    let mut verdict = Verdict::default();
    let spec = Path::of(&["spec"]);
    let (mut domains, mut keys, mut schedulers) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (index, level) in binding.spec.levels.iter().enumerate() {
        let path = spec.child("levels").index(index);
        if !domains.insert(&level.domain) {
            verdict.errors.push(Error::duplicate(path.child("domain"), &level.domain));
        }
        if !keys.insert(&level.key) {
            verdict.errors.push(Error::duplicate(path.child("key"), &level.key));
        }
    }
    for (index, entry) in binding.spec.scheduler_topology_bindings.iter().enumerate() {
        let path = spec.child("schedulerTopologyBindings").index(index).child("schedulerName");
        let name = &entry.scheduler_name;
        if !schedulers.insert(name) {
            verdict.errors.push(Error::duplicate(path.clone(), name));
        }
        let Some(active) = &environment.schedulers else {
            verdict.warn(path, "not checked: which schedulers are active is in the operator configuration");
            continue;
        };
        match active.get(name) {
            None => verdict.errors.push(Error::invalid(
                path,
                name,
                format!("this scheduler is not active; active are: {}", active.names().join(", ")),
            )),
            Some(it) if !it.topology_aware => verdict.errors.push(Error::invalid(
                path,
                name,
                "this scheduler has no topology objects of its own: remove the entry",
            )),
            Some(_) => {}
        }
    }
    verdict
}
