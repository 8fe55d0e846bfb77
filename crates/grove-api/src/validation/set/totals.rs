//! How many pods a set makes. Numbers are the user's, so all arithmetic is checked.

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Path},
    limits::{MAX_PODS_PER_GANG, MAX_PODS_PER_SET},
    wire::SetTemplate,
};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let (base_gang, replica) = pods_of_replica(subject.template());
    if base_gang > MAX_PODS_PER_GANG {
        let detail = format!("the gang of one replica may have at most {MAX_PODS_PER_GANG} pods");
        verdict.errors.push(Error::invalid(template_path().child("cliques"), base_gang, detail));
    }
    let replicas = u64::try_from(subject.set.spec.replicas).unwrap_or(0);
    let total = replicas.saturating_mul(replica);
    if total > MAX_PODS_PER_SET {
        let detail = format!(
            "with {replica} pods in each replica the set would have {total} pods; at most {MAX_PODS_PER_SET} are allowed"
        );
        verdict.errors.push(Error::invalid(Path::of(&["spec", "replicas"]), replicas, detail));
    }
}

/// Pods of the base gang, and of a whole replica. Saturates; negative numbers, a finding of their own, count as 0.
fn pods_of_replica(template: &SetTemplate) -> (u64, u64) {
    let count = |it: Option<i32>| u64::try_from(it.unwrap_or(1)).unwrap_or(0);
    let (mut base, mut all) = (0u64, 0u64);
    for clique in &template.cliques {
        let pods = count(clique.spec.replicas);
        let (in_base, in_all) = match template.group_of(&clique.name) {
            None => (1, 1),
            Some(group) => (count(group.min_available), count(group.replicas)),
        };
        base = base.saturating_add(pods.saturating_mul(in_base));
        all = all.saturating_add(pods.saturating_mul(in_all));
    }
    (base, all)
}
