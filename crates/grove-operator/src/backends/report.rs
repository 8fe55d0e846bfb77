//! What the SchedulerBackend object of a backend says, and what is told when that changes. Pure.

use grove_api::{
    constants::{conditions::scheduler_backend_ready as ready, events::backend as reasons, labels},
    wire::{Capability, CapabilitySupport, SchedulerBackend, SchedulerBackendSpec, SchedulerBackendStatus},
};
use grove_plan::status::{Now, put_condition};
use grove_runtime::EventKind;
use grove_scheduler::{Answer, Capabilities, Feature};
use k8s_openapi::jiff::Timestamp;

use super::Readiness;

/// What is known of one backend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// This operator has no such backend; another one had.
    Absent,
    /// No profile asks for it.
    NotConfigured,
    /// What it needs is missing: why.
    Failed(String),
    /// It can be used.
    Ready {
        /// Version of the scheduler.
        version: Option<String>,
        /// How new gangs are made, where there is more than one way.
        form: &'static str,
        /// What it can do.
        capabilities: Box<Capabilities>,
    },
}

impl Known {
    /// Of a backend that was compiled in. `None` while nobody has looked: there is nothing to say.
    pub(crate) fn of(readiness: &Readiness) -> Option<Self> {
        match readiness {
            Readiness::NotLooked => None,
            Readiness::NotConfigured => Some(Self::NotConfigured),
            Readiness::Failed(why) => Some(Self::Failed(why.clone())),
            Readiness::Ready(it) => Some(Self::Ready {
                version: it.scheduler.version(),
                form: it.scheduler.form(),
                capabilities: Box::new(it.scheduler.capabilities()),
            }),
        }
    }

    fn condition(&self) -> Now<'static> {
        let (status, reason, message) = match self {
            Self::Absent => (
                None,
                ready::NOT_CONFIGURED,
                "this operator was built without a backend of this name".to_owned(),
            ),
            Self::NotConfigured => (
                None,
                ready::NOT_CONFIGURED,
                "the operator's configuration has no profile for this scheduler".to_owned(),
            ),
            Self::Failed(why) => (Some(false), ready::FAILED, why.clone()),
            Self::Ready { capabilities, .. } if !capabilities.single_group_gang.is_supported() => {
                let why = capabilities.single_group_gang.note().unwrap_or_default();
                (Some(true), ready::INITIALIZED, format!("gangs are not passed to the scheduler: {why}"))
            }
            Self::Ready { form, .. } => {
                let message = match *form {
                    "" => "gangs are scheduled as a unit".to_owned(),
                    form => format!("gangs are scheduled as a unit; new gangs use the form {form:?}"),
                };
                (Some(true), ready::INITIALIZED, message)
            }
        };
        Now { type_: ready::TYPE, status, reason, message }
    }
}

/// The object of a backend, when it is made.
pub(crate) fn object(name: &str) -> SchedulerBackend {
    let mut object = SchedulerBackend::new(name, SchedulerBackendSpec {});
    let label = (labels::MANAGED_BY.to_owned(), labels::MANAGED_BY_VALUE.to_owned());
    object.metadata.labels = Some([label].into());
    object
}

/// What the status has to say. Conditions of others stay.
pub(crate) fn status(
    object: &SchedulerBackend,
    known: &Known,
    is_default: bool,
    now: Timestamp,
) -> SchedulerBackendStatus {
    let generation = object.metadata.generation;
    let mut conditions = object.status.as_ref().map(|it| it.conditions.clone()).unwrap_or_default();
    put_condition(&mut conditions, known.condition(), generation, now);
    let (version, capabilities) = match known {
        Known::Ready { version, capabilities, .. } => (version.clone(), answers(capabilities)),
        _ => (None, Vec::new()),
    };
    SchedulerBackendStatus {
        observed_generation: generation,
        conditions,
        scheduler_name: object.metadata.name.clone(),
        default: is_default,
        scheduler_version: version,
        capabilities,
    }
}

/// All answers, in the order of the features.
fn answers(capabilities: &Capabilities) -> Vec<Capability> {
    let one = |feature: &Feature| {
        let answer = capabilities.of(*feature);
        let support = match answer {
            Answer::Native => CapabilitySupport::Native,
            Answer::Emulated(_) => CapabilitySupport::Emulated,
            Answer::Reject(_) => CapabilitySupport::Reject,
            Answer::Pass(_) => CapabilitySupport::Pass,
        };
        Capability { feature: feature.name().to_owned(), support, note: answer.note().map(str::to_owned) }
    };
    Feature::ALL.iter().map(one).collect()
}

/// Whether the object says that its backend is the default.
pub(crate) fn says_default(object: &SchedulerBackend) -> bool {
    object.status.as_ref().is_some_and(|it| it.default)
}

/// The one condition of a status: whether it holds, and why.
pub(crate) fn verdict(status: &SchedulerBackendStatus) -> Option<(&str, &str)> {
    let condition = status.conditions.iter().find(|it| it.type_ == ready::TYPE)?;
    Some((&condition.status, &condition.message))
}

/// An Event about a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) kind: EventKind,
    pub(crate) reason: &'static str,
    pub(crate) action: &'static str,
    pub(crate) note: String,
}

/// What is told when `new` replaces `old`; `former` is the default before this one. A backend that was ready before the
/// operator was restarted, and has the same version, is no news.
pub(crate) fn news(
    name: &str,
    old: Option<&SchedulerBackendStatus>,
    new: &SchedulerBackendStatus,
    former: Option<&str>,
) -> Vec<News> {
    let mut news = Vec::new();
    let (before, after) = (old.and_then(verdict), verdict(new));
    match after {
        Some(("True", _)) => {
            let same = before.is_some_and(|it| it.0 == "True")
                && old.is_some_and(|it| it.scheduler_version == new.scheduler_version);
            if !same {
                let note = format!("Scheduler backend '{name}' initialized successfully");
                news.push(News {
                    kind: EventKind::Normal,
                    reason: reasons::INITIALIZED,
                    action: "Initialize",
                    note,
                });
            }
        }
        Some(("False", why)) if before != after => {
            let note = format!("Failed to initialize scheduler backend '{name}': {why}");
            news.push(News {
                kind: EventKind::Warning,
                reason: reasons::INITIALIZATION_FAILED,
                action: "Initialize",
                note,
            });
        }
        _ => {}
    }
    if let Some(former) = former.filter(|_| new.default) {
        let note = format!("Switched from backend '{former}' to '{name}'");
        news.push(News { kind: EventKind::Normal, reason: reasons::SWITCHED, action: "Switch", note });
    }
    news
}

#[cfg(test)]
mod tests;
