//! Reads what belongs into a bundle, kind by kind. What cannot be read is noted, and the rest is read all the same.

use std::{collections::BTreeSet, io};

use grove_scheduler::Registry;
use k8s_openapi::api::{core::v1::Node, events::v1::Event};
use kube::{
    Api, Client,
    api::{ApiResource, ListParams},
};
use serde_json::{Value, json};

use super::{
    contents::{Contents, folder, full_name},
    events::Subjects,
    kinds::{self, Served},
    node,
    read::{Listed, described, list},
    scope::Scope,
};
use crate::cluster::{Cluster, failure};

/// Where Events about objects without a namespace are.
const EVENTS_OF_CLUSTER: &str = "default";

/// What is asked for.
pub(super) struct Request<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) registry: &'a Registry,
    pub(super) scope: &'a Scope,
    pub(super) operator_namespace: &'a str,
    /// Lines of one log.
    pub(super) log_lines: u32,
}

/// What was read so far.
pub(super) struct Collector<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) contents: Contents,
    pub(super) subjects: Subjects,
    /// Labels of nodes that ClusterTopologyBindings name.
    levels: BTreeSet<String>,
}

/// Reads all of it; an error only where the API server does not answer at all.
pub(super) async fn collect(request: &Request<'_>) -> io::Result<Contents> {
    let mut collector = Collector {
        request,
        contents: Contents::default(),
        subjects: Subjects::default(),
        levels: BTreeSet::new(),
    };
    let server = collector.server_version().await?;
    collector.objects().await;
    collector.objects_of_backends().await;
    collector.nodes().await;
    let images = collector.operator().await;
    // Last: they are about what was read.
    collector.events().await;
    let versions = json!({ "grove": env!("CARGO_PKG_VERSION"), "server": server, "operator": images });
    collector.contents.value("versions.yaml", versions);
    Ok(collector.contents)
}

impl Collector<'_> {
    async fn server_version(&mut self) -> io::Result<Value> {
        let cluster = self.request.cluster;
        match cluster.client.apiserver_version().await {
            Ok(version) => Ok(json!({ "version": version.git_version, "platform": version.platform })),
            Err(error @ kube::Error::Api(_)) => {
                self.contents.problem("version of the API server", &described(&error));
                Ok(Value::Null)
            }
            Err(error) => Err(failure(&cluster.server, &error)),
        }
    }

    async fn objects(&mut self) {
        for (resource, params) in kinds::namespaced(self.request.scope) {
            let listed = self.list(&resource, self.request.scope.namespace(), &params).await;
            self.add(None, &resource, listed);
        }
        for resource in kinds::cluster() {
            let listed = self.list(&resource, None, &ListParams::default()).await;
            if resource.kind == "ClusterTopologyBinding" {
                self.levels = listed.objects.iter().flat_map(node::level_keys).collect();
            }
            self.add(None, &resource, listed);
        }
    }

    async fn objects_of_backends(&mut self) {
        for resource in kinds::of_backends(self.request.registry) {
            let name = full_name(&resource);
            let served = kinds::served(self.client(), &resource).await;
            let namespace = match served {
                Ok(Served::InNamespaces) => self.request.scope.namespace(),
                Ok(Served::InCluster) => None,
                Ok(Served::No) => {
                    self.contents.note(format!("Not served: {name} ({}).", resource.version));
                    continue;
                }
                Err(why) => {
                    self.contents.problem(&name, &why);
                    continue;
                }
            };
            let mut listed = self.list(&resource, namespace, &ListParams::default()).await;
            // What has no namespace is there for all sets.
            let scope = self.request.scope;
            listed.objects.retain(|it| namespace.is_none() || scope.has(it));
            self.add(None, &resource, listed);
        }
    }

    async fn nodes(&mut self) {
        let resource = kinds::of::<Node>();
        let mut listed = self.list(&resource, None, &ListParams::default()).await;
        for it in &mut listed.objects {
            *it = node::slim(it, &self.levels);
        }
        self.add(None, &resource, listed);
    }

    async fn events(&mut self) {
        let resource = kinds::of::<Event>();
        let of_operator = self.request.operator_namespace;
        let namespaces: BTreeSet<Option<&str>> = match self.request.scope.namespace() {
            None => [None].into(),
            Some(own) => [own, EVENTS_OF_CLUSTER, of_operator].map(Some).into(),
        };
        for namespace in namespaces {
            let mut listed = self.list(&resource, namespace, &ListParams::default()).await;
            listed.objects.retain(|it| self.subjects.has(it));
            self.add(None, &resource, listed);
        }
    }

    /// Lists a kind, in a namespace or everywhere.
    pub(super) async fn list(
        &self,
        resource: &ApiResource,
        namespace: Option<&str>,
        params: &ListParams,
    ) -> Listed {
        let client = self.client().clone();
        let api = match namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, resource),
            None => Api::all_with(client, resource),
        };
        list(&api, resource, params).await
    }

    /// Takes a list in: into this folder, or into those of the objects' namespaces.
    pub(super) fn add(&mut self, into: Option<&str>, resource: &ApiResource, listed: Listed) {
        let name = full_name(resource);
        anstream::eprintln!("{name}: {}", listed.objects.len());
        if let Some(why) = &listed.problem {
            self.contents.problem(&name, why);
        }
        for object in listed.objects {
            self.subjects.add(&object);
            let folder = into.map_or_else(|| folder(&object), str::to_owned);
            self.contents.object(&folder, resource, object);
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.request.cluster.client
    }
}
