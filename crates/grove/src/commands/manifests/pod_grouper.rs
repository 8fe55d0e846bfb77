//! The pod grouper: its account, its rights and its Deployment.

use std::{collections::BTreeMap, io};

use grove_podgrouper::{
    Hub,
    engine::backend_of,
    rights::{Needed, Right, pod_marks, rights},
};
use grove_scheduler::{Registry, SchedulerBackend, workload::PodMarks};
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
    pod_options::PodOptions,
    pod_policy,
    roles::{reference, rule, subject},
};

/// Deployment, container and ServiceAccount.
const GROUPER: &str = "grove-podgrouper";
/// ClusterRole and its binding.
const CLUSTER_ROLE: &str = "grove:system:grove-podgrouper";
/// Roles in a namespace and their bindings: the name, what labels call them, and the group of what they are about.
const ROLES: [(&str, &str, &str); 2] = [
    ("grove:system:grove-podgrouper", "podgrouper", "coordination.k8s.io"),
    ("grove:system:grove-podgrouper-defaults", "podgrouper-defaults", ""),
];
/// The lease, which is that of KAI's pod grouper: never both work.
const LEASE: &str = "54dff599.kai.scheduler";
const HEALTH_PORT: i32 = 8081;
const METRICS_PORT: i32 = 8080;

/// What is asked for.
pub(super) struct PodGrouper<'a> {
    pub(super) namespace: &'a str,
    pub(super) image: &'a str,
    pub(super) replicas: Option<i32>,
    pub(super) schedulers: Schedulers<'a>,
    /// Labels of the namespaces whose pods are grouped.
    pub(super) namespace_labels: Option<&'a str>,
    /// Namespace and name of the ConfigMap with defaults of kinds.
    pub(super) kind_defaults: Option<(&'a str, &'a str)>,
    pub(super) pods: PodOptions,
    /// Whether a policy limits what it changes in pods.
    pub(super) pod_policy: bool,
}

/// The schedulers whose pods are grouped.
pub(super) struct Schedulers<'a> {
    pub(super) backends: Vec<&'a dyn SchedulerBackend>,
    /// As arguments say it: a name, or `NAME=BACKEND`.
    pub(super) arguments: Vec<String>,
    /// What pods carry as `schedulerName`.
    pub(super) names: Vec<String>,
    pub(super) marks: Vec<PodMarks>,
}

impl<'a> Schedulers<'a> {
    pub(super) fn read(arguments: &[String], registry: &'a Registry) -> io::Result<Self> {
        let backends: Vec<&dyn SchedulerBackend> = arguments
            .iter()
            .map(|it| backend_of(it, registry).map(|it| it.1.as_ref()))
            .collect::<Result<_, _>>()
            .map_err(|error| invalid(error.to_string()))?;
        let name = |it: &String| it.split_once('=').map_or(it.as_str(), |it| it.0).to_owned();
        Ok(Self {
            marks: pod_marks(&backends),
            backends,
            arguments: arguments.to_vec(),
            names: arguments.iter().map(name).collect(),
        })
    }
}

impl PodGrouper<'_> {
    pub(super) fn objects(&self, hub: &Hub) -> io::Result<Vec<Object>> {
        let lease = Some((self.namespace.to_owned(), LEASE.to_owned()));
        let owned = |(namespace, name): (&str, &str)| (namespace.to_owned(), name.to_owned());
        let needed = Needed {
            lease,
            kind_defaults: self.kind_defaults.map(owned),
            chooses_namespaces: self.namespace_labels.is_some(),
        };
        let rights = rights(hub, &self.schedulers.backends, &needed);
        let account = ServiceAccount {
            metadata: metadata(GROUPER, Some(self.namespace), labels("podgrouper-serviceaccount", GROUPER)),
            automount_service_account_token: Some(false),
            ..ServiceAccount::default()
        };
        let role = ClusterRole {
            metadata: metadata(CLUSTER_ROLE, None, labels("podgrouper-clusterrole", GROUPER)),
            rules: Some(rules(&rights, |it| it.namespace.is_none())),
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
            let Schedulers { names, marks, .. } = &self.schedulers;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            objects.extend(pod_policy::of_pod_grouper(GROUPER, self.namespace, &names, marks)?);
        }
        for (name, component, group) in ROLES {
            let of_role = |it: &Right| it.group == group && it.namespace.is_some();
            let Some(place) = rights.iter().find(|it| of_role(it)).and_then(|it| it.namespace.as_deref())
            else {
                continue;
            };
            let role = Role {
                metadata: metadata(name, Some(place), labels(&format!("{component}-role"), GROUPER)),
                rules: Some(rules(&rights, of_role)),
            };
            let binding = RoleBinding {
                metadata: metadata(name, Some(place), labels(&format!("{component}-rolebinding"), GROUPER)),
                role_ref: reference("Role", name),
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
        arguments.extend(self.schedulers.arguments.iter().map(|it| format!("--scheduler-name={it}")));
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
        let mut spec = PodSpec {
            service_account_name: Some(GROUPER.to_owned()),
            containers: vec![container],
            ..restricted(of_pods.clone())
        };
        self.pods.apply(&mut spec);
        Deployment {
            metadata: metadata(GROUPER, Some(self.namespace), of_pods.clone()),
            spec: DeploymentSpec {
                replicas: Some(self.replicas.unwrap_or(2)),
                selector: LabelSelector { match_labels: Some(of_pods.clone()), ..LabelSelector::default() },
                template: PodTemplateSpec {
                    metadata: Some(ObjectMeta { labels: Some(of_pods), ..ObjectMeta::default() }),
                    spec: Some(spec),
                },
                ..DeploymentSpec::default()
            },
            ..Deployment::default()
        }
    }
}

fn rules(rights: &[Right], chosen: impl Fn(&Right) -> bool) -> Vec<PolicyRule> {
    let chosen = rights.iter().filter(|it| chosen(it));
    chosen.map(|it| rule(&it.group, &it.resources, &it.names, it.verbs)).collect()
}
