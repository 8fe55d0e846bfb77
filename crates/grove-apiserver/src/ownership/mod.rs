//! Who said which field of an object: the managers in `metadata.managedFields`, and what an apply makes of them.
//!
//! Fields are told apart by the schema of a CustomResourceDefinition, or by what is known of a built-in kind. Unlike the
//! real server, this one may name managers only from the first apply on (`Resource::strict`): what an object had
//! before then belongs to nobody, and no apply conflicts with it.

mod set;
mod shape;
#[cfg(test)]
mod tests;
mod values;

use serde_json::{Value, json};

use crate::metadata;
use set::FieldSet;
pub(crate) use shape::Shape;

/// Stands for the manager of a client that does not say who it is.
const UNKNOWN: &str = "unknown";
/// The subresource of which the real server does not say when it was written.
const SCALE: &str = "scale";

/// Who writes, and how.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Writer {
    pub(crate) name: String,
    /// The part of the object that is written by itself, if it is one.
    pub(crate) subresource: Option<String>,
    pub(crate) api_version: String,
    pub(crate) time: Value,
}

/// A field that somebody else has, and has otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conflict {
    /// The manager, as people are told of it.
    pub(crate) with: String,
    pub(crate) field: String,
}

/// What becomes of an object.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) object: Value,
    /// What speaks against it; nothing where it is forced.
    pub(crate) conflicts: Vec<Conflict>,
}

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq)]
struct Manager {
    writer: Writer,
    /// Or else it updates.
    applies: bool,
    fields: FieldSet,
}

/// `live` with what `applied` says, and without what the same writer said before and now does not.
pub(crate) fn apply(
    live: &Value,
    applied: &Value,
    shape: &Shape,
    writer: Writer,
    force: bool,
) -> Result<Outcome, String> {
    let fields = parts_of(applied, shape)?;
    let mut managers = read(live);
    let is_me = |it: &Manager| it.applies && is_same(&it.writer, &writer);
    let mine = managers.iter().position(is_me).map(|at| managers.remove(at));
    let mut object = values::merge(live, applied, shape);
    let (mut changed, replaced) = values::compare(live, &object, shape);
    changed.add(&replaced);
    let mut conflicts = Vec::new();
    for manager in &mut managers {
        let lost = manager.fields.and(&changed);
        if !force {
            let with = manager.shown();
            conflicts.extend(lost.paths().into_iter().map(|field| Conflict { with: with.clone(), field }));
        }
        manager.fields = manager.fields.without(&lost);
    }
    let mut kept = fields.clone();
    for it in &managers {
        kept.add(&it.fields);
    }
    let before = mine.as_ref().map(|it| it.fields.clone()).unwrap_or_default();
    let gone = before.without(&fields).unclaimed(&kept);
    values::remove(&mut object, &gone, &kept, shape);
    let is_news = before != fields || object != *live;
    let writer = mine.map(|it| it.writer).filter(|_| !is_news).unwrap_or(writer);
    managers.push(Manager { writer, applies: true, fields });
    write(&mut object, managers);
    Ok(Outcome { object, conflicts })
}

/// `live` with what a mutation sets. It may not set lists and maps that are one whole: what it does not repeat would be lost.
pub(crate) fn mutate(live: &Value, set: &Value, shape: &Shape) -> Result<Value, String> {
    let wholes = values::wholes(set, shape);
    if !wholes.is_empty() {
        let wholes = wholes.join(", ");
        return Err(format!(
            "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {wholes}"
        ));
    }
    Ok(values::merge(live, set, shape))
}

/// Notes in a new object that its writer made all of it.
pub(crate) fn create(new: &mut Value, shape: &Shape, writer: Writer) {
    let (fields, _) = values::compare(&json!({}), &content(new), shape);
    write(new, vec![Manager { writer, applies: false, fields }]);
}

