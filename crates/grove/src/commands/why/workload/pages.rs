//! Long lists, page by page and to an end; and of what is in them, what is needed.

use std::fmt::Debug;

use k8s_openapi::api::core::v1::{Container, Pod};
use kube::api::{ListParams, ObjectList};
use serde::de::DeserializeOwned;

/// Objects of a page.
const PAGE: u32 = 500;
/// Pages of a list: a namespace of more is told so.
const MAX_PAGES: usize = 40;
/// An annotation that is longer is no name.
const MAX_ANNOTATION: usize = 256;

/// Calls `keep` for every object of a list; whether the list came to its end.
pub(in crate::commands::why) async fn pages<K: Clone + Debug + DeserializeOwned>(
    mut params: ListParams,
    list: impl AsyncFn(ListParams) -> kube::Result<ObjectList<K>>,
    mut keep: impl FnMut(K),
) -> kube::Result<bool> {
    params = params.limit(PAGE);
    for _ in 0..MAX_PAGES {
        let page = list(params.clone()).await?;
        page.items.into_iter().for_each(&mut keep);
        match page.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(token) => params = params.continue_token(&token),
            None => return Ok(true),
        }
    }
    Ok(false)
}

pub(super) fn cut_short(what: &str) -> String {
    format!("only the first {} {what} of the namespace were looked at", PAGE as usize * MAX_PAGES)
}

/// What is said of a pod needs little of it, and there may be many.
pub(super) fn slim(mut pod: Pod) -> Pod {
    pod.metadata.managed_fields = None;
    if let Some(annotations) = &mut pod.metadata.annotations {
        annotations.retain(|_, value| value.len() <= MAX_ANNOTATION);
    }
    if let Some(spec) = &mut pod.spec {
        spec.volumes = None;
        spec.init_containers = None;
        for it in &mut spec.containers {
            let (name, resources) = (std::mem::take(&mut it.name), it.resources.take());
            *it = Container { name, resources, ..Container::default() };
        }
    }
    if let Some(status) = &mut pod.status {
        status.container_statuses = None;
        status.init_container_statuses = None;
    }
    pod
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A list that never ends, and one that ends with its third page.
    #[tokio::test]
    async fn lists_have_an_end() {
        for (last, want) in [(Some(3), (3, true)), (None, (MAX_PAGES, false))] {
            let list = async |params: ListParams| {
                let page: usize = params.continue_token.map_or(1, |it| it.parse().unwrap());
                let next = if last == Some(page) { String::new() } else { (page + 1).to_string() };
                let list = json!({
                    "apiVersion": "v1", "kind": "PodList",
                    "metadata": { "continue": next }, "items": [{ "metadata": { "name": page.to_string() } }],
                });
                Ok(serde_json::from_value::<ObjectList<Pod>>(list).unwrap())
            };
            let mut seen = 0;
            let is_all = pages(ListParams::default(), list, |_| seen += 1).await.unwrap();
            assert_eq!((seen, is_all), want);
        }
    }

    #[test]
    fn what_is_said_of_a_pod_needs_little() {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {
                "name": "p", "labels": { "a": "b" },
                "annotations": { "pod-group-name": "g", "large": "x".repeat(1_000_000) },
                "managedFields": [{ "manager": "m" }],
            },
            "spec": {
                "schedulerName": "s", "volumes": [{ "name": "v" }],
                "containers": [{ "name": "c", "image": "i", "resources": { "limits": { "nvidia.com/gpu": "1" } } }],
            },
            "status": { "phase": "Pending", "containerStatuses": [] },
        }))
        .unwrap();
        let want = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "p", "labels": { "a": "b" }, "annotations": { "pod-group-name": "g" } },
            "spec": {
                "schedulerName": "s",
                "containers": [{ "name": "c", "resources": { "limits": { "nvidia.com/gpu": "1" } } }],
            },
            "status": { "phase": "Pending" },
        });
        assert_eq!(serde_json::to_value(slim(pod)).unwrap(), want);
    }
}
