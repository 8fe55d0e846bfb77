//! Rights of the scheduler backends, made from what each says that it reads and writes.

use grove_api::config::SchedulerProfiles;
use grove_scheduler::{Registry, ResourceUse, Uses};

use super::{Feature, Place, Right};

const READS: &[&str] = &["list", "watch"];
/// A dry run is a create too, as far as rights go; what is applied is created and patched.
const WRITES: &[&str] = &["list", "watch", "create", "patch", "delete"];

/// What the backends use that are active with these profiles. That an API is not served does not matter: a right to
/// nothing is harmless, and it may be installed later.
pub fn used_by(registry: &Registry, profiles: &SchedulerProfiles) -> Vec<ResourceUse> {
    registry.active(profiles).flat_map(|(backend, config)| backend.resources(config)).collect()
}

/// One right for each resource, whatever its version and however many backends use it: the larger one counts.
pub(super) fn rights(uses: &[ResourceUse]) -> Vec<Right> {
    let mut rights: Vec<Right> = Vec::new();
    for ResourceUse { resource, uses, reason } in uses {
        let verbs = match uses {
            Uses::Reads => READS,
            Uses::Writes => WRITES,
        };
        let known =
            rights.iter_mut().find(|it| it.group == resource.group && it.resources == [&*resource.plural]);
        match known {
            Some(right) if right.verbs == WRITES || verbs == READS => {}
            Some(right) => (right.verbs, right.reason) = (verbs, reason),
            None => rights.push(Right {
                feature: Feature::Schedulers,
                place: Place::Cluster,
                group: resource.group.clone(),
                resources: vec![resource.plural.clone()],
                names: Vec::new(),
                verbs,
                reason,
            }),
        }
    }
    rights
}

#[cfg(test)]
mod tests {
    use grove_api::config;
    use grove_scheduler::builtin::builtin;
    use kube::core::{ApiResource, GroupVersionKind};
    use serde_json::{Value, json};

    use super::*;

    fn uses(version: &str, kind: &str, uses: Uses, reason: &'static str) -> ResourceUse {
        let kind = GroupVersionKind::gvk("example.com", version, kind);
        ResourceUse { resource: ApiResource::from_gvk(&kind), uses, reason }
    }

    /// Resource, verbs and reason.
    fn rows(uses: &[ResourceUse]) -> Vec<(String, &'static [&'static str], &'static str)> {
        rights(uses).into_iter().map(|it| (it.resources.join(","), it.verbs, it.reason)).collect()
    }

    #[test]
    fn a_backend_may_do_what_it_says_and_no_more() {
        let rows = rows(&[uses("v1", "Queue", Uses::Reads, "q"), uses("v1", "Gang", Uses::Writes, "g")]);
        assert_eq!(
            rows,
            [
                ("queues".to_owned(), &["list", "watch"][..], "q"),
                ("gangs".to_owned(), &["list", "watch", "create", "patch", "delete"][..], "g"),
            ]
        );
    }

    #[test]
    fn of_two_who_use_one_resource_the_larger_right_counts() {
        let (reads, writes) = (uses("v1", "Gang", Uses::Reads, "r"), uses("v2", "Gang", Uses::Writes, "w"));
        for both in [[reads.clone(), writes.clone()], [writes, reads]] {
            assert_eq!(rows(&both), [("gangs".to_owned(), WRITES, "w")]);
        }
    }

    /// Groups of what backends use with these profiles.
    fn groups(scheduler: &Value) -> Vec<String> {
        let value = json!({
            "apiVersion": config::API_VERSION, "kind": config::KIND, "scheduler": scheduler,
        });
        let registry = builtin();
        let loaded = registry.with_known(|known| config::load(&value, known)).unwrap();
        let mut groups: Vec<_> =
            used_by(&registry, &loaded.profiles).into_iter().map(|it| it.resource.group).collect();
        groups.sort();
        groups.dedup();
        groups
    }

    #[test]
    fn only_active_backends_have_rights() {
        assert_eq!(groups(&json!({})), ["scheduling.k8s.io"]);
        let off = json!({ "name": "kube-scheduler", "config": { "gangScheduling": false } });
        assert_eq!(groups(&json!({ "profiles": [off] })), Vec::<String>::new());
        let kai = json!({ "profiles": [{ "name": "kai-scheduler" }], "defaultProfileName": "kai-scheduler" });
        assert_eq!(groups(&kai), ["kai.scheduler", "scheduling.k8s.io", "scheduling.run.ai"]);
    }
}