/// Notes in `new` that a writer changed it from `old` without asking. Unless it is to be noted from the start, nothing is
/// where nobody ever applied.
pub(crate) fn update(
    old: &Value,
    new: &mut Value,
    shape: &Shape,
    from_the_start: bool,
    writer: impl FnOnce() -> Writer,
) {
    if !from_the_start && metadata::list(old, "managedFields").is_empty() {
        return;
    }
    let (changed, gone) = values::compare(&content(old), &content(new), shape);
    if changed.is_empty() && gone.is_empty() {
        return;
    }
    let mut managers = read(old);
    for manager in &mut managers {
        manager.fields = manager.fields.without(&changed).without(&gone);
    }
    // Who only takes fields away gets none.
    if !changed.is_empty() {
        let writer = writer();
        let is_me = |it: &Manager| !it.applies && is_same(&it.writer, &writer);
        let mine = managers.iter().position(is_me).map(|at| managers.remove(at).fields);
        let mut fields = mine.unwrap_or_default();
        fields.add(&changed);
        managers.push(Manager { writer, applies: false, fields });
    }
    write(new, managers);
}

fn parts_of(applied: &Value, shape: &Shape) -> Result<FieldSet, String> {
    let content = content(applied);
    if content.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok(FieldSet::default());
    }
    values::parts(&content, shape)
}

/// The object without what nobody owns: its kind, its name, and what only the server says.
fn content(object: &Value) -> Value {
    const NOBODYS: [&str; 10] = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "generation",
        "managedFields",
        "resourceVersion",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ];
    let mut out = object.clone();
    let metadata = metadata::of_mut(&mut out);
    metadata.retain(|field, _| !NOBODYS.contains(&field.as_str()));
    let is_bare = metadata.is_empty();
    metadata::map_mut(&mut out)
        .retain(|field, _| field != "apiVersion" && field != "kind" && !(is_bare && field == "metadata"));
    out
}

fn is_same(one: &Writer, other: &Writer) -> bool {
    one.name == other.name && one.subresource == other.subresource && one.api_version == other.api_version
}

impl Writer {
    pub(crate) fn new(name: &str, subresource: Option<&str>, api_version: String, time: Value) -> Self {
        Self {
            name: if name.is_empty() { UNKNOWN.to_owned() } else { name.to_owned() },
            subresource: subresource.map(str::to_owned),
            api_version,
            time: if subresource == Some(SCALE) { Value::Null } else { time },
        }
    }
}

impl Manager {
    /// In the real server's words.
    fn shown(&self) -> String {
        let Writer { name, subresource, api_version, time } = &self.writer;
        let mut shown = format!("{name:?}");
        if let Some(subresource) = subresource {
            shown = format!("{shown} with subresource {subresource:?}");
        }
        if !self.applies {
            let time = time.as_str().unwrap_or_default();
            shown = format!("{shown} using {api_version} at {time}");
        }
        shown
    }

    fn to_json(&self) -> Value {
        let mut out = json!({
            "manager": self.writer.name,
            "operation": if self.applies { "Apply" } else { "Update" },
            "apiVersion": self.writer.api_version,
            "time": self.writer.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": self.fields.to_json(),
        });
        if self.writer.time.is_null() {
            metadata::map_mut(&mut out).shift_remove("time");
        }
        if let Some(subresource) = &self.writer.subresource {
            out["subresource"] = subresource.as_str().into();
        }
        out
    }
}

fn read(object: &Value) -> Vec<Manager> {
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let manager = |entry: &Value| Manager {
        writer: Writer {
            name: text(entry, "manager"),
            subresource: entry["subresource"].as_str().map(str::to_owned),
            api_version: text(entry, "apiVersion"),
            time: entry["time"].clone(),
        },
        applies: entry["operation"] == "Apply",
        fields: FieldSet::from_json(&entry["fieldsV1"]),
    };
    metadata::list(object, "managedFields").iter().map(manager).collect()
}

/// In the real server's order; who has nothing left is not named.
fn write(object: &mut Value, mut managers: Vec<Manager>) {
    managers.retain(|it| !it.fields.is_empty());
    managers.sort_by_key(|it| {
        let time = it.writer.time.as_str().unwrap_or_default().to_owned();
        let Writer { name, api_version, subresource, .. } = &it.writer;
        (!it.applies, time, name.clone(), api_version.clone(), subresource.clone())
    });
    let entries = managers.iter().map(Manager::to_json).collect();
    metadata::set(object, "managedFields", Some(entries).filter(|_| !managers.is_empty()));
}
