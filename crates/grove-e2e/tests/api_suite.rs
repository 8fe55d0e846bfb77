//! The API suite on the API server in memory: the same rows as on a real one, but for those that it is known to lack.
// A test, also in the functions that it is made of.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use grove_apiserver::{ApiServer, Resources, run_collector};
use grove_e2e::api_suite;
use k8s_openapi::jiff::Timestamp;
use kube::api::{Api, PostParams};
use serde_json::json;

/// Rows that fail, by how their names begin, and why.
const LACKING: &[(&str, &str)] =
    &[("pods: the service account is there", "no controller of service accounts runs here")];

#[tokio::test]
async fn the_server_in_memory_answers_as_a_real_one() {
    let server = ApiServer::new(Resources::cluster().with_definitions(), Timestamp::now, 1);
    let client = kube::Client::new(server.service(), "default");
    tokio::spawn(run_collector(server.clone(), std::future::pending()));
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({"metadata": {"name": "suite"}})).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();

    let failed = api_suite::failures(&client, "suite", Duration::from_secs(2)).await.unwrap();
    let is_known = |row: &str| LACKING.iter().any(|(begin, _)| row.starts_with(begin));
    let news: Vec<String> = failed
        .iter()
        .filter(|it| !is_known(&it.row))
        .map(|it| format!("{}\n    {}", it.row, it.problem))
        .collect();
    assert!(news.is_empty(), "{} rows fail:\n{}", news.len(), news.join("\n"));
    for (begin, why) in LACKING {
        assert!(
            failed.iter().any(|it| it.row.starts_with(begin)),
            "no row fails that begins with {begin:?} ({why})"
        );
    }
}
