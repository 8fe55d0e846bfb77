//! The metrics of backends from a scrape, and their events from the API.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use grove_api::{constants::events::backend, wire::PodCliqueSet};
use kube::api::DeleteParams;

use super::stage::{self, Role};
use crate::{
    nodes::Hall,
    scenario::{Context, PodState, eventually},
    scenarios::operator::stage::api,
};

/// Name of a family, its type, the end of its samples' names, and their labels.
type Family = (&'static str, &'static str, &'static str, &'static [&'static str]);

const FAMILIES: [Family; 4] = [
    (
        "grove_scheduler_backend_initialization_duration_seconds",
        "histogram",
        "_count",
        &["backend_name", "status"],
    ),
    (
        "grove_scheduler_backend_operation_duration_seconds",
        "histogram",
        "_count",
        &["backend_name", "operation"],
    ),
    ("grove_scheduler_backend_operation", "counter", "_total", &["backend_name", "operation", "status"]),
    ("grove_scheduler_backend_info", "gauge", "", &["backend_name", "version"]),
];

pub(super) async fn and_events(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(1).gpus(8)).await?;
    stage::start(context, stage::options(context)).await?;
    let backend = context.scheduler().pod_name();
    let told = stage::told_by_event(context, "default", backend, backend::INITIALIZED).await?;
    ensure!(told.type_.as_deref() == Some("Normal"), "it is {:?}", told.type_);
    ensure!(told.involved_object.kind.as_deref() == Some("SchedulerBackend"), "{:?}", told.involved_object);
    context.apply(&stage::set("one", &[Role::new("a", 2, 2)]).to_string()).await?;
    stage::ready(context, "one-", 2).await?;

    let text = context.operator()?.metrics().await?;
    for (name, type_, end, labels) in FAMILIES {
        ensure!(text.contains(&format!("# TYPE {name} {type_}\n")), "{name} is no {type_}");
        let samples = samples(&text, &format!("{name}{end}"));
        let ours: Vec<&Sample> = samples.iter().filter(|it| it.labels["backend_name"] == backend).collect();
        let first = ours.first().with_context(|| format!("no sample of {name} for {backend}:\n{text}"))?;
        let found: BTreeSet<&str> = first.labels.keys().map(String::as_str).collect();
        ensure!(found == labels.iter().copied().collect(), "labels of {name} are {found:?}");
    }
    let info = &samples(&text, "grove_scheduler_backend_info");
    ensure!(info.iter().all(|it| (it.value - 1.0).abs() < f64::EPSILON), "info is not 1");
    let operations = samples(&text, "grove_scheduler_backend_operation_total");
    for operation in ["create", "mutate"] {
        let done = operations.iter().find(|it| {
            it.labels["operation"] == operation
                && it.labels["status"] == "success"
                && it.labels["backend_name"] == backend
        });
        ensure!(done.is_some_and(|it| it.value > 0.0), "no {operation} is counted:\n{text}");
    }

    api::<PodCliqueSet>(context).delete("one", &DeleteParams::default()).await?;
    context.expect("the pods are gone", |pods: &[PodState]| pods.is_empty()).await?;
    eventually("its groups are gone", stage::SOON, || async {
        let left = stage::groups(context).await?.len();
        ensure!(left == 0, "{left} groups are left");
        Ok(())
    })
    .await
}

/// A line of a scrape.
struct Sample {
    labels: BTreeMap<String, String>,
    value: f64,
}

fn samples(text: &str, name: &str) -> Vec<Sample> {
    let lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('{')?.split_once("} "));
    lines
        .filter_map(|(labels, value)| {
            // No value of ours has a comma followed by a quotation mark.
            let pairs = labels.split("\",").filter_map(|it| it.split_once("=\""));
            let labels = pairs.map(|(key, value)| (key.to_owned(), value.trim_end_matches('"').to_owned()));
            Some(Sample { labels: labels.collect(), value: value.parse().ok()? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scrape_is_read() {
        let text = "# TYPE x counter\nx_total{a=\"1\",b=\"v1, v2\"} 3\nx_total_more{a=\"2\"} 4\n";
        let found = samples(text, "x_total");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].labels["b"], "v1, v2");
        assert!((found[0].value - 3.0).abs() < f64::EPSILON);
    }
}
