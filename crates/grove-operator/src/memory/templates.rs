//! What was decided on, or read, about the template of a set.

use std::{sync::Arc, time::Duration};

use grove_api::wire::SetTemplate;
use tokio::time::Instant;

use super::Memory;

#[derive(Clone, Default)]
pub(super) struct TemplateNotes {
    /// Hash of the template of the spec, by generation.
    hash: Option<(Option<i64>, String)>,
    shown: Option<Shown>,
    kept: Option<Kept>,
    /// Hash of a changed template that is not noted yet, and since when.
    unobserved: Option<(String, Instant)>,
}

/// Whether PodCliques show that the template of a generation is the one that the status names.
#[derive(Clone)]
struct Shown {
    generation: Option<i64>,
    noted: String,
    verdict: bool,
}

/// The template that the status names, as its revision keeps it.
#[derive(Clone)]
struct Kept {
    noted: String,
    /// UID of the revision, as far as the cache had it.
    revision: Option<String>,
    template: Option<Arc<SetTemplate>>,
}

/// The template that the status names, as far as it was read.
pub(crate) enum ReadTemplate {
    /// Its revision was not looked for yet.
    Unread,
    /// No revision keeps it.
    Missing,
    Read(Arc<SetTemplate>),
}

impl Memory {
    /// Hash of the template in a set's spec, computed once for each generation.
    pub(crate) fn spec_hash(
        &self,
        uid: &str,
        generation: Option<i64>,
        compute: impl FnOnce() -> String,
    ) -> String {
        let known = self.look(uid, |notes| notes.template.hash.clone()).flatten();
        if let Some((_, hash)) = known.filter(|it| it.0 == generation && generation.is_some()) {
            return hash;
        }
        let hash = compute();
        self.note(uid, |notes| notes.template.hash = Some((generation, hash.clone())));
        hash
    }

    /// Whether PodCliques show that the template is the one `noted`, decided once for each generation: that somebody
    /// changes or deletes one later makes no new template of it.
    pub(crate) fn is_shown(
        &self,
        uid: &str,
        generation: Option<i64>,
        noted: &str,
        decide: impl FnOnce() -> bool,
    ) -> bool {
        let known = self.look(uid, |notes| {
            let same = |it: &&Shown| it.generation == generation && it.noted == noted;
            notes.template.shown.as_ref().filter(same).map(|it| it.verdict)
        });
        known.flatten().unwrap_or_else(|| {
            let verdict = decide();
            let shown = Shown { generation, noted: noted.to_owned(), verdict };
            self.note(uid, |notes| notes.template.shown = Some(shown));
            verdict
        })
    }

    /// How long the change to a template of this hash has not been noted.
    pub(crate) fn unobserved_for(&self, uid: &str, hash: &str) -> Duration {
        self.note(uid, |notes| {
            let unobserved = &mut notes.template.unobserved;
            if unobserved.as_ref().is_none_or(|it| it.0 != hash) {
                *unobserved = Some((hash.to_owned(), Instant::now()));
            }
            unobserved.as_ref().map(|it| it.1.elapsed()).unwrap_or_default()
        })
    }

    /// No change of the template is left to note.
    pub(crate) fn forget_unobserved(&self, uid: &str) {
        if self.look(uid, |notes| notes.template.unobserved.is_some()) == Some(true) {
            self.note(uid, |notes| notes.template.unobserved = None);
        }
    }

    /// The template `noted` as it was read from its revision.
    pub(crate) fn kept_template(&self, uid: &str, noted: &str) -> ReadTemplate {
        let read = |it: &Kept| match &it.template {
            _ if it.noted != noted => ReadTemplate::Unread,
            None => ReadTemplate::Missing,
            Some(template) => ReadTemplate::Read(Arc::clone(template)),
        };
        let found = self.look(uid, |notes| notes.template.kept.as_ref().map(read)).flatten();
        found.unwrap_or(ReadTemplate::Unread)
    }

    /// Whether the revision of the template `noted` was read since there is one of this UID.
    pub(crate) fn has_read_template(&self, uid: &str, noted: &str, revision: Option<&str>) -> bool {
        let same = |it: &Kept| it.noted == noted && it.revision.as_deref() == revision;
        self.look(uid, |notes| notes.template.kept.as_ref().is_some_and(same)) == Some(true)
    }

    /// The revision of the template `noted` was read.
    pub(crate) fn read_template(
        &self,
        uid: &str,
        noted: &str,
        revision: Option<&str>,
        template: Option<Arc<SetTemplate>>,
    ) {
        let kept = Kept { noted: noted.to_owned(), revision: revision.map(str::to_owned), template };
        self.note(uid, |notes| notes.template.kept = Some(kept));
    }

    /// Nothing is held back.
    pub(crate) fn forget_kept_template(&self, uid: &str) {
        if self.look(uid, |notes| notes.template.kept.is_some()) == Some(true) {
            self.note(uid, |notes| notes.template.kept = None);
        }
    }
}
