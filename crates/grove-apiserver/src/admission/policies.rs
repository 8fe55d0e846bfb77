//! `MutatingAdmissionPolicy`: changes that the server makes by itself, said in expressions. A binding puts a policy in force.
//!
//! Understood are `ApplyConfiguration`s that use `object`, `oldObject`, `request` and the policy's variables. All else that a policy may
//! have (`JSONPatch`, parameters, other variables) is an error when the policy applies, and its `failurePolicy` says what follows.

use std::sync::Arc;

use serde_json::Value;

use super::attributes::Attributes;
use super::conditions::{Conditions, without_objects};
use super::matching::{Rule, Selectors, texts};
use super::review::request;
use crate::cel::{self, Budget, Program};
use crate::failure::{Cause, Failure};
use crate::object::Object;
use crate::ownership;

/// What the expressions of a policy may use.
const VARIABLES: [&str; 4] = ["object", "oldObject", "request", "variables"];
/// As many variables and mutations as a policy may have.
const MOST: usize = 64;

/// An expression, or why it is none.
type Compiled = Result<Program, String>;

/// Whether a policy sees an object for the first time, or after others have changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invocation {
    First,
    Again,
}

/// The policies in force, by name, and each by the names of its bindings.
#[derive(Debug, Default)]
pub(super) struct Policies(Vec<Bound>);

/// A policy with one of its bindings.
#[derive(Debug)]
struct Bound {
    policy: Arc<Policy>,
    binding: String,
    resources: Option<Resources>,
}

#[derive(Debug)]
struct Policy {
    name: String,
    resources: Resources,
    conditions: Conditions,
    variables: Vec<(String, Compiled)>,
    mutations: Vec<Compiled>,
    ignores_failure: bool,
    reinvoked: bool,
}

/// `MatchResources`: which writes are meant.
#[derive(Debug)]
struct Resources {
    rules: Vec<NamedRule>,
    excluded: Vec<NamedRule>,
    selectors: Selectors,
}

#[derive(Debug)]
struct NamedRule {
    rule: Rule,
    /// Empty for all.
    names: Vec<String>,
}

impl Policies {
    /// Compiles policies and their bindings.
    pub(super) fn of(policies: &[Arc<Object>], bindings: &[Arc<Object>]) -> Self {
        let mut out = Vec::new();
        for object in policies {
            let policy = Arc::new(Policy::of(object));
            let is_of = |it: &&Arc<Object>| {
                it.field("/spec/policyName").and_then(Value::as_str) == Some(policy.name.as_str())
            };
            out.extend(bindings.iter().filter(is_of).map(|binding| Bound {
                policy: Arc::clone(&policy),
                binding: binding.name().to_owned(),
                resources: binding.field("/spec/matchResources").map(Resources::of),
            }));
        }
        Self(out)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes the object of a write what the policies want, each from what the ones before made of it.
    pub(super) fn mutate(
        &self,
        write: &mut Attributes,
        user: &Value,
        invocation: Invocation,
    ) -> Result<(), Failure> {
        let has_changed = self.pass(write, user, invocation)?;
        if has_changed && invocation == Invocation::First {
            self.pass(write, user, Invocation::Again)?;
        }
        Ok(())
    }

    /// Applies each policy once. Whether that changed anything.
    fn pass(&self, write: &mut Attributes, user: &Value, invocation: Invocation) -> Result<bool, Failure> {
        let mut has_changed = false;
        for bound in &self.0 {
            let is_due = invocation == Invocation::First || bound.policy.reinvoked;
            if !is_due || write.object.is_null() || !bound.matches(write) {
                continue;
            }
            match bound.policy.apply(write, user) {
                Ok(Some(object)) => {
                    has_changed |= object != write.object;
                    write.object = object;
                }
                Ok(None) => {}
                Err(_) if bound.policy.ignores_failure => {}
                Err(why) => return Err(bound.refusal(write, &why)),
            }
        }
        Ok(has_changed)
    }
}

impl Bound {
    fn matches(&self, write: &Attributes) -> bool {
        self.policy.resources.matches(write) && self.resources.as_ref().is_none_or(|it| it.matches(write))
    }

