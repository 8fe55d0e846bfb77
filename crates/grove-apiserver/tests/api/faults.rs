//! Faults on purpose.

use grove_apiserver::{Fault, WriteRequest};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ListParams, PostParams};
use serde_json::json;

use crate::support::{client, server};

#[tokio::test]
async fn writes_can_be_refused_lost_and_cut() {
    let server = server();
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let create = async |name: &str| {
        let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        api.create(&PostParams { field_manager: Some("tester".into()), ..Default::default() }, &object).await
    };
    let mut seen = 0;
    server.before_write(move |request: &WriteRequest| {
        assert_eq!((request.verb(), request.resource.id()), ("create", "configmaps"));
        seen += 1;
        match seen {
            1 => Fault::refuse(429, "TooManyRequests", "try again"),
            2 => Fault::Lose,
            3 => Fault::Cut,
            _ => Fault::None,
        }
    });
    let refused = create("refused").await.unwrap_err();
    assert!(matches!(refused, kube::Error::Api(it) if it.code == 429 && it.reason == "TooManyRequests"));
    assert!(matches!(create("lost").await, Err(kube::Error::Service(_))));
    assert!(matches!(create("cut").await, Err(kube::Error::Service(_))));
    create("fine").await.unwrap();
    let names: Vec<String> = api
        .list(&ListParams::default())
        .await
        .unwrap()
        .into_iter()
        .filter_map(|it| it.metadata.name)
        .collect();
    assert_eq!(names, ["fine", "lost"]);
    let writes: Vec<(u16, String, String)> =
        server.store().writes().into_iter().map(|it| (it.code, it.name, it.manager)).collect();
    let by = |code: u16, name: &str| (code, name.to_owned(), "tester".to_owned());
    assert_eq!(writes, [by(429, ""), by(201, "lost"), by(201, "fine")]);
}
