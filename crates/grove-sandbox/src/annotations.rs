//! Annotations by which users say what simulated pods and nodes do.
//!
//! Each has the prefix `sandbox.grove.io/`; those that the end-to-end scenarios use are understood with `e2e.grove.io/`, too. They
//! are read whenever they change: `kubectl annotate` takes effect on a running pod.

use std::time::Duration;

use grove_api::field::closest;
use k8s_openapi::api::core::v1::{Node, Pod};

/// Prefix of the annotations.
pub const PREFIX: &str = "sandbox.grove.io/";
/// Prefix of the annotations of end-to-end scenarios.
pub const E2E_PREFIX: &str = "e2e.grove.io/";
/// Annotation, and label, of a node whose kubelet is silent.
pub const LOST: &str = "lost";
/// Annotation of a pod whose containers crash once. The kubelet removes it when they have.
pub const CRASH: &str = "crash";

const READY_AFTER: &str = "ready-after";
pub(crate) const NEVER_READY: &str = "never-ready";
const COMPLETE_AFTER: &str = "complete-after";
pub(crate) const FAIL_AFTER: &str = "fail-after";
pub(crate) const EXIT_CODE: &str = "exit-code";
const CRASH_AFTER: &str = "crash-after";
const RESTART_AFTER: &str = "restart-after";
const TERMINATE_AFTER: &str = "terminate-after";
const PULL_AFTER: &str = "pull-after";
const PULL_FAILS: &str = "pull-fails";
const INIT_AFTER: &str = "init-after";

const NAMES: [&str; 12] = [
    READY_AFTER,
    NEVER_READY,
    COMPLETE_AFTER,
    FAIL_AFTER,
    EXIT_CODE,
    CRASH_AFTER,
    RESTART_AFTER,
    TERMINATE_AFTER,
    PULL_AFTER,
    PULL_FAILS,
    INIT_AFTER,
    CRASH,
];

/// Longest value that is read. Longer numbers would leave the range of a duration.
const LONGEST_VALUE: usize = 15;
/// Longest delay.
const LONGEST_DELAY: Duration = Duration::from_hours(24 * 365);
/// How long a crashed container of an end-to-end scenario waits for its restart.
const E2E_RESTART: Duration = Duration::from_secs(1);

/// How long a deleted pod stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Termination {
    /// Not at all.
    #[default]
    AtOnce,
    /// This long after the deletion.
    After(Duration),
    /// For its whole grace period.
    Grace,
}

/// Which attempts to pull an image fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PullFailures {
    /// None.
    #[default]
    Never,
    /// The first so many.
    First(u32),
    /// All.
    Always,
}

/// What a pod does on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Behaviour {
    /// From the start of the containers to Ready.
    pub ready_after: Duration,
    /// The containers run and are never ready.
    pub never_ready: bool,
    /// From Ready to Succeeded.
    pub complete_after: Option<Duration>,
    /// From Ready to Failed.
    pub fail_after: Option<Duration>,
    /// With which code containers end that crash or fail; 1 where there is none.
    pub exit_code: Option<i32>,
    /// From Ready to the crash, each time.
    pub crash_after: Option<Duration>,
    /// From a crash to the restart; Kubernetes' back-off without it.
    pub restart_after: Option<Duration>,
    /// How long it stays when it is deleted.
    pub termination: Termination,
    /// How long its image is pulled.
    pub pull_after: Duration,
    /// Which attempts to pull it fail.
    pub pull_failures: PullFailures,
    /// How long each init container runs.
    pub init_after: Duration,
    /// The annotation that asks for one crash.
    pub crash: Option<String>,
}

/// An annotation that has no effect.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct InvalidAnnotation {
    /// What is wrong, and an example.
    pub(crate) message: String,
}

impl Behaviour {
    /// What the annotations of a pod ask for; `defaults` holds where they say nothing or nothing that can be understood.
    pub(crate) fn of(pod: &Pod, defaults: &Self) -> (Self, Vec<InvalidAnnotation>) {
        let mut reader = Reader { pod, invalid: Vec::new() };
        reader.report_unknown();
        let crash_after = reader.delay(CRASH_AFTER);
        let is_of_scenario = reader.get(CRASH_AFTER).is_some_and(|it| it.0.starts_with(E2E_PREFIX));
        let restart_after = reader.delay(RESTART_AFTER).or(is_of_scenario.then_some(E2E_RESTART));
        let fail_after = reader.delay(FAIL_AFTER);
        let ends_at_once = is_of_job(pod) && crash_after.is_none() && fail_after.is_none();
        let complete_after = reader.delay(COMPLETE_AFTER).or(ends_at_once.then_some(Duration::ZERO));
        let this = Self {
            ready_after: reader.delay(READY_AFTER).unwrap_or(defaults.ready_after),
            never_ready: reader.flag(NEVER_READY).unwrap_or(defaults.never_ready),
            complete_after: complete_after.or(defaults.complete_after),
            fail_after: fail_after.or(defaults.fail_after),
            exit_code: reader.exit_code().or(defaults.exit_code),
            crash_after: crash_after.or(defaults.crash_after),
            restart_after: restart_after.or(defaults.restart_after),
            termination: reader.termination().unwrap_or(defaults.termination),
            pull_after: reader.delay(PULL_AFTER).unwrap_or(defaults.pull_after),
            pull_failures: reader.pull_failures().unwrap_or(defaults.pull_failures),
            init_after: reader.delay(INIT_AFTER).unwrap_or(defaults.init_after),
            crash: reader.get(CRASH).map(|it| it.0),
        };
        (this, reader.invalid)
    }
}

