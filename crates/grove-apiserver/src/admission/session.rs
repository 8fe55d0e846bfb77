//! One write of a client, with the policies that apply to it and the webhooks that are asked about it.

use std::sync::Arc;

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::ask;
use super::attributes::Attributes;
use super::configuration::Configured;
use super::policies::Invocation;
use crate::failure::Failure;
use crate::random::Random;
use crate::resource::Resource;

/// What webhooks are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// To change the object.
    Mutating,
    /// To say whether it may be.
    Validating,
}

/// What the webhooks said.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// It may be so.
    Allowed(Value),
    /// It may not.
    Denied(Failure),
}

/// What was asked and answered so far, and what must be the same when the write begins again.
#[derive(Debug)]
pub(crate) struct Session {
    configured: Arc<Configured>,
    pub(crate) resource: Arc<Resource>,
    user: Value,
    answers: Vec<(Stage, Attributes, Verdict)>,
    pending: Option<(Stage, Attributes)>,
    warnings: Vec<String>,
    now: Option<Timestamp>,
    uids: Drawn,
    suffixes: Drawn,
}

/// Random texts, the same again in the next attempt.
#[derive(Debug, Default)]
struct Drawn {
    texts: Vec<String>,
    next: usize,
}

impl Drawn {
    fn draw(&mut self, make: impl FnOnce() -> String) -> String {
        if self.next == self.texts.len() {
            self.texts.push(make());
        }
        let text = self.texts.get(self.next).cloned().unwrap_or_default();
        self.next += 1;
        text
    }
}

impl Session {
    pub(crate) fn new(configured: Arc<Configured>, resource: Arc<Resource>, user: Value) -> Self {
        Self {
            configured,
            resource,
            user,
            answers: Vec::new(),
            pending: None,
            warnings: Vec::new(),
            now: None,
            uids: Drawn::default(),
            suffixes: Drawn::default(),
        }
    }

    /// The write begins, perhaps again: the time of its first attempt.
    pub(crate) fn begin(&mut self, resource: &Arc<Resource>, now: Timestamp) -> Timestamp {
        self.resource = Arc::clone(resource);
        (self.uids.next, self.suffixes.next) = (0, 0);
        *self.now.get_or_insert(now)
    }

    pub(crate) fn uid(&mut self, random: &mut Random) -> String {
        self.uids.draw(|| random.uid())
    }

    pub(crate) fn suffix(&mut self, random: &mut Random) -> String {
        self.suffixes.draw(|| random.suffix())
    }

    /// What the policies and then the webhooks make of a write. Where webhooks have not been asked about exactly this, they
    /// will be: the failure only ends the attempt.
    pub(crate) fn judge(&mut self, stage: Stage, mut write: Attributes) -> Result<Value, Failure> {
        let policies = &self.configured.policies;
        if stage == Stage::Mutating {
            policies.mutate(&mut write, &self.user, Invocation::First)?;
        }
        let known = self.answers.iter().find(|(of, known, _)| *of == stage && known.is_same(&write));
        match known {
            Some((_, _, Verdict::Allowed(object))) if stage == Stage::Mutating && *object != write.object => {
                write.object = object.clone();
                policies.mutate(&mut write, &self.user, Invocation::Again)?;
                return Ok(write.object);
            }
            Some((_, _, Verdict::Allowed(object))) => return Ok(object.clone()),
            Some((_, _, Verdict::Denied(failure))) => return Err(failure.clone()),
            None if self.configured.matching(stage, &write).is_empty() => return Ok(write.object),
            None => {}
        }
        self.pending = Some((stage, write));
        Err(Failure::internal("webhooks are yet to be asked"))
    }

    /// Whether the attempt ended with a question.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Asks what is to be asked.
    pub(crate) async fn ask(&mut self) {
        let Some((stage, write)) = self.pending.take() else { return };
        let webhooks = self.configured.matching(stage, &write);
        let mut warnings = Vec::new();
        let verdict = match stage {
            Stage::Mutating => ask::mutate(&webhooks, &write, &self.user, &mut warnings).await,
            Stage::Validating => ask::validate(&webhooks, &write, &self.user, &mut warnings).await,
        };
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        self.answers.push((stage, write, verdict));
    }

    /// What the client is to be told.
    pub(crate) fn warnings(self) -> Vec<String> {
        self.warnings
    }
}
