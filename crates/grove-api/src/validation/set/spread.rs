//! `replicaSpread`: a level of the set's topology.

use super::{Subject, Verdict, topology};
use crate::field::{Error, Path};

/// It may change at any time, so that the topology is looked at in every request.
pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let Some(spread) = &subject.set.spec.replica_spread else { return };
    let path = Path::of(&["spec", "replicaSpread"]);
    if subject.environment.topology_aware == Some(false) {
        let detail = "topology-aware scheduling is off: set topologyAwareScheduling.enabled in the operator configuration";
        verdict.errors.push(Error::invalid(path, spread, detail));
        return;
    }
    let name_path = path.child("topologyName");
    let (name, levels) = match (of_template(subject), spread.topology()) {
        (None, None) => {
            let detail = "name the topology whose level this is: the template names none";
            verdict.errors.push(Error::required(name_path, detail));
            return;
        }
        (Some(name), Some(own)) if name != own => {
            let detail = format!("a set uses one topology, and the template names {name:?}");
            verdict.errors.push(Error::invalid(name_path, own, detail));
            return;
        }
        // One that is not there is told where it is named.
        (Some(name), _) => (name, subject.environment.topology(name)),
        (None, Some(own)) => (own, topology::levels_of(subject, name_path, own, verdict)),
    };
    let Some(levels) = levels else { return };
    if !levels.iter().any(|it| it.domain == spread.topology_domain) {
        let detail = topology::no_level(name, levels.iter().map(|it| it.domain.as_str()));
        verdict.errors.push(Error::invalid(path.child("topologyDomain"), &spread.topology_domain, detail));
    }
}

/// The topology that the template names, in either way.
fn of_template<'a>(subject: &Subject<'a>) -> Option<&'a str> {
    let template = subject.template();
    let constraints = template.topology_constraints().filter_map(|it| it.topology_name.as_deref());
    let policy = template.scheduling_policy_config.as_ref().and_then(|it| it.topology());
    constraints.filter(|it| !it.is_empty()).chain(policy).next()
}
