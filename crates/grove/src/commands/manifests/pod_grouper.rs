//! The pod grouper: its account, its rights and its Deployment.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use grove_podgrouper::{
    Hub,
    engine::backend_of,
    rights::{Needed, Right, pod_marks, rights},
};
use grove_scheduler::{Registry, SchedulerBackend};
use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentSpec},
    core::v1::{Container, PodSpec, PodTemplateSpec, ServiceAccount},
    rbac::v1::{ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use super::{
    Kind, Object, invalid,
    labels::{labels, metadata},
    pod::{self, hardened, restricted},
    pod_policy,
    roles::{reference, rule, subject},
};

/// Deployment, container and ServiceAccount.
const GROUPER: &str = "grove-podgrouper";
/// ClusterRole and its binding.
const CLUSTER_ROLE: &str = "grove:system:grove-podgrouper";
/// Role for the leader's lease and for the ConfigMap, and its binding.
const ROLE: &str = "grove:system:grove-podgrouper";
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
    /// Labels of the namespaces whose pods are grouped.
    pub(super) namespace_labels: Option<&'a str>,
    /// Namespace and name of the ConfigMap with defaults of kinds.
    pub(super) kind_defaults: Option<(&'a str, &'a str)>,
    /// Whether a policy limits what it changes in pods.
    pub(super) pod_policy: bool,
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
        let owned = |(namespace, name): (&str, &str)| (namespace.to_owned(), name.to_owned());
        let needed = Needed {
            lease,
            kind_defaults: self.kind_defaults.map(owned),
            chooses_namespaces: self.namespace_labels.is_some(),
        };
        let rights = rights(hub, &backends, &needed);
        let account = ServiceAccount {
            metadata: metadata(GROUPER, Some(self.namespace), labels("podgrouper-serviceaccount", GROUPER)),
            automount_service_account_token: Some(false),
            ..ServiceAccount::default()
        };
        let role = ClusterRole {
            metadata: metadata(CLUSTER_ROLE, None, labels("podgrouper-clusterrole", GROUPER)),
            rules: Some(rules(&rights, None)),
            ..ClusterRole::default()
        };
        let binding = ClusterRoleBinding {
            metadata: metadata(CLUSTER_ROLE, None, labels("podgrouper-clusterrolebinding", GROUPER)),
            role_ref: reference("ClusterRole", CLUSTER_ROLE),
            subjects: Some(vec![subject(GROUPER, self.namespace)]),
        };
        let mut objects = vec![
            Object::new(Kind::ServiceAccount, &account)?,
            Object::new(Kind::ClusterRole, &role)?,
            Object::new(Kind::ClusterRoleBinding, &binding)?,
            Object::new(Kind::Deployment, &self.deployment())?,
        ];
        if self.pod_policy {
            // Of `NAME=BACKEND`, pods have the name.
            let names: Vec<&str> =
                self.schedulers.iter().map(|it| it.split_once('=').map_or(it.as_str(), |it| it.0)).collect();
            let marks = pod_marks(&backends);
            objects.extend(pod_policy::of_pod_grouper(GROUPER, self.namespace, &names, &marks)?);
        }
        let places: BTreeSet<&str> = rights.iter().filter_map(|it| it.namespace.as_deref()).collect();
        for place in places {
            let role = Role {
                metadata: metadata(ROLE, Some(place), labels("podgrouper-role", GROUPER)),
                rules: Some(rules(&rights, Some(place))),
            };
            let binding = RoleBinding {
                metadata: metadata(ROLE, Some(place), labels("podgrouper-rolebinding", GROUPER)),
                role_ref: reference("Role", ROLE),
                subjects: Some(vec![subject(GROUPER, self.namespace)]),
            };
            objects.push(Object::new(Kind::Role, &role)?);
            objects.push(Object::new(Kind::RoleBinding, &binding)?);
        }
        Ok(objects)
    }

    fn deployment(&self) -> Deployment {
        let of_pods: BTreeMap<String, String> = labels("podgrouper-deployment", GROUPER);
        let mut arguments = vec!["podgrouper".to_owned(), "--leader-elect".to_owned()];
        arguments.extend(self.schedulers.iter().map(|it| format!("--scheduler-name={it}")));
        arguments.extend(self.namespace_labels.map(|it| format!("--namespace-label-selector={it}")));
        if let Some((namespace, name)) = self.kind_defaults {
            arguments.push(format!("--default-priorities-configmap-namespace={namespace}"));
            arguments.push(format!("--default-priorities-configmap-name={name}"));
        }
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

/// Rules of what holds there; `None` for the whole cluster.
fn rules(rights: &[Right], place: Option<&str>) -> Vec<PolicyRule> {
    let there = rights.iter().filter(|it| it.namespace.as_deref() == place);
    there.map(|it| rule(&it.group, &it.resources, &it.names, it.verbs)).collect()
}