/// Whether the kubelet of a node is silent.
pub(crate) fn is_lost(node: &Node) -> bool {
    let maps = [node.metadata.annotations.as_ref(), node.metadata.labels.as_ref()];
    let is_set = |prefix: &str| {
        let key = format!("{prefix}{LOST}");
        maps.into_iter().flatten().filter_map(|it| it.get(&key)).any(|it| it != "false")
    };
    is_set(PREFIX) || is_set(E2E_PREFIX)
}

/// The pods of a Job end by themselves.
fn is_of_job(pod: &Pod) -> bool {
    pod.metadata.owner_references.iter().flatten().any(|it| it.kind == "Job")
}

struct Reader<'a> {
    pod: &'a Pod,
    invalid: Vec<InvalidAnnotation>,
}

impl<'a> Reader<'a> {
    /// The whole key and the value.
    fn get(&self, name: &str) -> Option<(String, &'a str)> {
        let annotations = self.pod.metadata.annotations.as_ref()?;
        [PREFIX, E2E_PREFIX].iter().find_map(|prefix| {
            let key = format!("{prefix}{name}");
            let value = annotations.get(&key)?;
            Some((key, value.trim()))
        })
    }

    fn read<T>(&mut self, name: &str, want: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let (key, value) = self.get(name)?;
        let parsed = if value.len() <= LONGEST_VALUE { parse(value) } else { None };
        if parsed.is_none() {
            let shown: String = value.chars().take(LONGEST_VALUE + 5).collect();
            let message = format!("annotation {key}: {shown:?} is ignored: use {want}");
            self.invalid.push(InvalidAnnotation { message });
        }
        parsed
    }

    fn delay(&mut self, name: &str) -> Option<Duration> {
        self.read(name, "a duration of at most a year, such as 3s, 1m30s or 250ms", duration)
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        self.read(name, "true or false", |it| it.parse().ok())
    }

    fn exit_code(&mut self) -> Option<i32> {
        let code = |it: &str| it.parse::<u8>().ok().map(i32::from);
        self.read(EXIT_CODE, "a number from 0 to 255, such as 137", code)
    }

    fn termination(&mut self) -> Option<Termination> {
        self.read(TERMINATE_AFTER, "a duration such as 5s, or grace for the whole grace period", |it| {
            if it == "grace" { Some(Termination::Grace) } else { duration(it).map(Termination::After) }
        })
    }

    fn pull_failures(&mut self) -> Option<PullFailures> {
        self.read(PULL_FAILS, "true for every attempt, or how many attempts fail, such as 2", |it| match it {
            "true" => Some(PullFailures::Always),
            "false" => Some(PullFailures::Never),
            _ => it.parse().ok().map(PullFailures::First),
        })
    }

    /// Names with our prefix that mean nothing. With that of the scenarios there are others.
    fn report_unknown(&mut self) {
        let keys = self.pod.metadata.annotations.iter().flatten().map(|it| it.0);
        for name in keys.filter_map(|it| it.strip_prefix(PREFIX)).filter(|it| !NAMES.contains(it)) {
            let hint = closest(name, NAMES.into_iter()).map(|it| format!(", did you mean {PREFIX}{it}?"));
            let hint = hint.unwrap_or_else(|| format!(": the names are {}", NAMES.join(", ")));
            let name: String = name.chars().take(64).collect();
            let message = format!("annotation {PREFIX}{name} is ignored: it is unknown{hint}");
            self.invalid.push(InvalidAnnotation { message });
        }
    }
}

/// A duration as Go writes it.
fn duration(text: &str) -> Option<Duration> {
    let parsed: kube::core::Duration = text.parse().ok().filter(|_| !text.is_empty())?;
    let is_allowed = !parsed.is_negative() && Duration::from(parsed) <= LONGEST_DELAY;
    is_allowed.then(|| parsed.into())
}

#[cfg(test)]
mod tests;
