//! What is special about Jobs: the selector that finds their pods, and pods that may end.

use serde_json::{Value, json};

use crate::failure::{Cause, Failure};
use crate::metadata::{self, map_mut};
use crate::resource::Resource;

/// The labels of the pods of a Job, each also under its older name.
const UID: [&str; 2] = ["batch.kubernetes.io/controller-uid", "controller-uid"];
const NAME: [&str; 2] = ["batch.kubernetes.io/job-name", "job-name"];

/// Refuses a new Job whose pods would be restarted for ever.
pub(super) fn check(resource: &Resource, job: &Value) -> Result<(), Failure> {
    if resource.id() != "jobs.batch" {
        return Ok(());
    }
    let path = "spec.template.spec.restartPolicy";
    let cause = match job.pointer("/spec/template/spec/restartPolicy").and_then(Value::as_str) {
        Some("Never" | "OnFailure") => return Ok(()),
        None | Some("" | "Always") => Cause::required(path, "valid values: \"OnFailure\", \"Never\""),
        Some(other) => Cause::not_supported(path, other, &["OnFailure", "Never"]),
    };
    Err(Failure::invalid(resource, metadata::text(job, "name").unwrap_or_default(), vec![cause]))
}

/// Fills in how a new Job finds its pods, unless it says so itself.
pub(super) fn begin(job: &mut Value) {
    if job.pointer("/spec/manualSelector") == Some(&Value::Bool(true)) {
        return;
    }
    let text = |name: &str| metadata::text(job, name).unwrap_or_default().to_owned();
    let (uid, name) = (text("uid"), text("name"));
    let spec = map_mut(map_mut(job).entry("spec").or_insert_with(|| json!({})));
    let template = map_mut(spec.entry("template").or_insert_with(|| json!({})));
    let metadata = map_mut(template.entry("metadata").or_insert_with(|| json!({})));
    let labels = map_mut(metadata.entry("labels").or_insert_with(|| json!({})));
    for (keys, value) in [(UID, &uid), (NAME, &name)] {
        for key in keys {
            labels.entry(key).or_insert_with(|| value.as_str().into());
        }
    }
    let selector = map_mut(spec.entry("selector").or_insert_with(|| json!({})));
    let chosen = map_mut(selector.entry("matchLabels").or_insert_with(|| json!({})));
    chosen.entry(UID[0]).or_insert_with(|| uid.as_str().into());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_found_by_the_uid_of_their_job() {
        let mut job = json!({
            "metadata": {"name": "train", "uid": "u1"},
            "spec": {"template": {"metadata": {"labels": {"app": "x", "job-name": "mine"}}}},
        });
        begin(&mut job);
        let labels = json!({
            "app": "x", "job-name": "mine", "batch.kubernetes.io/job-name": "train",
            "batch.kubernetes.io/controller-uid": "u1", "controller-uid": "u1",
        });
        assert_eq!(job["spec"]["template"]["metadata"]["labels"], labels);
        assert_eq!(
            job["spec"]["selector"],
            json!({"matchLabels": {"batch.kubernetes.io/controller-uid": "u1"}})
        );
        let mut manual = json!({"metadata": {"name": "a", "uid": "u"}, "spec": {"manualSelector": true}});
        begin(&mut manual);
        assert_eq!(manual["spec"], json!({"manualSelector": true}));
    }

    #[test]
    fn pods_that_never_end_are_refused() {
        let jobs = Resource::built_in("batch", "v1", "Job", "jobs");
        let refused = |policy: Value| {
            let job =
                json!({"metadata": {"name": "a"}, "spec": {"template": {"spec": {"restartPolicy": policy}}}});
            check(&jobs, &job).err().map(|it| it.message)
        };
        assert_eq!(refused(json!("Never")), None);
        assert_eq!(refused(json!("OnFailure")), None);
        let required =
            "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"";
        assert!(refused(Value::Null).unwrap().contains(required));
        assert!(refused(json!("Always")).unwrap().contains(required));
        assert!(refused(json!("Maybe")).unwrap().contains("Unsupported value: \"Maybe\""));
    }
}
