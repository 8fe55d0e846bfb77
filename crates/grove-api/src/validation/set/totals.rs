//! How many pods, PodCliques and PodCliqueScalingGroups a set makes, and how large they are.

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Path, Warning},
    limits::{
        MAX_POD_CLIQUE_BYTES_PER_SET, MAX_POD_CLIQUES_PER_SET, MAX_PODS_PER_GANG, MAX_PODS_PER_SET,
        MAX_SCALING_GROUPS_PER_SET, MAX_SET_REPLICAS,
    },
    messages,
    size::{ReplicaSize, clique_bytes, replicas},
    wire::PodCliqueSet,
};

/// One gang.
pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let pods = ReplicaSize::of(subject.template()).base_pods;
    if pods > MAX_PODS_PER_GANG {
        let detail = format!("the gang of one replica may have at most {MAX_PODS_PER_GANG} pods");
        verdict.errors.push(Error::invalid(template_path().child("cliques"), pods, detail));
    }
}

/// The whole set. One that is beyond a cap already may be changed, as long as it does not grow.
pub(super) fn check_growth(subject: &Subject<'_>, old: Option<&PodCliqueSet>, verdict: &mut Verdict) {
    let set = subject.set;
    // The bound of the field itself says enough.
    if set.spec.replicas > MAX_SET_REPLICAS {
        return;
    }
    let (size, before) =
        (ReplicaSize::of(&set.spec.template), old.map(|it| ReplicaSize::of(&it.spec.template)));
    let times = |set: &PodCliqueSet, each: u64| replicas(set).saturating_mul(each);
    let is_over = |each: u64, before: Option<u64>, max: u64| {
        let total = times(set, each);
        let grows = old.zip(before).is_none_or(|(old, before)| total > times(old, before));
        (total > max && grows).then_some(total)
    };
    let path = || Path::of(&["spec", "replicas"]);
    let found = verdict.errors.len();
    for (each, before, max, message) in [
        (size.pods, before.map(|it| it.pods), MAX_PODS_PER_SET, messages::TOO_MANY_PODS),
        (size.cliques, before.map(|it| it.cliques), MAX_POD_CLIQUES_PER_SET, messages::TOO_MANY_CLIQUES),
        (size.groups, before.map(|it| it.groups), MAX_SCALING_GROUPS_PER_SET, messages::TOO_MANY_GROUPS),
    ] {
        if let Some(total) = is_over(each, before, max) {
            let detail = format!("{message} (there would be {total}, {each} in each replica)");
            verdict.errors.push(Error::invalid(path(), set.spec.replicas, detail));
        }
    }
    // Fewer PodCliques have fewer bytes.
    if verdict.errors.len() > found {
        return;
    }
    let bytes = clique_bytes(&set.spec.template);
    let bytes_before = old.map(|it| clique_bytes(&it.spec.template));
    if let Some(total) = is_over(bytes, bytes_before, MAX_POD_CLIQUE_BYTES_PER_SET) {
        verdict.errors.push(too_many_bytes(set.spec.replicas.into(), total, bytes));
    }
}

/// A set of so many replicas whose PodCliques would have `total` bytes, `each` in each replica.
pub fn too_many_bytes(replicas: i64, total: u64, each: u64) -> Error {
    let detail = format!(
        "the PodCliques of a set may have at most {MAX_POD_CLIQUE_BYTES_PER_SET} bytes: lower replicas, or make pod templates \
         smaller (there would be {total}, {each} in each replica)"
    );
    Error::invalid(Path::of(&["spec", "replicas"]), replicas, detail)
}

/// Autoscalers may make the set larger than it may be: what is beyond is not created.
pub(super) fn autoscalers(subject: &Subject<'_>) -> Option<Warning> {
    let (path, group) = subject.groups().find(|(_, group)| group.scale_config.is_some())?;
    let mut template = subject.template().clone();
    for group in &mut template.scaling_groups {
        let highest = group.scale_config.as_ref().map(|it| it.max_replicas);
        group.replicas = group.replicas.max(highest);
    }
    let total = |template| replicas(subject.set).saturating_mul(ReplicaSize::of(template).cliques);
    let (now, highest) = (total(subject.template()), total(&template));
    // What is too large by itself is refused.
    if now > MAX_POD_CLIQUES_PER_SET || highest <= MAX_POD_CLIQUES_PER_SET {
        return None;
    }
    let text = format!(
        "autoscalers may ask for {highest} PodCliques, for those of group {} among others; beyond {MAX_POD_CLIQUES_PER_SET} \
         none is created",
        group.name
    );
    Some(Warning { path: path.child("scaleConfig").child("maxReplicas"), text })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        defaulting::default_pod_clique_set,
        validation::{Environment, validate_create, validate_update},
        wire::PodCliqueSet,
    };

    /// A set whose pod template has a value of so many bytes.
    fn set(replicas: i32, bytes: usize) -> PodCliqueSet {
        let variable = json!({ "name": "A", "value": "x".repeat(bytes) });
        let pod = json!({ "containers": [{ "name": "c", "image": "i", "env": [variable] }] });
        let clique = json!({ "name": "a", "spec": { "roleName": "a", "podSpec": pod } });
        let mut set = serde_json::from_value(json!({
            "metadata": { "name": "big" },
            "spec": { "replicas": replicas, "template": { "cliques": [clique] } },
        }))
        .unwrap();
        default_pod_clique_set(&mut set, None);
        set
    }

    #[test]
    fn bytes_of_pod_cliques_have_a_cap() {
        let environment = Environment::default();
        let errors = |set: &PodCliqueSet| validate_create(set, &environment).errors;
        assert_eq!(errors(&set(600, 100_000)), []);
        let text = errors(&set(700, 100_000))[0].to_string();
        assert!(
            text.starts_with(
                "spec.replicas: Invalid value: 700: the PodCliques of a set may have at most 67108864 bytes: lower replicas, or \
                 make pod templates smaller (there would be 70"
            ),
            "{text}"
        );
        let update = |new: &PodCliqueSet, old: &PodCliqueSet| validate_update(new, old, &environment).errors;
        assert_eq!(update(&set(699, 100_000), &set(700, 100_000)), []);
        assert_eq!(update(&set(700, 99_000), &set(700, 100_000)), []);
        assert_eq!(update(&set(700, 100_001), &set(700, 100_000)).len(), 1);
    }
}
