//! What is said, as text for a terminal.

use owo_colors::OwoColorize;

use super::{
    cause::State,
    report::{GangSaid, Report},
};
use crate::columns::{Tone, line, paint};

/// Gangs that are told; of more, the ones that need attention.
const MAX_GANGS: usize = 20;

pub(super) fn report(report: &Report) -> String {
    let mut out = String::new();
    let placed =
        report.gangs.iter().filter(|it| matches!(it.state, State::Starting | State::Running)).count();
    let title = format!("{} in namespace {}", report.set, report.namespace);
    let state = match report.gangs.len() {
        0 => "it has no gangs yet; check that the Grove operator is running".to_owned(),
        1 if placed == 1 => "its gang is scheduled".to_owned(),
        1 => "its gang is not scheduled".to_owned(),
        all => format!("{placed} of {all} gangs are scheduled"),
    };
    line(&mut out, &format!("{}: {state}", title.bold()));
    if let Some(pod) = &report.pod {
        line(&mut out, &format!("pod {}: {}", pod.name.bold(), pod.why));
    }
    let (well, amiss): (Vec<_>, Vec<_>) = report.gangs.iter().partition(|it| it.cause == "none");
    for gang in amiss.iter().take(MAX_GANGS) {
        told(&mut out, gang);
    }
    let more = amiss.len().saturating_sub(MAX_GANGS);
    if more > 0 {
        line(&mut out, &format!("\n… and {more} more that need attention"));
    }
    match well.as_slice() {
        [] => {}
        [one] => line(&mut out, &format!("\n{}: running", one.name.bold())),
        many => line(&mut out, &format!("\n{} gangs running", many.len())),
    }
    let unsure = amiss.iter().any(|it| ["silent", "notLetGo", "podsMissing"].contains(&it.cause));
    if unsure && !report.backends_read {
        line(&mut out, "\nSchedulerBackends could not be read, so the state of the schedulers is unknown.");
    }
    out
}

fn told(out: &mut String, gang: &GangSaid) {
    let tone = match gang.state {
        State::Unhealthy => Tone::Bad,
        State::Waiting => Tone::Waiting,
        State::Starting | State::Running => Tone::Good,
    };
    line(out, &format!("\n{}: {}", gang.name.bold(), paint(&gang.why, tone)));
    for help in &gang.help {
        line(out, &format!("  - {help}"));
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;
    use crate::commands::why::fixture::{chat, gang, gated, pod};

    const DOCUMENTATION: &str = include_str!("../../../../../docs/why.md");

    fn plain(text: &str) -> String {
        strip_str(text).to_string()
    }

    #[test]
    fn one_sentence_for_each_gang_and_what_would_help() {
        let want = "\
chat in namespace default: 1 of 3 gangs are scheduled

chat-0: default-scheduler cannot place it: chat-0-decode: none of the 4 domains of topology.example.com/rack has room for it; the first has room for at most 1 of the 2 pods that are needed
  - free up, or add, capacity for 1 more pod of chat-0-decode (each 8 nvidia.com/gpu) in one domain of topology.example.com/rack
  - or require a wider topology level than topology.example.com/rack
  - or recreate chat with a smaller minAvailable for chat-0-decode (it is immutable)

chat-0-decode-0: waiting for its base gang chat-0 to be scheduled
  - `grove why podgang/chat-0` shows what that gang waits for

chat-1: running
";
        assert_eq!(plain(&report(&Report::of(&chat()))), want);
        assert!(DOCUMENTATION.contains(want), "docs/why.md does not show it");
    }

    /// It runs, and yet there is something to say of it.
    #[test]
    fn a_gang_with_pods_that_are_held_back_is_told() {
        let mut facts = chat();
        facts.pods.push(pod(
            "chat-1-a",
            "chat-1-decode",
            "chat-1",
            &gated(&["grove.io/podgang-pending-creation"]),
        ));
        let text = plain(&report(&Report::of(&facts)));
        let want = "\nchat-1: running; 1 pod above minAvailable stays gated until gang chat-0 and 1 more are scheduled, \
                    for five minutes at most\n";
        assert!(text.contains(want), "{text}");
    }

    #[test]
    fn many_gangs_have_an_end() {
        let mut facts = chat();
        facts.gangs =
            (0..30).map(|it| gang(&format!("chat-{it:02}"), &[("Scheduled", "False", "", "")])).collect();
        let text = plain(&report(&Report::of(&facts)));
        assert_eq!(text.matches("has not answered yet").count(), 20, "{text}");
        assert!(text.contains("\n… and 10 more that need attention\n"), "{text}");
        facts.gangs.clear();
        let text = plain(&report(&Report::of(&facts)));
        assert_eq!(
            text,
            "chat in namespace default: it has no gangs yet; check that the Grove operator is running\n"
        );
    }

    #[test]
    fn what_could_not_be_read_is_told_where_it_matters() {
        let told = |condition: (&str, &str, &str, &str)| {
            let mut facts = chat();
            (facts.gangs, facts.backends) = (vec![gang("chat-0", &[condition])], None);
            plain(&report(&Report::of(&facts))).contains("could not be read")
        };
        assert!(told((
            "Scheduled",
            "False",
            "PodsNotCreated",
            "waiting for all pods of the gang to be created"
        )));
        assert!(!told(("Scheduled", "False", "Unschedulable", "0/2 nodes are available")));
    }
}
