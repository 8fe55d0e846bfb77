//! Tests for backends: what every backend has to keep, held against gangs of many shapes.
//!
//! A backend author calls [`assert_conforms`] in a test, once for each kind of cluster that the backend tells apart:
//!
//! ```no_run
//! # use grove_scheduler::{Probed, SchedulerBackend, conformance};
//! # fn a_test(backend: &dyn SchedulerBackend) {
//! conformance::assert_conforms(backend, &serde_json::json!({}), &Probed::default());
//! # }
//! ```
//!
//! The flow is that of the modules: `shapes` are the gangs, `pods` makes pods as the operator does, `outcome` lets the
//! backend work on them; `statics`, `objects`, `members` and `reflected` judge what came of it.

mod members;
mod objects;
mod outcome;
mod pods;
mod reflected;
mod shapes;
mod statics;

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

pub use self::members::{ByName, Membership};
use crate::{backend::SchedulerBackend, probe::Probed};

/// What a backend has to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// It has a name, and no name twice.
    Names,
    /// Its settings are checked, and unknown ones refused.
    Settings,
    /// What it uses is declared once, with a reason.
    Resources,
    /// It can be initialised on the cluster given, always in the same way, and on its own examples.
    Init,
    /// What is not native is explained; what is required is never passed over.
    Answers,
    /// A gang that its answers admit is rendered.
    Renders,
    /// The same gang gives the same objects.
    Deterministic,
    /// Objects that are there are left as they are.
    Idempotent,
    /// A minimum that is lifted for the moment changes nothing at the scheduler.
    Lifted,
    /// Objects are of declared kinds, well named, in the gang's namespace, and leave to the framework what is its own.
    Objects,
    /// Two gangs share no object.
    Apart,
    /// When a gang is deleted nothing is left, and nothing else is deleted.
    Deletes,
    /// Pods are prepared, once and for all, and lose nothing.
    Pods,
    /// Every pod that a gang needs belongs to one of its objects.
    Complete,
    /// What is answered shows in objects and pods.
    Reflected,
}

/// Something that a backend does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What.
    pub rule: Rule,
    /// The shape of the gang, where it takes one to see it.
    pub shape: Option<&'static str>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.rule)?;
        if let Some(shape) = self.shape {
            write!(f, ", gang of {shape}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// The tests, and what they have to know of a backend.
#[derive(Debug)]
pub struct Conformance<'a> {
    backend: &'a dyn SchedulerBackend,
    config: &'a Value,
    cluster: &'a Probed,
    membership: &'a dyn Membership,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    levels: [&'a str; 3],
}

impl<'a> Conformance<'a> {
    /// Tests a backend with these settings on this cluster.
    pub fn new(backend: &'a dyn SchedulerBackend, config: &'a Value, cluster: &'a Probed) -> Self {
        Self {
            backend,
            config,
            cluster,
            membership: &ByName,
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            levels: ["topology.kubernetes.io/zone", "topology.example.com/rack", "kubernetes.io/hostname"],
        }
    }

    /// A label that all gangs have, for example a queue.
    #[must_use]
    pub fn with_label(mut self, key: &str, value: &str) -> Self {
        self.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// An annotation that all gangs have.
    #[must_use]
    pub fn with_annotation(mut self, key: &str, value: &str) -> Self {
        self.annotations.insert(key.to_owned(), value.to_owned());
        self
    }

    /// The node labels that topology levels go by, the widest first. For a scheduler that has to know them before.
    #[must_use]
    pub fn with_levels(mut self, levels: [&'a str; 3]) -> Self {
        self.levels = levels;
        self
    }

    /// How to tell whether a pod belongs to an object, where that is not by name.
    #[must_use]
    pub fn with_membership(mut self, membership: &'a dyn Membership) -> Self {
        self.membership = membership;
        self
    }

    /// What the backend does not keep.
    pub fn check(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        statics::check(self, &mut found);
        let scheduler = match self.backend.init(self.config, self.cluster) {
            Ok(scheduler) => scheduler,
            Err(why) => {
                let what = format!("it cannot be initialised: {why}");
                found.push(Violation { rule: Rule::Init, shape: None, what });
                return found;
            }
        };
        let run = outcome::Run { kit: self, scheduler: scheduler.as_ref() };
        statics::answers(&run, &mut found);
        for shape in shapes::all(self) {
            objects::check(&run, &shape, &mut found);
            members::check(&run, &shape, &mut found);
        }
        reflected::check(&run, &mut found);
        found
    }

    /// Fails with everything that the backend does not keep.
    #[track_caller]
    pub fn assert(&self) {
        let found = self.check();
        let lines: Vec<String> = found.iter().map(|it| format!("  {it}")).collect();
        let name = self.backend.name();
        assert!(lines.is_empty(), "backend {name:?} does not keep what it has to:\n{}", lines.join("\n"));
    }
}

/// What a backend with these settings does not keep on this cluster.
pub fn check(backend: &dyn SchedulerBackend, config: &Value, cluster: &Probed) -> Vec<Violation> {
    Conformance::new(backend, config, cluster).check()
}

/// Fails with everything that a backend does not keep.
#[track_caller]
pub fn assert_conforms(backend: &dyn SchedulerBackend, config: &Value, cluster: &Probed) {
    Conformance::new(backend, config, cluster).assert();
}
