//! One scheduler for the whole set, and one that is active.

use super::{Subject, Verdict};
use crate::{constants::schedulers::KUBE, field::Error, messages};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let active = subject.environment.schedulers.as_ref();
    // Empty means the default scheduler; which one that is, only the configuration knows.
    let resolve = |name: &str| match (name, active) {
        ("", Some(active)) => Some(active.default.clone()),
        ("", None) => None,
        (name, _) => Some(name.to_owned()),
    };
    let mut first: Option<String> = None;
    let mut unresolved = None;
    for (path, clique) in subject.cliques() {
        let path = path.child("spec").child("podSpec").child("schedulerName");
        let written = clique.spec.pod_spec.scheduler_name.as_deref().unwrap_or_default();
        if written == KUBE {
            verdict.errors.push(Error::invalid(path, written, messages::KUBE_SCHEDULER));
            continue;
        }
        let Some(name) = resolve(written) else {
            unresolved = Some(path);
            continue;
        };
        match active {
            Some(active) if active.get(&name).is_none() => {
                let detail = format!(
                    "this scheduler is not active. Active schedulers: {}. Use one of them, or add a profile to the operator configuration",
                    active.names().join(", ")
                );
                verdict.errors.push(Error::invalid(path, written, detail));
                continue;
            }
            None if first.is_none() => {
                verdict.warn(
                    path.clone(),
                    "not checked whether this scheduler is active: pass the operator configuration with --config",
                );
            }
            _ => {}
        }
        match &first {
            None => first = Some(name),
            Some(first) if *first != name => {
                let detail = format!("{}; the first clique uses {first:?}", messages::MIXED_SCHEDULERS);
                verdict.errors.push(Error::invalid(path, written, detail));
            }
            Some(_) => {}
        }
    }
    if let (Some(path), Some(name)) = (unresolved, first) {
        let text = format!("not checked: no scheduler is named here, so {name:?} has to be the default one");
        verdict.warn(path, text);
    }
}
