//! The operator's account and its rights, from the table in `grove-operator`.

use std::io;

use grove_operator::rights::{Place, Right, rights};
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};

use super::{
    Kind, Object,
    installation::Installation,
    labels::{CERTIFICATE_ROLE, OPERATOR, labels, metadata},
};

const API_GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn objects(installation: &Installation) -> io::Result<Vec<Object>> {
    let (namespace, names) = (&installation.namespace, &installation.names);
    // Roles in a namespace: their names and those of their bindings, what labels call them, and the group of what they are about.
    let roles = [
        (&*names.lease_role, &*names.lease_role_binding, "operator-lease", "coordination.k8s.io"),
        (CERTIFICATE_ROLE, CERTIFICATE_ROLE, "operator-certificate", ""),
    ];
    let account_subject = || Some(vec![subject(&names.service_account, namespace)]);
    let rights = rights(&installation.config, namespace, &installation.uses);
    let account = ServiceAccount {
        metadata: metadata(
            &names.service_account,
            Some(namespace),
            labels("operator-serviceaccount", "grove-operator-service-account"),
        ),
        // The Deployment asks for it; nothing else that runs in the namespace gets it by accident.
        automount_service_account_token: Some(false),
        ..ServiceAccount::default()
    };
    let everywhere = ClusterRole {
        metadata: metadata(&names.cluster_role, None, labels("operator-clusterrole", OPERATOR)),
        rules: Some(rules(&rights, |it| it.place == Place::Cluster)),
        ..ClusterRole::default()
    };
    let binding = ClusterRoleBinding {
        metadata: metadata(
            &names.cluster_role_binding,
            None,
            labels("operator-clusterrolebinding", OPERATOR),
        ),
        role_ref: reference("ClusterRole", &names.cluster_role),
        subjects: account_subject(),
    };
    let mut objects = vec![
        Object::new(Kind::ServiceAccount, &account)?,
        Object::new(Kind::ClusterRole, &everywhere)?,
        Object::new(Kind::ClusterRoleBinding, &binding)?,
    ];
    for (name, binding_name, component, group) in roles {
        let of_role = |it: &Right| it.group == group && it.place != Place::Cluster;
        let Some(Place::Namespace(place)) = rights.iter().find(|it| of_role(it)).map(|it| &it.place) else {
            continue;
        };
        let role = Role {
            metadata: metadata(name, Some(place), labels(&format!("{component}-role"), OPERATOR)),
            rules: Some(rules(&rights, of_role)),
        };
        let binding = RoleBinding {
            metadata: metadata(
                binding_name,
                Some(place),
                labels(&format!("{component}-rolebinding"), OPERATOR),
            ),
            role_ref: reference("Role", name),
            subjects: account_subject(),
        };
        objects.push(Object::new(Kind::Role, &role)?);
        objects.push(Object::new(Kind::RoleBinding, &binding)?);
    }
    Ok(objects)
}

fn rules(rights: &[Right], chosen: impl Fn(&Right) -> bool) -> Vec<PolicyRule> {
    let chosen = rights.iter().filter(|it| chosen(it));
    chosen.map(|it| rule(&it.group, &it.resources, &it.names, it.verbs)).collect()
}

/// What one right allows.
pub(super) fn rule(group: &str, resources: &[String], names: &[String], verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(resources.to_vec()),
        resource_names: (!names.is_empty()).then(|| names.to_vec()),
        verbs: verbs.iter().map(|it| (*it).to_owned()).collect(),
        non_resource_urls: None,
    }
}

pub(super) fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef { api_group: Some(API_GROUP.to_owned()), kind: kind.to_owned(), name: name.to_owned() }
}

/// A service account.
pub(super) fn subject(account: &str, namespace: &str) -> Subject {
    Subject {
        api_group: None,
        kind: "ServiceAccount".to_owned(),
        name: account.to_owned(),
        namespace: Some(namespace.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use grove_api::config::OperatorConfiguration;
    use grove_scheduler::builtin::builtin;
    use serde_json::{Value, json};

    use super::*;

    /// The roles are the table, whatever is on: nothing is lost on the way and nothing is added.
    #[test]
    fn the_roles_are_the_table() {
        let uses: Vec<_> = builtin().all().iter().flat_map(|it| it.resources(&json!({}))).collect();
        for (elects, authorizes) in [(false, false), (true, false), (true, true)] {
            let mut config = OperatorConfiguration::default();
            config.leader_election.enabled = elects;
            config.authorizer.enabled = authorizes;
            let mut wanted: Vec<_> = rights(&config, "n", &uses)
                .into_iter()
                .map(|it| {
                    let place = match it.place {
                        Place::Cluster => Value::Null,
                        Place::Namespace(name) => name.into(),
                    };
                    let names = if it.names.is_empty() { Value::Null } else { json!(it.names) };
                    json!([place, [it.group], it.resources, names, it.verbs]).to_string()
                })
                .collect();
            let uses = uses.clone();
            let objects = objects(&Installation { config, uses, ..Installation::example() }).unwrap();
            let mut found = Vec::new();
            for role in objects.iter().map(|it| &it.value) {
                for rule in role["rules"].as_array().into_iter().flatten() {
                    let place = &role["metadata"]["namespace"];
                    let [groups, resources, names, verbs] =
                        ["apiGroups", "resources", "resourceNames", "verbs"].map(|it| &rule[it]);
                    found.push(json!([place, groups, resources, names, verbs]).to_string());
                }
            }
            wanted.sort();
            found.sort();
            assert_eq!(found, wanted);
        }
    }

    #[test]
    fn the_lease_has_its_role_where_the_lease_is() {
        let mut config = OperatorConfiguration::default();
        config.leader_election.enabled = true;
        config.leader_election.resource_namespace = "locks".to_owned();
        let objects = objects(&Installation { config, ..Installation::example() }).unwrap();
        for kind in [Kind::Role, Kind::RoleBinding] {
            let of_kind = objects.iter().filter(|it| it.kind == kind).map(|it| &it.value);
            let places: Vec<_> = of_kind.map(|it| it["metadata"]["namespace"].as_str().unwrap()).collect();
            assert_eq!(places, ["locks", "n"]);
        }
        let bindings = objects.iter().filter(|it| it.kind == Kind::RoleBinding);
        assert!(bindings.into_iter().all(|it| it.value["subjects"][0]["namespace"] == "n"));
    }
}
