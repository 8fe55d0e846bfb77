//! What the operator's account may do, held against what it did: nothing was refused, and nothing is granted in vain.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use kube::{Api, ResourceExt, api::ListParams};

use super::account::{ACCOUNT, NAMESPACE, USER};
use crate::cluster::{Cluster, Request};

/// One thing that is granted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    /// API group; empty for the core group.
    pub group: String,
    /// Resource, with its subresource.
    pub resource: String,
    /// Verb.
    pub verb: String,
    /// The only object it is about.
    pub name: Option<String>,
    /// The only namespace it holds in.
    pub namespace: Option<String>,
}

impl Grant {
    fn allows(&self, request: &Request) -> bool {
        self.group == request.group
            && self.resource == request.resource
            && self.verb == request.verb
            && self.name.as_ref().is_none_or(|it| *it == request.name)
            && self.namespace.as_ref().is_none_or(|it| *it == request.namespace)
    }
}

impl std::fmt::Display for Grant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let group = if self.group.is_empty() { "core" } else { &self.group };
        write!(f, "{} {} ({group})", self.verb, self.resource)?;
        if let Some(name) = &self.name {
            write!(f, " called {name}")?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in {namespace}")?;
        }
        Ok(())
    }
}

/// Rights that no scenario can use, by verb and resource, each with the reason.
const UNEXERCISED: &[(&str, &str, &str)] = &[
    ("update", "podcliquesets/finalizers", PLUGIN),
    ("update", "podcliques/finalizers", PLUGIN),
    ("update", "podcliquescalinggroups/finalizers", PLUGIN),
    ("update", "podgangs/finalizers", PLUGIN),
    ("update", "clustertopologybindings/finalizers", PLUGIN),
    ("update", "topologies/finalizers", PLUGIN),
    ("get", "podcliques", CHANCE),
    ("get", "podcliquescalinggroups", CHANCE),
    ("get", "podgangs", CHANCE),
    ("get", "secrets", CHANCE),
    ("get", "controllerrevisions", CHANCE),
    ("patch", "controllerrevisions", HISTORY),
    ("delete", "controllerrevisions", HISTORY),
    ("create", "podgroups", APPLY),
    ("create", "compositepodgroups", APPLY),
    ("create", "topologies", APPLY),
    ("create", "hypernodes", APPLY),
    ("delete", "podgroups", PRUNED),
    ("delete", "compositepodgroups", PRUNED),
];
const APPLY: &str = "asked for by an apply that creates, which the audit log calls a patch";

const PRUNED: &str = "needed only when a gang of the same name comes again, or when what a scheduler is told changes its shape";

const HISTORY: &str = "needed only when a set goes back to an earlier template, or has had more than ten";

const PLUGIN: &str =
    "asked for by the admission plugin OwnerReferencesPermissionEnforcement, which is off here";

const CHANCE: &str =
    "needed only when a create meets an object that no watch has shown yet, which is a matter of chance";

/// What is known of the account's rights, over all clusters of a run.
#[derive(Default)]
pub struct Ledger {
    granted: BTreeSet<Grant>,
    used: BTreeSet<Grant>,
}

impl Ledger {
    /// Notes what is granted now: an operator with another configuration is granted something else.
    pub async fn note(&mut self, cluster: &Cluster) -> Result<()> {
        self.granted.extend(granted(cluster).await?);
        Ok(())
    }

    /// Reads the log of a cluster at the end of its life; returns what was refused there for want of a right.
    pub fn read(&mut self, cluster: &Cluster) -> Result<Vec<String>> {
        let mut refused = BTreeSet::new();
        for request in cluster.requests_of(USER)? {
            if request.refused {
                refused.insert(request.to_string());
            }
            self.used.extend(self.granted.iter().filter(|it| it.allows(&request)).cloned());
        }
        Ok(refused.into_iter().collect())
    }

    /// Adds what is known from other clusters.
    pub fn add(&mut self, other: Self) {
        self.granted.extend(other.granted);
        self.used.extend(other.used);
    }

    /// Whether an operator ran at all.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// For people: how much was used, and what was not, with the reason.
    pub fn summary(&self) -> String {
        let mut lines = vec![format!("rights: {} granted, {} used", self.granted.len(), self.used.len())];
        for grant in self.granted.difference(&self.used) {
            lines.push(format!("  not used: {grant}: {}", reason(grant).unwrap_or("for no known reason")));
        }
        lines.join("\n")
    }

