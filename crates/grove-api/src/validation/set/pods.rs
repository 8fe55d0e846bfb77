//! What a pod template may not say.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Container;

use super::{Subject, Verdict, kubernetes};
use crate::{
    field::{Error, Errors, Path},
    messages,
};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let errors = &mut verdict.errors;
    for (path, clique) in subject.cliques() {
        let path = path.child("spec").child("podSpec");
        let pod = &clique.spec.pod_spec;
        if pod.containers.is_empty() {
            errors.push(Error::required(path.child("containers"), "a pod needs at least one container"));
        }
        environment(&pod.containers, &path.child("containers"), errors);
        let init = pod.init_containers.as_deref().unwrap_or_default();
        environment(init, &path.child("initContainers"), errors);
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

/// Names of environment variables: a bad one would otherwise be found only when the pod is created.
fn environment(containers: &[Container], path: &Path, errors: &mut Errors) {
    for (index, container) in containers.iter().enumerate() {
        let path = path.index(index).child("env");
        let mut seen = BTreeSet::new();
        for (index, variable) in container.env.iter().flatten().enumerate() {
            let path = path.index(index).child("name");
            if !kubernetes::is_env_name(&variable.name) {
                let detail = "must be printable ASCII characters other than '='";
                errors.push(Error::invalid(path, &variable.name, detail));
            } else if !seen.insert(&variable.name) {
                errors.push(Error::duplicate(path, &variable.name));
            }
        }
    }
}
