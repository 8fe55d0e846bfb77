//! The operator and the pod grouper: their Deployments and pods, the operator's configuration, and logs.

use std::collections::BTreeSet;

use grove_api::constants::labels;
use grove_runtime::object_name::is_path_segment;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod},
};
use kube::{
    Api,
    api::{ListParams, LogParams},
};
use serde_json::{Map, Value, json};

use super::{collect::Collector, contents::component, kinds, read::described, redact};

const FOLDER: &str = "operator";
/// Value of [`labels::PART_OF`] on the objects of an installation.
const GROVE: &str = "grove";
/// Volume of the Deployment that has the configuration.
const CONFIGURATION: &str = "operator-config";

impl Collector<'_> {
    /// Reads what is installed; the images that run.
    pub(super) async fn operator(&mut self) -> BTreeSet<String> {
        // Of a PodCliqueSet named grove, the operator would have made it.
        let selector =
            format!("{}={GROVE},{}!={}", labels::PART_OF, labels::MANAGED_BY, labels::MANAGED_BY_VALUE);
        let params = ListParams::default().labels(&selector);
        let namespace = self.request.operator_namespace;
        let resource = kinds::of::<Deployment>();
        let deployments = self.list(&resource, Some(namespace), &params).await;
        if deployments.objects.is_empty() && deployments.problem.is_none() {
            let why = format!("no Deployment of Grove in namespace {namespace:?}: give --operator-namespace");
            self.contents.problem("operator", &why);
        }
        let configurations: BTreeSet<String> =
            deployments.objects.iter().filter_map(configuration_of).collect();
        self.add(Some(FOLDER), &resource, deployments);
        for name in configurations {
            self.configuration(&name).await;
        }
        let resource = kinds::of::<Pod>();
        let pods = self.list(&resource, Some(namespace), &params).await;
        let images = pods.objects.iter().flat_map(containers).filter_map(|it| string(&it["image"])).collect();
        let logs: Vec<Log> = pods.objects.iter().flat_map(Log::all_of).collect();
        self.add(Some(FOLDER), &resource, pods);
        for log in logs {
            self.log(&log).await;
        }
        images
    }

    async fn configuration(&mut self, name: &str) {
        // It becomes a part of a path.
        if !is_path_segment(name) {
            return;
        }
        let resource = kinds::of::<ConfigMap>();
        let namespace = self.request.operator_namespace;
        let api: Api<ConfigMap> = Api::namespaced(self.client().clone(), namespace);
        match api.get(name).await {
            Ok(found) => {
                let data: Map<String, Value> = found
                    .data
                    .into_iter()
                    .flatten()
                    .map(|(key, text)| (key, redact::configuration(&text).into()))
                    .collect();
                let object = json!({
                    "apiVersion": resource.api_version, "kind": resource.kind,
                    "metadata": { "name": name, "namespace": namespace },
                    "data": data,
                });
                self.contents.object(FOLDER, &resource, object);
            }
            Err(error) => self.contents.problem(&format!("configmap {name}"), &described(&error)),
        }
    }

    async fn log(&mut self, log: &Log) {
        let api: Api<Pod> = Api::namespaced(self.client().clone(), self.request.operator_namespace);
        let params = LogParams {
            container: Some(log.container.clone()),
            previous: log.is_previous,
            tail_lines: Some(i64::from(self.request.log_lines)),
            ..LogParams::default()
        };
        let which = if log.is_previous { "previous.log" } else { "log" };
        let what = format!("{}/{}.{which}", log.pod, log.container);
        match api.logs(&log.pod, &params).await {
            Ok(text) => {
                anstream::eprintln!("{what}: {} lines", text.lines().count());
                let path =
                    format!("{FOLDER}/logs/{}/{}.{which}", component(&log.pod), component(&log.container));
                self.contents.log(&path, &text);
            }
            Err(error) => self.contents.problem(&what, &described(&error)),
        }
    }
}

/// A log to read.
#[derive(Debug, PartialEq)]
struct Log {
    pod: String,
    container: String,
    /// That of the container before its restart.
    is_previous: bool,
}

impl Log {
    fn all_of(pod: &Value) -> Vec<Self> {
        let Some(name) = string(&pod["metadata"]["name"]).filter(|it| is_path_segment(it)) else {
            return Vec::new();
        };
        let mut logs = Vec::new();
        for container in containers(pod).filter_map(|it| string(&it["name"])) {
            let mut statuses = pod["status"]["containerStatuses"].as_array().into_iter().flatten();
            let status = statuses.find(|it| it["name"] == container.as_str());
            let restarts = status.and_then(|it| it["restartCount"].as_u64()).unwrap_or_default();
            if restarts > 0 {
                logs.push(Self { pod: name.clone(), container: container.clone(), is_previous: true });
            }
            logs.push(Self { pod: name.clone(), container, is_previous: false });
        }
        logs
    }
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    pod["spec"]["containers"].as_array().into_iter().flatten()
}

/// Name of the ConfigMap with the configuration of the Deployment.
fn configuration_of(deployment: &Value) -> Option<String> {
    let volumes = deployment["spec"]["template"]["spec"]["volumes"].as_array()?;
    let volume = volumes.iter().find(|it| it["name"] == CONFIGURATION)?;
    string(&volume["configMap"]["name"])
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_that_restarted_has_two_logs() {
        let pod = json!({
            "metadata": { "name": "o-1" },
            "spec": { "containers": [{ "name": "a" }, { "name": "b" }] },
            "status": { "containerStatuses": [{ "name": "b", "restartCount": 2 }, { "name": "a", "restartCount": 0 }] },
        });
        let log = |container: &str, is_previous| Log {
            pod: "o-1".to_owned(),
            container: container.to_owned(),
            is_previous,
        };
        assert_eq!(Log::all_of(&pod), [log("a", false), log("b", true), log("b", false)]);
        let odd = json!({ "metadata": { "name": "a/b" }, "spec": { "containers": [{ "name": "a" }] } });
        assert!(Log::all_of(&odd).is_empty());
    }

    #[test]
    fn the_configuration_is_that_of_its_volume() {
        let volumes = json!([{ "name": "ca", "configMap": { "name": "x" } }, { "name": "operator-config", "configMap": { "name": "y" } }]);
        let deployment = json!({ "spec": { "template": { "spec": { "volumes": volumes } } } });
        assert_eq!(configuration_of(&deployment).as_deref(), Some("y"));
        assert_eq!(configuration_of(&json!({})), None);
    }
}
