//! The kinds that a bundle has, and how much of each.

use grove_api::wire::{
    ClusterTopologyBinding, GroupingRule, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang,
    SchedulerBackend,
};
use grove_scheduler::Registry;
use k8s_openapi::api::{
    apps::v1::ControllerRevision,
    autoscaling::v2::HorizontalPodAutoscaler,
    core::v1::{Pod, ResourceQuota},
};
use kube::{
    Client, Resource,
    api::{ApiResource, ListParams},
};
use serde_json::json;

use super::{read::described, scope::Scope};

/// Kinds in namespaces, and what of them is read.
pub(super) fn namespaced(scope: &Scope) -> Vec<(ApiResource, ListParams)> {
    vec![
        (of::<PodCliqueSet>(), scope.sets()),
        (of::<PodCliqueScalingGroup>(), scope.related()),
        (of::<PodClique>(), scope.related()),
        (of::<PodGang>(), scope.related()),
        (of::<Pod>(), scope.related()),
        (of::<ControllerRevision>(), scope.made()),
        (of::<HorizontalPodAutoscaler>(), scope.made()),
        (of::<ResourceQuota>(), ListParams::default()),
    ]
}

/// Grove's kinds that have no namespace.
pub(super) fn cluster() -> Vec<ApiResource> {
    vec![of::<SchedulerBackend>(), of::<ClusterTopologyBinding>(), of::<GroupingRule>()]
}

/// Kinds of the schedulers, each once. The core group has none of them, so that no backend puts Secrets into a bundle.
pub(super) fn of_backends(registry: &Registry) -> Vec<ApiResource> {
    let mut all: Vec<ApiResource> = Vec::new();
    let used = registry.all().iter().flat_map(|it| it.resources(&json!({})));
    for resource in used.map(|it| it.resource).filter(|it| !it.group.is_empty()) {
        if !all.contains(&resource) {
            all.push(resource);
        }
    }
    all
}

pub(super) fn of<K: Resource<DynamicType = ()>>() -> ApiResource {
    ApiResource::erase::<K>(&())
}

/// How a kind is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Served {
    InNamespaces,
    InCluster,
    /// Its scheduler is not installed, or in another version.
    No,
}

/// Asks the API server; an error is a sentence.
pub(super) async fn served(client: &Client, resource: &ApiResource) -> Result<Served, String> {
    match client.list_api_group_resources(&resource.api_version).await {
        Ok(list) => {
            let row = list.resources.iter().find(|it| it.name == resource.plural);
            Ok(row.map_or(
                Served::No,
                |it| if it.namespaced { Served::InNamespaces } else { Served::InCluster },
            ))
        }
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Served::No),
        Err(error) => Err(described(&error)),
    }
}

#[cfg(test)]
mod tests {
    use grove_scheduler::builtin::builtin;

    use super::*;
    use crate::commands::bundle::contents::full_name;

    #[test]
    fn every_scheduler_has_its_groups() {
        let names: Vec<String> = of_backends(&builtin()).iter().map(full_name).collect();
        for name in
            ["podgroups.scheduling.k8s.io", "podgroups.scheduling.run.ai", "podgroups.scheduling.volcano.sh"]
        {
            assert_eq!(names.iter().filter(|it| *it == name).count(), 1, "{names:?}");
        }
    }

    /// Before you add a kind, check what its objects may contain.
    #[test]
    fn neither_secrets_nor_config_maps_are_listed() {
        let listed = namespaced(&Scope::Cluster).into_iter().map(|it| it.0);
        for resource in listed.chain(cluster()).chain(of_backends(&builtin())) {
            assert!(!["secrets", "configmaps"].contains(&resource.plural.as_str()));
        }
    }
}