    /// What was granted and never used, although nothing is known that speaks against using it.
    pub fn in_vain(&self) -> Vec<String> {
        let unused = self.granted.difference(&self.used);
        unused.filter(|it| reason(it).is_none()).map(Grant::to_string).collect()
    }
}

fn reason(grant: &Grant) -> Option<&'static str> {
    let known = UNEXERCISED.iter().find(|it| it.0 == grant.verb && it.1 == grant.resource);
    known.map(|it| it.2)
}

/// All that is bound to the account, whoever bound it.
async fn granted(cluster: &Cluster) -> Result<BTreeSet<Grant>> {
    let client = &cluster.client;
    let everything = ListParams::default();
    let is_ours = |subjects: &Option<Vec<Subject>>| {
        let same = |it: &Subject| it.name == ACCOUNT && it.namespace.as_deref() == Some(NAMESPACE);
        subjects.iter().flatten().any(same)
    };
    let mut grants = BTreeSet::new();
    let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
    for binding in bindings.list(&everything).await?.items.iter().filter(|it| is_ours(&it.subjects)) {
        grants.extend(flat(&rules(cluster, &binding.role_ref, None).await?, None));
    }
    let bindings: Api<RoleBinding> = Api::all(client.clone());
    for binding in bindings.list(&everything).await?.items.iter().filter(|it| is_ours(&it.subjects)) {
        let namespace = binding.namespace();
        let rules = rules(cluster, &binding.role_ref, namespace.as_deref()).await?;
        grants.extend(flat(&rules, namespace.as_deref()));
    }
    Ok(grants)
}

async fn rules(cluster: &Cluster, role: &RoleRef, namespace: Option<&str>) -> Result<Vec<PolicyRule>> {
    let client = cluster.client.clone();
    let rules = match (role.kind.as_str(), namespace) {
        ("Role", Some(namespace)) => {
            let roles: Api<Role> = Api::namespaced(client, namespace);
            roles.get(&role.name).await?.rules
        }
        _ => Api::<ClusterRole>::all(client).get(&role.name).await?.rules,
    };
    Ok(rules.unwrap_or_default())
}

fn flat(rules: &[PolicyRule], namespace: Option<&str>) -> Vec<Grant> {
    let mut grants = Vec::new();
    for rule in rules {
        let names: Vec<Option<&String>> = match &rule.resource_names {
            Some(names) if !names.is_empty() => names.iter().map(Some).collect(),
            _ => vec![None],
        };
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                for verb in &rule.verbs {
                    grants.extend(names.iter().map(|name| Grant {
                        group: group.clone(),
                        resource: resource.clone(),
                        verb: verb.clone(),
                        name: name.cloned(),
                        namespace: namespace.map(str::to_owned),
                    }));
                }
            }
        }
    }
    grants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(verb: &str, namespace: &str, name: &str) -> Request {
        Request {
            verb: verb.to_owned(),
            resource: "secrets".to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Request::default()
        }
    }

    #[test]
    fn what_is_granted_in_vain_is_told_unless_a_reason_is_known() {
        let grant = |verb: &str, resource: &str| Grant {
            group: "grove.io".to_owned(),
            resource: resource.to_owned(),
            verb: verb.to_owned(),
            name: None,
            namespace: None,
        };
        let used = grant("list", "podcliques");
        let granted = [used.clone(), grant("get", "pods"), grant("update", "podcliques/finalizers")];
        let ledger = Ledger { granted: granted.into(), used: [used].into() };
        assert_eq!(ledger.in_vain(), ["get pods (grove.io)"]);
        assert!(ledger.summary().starts_with("rights: 3 granted, 1 used\n"), "{}", ledger.summary());
    }

    #[test]
    fn a_grant_is_used_only_by_what_it_allows() {
        let rule = PolicyRule {
            api_groups: Some(vec![String::new()]),
            resources: Some(vec!["secrets".to_owned()]),
            resource_names: Some(vec!["cert".to_owned()]),
            verbs: vec!["get".to_owned(), "update".to_owned()],
            ..PolicyRule::default()
        };
        let grants = flat(&[rule], Some("n"));
        assert_eq!(grants.len(), 2);
        assert!(grants[0].allows(&request("get", "n", "cert")));
        assert!(!grants[0].allows(&request("update", "n", "cert")));
        assert!(!grants[0].allows(&request("get", "n", "other")));
        assert!(!grants[0].allows(&request("get", "m", "cert")));
        assert_eq!(grants[1].to_string(), "update secrets (core) called cert in n");
    }
}
