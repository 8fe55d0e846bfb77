//! What a pod template may not say.

use super::{Subject, Verdict};
use crate::{field::Error, messages, validation::pod};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    for (path, clique) in subject.cliques() {
        let path = path.child("spec").child("podSpec");
        pod::check(&clique.spec.pod_spec, &path, &mut verdict.errors);
    }
}

pub(super) fn check_new(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    for (path, clique) in subject.cliques() {
        let path = path.child("spec").child("podSpec");
        let pod = &clique.spec.pod_spec;
        if let Some(spread) = &pod.topology_spread_constraints {
            errors.push(Error::invalid(
                path.child("topologySpreadConstraints"),
                spread,
                messages::SPREAD_SET,
            ));
        }
        if let Some(node) = &pod.node_name {
            errors.push(Error::invalid(path.child("nodeName"), node, messages::NODE_NAME_SET));
        }
    }
}
