//! The pod that a Job creates.

use k8s_openapi::api::batch::v1::Job;
use kube::Resource as _;
use serde_json::{Value, json};

use super::facts::INDEX;

const INDEX_VARIABLE: &str = "JOB_COMPLETION_INDEX";

/// From the template of the Job; with an index it can be told from the others, by itself and by its name.
pub(super) fn pod(job: &Job, index: Option<usize>) -> Value {
    let template = job.spec.as_ref().map(|it| it.template.clone()).unwrap_or_default();
    let (metadata, mut spec) = (template.metadata.unwrap_or_default(), template.spec.unwrap_or_default());
    let name = job.metadata.name.as_deref().unwrap_or_default();
    let (mut labels, mut annotations) =
        (metadata.labels.unwrap_or_default(), metadata.annotations.unwrap_or_default());
    let mut prefix = format!("{name}-");
    if let Some(index) = index {
        labels.insert(INDEX.to_owned(), index.to_string());
        annotations.insert(INDEX.to_owned(), index.to_string());
        prefix = format!("{name}-{index}-");
        spec.hostname.get_or_insert_with(|| format!("{name}-{index}"));
    }
    let mut spec = json!(spec);
    for list in ["initContainers", "containers"] {
        let containers = spec[list].as_array_mut().filter(|_| index.is_some());
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            let env = container.entry("env").or_insert_with(|| json!([]));
            let path = format!("metadata.annotations['{INDEX}']");
            if let Some(env) =
                env.as_array_mut().filter(|it| !it.iter().any(|it| it["name"] == INDEX_VARIABLE))
            {
                env.push(
                    json!({ "name": INDEX_VARIABLE, "valueFrom": { "fieldRef": { "fieldPath": path } } }),
                );
            }
        }
    }
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": prefix, "labels": labels, "annotations": annotations,
            "finalizers": metadata.finalizers.unwrap_or_default(),
            "ownerReferences": job.controller_owner_ref(&()).into_iter().collect::<Vec<_>>(),
        },
        "spec": spec,
    })
}
