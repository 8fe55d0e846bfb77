//! Webhook configurations and policies, compiled.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Resolve;
use super::attributes::Attributes;
use super::client::Client;
use super::conditions::Conditions;
use super::matching::{Rule, Selectors, is_exempt};
use super::policies::Policies;
use super::session::Stage;
use crate::object::Object;

/// As many webhooks as are asked at all.
const MOST: usize = 1000;

/// All policies, and all webhooks, each kind in the order in which it is asked: by the name of its configuration, then as listed.
#[derive(Debug, Default)]
pub(crate) struct Configured {
    pub(super) policies: Policies,
    mutating: Vec<Arc<Webhook>>,
    validating: Vec<Arc<Webhook>>,
}

/// One webhook.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) name: String,
    /// The object that configures it, by identity: what has not changed keeps its connections.
    source: Arc<Object>,
    rules: Vec<Rule>,
    selectors: Selectors,
    pub(super) conditions: Conditions,
    /// Whether a call that fails is no reason to refuse.
    pub(super) ignores_failure: bool,
    pub(super) timeout: Duration,
    pub(super) has_side_effects: bool,
    pub(super) reinvoked: bool,
    pub(super) client: Result<Client, String>,
}

impl Configured {
    /// Compiles configurations, those of webhooks that are known already as they are.
    pub(super) fn of(objects: &[Arc<Object>], known: &Self, resolve: &Resolve) -> Self {
        let of_kind = |kind: &str| -> Vec<Arc<Object>> {
            objects.iter().filter(|it| it.value()["kind"] == kind).cloned().collect()
        };
        let policies =
            Policies::of(&of_kind("MutatingAdmissionPolicy"), &of_kind("MutatingAdmissionPolicyBinding"));
        let mut out = Self { policies, ..Self::default() };
        for object in objects.iter().filter(|it| it.field("/webhooks").is_some()) {
            let is_mutating = object.value()["kind"] == "MutatingWebhookConfiguration";
            let kept = if is_mutating { &known.mutating } else { &known.validating };
            let mut webhooks: Vec<_> =
                kept.iter().filter(|it| Arc::ptr_eq(&it.source, object)).cloned().collect();
            if webhooks.is_empty() {
                let listed = object.field("/webhooks").and_then(Value::as_array).into_iter().flatten();
                webhooks = listed.map(|it| Arc::new(Webhook::of(object, it, resolve))).collect();
            }
            let all = if is_mutating { &mut out.mutating } else { &mut out.validating };
            all.extend(webhooks);
            all.truncate(MOST);
        }
        out
    }

    pub(super) fn is_empty(&self) -> bool {
        self.policies.is_empty() && self.mutating.is_empty() && self.validating.is_empty()
    }

    /// The webhooks that are asked about a write.
    pub(super) fn matching(&self, stage: Stage, write: &Attributes) -> Vec<Arc<Webhook>> {
        let all = match stage {
            Stage::Mutating => &self.mutating,
            Stage::Validating => &self.validating,
        };
        all.iter().filter(|it| it.matches(write)).cloned().collect()
    }
}

impl Webhook {
    fn of(source: &Arc<Object>, webhook: &Value, resolve: &Resolve) -> Self {
        let seconds = webhook["timeoutSeconds"].as_u64().unwrap_or(10).clamp(1, 30);
        let effects = webhook["sideEffects"].as_str().unwrap_or_default();
        Self {
            name: webhook["name"].as_str().unwrap_or_default().to_owned(),
            source: Arc::clone(source),
            rules: webhook["rules"].as_array().into_iter().flatten().map(Rule::of).collect(),
            selectors: Selectors::of(webhook),
            conditions: Conditions::of(&webhook["matchConditions"]),
            ignores_failure: webhook["failurePolicy"] == "Ignore",
            timeout: Duration::from_secs(seconds),
            has_side_effects: !matches!(effects, "None" | "NoneOnDryRun"),
            reinvoked: webhook["reinvocationPolicy"] == "IfNeeded",
            client: Client::of(&webhook["clientConfig"], seconds, resolve),
        }
    }

    fn matches(&self, write: &Attributes) -> bool {
        !is_exempt(write.resource.id())
            && self.rules.iter().any(|it| it.matches(write))
            && self.selectors.match_all(write)
    }
}
