//! `matchConditions`: expressions that must hold, or a webhook is not asked and a policy does not apply.

use serde_json::{Map, Value, json};

use crate::cel::{self, Budget, Program};

/// The conditions of a webhook or a policy, compiled.
#[derive(Debug)]
pub(super) struct Conditions(Vec<(String, Result<Program, String>)>);

impl Conditions {
    pub(super) fn of(conditions: &Value) -> Self {
        let conditions = conditions.as_array().into_iter().flatten().take(64);
        let compile = |it: &Value| {
            let variables = [("object", None), ("oldObject", None), ("request", None)];
            let program = Program::compile(it["expression"].as_str().unwrap_or_default(), &variables);
            (it["name"].as_str().unwrap_or_default().to_owned(), program.map_err(|it| it.to_string()))
        };
        Self(conditions.map(compile).collect())
    }

    /// Whether all hold. One that does not decides, also if another has no value.
    pub(super) fn hold(&self, request: &Value) -> Result<bool, String> {
        let mut budget = Budget::new(cel::MOST_PER_WRITE / 4);
        let mut wrong = None;
        let nothing = Value::Object(Map::new());
        let bare = without_objects(request);
        let value = |it| cel::Value::of(it, None).map_err(|it| it.to_string());
        for (name, program) in &self.0 {
            let program = program.as_ref().map_err(|it| format!("condition {name:?}: {it}"))?;
            let variables = [
                ("object", value(request.get("object").unwrap_or(&nothing))?),
                ("oldObject", value(request.get("oldObject").unwrap_or(&nothing))?),
                ("request", value(&bare)?),
            ];
            match program.eval(&variables, &mut budget) {
                Ok(cel::Value::Bool(true)) => {}
                Ok(cel::Value::Bool(false)) => return Ok(false),
                Ok(_) => wrong = Some(format!("condition {name:?} is not a bool")),
                Err(error) => wrong = Some(format!("condition {name:?}: {error}")),
            }
        }
        wrong.map_or(Ok(true), Err)
    }
}

/// The request without the objects, which have variables of their own.
pub(super) fn without_objects(request: &Value) -> Value {
    let mut out = request.as_object().cloned().unwrap_or_default();
    for field in ["object", "oldObject"] {
        out.shift_remove(field);
    }
    json!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(expressions: &[&str]) -> Result<bool, String> {
        let list: Vec<Value> = expressions.iter().map(|it| json!({"name": "x", "expression": it})).collect();
        let request =
            json!({"operation": "CREATE", "object": {"metadata": {"name": "a"}}, "oldObject": null});
        Conditions::of(&list.into()).hold(&request)
    }

    #[test]
    fn conditions() {
        assert_eq!(hold(&[]), Ok(true));
        assert_eq!(hold(&["object.metadata.name == 'a'", "request.operation == 'CREATE'"]), Ok(true));
        assert_eq!(hold(&["oldObject == null", "object.metadata.name == 'b'"]), Ok(false));
        assert!(hold(&["object.none == 1"]).is_err());
        assert_eq!(hold(&["object.none == 1", "false"]), Ok(false), "one that does not hold decides");
        assert!(hold(&["nonsense("]).is_err());
    }
}
