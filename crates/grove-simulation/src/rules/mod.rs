//! What must hold. Each rule is about one change by the operator, seen against what was, or about a cluster at rest.

pub(crate) mod backends;
pub(crate) mod budget;
pub(crate) mod gates;
pub(crate) mod generation;
pub(crate) mod idle;
pub(crate) mod indices;
pub(crate) mod lacking;
pub(crate) mod nodes;
pub(crate) mod policy;
pub(crate) mod quota;
pub(crate) mod rest;
pub(crate) mod restart;
pub(crate) mod tenant;
pub(crate) mod update;

use std::time::Duration;

/// Times of objects have whole seconds.
const SECOND: Duration = Duration::from_secs(1);

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which one.
    pub rule: Rule,
    /// How.
    pub words: String,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Ready pods never fall below the minimum by our hand.
    Budget,
    /// Updates replace pods replica by replica, and only where they may.
    Update,
    /// What is wanted is not deleted.
    Wanted,
    /// A unit is restarted as a whole only where that is due.
    Restart,
    /// What is lacking is made, whatever troubles there are.
    Lacking,
    /// A pod is taken off its node by force only where nobody else ends it.
    Force,
    /// Under a quota whoever fits runs in the end, and pods are not made and deleted without end.
    Quota,
    /// No gate is lifted before the gang is complete.
    Gates,
    /// No two pods with the same index.
    Indices,
    /// Nothing is written that changes nothing.
    NoEffect,
    /// What nobody wants is gone, and all that is wanted is there.
    Orphans,
    /// In the end everything is as it should be.
    Convergence,
    /// In the end nobody writes any more.
    Rest,
    /// Nothing panics.
    Panic,
    /// What a tenant forges in its namespace concerns nothing elsewhere.
    Tenant,
    /// `observedGeneration` is true.
    Generation,
    /// Schedulers' objects match the gangs, and exist before gates are removed.
    Backend,
    /// The referee has seen all of the history.
    History,
    /// Time goes on.
    Livelock,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Budget => "budget",
            Self::Update => "update",
            Self::Wanted => "wanted",
            Self::Restart => "restart",
            Self::Lacking => "lacking",
            Self::Force => "force",
            Self::Quota => "quota",
            Self::Gates => "gates",
            Self::Indices => "indices",
            Self::NoEffect => "no-effect",
            Self::Orphans => "orphans",
            Self::Convergence => "convergence",
            Self::Rest => "rest",
            Self::Panic => "panic",
            Self::Tenant => "tenant",
            Self::Generation => "generation",
            Self::Backend => "backend",
            Self::History => "history",
            Self::Livelock => "livelock",
        })
    }
}

impl Rule {
    /// This rule is broken.
    pub(crate) fn broken(self, words: impl Into<String>) -> Broken {
        Broken { rule: self, words: words.into() }
    }
}
