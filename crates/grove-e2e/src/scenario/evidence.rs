//! What a person wants to see when a scenario failed.

use k8s_openapi::api::core::v1::Event;
use kube::{Api, api::ListParams};

use super::{Context, GangState, PodState, Watched};

/// How much of a log or list is shown.
const TAIL: usize = 12;
/// How many objects are shown.
const MANY: usize = 20;

/// Pods, what happened to them, events, and the end of the scheduler's log.
pub(super) async fn collect(context: &Context, mark: usize) -> String {
    let pods = context.log.now(&context.namespace);
    let mut lines = vec![format!("  pods: {}", PodState::summary(&pods[..pods.len().min(MANY)]))];
    if let Ok(gangs) = context.gangs() {
        let gangs = gangs.now(&context.namespace);
        lines.push(format!("  gangs: {}", GangState::summary(&gangs[..gangs.len().min(MANY)])));
    }
    lines.push("  last changes:".to_owned());
    for change in last(&context.log.since(mark, &context.namespace)) {
        let state = change.after.as_ref().map(|it| PodState::summary(std::slice::from_ref(it)));
        let state = state.as_deref().map_or("gone", str::trim);
        lines.push(format!("    {:8.3} s {}: {state}", change.at.as_secs_f64(), change.name));
    }
    let events: Api<Event> = Api::namespaced(context.client(), &context.namespace);
    if let Ok(list) = events.list(&ListParams::default()).await {
        lines.push("  events:".to_owned());
        for event in last(&list.items) {
            let text = |it: &Option<String>| it.clone().unwrap_or_default();
            let object = text(&event.involved_object.name);
            lines.push(format!("    {object} {}: {}", text(&event.reason), text(&event.message)));
        }
    }
    let mut programs = vec![context.scheduler().program()];
    if context.gangs().is_ok() {
        programs.push("operator");
    }
    for program in programs {
        lines.push(format!("  end of {program}'s log:"));
        let text = std::fs::read_to_string(context.cluster.log(program)).unwrap_or_default();
        let shortened = |line: &str| format!("    {}", line.chars().take(300).collect::<String>());
        lines.extend(last(&text.lines().collect::<Vec<_>>()).iter().map(|line| shortened(line)));
    }
    lines.push(format!("  all logs: less {}", context.cluster.log("*").display()));
    lines.join("\n")
}

fn last<T>(items: &[T]) -> &[T] {
    &items[items.len().saturating_sub(TAIL)..]
}
