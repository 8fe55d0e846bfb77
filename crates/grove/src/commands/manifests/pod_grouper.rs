//! The pod grouper: its account, its rights and its Deployment.

use std::{collections::BTreeMap, io};

use grove_podgrouper::{
    Hub,
    engine::backend_of,
    rights::{Needed, Right, rights},
};
use grove_scheduler::{Registry, SchedulerBackend};
use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentSpec},
    core::v1::{Container, PodSpec, PodTemplateSpec, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use super::{
    Kind, Object, invalid,
    labels::{labels, metadata},
    pod::{self, hardened, restricted},
};

/// Deployment, container and ServiceAccount.
const GROUPER: &str = "grove-podgrouper";
/// ClusterRole and its binding.
const CLUSTER_ROLE: &str = "grove:system:grove-podgrouper";
/// Role for the leader's lease, and its binding.
const LEASE_ROLE: &str = "grove:system:grove-podgrouper-lease";
/// The lease, which is that of KAI's pod grouper: never both work.
const LEASE: &str = "54dff599.kai.scheduler";
const HEALTH_PORT: i32 = 8081;
const METRICS_PORT: i32 = 8080;

/// What is asked for.
pub(super) struct PodGrouper<'a> {
    pub(super) namespace: &'a str,
    pub(super) image: &'a str,
    pub(super) replicas: Option<i32>,
    pub(super) schedulers: &'a [String],
}

impl PodGrouper<'_> {
    pub(super) fn objects(&self, registry: &Registry, hub: &Hub) -> io::Result<Vec<Object>> {
        let backends: Vec<&dyn SchedulerBackend> = self
            .schedulers
            .iter()
            .map(|it| backend_of(it, registry).map(|it| it.1.as_ref()))
            .collect::<Result<_, _>>()
            .map_err(|error| invalid(error.to_string()))?;
        let lease = Some((self.namespace.to_owned(), LEASE.to_owned()));
        let rights = rights(hub, &backends, &Needed { lease, ..Needed::default() });
        let account = ServiceAccount {
            metadata: metadata(GROUPER, Some(self.namespace), labels("podgrouper-serviceaccount", GROUPER)),
            automount_service_account_token: Some(false),
            ..ServiceAccount::default()
        };
        let (everywhere, here): (Vec<&Right>, Vec<&Right>) =
            rights.iter().partition(|it| it.namespace.is_none());
        let role = ClusterRole {
            metadata: metadata(CLUSTER_ROLE, None, labels("podgrouper-clusterrole", GROUPER)),
            rules: Some(rules(&everywhere)),
            ..ClusterRole::default()
        };
        let binding = ClusterRoleBinding {
            metadata: metadata(CLUSTER_ROLE, None, labels("podgrouper-clusterrolebinding", GROUPER)),
            role_ref: reference("ClusterRole", CLUSTER_ROLE),
            subjects: Some(vec![self.subject()]),
        };
        let lease_role = Role {
            metadata: metadata(LEASE_ROLE, Some(self.namespace), labels("podgrouper-lease-role", GROUPER)),
            rules: Some(rules(&here)),
        };
        let lease_binding = RoleBinding {
            metadata: metadata(
                LEASE_ROLE,
                Some(self.namespace),
                labels("podgrouper-lease-rolebinding", GROUPER),
            ),
            role_ref: reference("Role", LEASE_ROLE),
            subjects: Some(vec![self.subject()]),
        };
        Ok(vec![
            Object::new(Kind::ServiceAccount, &account)?,
            Object::new(Kind::ClusterRole, &role)?,
            Object::new(Kind::ClusterRoleBinding, &binding)?,
            Object::new(Kind::Role, &lease_role)?,
            Object::new(Kind::RoleBinding, &lease_binding)?,
            Object::new(Kind::Deployment, &self.deployment())?,
        ])
    }

    fn subject(&self) -> Subject {
        Subject {
            kind: "ServiceAccount".to_owned(),
            name: GROUPER.to_owned(),
            namespace: Some(self.namespace.to_owned()),
            ..Subject::default()
        }
    }

    fn deployment(&self) -> Deployment {
        let of_pods: BTreeMap<String, String> = labels("podgrouper-deployment", GROUPER);
        let mut arguments = vec!["podgrouper".to_owned(), "--leader-elect".to_owned()];
        arguments.extend(self.schedulers.iter().map(|it| format!("--scheduler-name={it}")));
        let container = Container {
            name: GROUPER.to_owned(),
            image: Some(self.image.to_owned()),
            args: Some(arguments),
            ports: Some(vec![pod::port(pod::METRICS, METRICS_PORT), pod::port(pod::HEALTH, HEALTH_PORT)]),
            ..hardened()
        };
        Deployment {
            metadata: metadata(GROUPER, Some(self.namespace), of_pods.clone()),
            spec: DeploymentSpec {
                replicas: Some(self.replicas.unwrap_or(2)),
                selector: LabelSelector { match_labels: Some(of_pods.clone()), ..LabelSelector::default() },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta { labels: Some(of_pods.clone()), ..ObjectMeta::default() }),
                    spec: Some(PodSpec {
                        service_account_name: Some(GROUPER.to_owned()),
                        containers: vec![container],
                        ..restricted(of_pods)
                    }),
                },
                ..DeploymentSpec::default()
            },
            ..Deployment::default()
        }
    }
}

fn rules(rights: &[&Right]) -> Vec<PolicyRule> {
    let rule = |it: &&Right| PolicyRule {
        api_groups: Some(vec![it.group.clone()]),
        resources: Some(it.resources.clone()),
        resource_names: (!it.names.is_empty()).then(|| it.names.clone()),
        verbs: it.verbs.iter().map(|it| (*it).to_owned()).collect(),
        non_resource_urls: None,
    };
    rights.iter().map(rule).collect()
}

fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}
