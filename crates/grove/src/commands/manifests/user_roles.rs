//! What users may do with our kinds: rules that Kubernetes adds to its own roles `view`, `edit` and `admin`.
//!
//! Users write PodCliqueSets and scale; what is made from a set belongs to the operator, so that nobody but it writes it.
//! Kinds without a namespace concern everybody's workloads: `view` reads them where it is bound for the whole cluster, and
//! only cluster administrators write them.

use std::io;

use grove_api::constants::{GROUP, SCHEDULER_GROUP};
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};

use super::{
    Kind, Object,
    labels::{EDIT_ROLE, VIEW_ROLE, labels, metadata},
    roles::rule,
};

const READ: &[&str] = &["get", "list", "watch"];

/// Group, resources and verbs.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const SCALES: &[&str] = &["podcliquesets/scale", "podcliques/scale", "podcliquescalinggroups/scale"];

const VIEW: &[Row] = &[
    (GROUP, &["podcliquesets", "podcliques", "podcliquescalinggroups"], READ),
    (GROUP, &["podcliquesets/status", "podcliques/status", "podcliquescalinggroups/status"], &["get"]),
    (GROUP, SCALES, &["get"]),
    (SCHEDULER_GROUP, &["podgangs"], READ),
    (SCHEDULER_GROUP, &["podgangs/status"], &["get"]),
    (GROUP, &["clustertopologybindings", "schedulerbackends"], READ),
    (SCHEDULER_GROUP, &["groupingrules"], READ),
];

const EDIT: &[Row] = &[
    (GROUP, &["podcliquesets"], &["create", "update", "patch", "delete", "deletecollection"]),
    (GROUP, SCALES, &["update", "patch"]),
];

pub(super) fn objects() -> io::Result<Vec<Object>> {
    [
        // The built-in `edit` has all of `view`, and `admin` all of `edit`; said here for clusters that changed that.
        (VIEW_ROLE, "users-view-clusterrole", VIEW, &["view", "edit", "admin"][..]),
        (EDIT_ROLE, "users-edit-clusterrole", EDIT, &["edit", "admin"][..]),
    ]
    .into_iter()
    .map(|(name, component, rows, added_to)| {
        let mut labels = labels(component, name.rsplit(':').next().unwrap_or(name));
        let added = added_to.iter().map(|it| format!("rbac.authorization.k8s.io/aggregate-to-{it}"));
        labels.extend(added.map(|it| (it, "true".to_owned())));
        let role = ClusterRole {
            metadata: metadata(name, None, labels),
            rules: Some(rows.iter().map(policy_rule).collect()),
            ..ClusterRole::default()
        };
        Object::new(Kind::ClusterRole, &role)
    })
    .collect()
}

fn policy_rule((group, resources, verbs): &Row) -> PolicyRule {
    let resources: Vec<String> = resources.iter().map(|it| (*it).to_owned()).collect();
    rule(group, &resources, &[], verbs)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use grove_api::schema::{CRDS, Crd};

    use super::*;

    /// Each verb and resource that rows allow.
    fn allowed(rows: &[Row]) -> BTreeSet<(String, String)> {
        let each = rows.iter().flat_map(|(group, resources, verbs)| {
            resources.iter().flat_map(move |it| {
                let (resource, sub) = it.split_once('/').unwrap_or((it, ""));
                verbs.iter().map(move |verb| ((*verb).to_owned(), format!("{resource}.{group}/{sub}")))
            })
        });
        each.collect()
    }

    fn pair(verb: &str, resource: &str) -> (String, String) {
        (verb.to_owned(), resource.to_owned())
    }

    #[test]
    fn all_of_our_kinds_can_be_read_and_nothing_else() {
        let view = allowed(VIEW);
        for crd in &CRDS {
            for verb in READ {
                assert!(view.contains(&pair(verb, &format!("{}/", crd.name()))), "{verb} {}", crd.name());
            }
        }
        let ours: BTreeSet<String> = CRDS.iter().map(Crd::name).collect();
        for (verb, resource) in &view {
            assert!(READ.contains(&verb.as_str()), "{verb} {resource}");
            assert!(ours.contains(resource.split('/').next().unwrap()), "{resource}");
        }
    }

    /// Who edits writes sets, and scales; what the operator makes, and what concerns all namespaces, nobody writes by it.
    #[test]
    fn only_sets_are_written() {
        let mut expected: BTreeSet<_> = ["create", "update", "patch", "delete", "deletecollection"]
            .map(|verb| pair(verb, "podcliquesets.grove.io/"))
            .into();
        for kind in ["podcliquesets", "podcliques", "podcliquescalinggroups"] {
            expected.extend(["update", "patch"].map(|verb| pair(verb, &format!("{kind}.grove.io/scale"))));
        }
        assert_eq!(allowed(EDIT), expected);
    }

    #[test]
    fn roles_are_added_to_those_of_kubernetes() {
        let added_to: Vec<Vec<String>> = objects()
            .unwrap()
            .iter()
            .map(|it| {
                let labels = it.value["metadata"]["labels"].as_object().unwrap();
                let prefix = "rbac.authorization.k8s.io/aggregate-to-";
                labels.keys().filter_map(|it| it.strip_prefix(prefix)).map(str::to_owned).collect()
            })
            .collect();
        assert_eq!(added_to, [vec!["admin", "edit", "view"], vec!["admin", "edit"]]);
    }
}
