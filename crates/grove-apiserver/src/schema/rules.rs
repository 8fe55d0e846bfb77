//! `x-kubernetes-validations`: rules of a schema in the Common Expression Language.

use serde_json::Value;

use super::correlate::Old;
use super::{Path, Schema, causes};
use crate::cel::{self, Budget, EvalError, Program};
use crate::failure::Cause;

/// As long as a message that an expression makes may be.
const LONGEST_MESSAGE: usize = 5 * 1024;

const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// A rule, compiled.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) program: Program,
    pub(super) text: String,
    pub(super) message: Option<String>,
    pub(super) message_expression: Option<Program>,
    pub(super) reason: String,
    /// The field that it is about, relative to where it stands.
    pub(super) field: Option<String>,
    /// Whether it is also asked about what is new, and gets the old value as an optional.
    pub(super) optional_old: bool,
    pub(super) uses_old: bool,
}

/// Collects the rules that an object breaks. One that it broke before is tolerated where nothing has changed, unless the
/// rule is about the change.
pub(super) fn check(
    schema: &Schema,
    object: &Value,
    old: Option<&Value>,
    budget: &mut Budget,
    causes: &mut Vec<Cause>,
) {
    // Ends early where the budget is spent, which was said then.
    drop(Checker { budget, causes }.value(schema, object, Old::new(object, old), &Path::Root));
}

/// No further rules are asked.
struct Stop;

struct Checker<'b> {
    budget: &'b mut Budget,
    causes: &'b mut Vec<Cause>,
}

impl Checker<'_> {
    fn value(&mut self, schema: &Schema, value: &Value, old: Old<'_>, path: &Path<'_>) -> Result<(), Stop> {
        if value.is_null() || !schema.has_rules {
            return Ok(());
        }
        if self.causes.len() > super::MOST_CAUSES {
            return Err(Stop);
        }
        for rule in &schema.rules {
            self.rule(rule, schema, value, old, path)?;
        }
        match value {
            Value::Array(list) => {
                let Some(items) = schema.items.as_ref().filter(|it| it.has_rules) else { return Ok(()) };
                for (at, (item, old)) in list.iter().zip(old.items(schema, list)).enumerate() {
                    self.value(items, item, old, &path.index(at))?;
                }
            }
            Value::Object(map) => {
                for (name, value) in map {
                    let old = old.field(schema, name, value);
                    if let Some(child) = schema.properties.get(name) {
                        self.value(child, value, old, &path.field(name))?;
                    } else if let Some(child) = schema.additional_schema() {
                        self.value(child, value, old, &path.key(name))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rule(
        &mut self,
        rule: &Rule,
        schema: &Schema,
        value: &Value,
        old: Old<'_>,
        path: &Path<'_>,
    ) -> Result<(), Stop> {
        // A rule about a change has nothing to say about what is new.
        if rule.uses_old && old.value.is_none() && !rule.optional_old {
            return Ok(());
        }
        let shown = Value::from(schema.type_name());
        if self.budget.is_spent() {
            self.causes.push(causes::invalid(path, &shown, OUT_OF_BUDGET));
            return Err(Stop);
        }
        let variables = match variables(rule, schema, value, old) {
            Ok(variables) => variables,
            Err(error) => {
                let detail = format!("{error} evaluating rule: {}", rule.name());
                self.causes.push(causes::invalid(path, &shown, &detail));
                return Ok(());
            }
        };
        match rule.program.eval(&variables, self.budget) {
            Ok(cel::Value::Bool(true)) => return Ok(()),
            Ok(_) => {}
            Err(EvalError::Cost) => {
                let detail = format!(
                    "'{}': no further validation rules will be run due to call cost exceeds limit for rule: {}",
                    EvalError::Cost,
                    rule.name()
                );
                self.causes.push(causes::invalid(path, &shown, &detail));
                return Err(Stop);
            }
            Err(EvalError::Wrong(why)) => {
                let detail = if why.starts_with("no such overload") {
                    format!(
                        "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {}",
                        rule.name()
                    )
                } else {
                    format!("{why} evaluating rule: {}", rule.name())
                };
                self.causes.push(causes::invalid(path, &shown, &detail));
                return Ok(());
            }
        }
        if !rule.uses_old && old.unchanged {
            return Ok(());
        }
        let detail = self.message(rule, &variables);
        let place = match &rule.field {
            Some(field) => path.field(field).to_string(),
            None => path.to_string(),
        };
        // Objects and lists are too long to be shown.
        let shown = (!value.is_object() && !value.is_array()).then_some(value);
        self.causes.push(cause(&rule.reason, &place, shown, &detail));
        Ok(())
    }

    fn message(&mut self, rule: &Rule, variables: &[(&str, cel::Value<'_>)]) -> String {
        let made = rule.message_expression.as_ref().and_then(|it| it.eval(variables, self.budget).ok());
        let made = made.as_ref().and_then(cel::Value::as_str).map(str::trim);
        let is_good = |it: &&str| !it.is_empty() && it.len() <= LONGEST_MESSAGE && !it.contains('\n');
        match (made.filter(is_good), &rule.message) {
            (Some(made), _) => made.to_owned(),
            (None, Some(message)) => message.clone(),
            (None, None) => format!("failed rule: {}", rule.text),
        }
    }
}

fn variables<'a>(
    rule: &Rule,
    schema: &'a Schema,
    value: &'a Value,
    old: Old<'a>,
) -> Result<Vec<(&'a str, cel::Value<'a>)>, EvalError> {
    let mut variables = vec![("self", cel::Value::of(value, Some(schema))?)];
    if rule.uses_old {
        let before = old.value.map(|it| cel::Value::of(it, Some(schema))).transpose()?;
        let before = match before {
            Some(before) if rule.optional_old => cel::Value::some(before),
            Some(before) => before,
            None => cel::Value::none(),
        };
        variables.push(("oldSelf", before));
    }
    Ok(variables)
}

impl Rule {
    /// What stands for it in messages.
    fn name(&self) -> &str {
        self.message.as_deref().unwrap_or(&self.text)
    }
}

fn cause(reason: &str, path: &str, shown: Option<&Value>, detail: &str) -> Cause {
    match reason {
        "FieldValueForbidden" => Cause::forbidden(path, detail),
        "FieldValueRequired" => Cause::required(path, detail),
        "FieldValueDuplicate" => match shown {
            Some(shown) => causes::duplicate(path, shown),
            None => Cause::new("FieldValueDuplicate", path, "Duplicate value", ""),
        },
        _ => match shown {
            Some(shown) => causes::invalid(path, shown, detail),
            None => Cause::new("FieldValueInvalid", path, "Invalid value", detail),
        },
    }
}
