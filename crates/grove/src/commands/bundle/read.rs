//! Reads lists of any kind, in pages and to an end.

use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams, TypeMeta},
};
use serde_json::Value;

use crate::cluster::causes;

/// Objects of one answer.
const PAGE: u32 = 500;
/// Most objects of one kind: with more, the file would be too large to send.
const MAX_OBJECTS: usize = 10_000;

/// What was read, and why that is not all.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Listed {
    pub(super) objects: Vec<Value>,
    pub(super) problem: Option<String>,
}

/// Reads a list. What came before an error is kept.
pub(super) async fn list(api: &Api<DynamicObject>, resource: &ApiResource, params: &ListParams) -> Listed {
    let mut params = params.clone().limit(PAGE);
    let mut listed = Listed::default();
    loop {
        let page = match api.list(&params).await {
            Ok(page) => page,
            Err(error) => return Listed { problem: Some(described(&error)), ..listed },
        };
        for mut object in page.items {
            // Items of built-in kinds do not say what they are.
            object.types =
                Some(TypeMeta { api_version: resource.api_version.clone(), kind: resource.kind.clone() });
            match serde_json::to_value(&object) {
                Ok(value) => listed.objects.push(value),
                Err(error) => return Listed { problem: Some(error.to_string()), ..listed },
            }
        }
        let Some(next) = page.metadata.continue_.filter(|it| !it.is_empty()) else { return listed };
        if listed.objects.len() >= MAX_OBJECTS {
            let problem = Some(format!("there are more than the {} that were read", listed.objects.len()));
            return Listed { problem, ..listed };
        }
        params = params.continue_token(&next);
    }
}

/// An error in words, without the address of the server.
pub(super) fn described(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if status.message.is_empty() => format!("code {}", status.code),
        kube::Error::Api(status) => status.message.clone(),
        other => causes(other),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use kube::{Client, client::Body};
    use serde_json::json;

    use super::*;

    /// A list of so many pages, of which one may be an error.
    async fn listed(pages: usize, broken: Option<usize>) -> Listed {
        let answer = move |request: http::Request<Body>| {
            let query = request.uri().query().unwrap_or_default();
            let token = query.split('&').find_map(|it| it.strip_prefix("continue="));
            let page: usize = token.map_or(1, |it| it.parse().unwrap());
            let (code, value) = if Some(page) == broken {
                (
                    410_u16,
                    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "too old", "code": 410 }),
                )
            } else {
                let next = if page < pages { (page + 1).to_string() } else { String::new() };
                let items: Vec<Value> =
                    (0..PAGE).map(|it| json!({ "metadata": { "name": format!("{page}-{it}") } })).collect();
                (
                    200,
                    json!({ "kind": "PodList", "apiVersion": "v1", "metadata": { "continue": next }, "items": items }),
                )
            };
            async move { http::Response::builder().status(code).body(Body::from(value.to_string().into_bytes())) }
        };
        let resource = ApiResource::erase::<Pod>(&());
        let api = Api::all_with(Client::new(tower::service_fn(answer), "default"), &resource);
        list(&api, &resource, &ListParams::default()).await
    }

    #[tokio::test]
    async fn lists_come_in_pages_and_have_an_end() {
        let rows = [
            (3, None, 1_500, None),
            (3, Some(2), 500, Some("too old")),
            (1, Some(1), 0, Some("too old")),
            (1_000, None, 10_000, Some("there are more than the 10000 that were read")),
        ];
        for (pages, broken, objects, problem) in rows {
            let listed = listed(pages, broken).await;
            assert_eq!(
                (listed.objects.len(), listed.problem.as_deref()),
                (objects, problem),
                "{pages} {broken:?}"
            );
        }
    }

    #[tokio::test]
    async fn objects_say_what_they_are() {
        let listed = listed(1, None).await;
        assert_eq!(
            listed.objects[0],
            json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "1-0" } })
        );
    }
}
