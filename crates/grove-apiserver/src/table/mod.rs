//! Objects as rows of a table, as `kubectl get` asks for them (`as=Table`). The columns of built-in kinds and what is in
//! them are those of the real server; custom kinds say theirs in `additionalPrinterColumns`.

mod age;
mod builtin;
mod claims;
mod cluster;
mod custom;
mod events;
mod jsonpath;
mod network;
mod pods;
mod scaling;
mod storage;
mod text;
mod workloads;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::accept::Include;
use crate::object::{Object, encode};
use crate::resource::Resource;
pub(crate) use custom::{PrinterColumn, columns as printer_columns};

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<'a> {
    name: &'a str,
    kind: &'a str,
    format: &'a str,
    description: &'a str,
    /// 0 is always shown, 1 with `-o wide`.
    priority: i64,
}

/// The column that every table begins with.
const NAME: Column<'static> = Column {
    name: "Name",
    kind: "string",
    format: "name",
    description: "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
    priority: 0,
};

/// What the real server says of the time when an object was made.
const AGE_DESCRIPTION: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The column that most tables end with.
const AGE: Column<'static> = string("Age").about(AGE_DESCRIPTION);

impl<'a> Column<'a> {
    /// The same, with words about it.
    const fn about(self, description: &'a str) -> Self {
        Self { description, ..self }
    }
}

/// How the rows of a built-in kind are made.
#[derive(Clone, Copy)]
struct Printer {
    columns: &'static [Column<'static>],
    /// All cells, beginning with the name.
    cells: fn(&Object, Timestamp) -> Vec<Value>,
}

const fn column(name: &'static str, kind: &'static str) -> Column<'static> {
    Column { name, kind, format: "", description: "", priority: 0 }
}

const fn string(name: &'static str) -> Column<'static> {
    column(name, "string")
}

const fn integer(name: &'static str) -> Column<'static> {
    column(name, "integer")
}

const fn boolean(name: &'static str) -> Column<'static> {
    column(name, "boolean")
}

/// A column that only `-o wide` shows.
const fn wide(name: &'static str) -> Column<'static> {
    Column { name, kind: "string", format: "", description: "", priority: 1 }
}

/// What the rows of one table are made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) resource: &'a Resource,
    pub(crate) include: Include,
    pub(crate) now: Timestamp,
}

impl Rows<'_> {
    /// A table. `columns`: a watch tells them only once.
    pub(crate) fn encode<'o>(
        &self,
        metadata: &Map<String, Value>,
        objects: impl Iterator<Item = &'o Object>,
        columns: bool,
    ) -> Bytes {
        let columns =
            if columns { self.columns().into_iter().map(Column::to_json).collect() } else { Value::Null };
        let head = json!({
            "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata, "columnDefinitions": columns,
        });
        let mut out = encode(&head).to_vec();
        out.pop();
        out.extend_from_slice(b",\"rows\":[");
        for (at, object) in objects.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            self.row(object, &mut out);
        }
        out.extend_from_slice(b"]}");
        out.into()
    }

    /// The table of one object.
    pub(crate) fn encode_one(&self, object: &Object, columns: bool) -> Bytes {
        let revision = object.meta("resourceVersion").unwrap_or_default();
        let metadata = Map::from_iter([("resourceVersion".to_owned(), revision.into())]);
        self.encode(&metadata, std::iter::once(object), columns)
    }

    fn columns(&self) -> Vec<Column<'_>> {
        if self.resource.custom {
            return std::iter::once(NAME)
                .chain(self.resource.columns.iter().map(PrinterColumn::column))
                .collect();
        }
        builtin::printer(self.resource.id()).columns.to_vec()
    }

    fn cells(&self, object: &Object) -> Vec<Value> {
        if self.resource.custom {
            let name = Value::from(object.name());
            let others = self.resource.columns.iter().map(|it| it.cell(object.value(), self.now));
            return std::iter::once(name).chain(others).collect();
        }
        (builtin::printer(self.resource.id()).cells)(object, self.now)
    }

    fn row(&self, object: &Object, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"cells\":");
        out.extend_from_slice(&encode(&Value::Array(self.cells(object))));
        if let Some(condition) = pods::row_condition(self.resource, object) {
            out.extend_from_slice(b",\"conditions\":");
            out.extend_from_slice(&encode(&json!([condition])));
        }
        out.extend_from_slice(b",\"object\":");
        match self.include {
            Include::Nothing => out.extend_from_slice(b"null"),
            Include::Metadata => out.extend_from_slice(&object.metadata_json()),
            Include::Object => out.extend_from_slice(&object.json()),
        }
        out.push(b'}');
    }
}

impl Column<'_> {
    fn to_json(self) -> Value {
        json!({
            "name": self.name, "type": self.kind, "format": self.format, "description": self.description,
            "priority": self.priority,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Resources;

    /// A row has as many cells as there are columns, whatever the object looks like.
    #[test]
    fn every_kind_has_a_cell_for_each_column() {
        let now: Timestamp = "2026-01-02T12:00:00Z".parse().unwrap();
        let odd = |value: Value| {
            Object::new(json!({
                "apiVersion": "v1", "kind": "X", "metadata": {"name": "a", "labels": value}, "spec": value, "status": value, "data": value,
                "webhooks": value, "ports": value, "endpoints": value, "subjects": value, "roleRef": value, "drivers": value,
            }))
        };
        let shapes = [
            Value::Null,
            json!([]),
            json!({}),
            json!(1),
            json!("x"),
            json!([1, {}]),
            json!({"containers": 1, "conditions": [1]}),
        ];
        for resource in Resources::cluster().iter() {
            let rows = Rows { resource, include: Include::Nothing, now };
            for shape in &shapes {
                let cells = rows.cells(&odd(shape.clone()));
                assert_eq!(cells.len(), rows.columns().len(), "{} {shape}", resource.id());
                assert!(cells.contains(&"a".into()), "{}", resource.id());
            }
        }
    }
}
