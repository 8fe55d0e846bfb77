//! What each scheduler can do, without a cluster: the backends are asked on the examples that they give themselves.

use std::{fmt::Write, sync::Arc};

use grove_scheduler::{Answer, Capabilities, Feature, SchedulerBackend};
use serde_json::json;

/// Markdown: what the features are, and a table for each backend.
pub(super) fn markdown(backends: &[&Arc<dyn SchedulerBackend>]) -> String {
    let mut text = String::from("| feature | what is asked for |\n|---|---|\n");
    for feature in Feature::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} | {} |", feature.name(), feature.about().trim_end_matches('.'));
    }
    for backend in backends {
        let _ = write!(text, "\n## {}\n\n{}", backend.name(), table(backend.as_ref()));
    }
    text
}

fn table(backend: &dyn SchedulerBackend) -> String {
    let mut columns: Vec<(&str, Capabilities)> = Vec::new();
    let mut remarks = String::new();
    for example in backend.examples() {
        match backend.init(&json!({}), &example.cluster) {
            Ok(scheduler) => columns.push((example.title, scheduler.capabilities())),
            Err(why) => {
                let _ = writeln!(remarks, "\n{}: it is not ready: {why}", example.title);
            }
        }
    }
    if columns.is_empty() {
        return format!("It gives no example of a cluster; ask one.\n{remarks}");
    }
    let mut notes = Notes::default();
    let titles: Vec<&str> = columns.iter().map(|it| it.0).collect();
    let mut text = format!("| feature | {} |\n|---{}|\n", titles.join(" | "), "|---".repeat(titles.len()));
    for feature in Feature::ALL {
        let cells: Vec<String> = columns.iter().map(|it| notes.cell(it.1.of(*feature))).collect();
        let _ = writeln!(text, "| {} | {} |", feature.name(), cells.join(" | "));
    }
    text + &notes.list() + &remarks
}

/// What stands below a table: each note once.
#[derive(Default)]
struct Notes(Vec<&'static str>);

impl Notes {
    fn cell(&mut self, answer: Answer) -> String {
        let word = match answer {
            Answer::Native => "native",
            Answer::Emulated(_) => "emulated",
            Answer::Reject(_) => "rejected",
            Answer::Pass(_) => "ignored",
        };
        let Some(note) = answer.note() else { return word.to_owned() };
        let number = self.0.iter().position(|it| *it == note).unwrap_or_else(|| {
            self.0.push(note);
            self.0.len() - 1
        });
        format!("{word} ({})", number + 1)
    }

    fn list(&self) -> String {
        let mut text = String::new();
        for (number, note) in self.0.iter().enumerate() {
            let _ = writeln!(text, "{}{}. {note}", if number == 0 { "\n" } else { "" }, number + 1);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use grove_scheduler::{builtin::builtin, kube::KubeBackend};

    use super::*;

    #[test]
    fn every_backend_has_a_table_with_every_feature() {
        let registry = builtin();
        let text = markdown(&registry.all().iter().collect::<Vec<_>>());
        for backend in registry.all() {
            assert!(text.contains(&format!("\n## {}\n\n| feature | ", backend.name())), "{text}");
        }
        for feature in Feature::ALL {
            let rows = text.matches(&format!("\n| {} | ", feature.name())).count();
            assert_eq!(rows, 1 + registry.all().len(), "{feature:?}");
        }
    }

    #[test]
    fn a_row_has_a_cell_for_each_example_and_notes_stand_below() {
        let text = table(&KubeBackend);
        let line = |start: &str| text.lines().find(|it| it.starts_with(start)).unwrap();
        assert_eq!(line("| feature"), "| feature | tree | flat with topology | flat | plain |");
        assert_eq!(line("|---"), "|---|---|---|---|---|");
        assert_eq!(line("| SingleGroupGang"), "| SingleGroupGang | native | native | native | ignored (1) |");
        assert!(
            line("1. ")
                .starts_with("1. the API server does not serve PodGroups of scheduling.k8s.io/v1beta1"),
            "{text}"
        );
        // A note that was used before keeps its number.
        assert_eq!(
            line("| MultiGroupGang"),
            "| MultiGroupGang | native | emulated (2) | emulated (2) | ignored (1) |"
        );
        let notes: Vec<&str> = text.lines().filter_map(|it| it.split_once(". ")).map(|it| it.1).collect();
        for (number, note) in notes.iter().enumerate() {
            assert!(!notes[..number].contains(note), "{note}");
        }
        assert!(notes.len() > 2, "{text}");
    }

    #[test]
    fn a_note_breaks_no_table() {
        for backend in builtin().all() {
            for line in table(backend.as_ref()).lines().filter(|it| it.starts_with('|')) {
                assert_eq!(line.matches('|').count(), backend.examples().len() + 2, "{line}");
            }
        }
    }
}
