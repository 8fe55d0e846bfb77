//! Which scheduler the operator takes a set to have.

use grove_api::{config, wire::PodGang};
use grove_apiserver::{ApiServer, Resources};
use grove_runtime::{Events, InformerMetrics, QueueMetrics};
use grove_scheduler::builtin::builtin;
use k8s_openapi::jiff::Timestamp;
use kube::Client;

use super::*;
use crate::{
    Caps, Concurrency, Operator, OperatorMetrics, Settings,
    backends::{
        Readiness,
        fixture::{Kube, found, kai, kube, ready},
    },
    controllers::Grove,
};

/// Knowledge of an operator whose default is KAI, and the operator's caches.
fn cluster() -> (Cluster, Arc<Grove>) {
    let now = || Timestamp::from_second(1_800_000_000).unwrap();
    let server = ApiServer::new(Resources::kubernetes(), now, 1);
    let client = Client::new(server.service(), "grove");
    let registry = builtin();
    let config = json!({
        "apiVersion": config::API_VERSION, "kind": config::KIND,
        "scheduler": { "profiles": [{ "name": "kai-scheduler", "default": true }] },
        "topologyAwareScheduling": { "defaultTopologyName": "dc" },
    });
    let loaded = registry.with_known(|known| config::load(&config, known)).unwrap();
    let settings = Settings {
        concurrency: Concurrency { sets: 1, groups: 1, cliques: 1, gangs: 1 },
        registry,
        profiles: loaded.profiles.clone(),
        namespace: "grove".to_owned(),
        init_image: String::new(),
        topology_aware: false,
        caps: Caps::default(),
        node_loss: None,
        clock: now,
    };
    let (informers, queues) = (InformerMetrics::default(), QueueMetrics::default());
    let metrics = OperatorMetrics::default();
    let grove = Operator::new(client.clone(), Events::none(), settings, &informers, &queues, metrics).grove();
    found(&grove.backends, "default-scheduler", ready(&client, kube(Kube::Plain)));
    found(&grove.backends, "kai-scheduler", ready(&client, kai()));
    (Cluster::new(Arc::clone(&grove), client, &loaded), grove)
}

/// The set as the server has it.
fn there() -> Value {
    let mut set = stored(&set());
    set["metadata"]["uid"] = "uid-web".into();
    set
}

/// The cache of gangs is filled: one of the set, with this scheduler.
fn fill(grove: &Grove, scheduler: &str) {
    let gang: PodGang = serde_json::from_value(json!({
        "metadata": {
            "name": "web-0", "namespace": "ml", "uid": "uid-web-0",
            "labels": { labels::SCHEDULER_NAME: scheduler },
            "ownerReferences": [{
                "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "web", "uid": "uid-web", "controller": true,
            }],
        },
        "spec": { "podgroups": [] },
    }))
    .unwrap();
    let cache = &grove.seen.gangs.cache;
    cache.relist_started();
    cache.observed(gang);
    cache.relist_ended();
}

/// The name of the scheduler, or why the set is refused, or nothing.
fn said(cluster: &Cluster, operation: &str, new: &Value, old: &Value) -> String {
    let snapshot = cluster.snapshot(webhooks::SET_VALIDATING.path, &request(operation, new, old));
    match snapshot.scheduling {
        Scheduling::NotKnown => String::new(),
        Scheduling::Refused(why) => why,
        Scheduling::Ready { name, .. } => name,
    }
}

#[tokio::test]
async fn a_new_set_has_the_scheduler_that_it_names_or_else_the_default() {
    let (cluster, _) = cluster();
    let named = with("/spec/template/cliques/0/spec/podSpec/schedulerName", json!("default-scheduler"));
    assert_eq!(said(&cluster, "CREATE", &set(), &Value::Null), "kai-scheduler");
    assert_eq!(said(&cluster, "CREATE", &named, &Value::Null), "default-scheduler");
    assert_eq!(said(&cluster, "DELETE", &Value::Null, &named), "");
    let other = with("/spec/template/cliques/0/spec/podSpec/schedulerName", json!("volcano"));
    assert_eq!(said(&cluster, "CREATE", &other, &Value::Null), "", "no profile: the rules say so");
    let binding = request("CREATE", &binding("kai-scheduler", "rack"), &Value::Null);
    let snapshot = cluster.snapshot(webhooks::TOPOLOGY_VALIDATING.path, &binding);
    assert!(matches!(snapshot.scheduling, Scheduling::NotKnown));
}

#[tokio::test]
async fn the_default_topology_is_known_where_defaults_are_filled_in() {
    let (cluster, _) = cluster();
    let request = request("CREATE", &set(), &Value::Null);
    let environment = cluster.snapshot(webhooks::SET_DEFAULTING.path, &request).environment;
    assert_eq!(environment.default_topology.as_deref(), Some("dc"));
    assert_eq!(environment.topology_aware, Some(true));
}

#[tokio::test]
async fn a_set_that_runs_stays_with_the_scheduler_of_its_gangs() {
    let (cluster, grove) = cluster();
    let set = there();
    assert_eq!(said(&cluster, "UPDATE", &set, &set), "", "the gangs are not known yet");
    fill(&grove, "default-scheduler");
    assert_eq!(said(&cluster, "UPDATE", &set, &set), "default-scheduler");
    assert_eq!(said(&cluster, "CREATE", &set, &Value::Null), "kai-scheduler");
    let mut namesake = set.clone();
    namesake["metadata"]["uid"] = "uid-other".into();
    assert_eq!(said(&cluster, "UPDATE", &namesake, &namesake), "kai-scheduler", "not its gangs");
}

#[tokio::test]
async fn a_backend_that_is_not_ready_holds_up_new_sets_only() {
    let (cluster, grove) = cluster();
    fill(&grove, "kai-scheduler");
    found(&grove.backends, "kai-scheduler", Readiness::Failed("no CRD".to_owned()));
    let set = there();
    let why = r#"scheduler backend "kai-scheduler" is not ready: no CRD"#;
    assert_eq!(said(&cluster, "CREATE", &set, &Value::Null), why);
    assert_eq!(said(&cluster, "UPDATE", &set, &set), "");
    let mut other = set.clone();
    other["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["schedulerName"] = "default-scheduler".into();
    assert_eq!(said(&cluster, "UPDATE", &set, &other), why, "it changes its scheduler");
}
