//! The columns that a CustomResourceDefinition says (`additionalPrinterColumns`).

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::jsonpath::Path;
use super::{Column, age};
use crate::object::encode;

/// As many columns as a definition may say. The real server knows no bound; no terminal is as wide.
const MOST: usize = 100;

/// A column of a custom kind.
#[derive(Clone, Debug)]
pub(crate) struct PrinterColumn {
    name: String,
    kind: String,
    format: String,
    description: String,
    priority: i64,
    /// None if it cannot be read: its cells are empty.
    path: Option<Path>,
}

/// The columns of a version of a CustomResourceDefinition; if it says none, the age.
pub(crate) fn columns(version: &Value) -> Vec<PrinterColumn> {
    match version.get("additionalPrinterColumns").and_then(Value::as_array) {
        Some(columns) if !columns.is_empty() => columns.iter().take(MOST).map(PrinterColumn::read).collect(),
        _ => vec![PrinterColumn::age()],
    }
}

impl PrinterColumn {
    /// What every custom kind has if nothing else is said.
    pub(crate) fn age() -> Self {
        Self::read(&serde_json::json!({
            "name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp",
            "description": super::AGE_DESCRIPTION,
        }))
    }

    fn read(column: &Value) -> Self {
        let text = |field: &str| column[field].as_str().unwrap_or_default().to_owned();
        let path = text("jsonPath");
        let description = match text("description") {
            it if it.is_empty() => {
                format!("Custom resource definition column (in JSONPath format): {path}")
            }
            it => it,
        };
        Self {
            name: text("name"),
            kind: text("type"),
            format: text("format"),
            description,
            priority: column["priority"].as_i64().unwrap_or_default(),
            path: Path::parse(&path).ok(),
        }
    }

    pub(super) fn column(&self) -> Column<'_> {
        let Self { name, kind, format, description, priority, .. } = self;
        Column { name, kind, format, description, priority: *priority }
    }

    /// The first value that the path finds, as a value of the column's type. Null if there is none, or of another type.
    pub(super) fn cell(&self, object: &Value, now: Timestamp) -> Value {
        let Some(found) = self.path.as_ref().and_then(|it| it.first(object)) else { return Value::Null };
        match (self.kind.as_str(), found) {
            ("string", Value::String(_)) => found.clone(),
            ("string", Value::Null) => "null".into(),
            // Lists and objects as JSON, numbers as they are written.
            ("string", other) => String::from_utf8_lossy(&encode(other)).into_owned().into(),
            ("integer", Value::Number(it)) =>
            {
                #[allow(clippy::cast_possible_truncation, reason = "as the real server does; `as` saturates")]
                it.as_i64().or_else(|| it.as_f64().map(|it| it as i64)).into()
            }
            ("number", Value::Number(it)) => it.as_f64().into(),
            ("boolean", Value::Bool(it)) => (*it).into(),
            ("date", it @ Value::String(_)) => age::since(Some(it), now).into(),
            _ => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cells_are_of_the_type_of_their_column() {
        let object = json!({"metadata": {"creationTimestamp": "2026-01-02T11:00:00Z"}, "spec": {
            "text": "x", "number": 3, "part": 2.5, "yes": true, "list": [1, "a"], "map": {"a": 1}, "nothing": null}});
        for (kind, path, expected) in [
            ("string", ".spec.text", json!("x")),
            ("string", ".spec.number", json!("3")),
            ("string", ".spec.yes", json!("true")),
            ("string", ".spec.list", json!("[1,\"a\"]")),
            ("string", ".spec.map", json!("{\"a\":1}")),
            ("string", ".spec.none", Value::Null),
            ("integer", ".spec.number", json!(3)),
            ("integer", ".spec.part", json!(2)),
            ("integer", ".spec.text", Value::Null),
            ("number", ".spec.part", json!(2.5)),
            ("boolean", ".spec.yes", json!(true)),
            ("boolean", ".spec.text", Value::Null),
            ("date", ".metadata.creationTimestamp", json!("60m")),
            ("date", ".spec.text", json!("<invalid>")),
            ("date", ".spec.number", Value::Null),
            ("string", ".spec[", Value::Null),
        ] {
            let column = PrinterColumn::read(&json!({"name": "X", "type": kind, "jsonPath": path}));
            assert_eq!(
                column.cell(&object, "2026-01-02T12:00:00Z".parse().unwrap()),
                expected,
                "{kind} {path}"
            );
        }
    }

    #[test]
    fn who_says_no_columns_has_an_age() {
        let names = |version: Value| columns(&version).iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(json!({})), ["Age"]);
        assert_eq!(names(json!({"additionalPrinterColumns": []})), ["Age"]);
        assert_eq!(names(json!({"additionalPrinterColumns": [{"name": "Size"}]})), ["Size"]);
        let many: Vec<Value> = (0..1000).map(|it| json!({"name": it.to_string()})).collect();
        assert_eq!(names(json!({"additionalPrinterColumns": many})).len(), MOST);
    }
}