    /// In the real server's words.
    fn refusal(&self, write: &Attributes, why: &str) -> Failure {
        let (policy, binding) = (&self.policy.name, &self.binding);
        let message = format!("policy '{policy}' with binding '{binding}' denied request: {why}");
        let mut failure = Failure::forbidden(&write.resource, &write.name, &message);
        if let Some(details) = &mut failure.details {
            let (reason, field) = (String::new(), String::new());
            details.causes.push(Cause { reason, message: message.clone(), field });
        }
        Failure { reason: "Invalid".to_owned(), message, ..failure }
    }
}

impl Policy {
    fn of(object: &Object) -> Self {
        let spec = &object.value()["spec"];
        let list = |field: &str| spec[field].as_array().into_iter().flatten().take(MOST);
        let variable = |it: &Value| {
            let program =
                Program::compile_mutation(it["expression"].as_str().unwrap_or_default(), &VARIABLES);
            (it["name"].as_str().unwrap_or_default().to_owned(), program.map_err(|it| it.to_string()))
        };
        let mutation = |it: &Value| match it["patchType"].as_str() {
            _ if !spec["paramKind"].is_null() => Err("paramKind is not supported by this server".to_owned()),
            Some("ApplyConfiguration") => {
                let text = it["applyConfiguration"]["expression"].as_str().unwrap_or_default();
                Program::compile_mutation(text, &VARIABLES).map_err(|it| it.to_string())
            }
            other => {
                Err(format!("patchType {:?} is not supported by this server", other.unwrap_or_default()))
            }
        };
        Self {
            name: object.name().to_owned(),
            resources: Resources::of(&spec["matchConstraints"]),
            conditions: Conditions::of(&spec["matchConditions"]),
            variables: list("variables").map(variable).collect(),
            mutations: list("mutations").map(mutation).collect(),
            ignores_failure: spec["failurePolicy"] == "Ignore",
            reinvoked: spec["reinvocationPolicy"] == "IfNeeded",
        }
    }

    /// The object after all mutations. None if it is not for this policy.
    fn apply(&self, write: &Attributes, user: &Value) -> Result<Option<Value>, String> {
        let mut request = request("", write, user);
        if !self.conditions.hold(&request)? {
            return Ok(None);
        }
        let old = request["oldObject"].take();
        let (request, mut budget) = (without_objects(&request), Budget::new(cel::MOST_PER_WRITE));
        let mut object = write.object.clone();
        for mutation in &self.mutations {
            let set = self.evaluate(mutation, [&object, &old, &request], &mut budget)?;
            object = ownership::mutate(&object, &set, &write.resource.shape)?;
            if let Some(served) = &write.resource.served {
                served.schema().normalise(&mut object);
            }
        }
        Ok(Some(object))
    }

    /// What a mutation sets, with the objects and the request as they are now.
    fn evaluate<'a>(
        &'a self,
        mutation: &'a Compiled,
        [object, old, request]: [&'a Value; 3],
        budget: &mut Budget,
    ) -> Result<Value, String> {
        let value = |it| cel::Value::of(it, None).map_err(|it| it.to_string());
        let inputs = [("object", value(object)?), ("oldObject", value(old)?), ("request", value(request)?)];
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for (name, variable) in &self.variables {
            match run(variable, &inputs, &known, budget) {
                Ok(value) => known.push((name.as_str(), value)),
                // One without a value matters only to an expression that uses it.
                Err(why) => unknown.push(format!("; variables.{name}: {why}")),
            }
        }
        let set =
            run(mutation, &inputs, &known, budget).and_then(|it| it.to_json().map_err(|it| it.to_string()));
        set.map_err(|why| format!("{why}{}", unknown.concat()))
    }
}

/// The value of an expression with these variables.
fn run<'a>(
    program: &'a Compiled,
    inputs: &[(&'a str, cel::Value<'a>)],
    variables: &[(&'a str, cel::Value<'a>)],
    budget: &mut Budget,
) -> Result<cel::Value<'a>, String> {
    let program = program.as_ref().map_err(Clone::clone)?;
    let mut all = inputs.to_vec();
    all.push(("variables", cel::Value::map(variables.to_vec())));
    program.eval(&all, budget).map_err(|it| it.to_string())
}

impl Resources {
    fn of(resources: &Value) -> Self {
        let rules =
            |field: &str| resources[field].as_array().into_iter().flatten().map(NamedRule::of).collect();
        Self {
            rules: rules("resourceRules"),
            excluded: rules("excludeResourceRules"),
            selectors: Selectors::of(resources),
        }
    }

    /// Without rules it is about everything.
    fn matches(&self, write: &Attributes) -> bool {
        let any = |rules: &[NamedRule]| rules.iter().any(|it| it.matches(write));
        (self.rules.is_empty() || any(&self.rules)) && !any(&self.excluded) && self.selectors.match_all(write)
    }
}

impl NamedRule {
    fn of(rule: &Value) -> Self {
        Self { rule: Rule::of(rule), names: texts(&rule["resourceNames"]) }
    }

    fn matches(&self, write: &Attributes) -> bool {
        self.rule.matches(write) && (self.names.is_empty() || self.names.contains(&write.name))
    }
}
