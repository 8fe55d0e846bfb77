//! What users and autoscalers do.

use grove_api::constants::labels;
use grove_apiserver::{Action, Object};
use serde_json::{Value, json};

use super::{CLIQUES, Cluster, GANGS, GROUPS, NAMESPACE, PODS, QUOTAS, SETS, number, text};
use crate::{
    clock,
    plan::{BAD_IMAGE, IMAGES, Shape},
    random::choose,
};

/// The name under which users write.
const MANAGER: &str = "user";

/// A user of a cluster.
#[derive(Clone)]
pub(crate) struct User {
    pub(crate) cluster: Cluster,
}

impl User {
    pub(crate) fn create(&self, shape: &Shape) {
        drop(self.cluster.write(MANAGER, SETS, "", None, Action::Create(shape.object(NAMESPACE))));
    }

    /// Lets so many pods into the namespace.
    pub(crate) fn limit(&self, pods: u32) {
        let spec = json!({ "hard": { "pods": pods.to_string() } });
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": { "name": "pods", "namespace": NAMESPACE }, "spec": spec,
        });
        match self.cluster.get(QUOTAS, "pods") {
            None => drop(self.cluster.write(MANAGER, QUOTAS, "", None, Action::Create(quota))),
            Some(_) => self.cluster.patch(MANAGER, QUOTAS, "pods", json!({ "spec": spec })),
        }
    }

    pub(crate) fn delete(&self, resource: &str, name: &str) {
        self.cluster.delete(MANAGER, resource, name, None);
    }

    pub(crate) fn change_set(&self, shape: &Shape, spec: &Value) {
        self.cluster.patch(MANAGER, SETS, &shape.name, json!({ "spec": spec }));
    }

    /// Scales the group that a number stands for, as admission allows it.
    pub(crate) fn scale_group(&self, pick: u64, replicas: u32) {
        let groups = living(self.cluster.list(GROUPS));
        self.scale(GROUPS, choose(pick, &groups).map(AsRef::as_ref), replicas);
    }

    /// Scales the clique that a number stands for, if it is in no group.
    pub(crate) fn scale_clique(&self, pick: u64, replicas: u32) {
        let mut cliques = living(self.cluster.list(CLIQUES));
        cliques.retain(|it| it.label(labels::SCALING_GROUP).is_none());
        self.scale(CLIQUES, choose(pick, &cliques).map(AsRef::as_ref), replicas);
    }

    fn scale(&self, resource: &str, object: Option<&Object>, replicas: u32) {
        let Some(object) = object else { return };
        let minimum = number(object, "/spec/minAvailable").unwrap_or(1);
        let replicas = u64::from(replicas).max(minimum);
        self.cluster.patch(MANAGER, resource, object.name(), json!({ "spec": { "replicas": replicas } }));
    }

    /// Changes images of the template, of the cliques that the bits of a number stand for.
    pub(crate) fn change_images(&self, shape: &Shape, cliques: u64, image: u32) {
        let image = IMAGES[image as usize % IMAGES.len()];
        self.edit_cliques(shape, |number, clique| {
            if cliques >> (number % 64) & 1 == 1 {
                clique["spec"]["podSpec"]["containers"][0]["image"] = image.into();
            }
        });
    }

    /// Takes back images that never get ready.
    pub(crate) fn repair_images(&self, shape: &Shape) {
        self.edit_cliques(shape, |_, clique| {
            let image = &mut clique["spec"]["podSpec"]["containers"][0]["image"];
            if *image == BAD_IMAGE {
                *image = IMAGES[0].into();
            }
        });
    }

    fn edit_cliques(&self, shape: &Shape, edit: impl Fn(usize, &mut Value)) {
        let Some(set) = self.cluster.get(SETS, &shape.name).filter(|it| !it.is_terminating()) else { return };
        let Some(mut cliques) = set.field("/spec/template/cliques").and_then(Value::as_array).cloned() else {
            return;
        };
        cliques.iter_mut().enumerate().for_each(|(number, clique)| edit(number, clique));
        self.change_set(shape, &json!({ "template": { "cliques": cliques } }));
    }

    /// Pods of images that never get ready and that nobody replaces, because the set leaves that to its user.
    pub(crate) fn delete_broken_pods(&self) -> bool {
        let mut pods = living(self.cluster.list(PODS));
        pods.retain(|it| text(it, "/spec/containers/0/image") == BAD_IMAGE);
        for pod in &pods {
            self.delete(PODS, pod.name());
        }
        !pods.is_empty()
    }

    pub(crate) fn delete_one(&self, resource: &str, pick: u64) {
        let objects = living(self.cluster.list(resource));
        if let Some(object) = choose(pick, &objects) {
            self.delete(resource, object.name());
        }
    }

    pub(crate) fn delete_pod(&self, pick: u64) {
        self.delete_one(PODS, pick);
    }

    pub(crate) fn delete_gang(&self, pick: u64) {
        self.delete_one(GANGS, pick);
    }

    pub(crate) fn delete_clique(&self, pick: u64) {
        self.delete_one(CLIQUES, pick);
    }

    /// A pod that runs.
    pub(crate) fn running_pod(&self, pick: u64) -> Option<std::sync::Arc<Object>> {
        let mut pods = living(self.cluster.list(PODS));
        pods.retain(|it| text(it, "/status/phase") == "Running");
        choose(pick, &pods).cloned()
    }
}

fn living(mut objects: Vec<std::sync::Arc<Object>>) -> Vec<std::sync::Arc<Object>> {
    objects.retain(|it| !it.is_terminating());
    objects
}

/// The time as objects have it.
pub(super) fn now() -> String {
    clock::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
