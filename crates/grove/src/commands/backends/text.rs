//! Backends as text for a terminal.

use grove_api::wire::CapabilitySupport;
use owo_colors::OwoColorize;

use super::view::{Backend, Ready};
use crate::columns::{Table, Tone, cut, line, paint};

/// Characters of what others wrote.
const MAX_TEXT: usize = 400;

/// A line for each.
pub(super) fn list(backends: &[Backend]) -> String {
    if backends.is_empty() {
        return "no SchedulerBackends found: check that the operator is running\n".to_owned();
    }
    let mut table = Table::new(&["NAME", "DEFAULT", "READY", "VERSION", "REASON"], 2);
    for it in backends {
        let default = if it.default { "yes" } else { "" };
        table.row(
            tone(it.ready),
            [
                it.name.clone(),
                default.to_owned(),
                it.ready.words().to_owned(),
                cut(&it.version, MAX_TEXT),
                reason(it),
            ],
        );
    }
    table.text(0)
}

/// What one can do.
pub(super) fn one(backend: &Backend) -> String {
    let mut out = String::new();
    let state = match backend.ready {
        Ready::Yes => "ready",
        Ready::No => "not ready",
        Ready::NotConfigured => "not configured",
        Ready::Unknown => "not probed yet",
    };
    let mut words = vec![paint(state, tone(backend.ready))];
    words.extend(backend.default.then(|| "the default".to_owned()));
    words.extend(Some(cut(&backend.version, MAX_TEXT)).filter(|it| !it.is_empty()));
    line(&mut out, &format!("{}: {}", backend.name.bold(), words.join(", ")));
    if !backend.message.is_empty() {
        line(&mut out, &format!("  {}", cut(&backend.message, MAX_TEXT)));
    }
    let mut table = Table::new(&["FEATURE", "SUPPORT", ""], 1);
    for it in &backend.capabilities {
        let (tone, support) = match it.support {
            CapabilitySupport::Native => (Tone::Good, "native"),
            CapabilitySupport::Emulated => (Tone::Good, "emulated"),
            CapabilitySupport::Pass => (Tone::Waiting, "ignored"),
            CapabilitySupport::Reject => (Tone::Bad, "rejected"),
        };
        let note = cut(it.note.as_deref().unwrap_or_default(), MAX_TEXT);
        table.row(tone, [it.feature.clone(), support.to_owned(), note]);
    }
    if !table.is_empty() {
        out.push('\n');
        out.push_str(&table.text(0));
    }
    out
}

fn reason(backend: &Backend) -> String {
    let words = [&backend.reason, &backend.message].map(|it| it.trim());
    let words: Vec<&str> = words.into_iter().filter(|it| !it.is_empty()).collect();
    cut(&words.join(": "), MAX_TEXT)
}

fn tone(ready: Ready) -> Tone {
    match ready {
        Ready::Yes => Tone::Good,
        Ready::No => Tone::Bad,
        Ready::NotConfigured | Ready::Unknown => Tone::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;
    use crate::commands::backends::view::tests::three;

    const DOCUMENTATION: &str = include_str!("../../../../../docs/backends/README.md");

    #[test]
    fn a_line_each() {
        let want = "\
NAME                DEFAULT   READY            VERSION                              REASON
default-scheduler   yes       yes              scheduling.k8s.io v1beta1 PodGroup   BackendInitialized: gangs are scheduled as a unit; new gangs use the form \"flat\"
kai-scheduler                 no                                                    BackendInitializationFailed: the cluster has no CRD podgroups.scheduling.run.ai that serves v2alpha2: install KAI 0.12 or newer
volcano                       not configured                                        BackendNotConfigured: the operator's configuration has no profile for this scheduler
";
        assert_eq!(strip_str(&list(&three())).to_string(), want);
        assert!(DOCUMENTATION.contains(want), "docs/backends/README.md does not show it");
        assert_eq!(list(&[]), "no SchedulerBackends found: check that the operator is running\n");
    }

    #[test]
    fn feature_by_feature() {
        let want = "\
default-scheduler: ready, the default, scheduling.k8s.io v1beta1 PodGroup
  gangs are scheduled as a unit; new gangs use the form \"flat\"

FEATURE                SUPPORT
SingleGroupGang        native
MultiGroupGang         emulated   one PodGroup with the minimum of every group
RequiredTopologyGang   rejected   the API server drops topology constraints
Queue                  ignored    kube-scheduler has no queues
";
        assert_eq!(strip_str(&one(&three()[0])).to_string(), want);
    }

    #[test]
    fn one_that_is_not_ready_says_why() {
        let text = strip_str(&one(&three()[1])).to_string();
        let want = "kai-scheduler: not ready\n  the cluster has no CRD podgroups.scheduling.run.ai that serves v2alpha2: \
                    install KAI 0.12 or newer\n";
        assert_eq!(text, want);
    }
}
