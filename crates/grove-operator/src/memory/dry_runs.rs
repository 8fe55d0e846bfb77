//! What the API server said to dry runs of pods of new templates, by set and hash of the pod template.

use std::{collections::BTreeMap, time::Duration};

use super::{Memory, Pause};

/// First and longest pause before a template that was refused is tried again: the reason may be a policy that changes.
const DRY_RUN_PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(1));

/// The dry runs for one template of a set.
#[derive(Clone, Default)]
pub(super) struct DryRuns {
    /// Hash of the set's template.
    of: String,
    by_template: BTreeMap<String, DryRun>,
}

#[derive(Clone, Default)]
struct DryRun {
    is_under_way: bool,
    /// Whether the server said anything but that it refuses the template.
    is_accepted: bool,
    refusal: Option<TemplateRefusal>,
    pause: Pause,
}

/// The API server refuses pods of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TemplateRefusal {
    /// The PodClique whose pod was tried.
    pub(crate) clique: String,
    /// Its words.
    pub(crate) message: String,
}

/// Whether pods may be replaced by those of another template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Replacement {
    /// They may.
    Accepted,
    /// The API server refuses the template, and is asked again after this time.
    Refused(Duration),
    /// Somebody else asks just now, and wakes us.
    Asking,
    /// Nobody asked yet. Whoever gets this asks, and says how it went ([`Memory::dry_run`]).
    Ask,
}

/// A dry run that is under way. Where its caller ends without an answer (a reconcile that was dropped at its deadline, a panic), somebody
/// else may ask.
pub(crate) struct DryRunUnderWay<'a> {
    memory: &'a Memory,
    set: &'a str,
    of: &'a str,
    template: &'a str,
    has_ended: bool,
}

impl DryRunUnderWay<'_> {
    /// How it went. Whether that is news.
    pub(crate) fn ended(mut self, refusal: Option<TemplateRefusal>) -> bool {
        self.has_ended = true;
        self.memory.dry_run_ended(self.set, self.of, self.template, refusal)
    }
}

impl Drop for DryRunUnderWay<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.memory.dry_run_dropped(self.set, self.of, self.template);
        }
    }
}

impl Memory {
    /// Whether pods of a set may be replaced by those of a pod template of this hash.
    pub(crate) fn replacement(&self, set: &str, of: &str, template: &str) -> Replacement {
        self.note(set, |notes| {
            let all = &mut notes.dry_runs;
            if all.of != of {
                *all = DryRuns { of: of.to_owned(), ..DryRuns::default() };
            }
            let known = all.by_template.entry(template.to_owned()).or_default();
            if known.is_accepted {
                return Replacement::Accepted;
            }
            if known.is_under_way {
                return Replacement::Asking;
            }
            if let Some(wait) = known.refusal.as_ref().and_then(|_| known.pause.remaining()) {
                return Replacement::Refused(wait);
            }
            known.is_under_way = true;
            Replacement::Ask
        })
    }

    /// A dry run begins, for whoever was told to ask.
    pub(crate) fn dry_run<'a>(&'a self, set: &'a str, of: &'a str, template: &'a str) -> DryRunUnderWay<'a> {
        DryRunUnderWay { memory: self, set, of, template, has_ended: false }
    }

    /// A dry run has no answer.
    fn dry_run_dropped(&self, set: &str, of: &str, template: &str) {
        self.note(set, |notes| {
            let all = &mut notes.dry_runs;
            if let Some(known) = all.by_template.get_mut(template).filter(|_| all.of == of) {
                known.is_under_way = false;
            }
        });
    }

    /// How a dry run went. Whether that is news.
    fn dry_run_ended(&self, set: &str, of: &str, template: &str, refusal: Option<TemplateRefusal>) -> bool {
        self.note(set, |notes| {
            // The template may have changed meanwhile.
            let all = &mut notes.dry_runs;
            let Some(known) = all.by_template.get_mut(template).filter(|_| all.of == of) else {
                return false;
            };
            known.is_under_way = false;
            known.is_accepted = refusal.is_none();
            if refusal.is_some() {
                known.pause.again(DRY_RUN_PAUSE);
            }
            let news = known.refusal.as_ref().map(|it| &it.message) != refusal.as_ref().map(|it| &it.message);
            known.refusal = refusal;
            news
        })
    }

    /// Whether the API server refused pods of a template when it was asked last.
    pub(crate) fn is_template_refused(&self, set: &str, of: &str, template: &str) -> bool {
        let is_refused = |all: &DryRuns| {
            all.of == of && all.by_template.get(template).is_some_and(|it| it.refusal.is_some())
        };
        self.look(set, |notes| is_refused(&notes.dry_runs)) == Some(true)
    }

    /// A refusal that holds up the update of a set to this template.
    pub(crate) fn refused_template(&self, set: &str, of: &str) -> Option<TemplateRefusal> {
        let first = |all: &DryRuns| {
            let mut known = all.by_template.values().filter(|_| all.of == of);
            known.find_map(|it| it.refusal.clone())
        };
        self.look(set, |notes| first(&notes.dry_runs)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(message: &str) -> TemplateRefusal {
        TemplateRefusal { clique: "a".to_owned(), message: message.to_owned() }
    }

    #[tokio::test(start_paused = true)]
    async fn each_template_is_tried_once_and_again_only_if_it_was_refused() {
        let memory = Memory::default();
        let ask = |of: &str, template: &str| memory.replacement("set", of, template);
        assert_eq!(ask("g1", "t1"), Replacement::Ask);
        assert_eq!(ask("g1", "t1"), Replacement::Asking);
        assert_eq!(ask("g1", "t2"), Replacement::Ask);
        assert!(!memory.dry_run_ended("set", "g1", "t2", None));
        assert_eq!(ask("g1", "t2"), Replacement::Accepted);
        assert!(memory.dry_run_ended("set", "g1", "t1", Some(refusal("no"))));
        assert_eq!(memory.refused_template("set", "g1"), Some(refusal("no")));
        assert_eq!(memory.refused_template("set", "g2"), None);
        for pause in [2, 4, 8, 16, 32, 60, 60] {
            let pause = Duration::from_secs(pause);
            assert_eq!(ask("g1", "t1"), Replacement::Refused(pause));
            tokio::time::sleep(pause).await;
            assert_eq!(ask("g1", "t1"), Replacement::Ask);
            assert!(!memory.dry_run_ended("set", "g1", "t1", Some(refusal("no"))));
        }
        // Of one without an answer nothing is known, and the next one asks.
        assert_eq!(ask("g1", "t4"), Replacement::Ask);
        drop(memory.dry_run("set", "g1", "t4"));
        assert_eq!(ask("g1", "t4"), Replacement::Ask);
        assert!(!memory.dry_run("set", "g1", "t4").ended(None));
        assert_eq!(ask("g1", "t4"), Replacement::Accepted);
        // Another template is another matter, and what is said of the former counts no more.
        assert_eq!(ask("g2", "t3"), Replacement::Ask);
        assert!(!memory.dry_run_ended("set", "g1", "t1", None));
        assert_eq!(memory.refused_template("set", "g2"), None);
    }
}
