//! A tour on a real cluster: what it does is written through the API.

use std::io;

use grove_api::wire::{PodCliqueScalingGroup, PodCliqueSet};
use grove_placement::resources::GPU;
use grove_sandbox::Faults;
use kube::{
    Api, Client, Resource,
    api::{ApiResource, DeleteParams, DynamicObject, Patch, PatchParams},
    core::NamespaceResourceScope,
};
use serde_json::{Value, json};

use super::{Action, Cluster, Target, Watched};
use crate::{cluster::causes, follow::Follower, local::apply_text};

/// The field manager of what the tour writes.
const MANAGER: &str = "grove-tour";
/// The operator writes to the same objects.
const MAX_ATTEMPTS: usize = 5;
/// A cluster of simulated nodes, and the namespace in which the tour is given.
pub struct LiveCluster {
    client: Client,
    namespace: String,
    follower: Follower,
    faults: Faults,
}

impl LiveCluster {
    /// In the default namespace of the client. The follower has to watch it.
    pub fn new(client: Client, follower: Follower) -> Self {
        let namespace = client.default_namespace().to_owned();
        let faults = Faults::new(client.clone());
        Self { client, namespace, follower, faults }
    }

    async fn delete_set(&self, name: &str) -> kube::Result<()> {
        match self.api::<PodCliqueSet>().delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
            result => result.map(drop),
        }
    }

    async fn scale_group(&self, name: &str, replicas: i32) -> kube::Result<()> {
        let patch = Patch::Merge(json!({ "spec": { "replicas": replicas } }));
        self.api::<PodCliqueScalingGroup>().patch(name, &parameters(), &patch).await.map(drop)
    }

    /// A merge patch replaces the whole list of PodCliques, so it is valid only for the version that was read.
    async fn set_image(&self, set: &str, image: &str) -> kube::Result<()> {
        let resource = ApiResource::erase::<PodCliqueSet>(&());
        // As it is on the server, with fields that our types lack.
        let sets: Api<DynamicObject> = Api::namespaced_with(self.client.clone(), &self.namespace, &resource);
        for attempt in 1.. {
            let read = sets.get(set).await?;
            let mut cliques = read.data["spec"]["template"]["cliques"].clone();
            set_images(&mut cliques, image);
            let patch = json!({
                "metadata": { "resourceVersion": read.metadata.resource_version },
                "spec": { "template": { "cliques": cliques } },
            });
            match sets.patch(set, &parameters(), &Patch::Merge(patch)).await {
                Err(kube::Error::Api(status)) if status.is_conflict() && attempt < MAX_ATTEMPTS => {}
                result => return result.map(drop),
            }
        }
        Ok(())
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }
}

impl std::fmt::Debug for LiveCluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveCluster").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl Cluster for LiveCluster {
    type Error = io::Error;

    fn watched(&self) -> Watched {
        Watched::from(&self.follower.snapshot())
    }

    async fn act(&mut self, action: &Action) -> io::Result<()> {
        let done = match action {
            Action::Apply(text) => return apply_text(&self.client, text, &self.namespace).await,
            Action::DeleteSet(name) => self.delete_set(name).await,
            Action::LoseNode(Target::Node(name)) => self.faults.lose_node(name).await,
            Action::LoseNode(Target::OfGang(gang)) => {
                let text = format!("no node was chosen for gang {gang}");
                return Err(io::Error::other(text));
            }
            Action::ScaleGroup { name, replicas } => self.scale_group(name, *replicas).await,
            Action::SetImage { set, image } => self.set_image(set, image).await,
        };
        done.map_err(|error| io::Error::other(causes(&error)))
    }

    async fn changed(&mut self) {
        self.follower.changed().await;
    }
}

fn parameters() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() }
}

/// Sets the image of all containers of the cliques that request GPUs.
fn set_images(cliques: &mut Value, image: &str) {
    for clique in cliques.as_array_mut().into_iter().flatten() {
        let containers = clique.pointer_mut("/spec/podSpec/containers").and_then(Value::as_array_mut);
        let Some(containers) = containers else { continue };
        if containers.iter().any(requests_gpus) {
            for container in containers {
                container["image"] = image.into();
            }
        }
    }
}

fn requests_gpus(container: &Value) -> bool {
    ["limits", "requests"].iter().any(|it| !container["resources"][it][GPU].is_null())
}

#[cfg(test)]
mod tests;
