//! Whether an object is as its schema says: types, bounds, patterns, required fields.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::correlate::{Old, canonical};
use super::{Checks, Kind, ListType, Path, Schema, causes, formats};
use crate::cel::{Budget, EvalError};
use crate::failure::Cause;

/// Collects what is wrong. What was wrong before and has not changed is tolerated.
pub(super) fn validate(
    schema: &Schema,
    object: &Value,
    old: Option<&Value>,
    budget: &mut Budget,
    causes: &mut Vec<Cause>,
) {
    let mut validator = Validator { budget, causes };
    if validator.value(schema, object, Old::new(object, old), &Path::Root).is_err() {
        let detail =
            "validation failed due to running out of cost budget, no further validation rules will be run";
        causes.push(causes::whole("\"\"", detail));
    }
}

struct Validator<'b> {
    budget: &'b mut Budget,
    causes: &'b mut Vec<Cause>,
}

type Done = Result<(), EvalError>;

impl Validator<'_> {
    fn value(&mut self, schema: &Schema, value: &Value, old: Old<'_>, path: &Path<'_>) -> Done {
        self.budget.spend(1)?;
        if old.unchanged || self.causes.len() > super::MOST_CAUSES {
            return Ok(());
        }
        if value.is_null() && schema.nullable {
            return Ok(());
        }
        if let Some(expected) = mismatch(schema, value) {
            self.causes.push(causes::wrong_type(path, expected, type_name(value)));
            return Ok(());
        }
        match value {
            Value::String(text) => self.text(schema, text, path)?,
            Value::Number(number) => self.number(schema, value, number.as_f64().unwrap_or_default(), path),
            Value::Array(list) => self.list(schema, list, old, path)?,
            Value::Object(map) => self.map(schema, map, old, path)?,
            Value::Null | Value::Bool(_) => {}
        }
        match &schema.checks {
            Some(checks) => {
                self.choices(checks, value, path);
                self.combinations(checks, value, path)
            }
            None => Ok(()),
        }
    }

    fn text(&mut self, schema: &Schema, text: &str, path: &Path<'_>) -> Done {
        if !schema.format.is_empty()
            && schema.kind == Some(Kind::String)
            && !formats::fits(&schema.format, text)
        {
            self.causes.push(causes::wrong_type(path, &schema.format, text));
        }
        let Some(checks) = &schema.checks else { return Ok(()) };
        let (shown, length) = (Value::from(text), text.chars().count() as u64);
        if let Some(most) = checks.max_length.filter(|it| length > *it) {
            self.causes.push(causes::too_long(path, most));
        }
        if let Some(least) = checks.min_length.filter(|it| length < *it) {
            let detail = format!("{path} in body should be at least {least} chars long");
            self.causes.push(causes::invalid(path, &shown, &detail));
        }
        if let Some(pattern) = &checks.pattern {
            self.budget.spend(pattern.cost(text))?;
            if !pattern.is_match(text) {
                let detail = format!("{path} in body should match '{}'", pattern.source());
                self.causes.push(causes::invalid(path, &shown, &detail));
            }
        }
        Ok(())
    }

    fn number(&mut self, schema: &Schema, value: &Value, number: f64, path: &Path<'_>) {
        let Some(checks) = &schema.checks else { return };
        let mut wrong = |what: String| {
            let detail = format!("{path} in body should be {what}");
            self.causes.push(causes::invalid(path, value, &detail));
        };
        match checks.minimum {
            Some((least, false)) if number < least => wrong(format!("greater than or equal to {least}")),
            Some((least, true)) if number <= least => wrong(format!("greater than {least}")),
            _ => {}
        }
        match checks.maximum {
            Some((most, false)) if number > most => wrong(format!("less than or equal to {most}")),
            Some((most, true)) if number >= most => wrong(format!("less than {most}")),
            _ => {}
        }
        if let Some(step) = checks.multiple_of {
            let times = number / step;
            if (times - times.round()).abs() > f64::EPSILON * times.abs().max(1.0) {
                wrong(format!("a multiple of {step}"));
            }
        }
    }

    fn list(&mut self, schema: &Schema, list: &[Value], old: Old<'_>, path: &Path<'_>) -> Done {
        if let Some(checks) = &schema.checks {
            let count = list.len() as u64;
            if let Some(most) = checks.max_items.filter(|it| count > *it) {
                // The items of a list that is too long are no concern any more.
                self.causes.push(causes::too_many(path, list.len(), most));
                return Ok(());
            }
            if let Some(least) = checks.min_items.filter(|it| count < *it) {
                let detail = format!("{path} in body should have at least {least} items");
                self.causes.push(causes::invalid(path, &count.into(), &detail));
            }
        }
        self.duplicates(schema, list, path);
        let Some(items) = &schema.items else { return Ok(()) };
        for (at, (item, old)) in list.iter().zip(old.items(schema, list)).enumerate() {
            self.value(items, item, old, &path.index(at))?;
        }
        Ok(())
    }

    /// Items of a set, or of a list with keys, that are there twice.
    fn duplicates(&mut self, schema: &Schema, list: &[Value], path: &Path<'_>) {
        let mut known = BTreeSet::new();
        for (at, item) in list.iter().enumerate() {
            let shown = match &schema.list_type {
                ListType::Atomic => return,
                ListType::Set => item.clone(),
                ListType::Map(keys) => {
                    let default = |key: &str| schema.items.as_ref()?.properties.get(key)?.default.clone();
                    let entry =
                        |key: &String| Some((key.clone(), item.get(key).cloned().or_else(|| default(key))?));
                    keys.iter().filter_map(entry).collect::<Map<_, _>>().into()
                }
            };
            if !known.insert(canonical(&shown)) {
                self.causes.push(causes::duplicate(path.index(at), &shown));
                if self.causes.len() > super::MOST_CAUSES {
                    return;
                }
            }
        }
    }

    fn map(&mut self, schema: &Schema, map: &Map<String, Value>, old: Old<'_>, path: &Path<'_>) -> Done {
        if let Some(checks) = &schema.checks {
            for field in checks.required.iter().filter(|it| !map.contains_key(*it)) {
                self.causes.push(causes::required(path.field(field)));
            }
            let count = map.len() as u64;
            if let Some(most) = checks.max_properties.filter(|it| count > *it) {
                self.causes.push(causes::too_many(path, map.len(), most));
            }
            if let Some(least) = checks.min_properties.filter(|it| count < *it) {
                let detail = format!("{path} in body should have at least {least} properties");
                self.causes.push(causes::invalid(path, &count.into(), &detail));
            }
        }
        for (field, value) in map {
            if let Some(child) = schema.child(field) {
                self.value(child, value, old.field(schema, field, value), &path.field(field))?;
            }
        }
        Ok(())
    }

    fn choices(&mut self, checks: &Checks, value: &Value, path: &Path<'_>) {
        let same = |it: &Value| match (it.as_f64(), value.as_f64()) {
            #[allow(clippy::float_cmp, reason = "1 and 1.0 are one choice")]
            (Some(choice), Some(number)) => choice == number,
            _ => it == value,
        };
        if let Some(choices) = checks.choices.as_ref().filter(|it| !it.iter().any(same)) {
            self.causes.push(causes::not_supported(path, value, choices));
        }
    }

    /// `allOf`, `anyOf`, `oneOf` and `not`. What is wrong here has no path of its own, as on the real server.
    fn combinations(&mut self, checks: &Checks, value: &Value, path: &Path<'_>) -> Done {
        for schema in &checks.all_of {
            let wrong = self.wrong_with(schema, value, path)?;
            if !wrong.is_empty() {
                self.causes.extend(wrong);
                self.combination(path, "must validate all the schemas (allOf)");
            }
        }
        if !checks.any_of.is_empty() {
            let mut best: Option<Vec<Cause>> = None;
            for schema in &checks.any_of {
                let wrong = self.wrong_with(schema, value, path)?;
                if best.as_ref().is_none_or(|it| wrong.len() < it.len()) {
                    best = Some(wrong);
                }
            }
            if let Some(best) = best.filter(|it| !it.is_empty()) {
                self.combination(path, "must validate at least one schema (anyOf)");
                self.causes.extend(best);
            }
        }
        if !checks.one_of.is_empty() {
            let mut fitting = 0;
            for schema in &checks.one_of {
                fitting += usize::from(self.wrong_with(schema, value, path)?.is_empty());
            }
            match fitting {
                0 => {
                    self.combination(path, "must validate one and only one schema (oneOf). Found none valid");
                }
                1 => {}
                many => {
                    let what = format!(
                        "must validate one and only one schema (oneOf). Found {many} valid alternatives"
                    );
                    self.combination(path, &what);
                }
            }
        }
        if let Some(not) = &checks.not
            && self.wrong_with(not, value, path)?.is_empty()
        {
            self.combination(path, "must not validate the schema (not)");
        }
        Ok(())
    }

    fn combination(&mut self, path: &Path<'_>, what: &str) {
        self.causes.push(causes::whole("\"\"", &format!("\"{path}\" {what}")));
    }

    fn wrong_with(
        &mut self,
        schema: &Schema,
        value: &Value,
        path: &Path<'_>,
    ) -> Result<Vec<Cause>, EvalError> {
        let mut wrong = Vec::new();
        let mut inner = Validator { budget: self.budget, causes: &mut wrong };
        inner.value(schema, value, Old::new(value, None), path)?;
        Ok(wrong)
    }
}

/// The type that a value should have and has not.
fn mismatch(schema: &Schema, value: &Value) -> Option<&'static str> {
    if schema.int_or_string {
        let fits = value.is_string() || is_integer(value);
        return (!fits).then_some("integer,string");
    }
    let kind = schema.kind?;
    let fits = match kind {
        Kind::Object => value.is_object(),
        Kind::Array => value.is_array(),
        Kind::String => value.is_string(),
        Kind::Integer => is_integer(value),
        Kind::Number => value.is_number(),
        Kind::Boolean => value.is_boolean(),
    };
    (!fits).then(|| kind.name())
}

/// A number without a fraction, however it is written.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_integer(value) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
