//! What a person wants to see when a scenario failed.

use std::path::Path;

use k8s_openapi::api::core::v1::Event;
use kube::{Api, ResourceExt, api::ListParams};

use super::{Context, watch_log::summary};

/// Lines of a log that are shown.
const TAIL: usize = 12;

/// Pods, what happened to them, events, and the end of the scheduler's log.
pub(super) async fn collect(context: &Context, mark: usize) -> String {
    let mut text = format!("  pods: {}\n", summary(&context.log.pods(&context.namespace)));
    let changes = context.log.since(mark, &context.namespace);
    text.push_str("  last changes:\n");
    for change in changes.iter().rev().take(TAIL).rev() {
        let state = change
            .after
            .as_ref()
            .map_or_else(|| "gone".to_owned(), |it| summary(std::slice::from_ref(it)).trim().to_owned());
        text.push_str(&format!("    {:8.3} s {}: {state}\n", change.at.as_secs_f64(), change.name));
    }
    let events: Api<Event> = Api::namespaced(context.client(), &context.namespace);
    if let Ok(list) = events.list(&ListParams::default()).await {
        text.push_str("  events:\n");
        for event in list.items.iter().rev().take(TAIL).rev() {
            let object = event.involved_object.name.clone().unwrap_or_default();
            let (reason, message) =
                (event.reason.clone().unwrap_or_default(), event.message.clone().unwrap_or_default());
            text.push_str(&format!("    {object} {reason}: {message} ({})\n", event.name_any()));
        }
    }
    let program = match context.scheduler() {
        crate::cluster::Scheduler::Kube => "kube-scheduler",
        crate::cluster::Scheduler::Kai => "kai-scheduler",
        crate::cluster::Scheduler::Volcano => "volcano-scheduler",
    };
    let log = context.cluster.log(program);
    text.push_str(&format!("  end of {program}'s log:\n{}", tail(&log)));
    text.push_str(&format!("  all logs: less {}\n", log.with_file_name("*.log").display()));
    text
}

fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(TAIL);
    lines[from..].iter().map(|line| format!("    {}\n", line.chars().take(300).collect::<String>())).collect()
}
