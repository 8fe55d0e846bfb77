//! From JSON to a schema, and what speaks against it: only structural schemas can be pruned and defaulted.

use serde_json::{Map, Value};

use super::rules::Rule;
use super::{Additional, Checks, Kind, ListType, Schema, causes};
use crate::cel::Program;
use crate::failure::Cause;
use crate::pattern::Pattern;

/// As many schemas as one may be made of, and as deep as they may be nested: walks recurse.
const MOST_NODES: usize = 50_000;
const DEEPEST: usize = 64;

/// Words of JSON Schema that structural schemas do without.
const FORBIDDEN: [&str; 7] =
    ["$ref", "$schema", "id", "definitions", "dependencies", "patternProperties", "additionalItems"];

/// Compiles the schema of a custom resource; `path` is where it stands.
pub(crate) fn compile(schema: &Value, path: &str) -> Result<Schema, Vec<Cause>> {
    let mut compiler = Compiler { causes: Vec::new(), nodes: 0 };
    let mut root = compiler.schema(schema, path, Place::Root, 0);
    if root.kind != Some(Kind::Object) && compiler.causes.is_empty() {
        let kind = schema["type"].clone();
        compiler.causes.push(causes::invalid(format!("{path}.type"), &kind, "must be object at the root"));
    }
    root.note_rules();
    if compiler.causes.is_empty() { Ok(root) } else { Err(compiler.causes) }
}

/// Where a schema stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Root,
    Field,
    Item,
    /// In `allOf` and the like, where there are only checks.
    Nested,
}

struct Compiler {
    causes: Vec<Cause>,
    nodes: usize,
}

impl Compiler {
    fn wrong(&mut self, path: String, value: &Value, detail: &str) {
        if self.causes.len() < super::MOST_CAUSES {
            self.causes.push(causes::invalid(path, value, detail));
        }
    }

    fn forbidden(&mut self, path: &str, detail: &str) {
        if self.causes.len() < super::MOST_CAUSES {
            self.causes.push(Cause::forbidden(path, detail));
        }
    }

    fn schema(&mut self, json: &Value, path: &str, place: Place, depth: usize) -> Schema {
        let mut schema = Schema::default();
        self.nodes += 1;
        let Some(map) = json.as_object() else {
            self.wrong(path.to_owned(), json, "must be a schema");
            return schema;
        };
        if self.nodes > MOST_NODES || depth > DEEPEST {
            if self.causes.is_empty() {
                let detail = format!("a schema may have {MOST_NODES} parts, nested {DEEPEST} deep");
                self.wrong(path.to_owned(), &Value::from("object"), &detail);
            }
            return schema;
        }
        for word in FORBIDDEN.iter().filter(|it| map.contains_key(**it)) {
            self.forbidden(&format!("{path}.{word}"), "must be empty to be structural");
        }
        if map.get("uniqueItems") == Some(&Value::Bool(true)) {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.forbidden(&format!("{path}.uniqueItems"), detail);
        }
        let is = |word: &str| map.get(word) == Some(&Value::Bool(true));
        schema.nullable = is("nullable");
        schema.int_or_string = is("x-kubernetes-int-or-string");
        schema.preserves_unknown = is("x-kubernetes-preserve-unknown-fields");
        schema.is_resource = place == Place::Root || is("x-kubernetes-embedded-resource");
        schema.is_atomic_map = map.get("x-kubernetes-map-type").is_some_and(|it| it == "atomic");
        text(map, "format").clone_into(&mut schema.format);
        self.kind(map, path, place, &mut schema);
        self.children(map, path, place, depth, &mut schema);
        self.list_type(map, path, &mut schema);
        self.checks(map, path, depth, &mut schema);
        if place == Place::Nested {
            for word in
                ["default", "nullable", "x-kubernetes-validations"].iter().filter(|it| map.contains_key(**it))
            {
                self.forbidden(&format!("{path}.{word}"), "must be empty to be structural");
            }
            return schema;
        }
        if schema.is_resource {
            add_metadata(&mut schema);
        }
        self.default(map, path, &mut schema);
        self.rules(map, path, &mut schema);
        schema
    }

    fn kind(&mut self, map: &Map<String, Value>, path: &str, place: Place, schema: &mut Schema) {
        let said = map.get("type").and_then(Value::as_str).unwrap_or_default();
        schema.kind = match said {
            "object" => Some(Kind::Object),
            "array" => Some(Kind::Array),
            "string" => Some(Kind::String),
            "integer" => Some(Kind::Integer),
            "number" => Some(Kind::Number),
            "boolean" => Some(Kind::Boolean),
            "" => None,
            _ => {
                let known = ["array", "boolean", "integer", "number", "object", "string"].map(Value::from);
                self.causes.push(causes::not_supported(format!("{path}.type"), &said.into(), &known));
                None
            }
        };
        if !said.is_empty() || schema.int_or_string || schema.preserves_unknown {
            return;
        }
        let detail = match place {
            Place::Root => "must not be empty at the root",
            Place::Field => "must not be empty for specified object fields",
            Place::Item => "must not be empty for specified array items",
            // Says nothing about types.
            Place::Nested => return,
        };
        self.causes.push(Cause::required(&format!("{path}.type"), detail));
    }

    fn children(
        &mut self,
        map: &Map<String, Value>,
        path: &str,
        place: Place,
        depth: usize,
        schema: &mut Schema,
    ) {
        let inner = |inner| if place == Place::Nested { Place::Nested } else { inner };
        for (name, child) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let child =
                self.schema(child, &format!("{path}.properties[{name}]"), inner(Place::Field), depth + 1);
            schema.properties.insert(name.clone(), child);
        }
        schema.additional = match map.get("additionalProperties") {
            None | Some(Value::Null) => Additional::Unsaid,
            Some(Value::Bool(true)) => Additional::Any,
            Some(Value::Bool(false)) => {
                self.forbidden(
                    &format!("{path}.additionalProperties"),
                    "additionalProperties cannot be set to false",
                );
                Additional::Unsaid
            }
            Some(child) => {
                let child = self.schema(
                    child,
                    &format!("{path}.additionalProperties"),
                    inner(Place::Field),
                    depth + 1,
                );
                Additional::Schema(Box::new(child))
            }
        };
        if !schema.properties.is_empty() && !matches!(schema.additional, Additional::Unsaid) {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.forbidden(&format!("{path}.additionalProperties"), detail);
        }
        match map.get("items") {
            None | Some(Value::Null) => {
                if schema.kind == Some(Kind::Array) && place != Place::Nested {
                    self.causes.push(Cause::required(&format!("{path}.items"), "must be specified"));
                }
            }
            Some(Value::Array(_)) => {
                let detail = "items must be a schema object and not an array";
                self.forbidden(&format!("{path}.items"), detail);
            }
            Some(items) => {
                let items = self.schema(items, &format!("{path}.items"), inner(Place::Item), depth + 1);
                schema.items = Some(Box::new(items));
            }
        }
    }

    fn list_type(&mut self, map: &Map<String, Value>, path: &str, schema: &mut Schema) {
        let keys: Vec<String> = texts(map.get("x-kubernetes-list-map-keys"));
        let place = format!("{path}.x-kubernetes-list-map-keys");
        schema.list_type = match text(map, "x-kubernetes-list-type") {
            "map" if keys.is_empty() => {
                let detail = "must not be empty if x-kubernetes-list-type is map";
                self.causes.push(Cause::required(&place, detail));
                ListType::Atomic
            }
            "map" => {
                let items = schema.items.as_deref();
                let unknown =
                    keys.iter().find(|it| items.is_none_or(|items| !items.properties.contains_key(*it)));
                if let Some(key) = unknown {
                    let detail = "entries must all be names of item properties";
                    self.wrong(place, &Value::from(key.as_str()), detail);
                }
                let is_sure = |key: &&String| {
                    let is_required =
                        |it: &Schema| it.checks.as_ref().is_some_and(|it| it.required.contains(key));
                    let has_default =
                        |it: &Schema| it.properties.get(*key).is_some_and(|it| it.default.is_some());
                    items.is_some_and(|it| is_required(it) || has_default(it))
                };
                if let (None, Some(key)) = (unknown, keys.iter().find(|it| !is_sure(it))) {
                    let detail = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
                    self.causes
                        .push(Cause::required(&format!("{path}.items.properties[{key}].default"), detail));
                }
                ListType::Map(keys)
            }
            "set" => ListType::Set,
            "" | "atomic" => ListType::Atomic,
            other => {
                let known = ["atomic", "map", "set"].map(Value::from);
                let place = format!("{path}.x-kubernetes-list-type");
                self.causes.push(causes::not_supported(place, &other.into(), &known));
                ListType::Atomic
            }
        };
    }

    fn checks(&mut self, map: &Map<String, Value>, path: &str, depth: usize, schema: &mut Schema) {
        let size = |word: &str| map.get(word).and_then(Value::as_u64);
        let number = |word: &str| map.get(word).and_then(Value::as_f64);
        let is = |word: &str| map.get(word) == Some(&Value::Bool(true));
        let checks = Checks {
            required: texts(map.get("required")),
            choices: map.get("enum").and_then(Value::as_array).cloned(),
            minimum: number("minimum").map(|it| (it, is("exclusiveMinimum"))),
            maximum: number("maximum").map(|it| (it, is("exclusiveMaximum"))),
            multiple_of: number("multipleOf").filter(|it| *it > 0.0),
            min_length: size("minLength"),
            max_length: size("maxLength"),
            pattern: self.pattern(map, path),
            min_items: size("minItems"),
            max_items: size("maxItems"),
            min_properties: size("minProperties"),
            max_properties: size("maxProperties"),
            all_of: self.several(map, "allOf", path, depth),
            any_of: self.several(map, "anyOf", path, depth),
            one_of: self.several(map, "oneOf", path, depth),
            not: map.get("not").map(|it| self.schema(it, &format!("{path}.not"), Place::Nested, depth + 1)),
        };
        schema.checks = checks.say_something().then(|| Box::new(checks));
    }

    fn pattern(&mut self, map: &Map<String, Value>, path: &str) -> Option<Pattern> {
        let source = text(map, "pattern");
        if source.is_empty() {
            return None;
        }
        match Pattern::new(source) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                let detail = format!("must be a valid regular expression, but isn't: {why}");
                self.wrong(format!("{path}.pattern"), &source.into(), &detail);
                None
            }
        }
    }

    fn several(&mut self, map: &Map<String, Value>, word: &str, path: &str, depth: usize) -> Vec<Schema> {
        let schemas = map.get(word).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let schemas = schemas.iter().enumerate();
        schemas
            .map(|(at, it)| self.schema(it, &format!("{path}.{word}[{at}]"), Place::Nested, depth + 1))
            .collect()
    }

    /// A default must itself be what the schema asks for.
    fn default(&mut self, map: &Map<String, Value>, path: &str, schema: &mut Schema) {
        let Some(default) = map.get("default") else { return };
        let place = format!("{path}.default");
        if default.is_null() && !schema.nullable {
            self.wrong(place, default, "must not be null");
            return;
        }
        let mut whole = default.clone();
        schema.normalise(&mut whole);
        let wrong = schema.check(&whole, None, Vec::new());
        if !wrong.is_empty() {
            let left = super::MOST_CAUSES.saturating_sub(self.causes.len());
            // The first says enough; others may be about the check itself.
            self.causes.extend(wrong.into_iter().take(left.min(1)).map(|it| it.below(&place)));
        } else if let Some(field) = super::unknown_fields(schema, default).first() {
            self.wrong(place, default, &format!("must not have unknown fields: {field}"));
        }
        schema.default = Some(whole);
    }

    fn rules(&mut self, map: &Map<String, Value>, path: &str, schema: &mut Schema) {
        let rules = map.get("x-kubernetes-validations").and_then(Value::as_array);
        let mut compiled = Vec::new();
        for (at, rule) in rules.into_iter().flatten().enumerate() {
            match self::rule(rule, schema) {
                Ok(rule) => compiled.push(rule),
                Err((field, why)) => {
                    let place = format!("{path}.x-kubernetes-validations[{at}].{field}");
                    self.wrong(place, &rule[field], &why);
                }
            }
        }
        schema.rules = compiled;
    }
}

/// Compiles a rule, or says which of its fields is wrong.
fn rule(rule: &Value, schema: &Schema) -> Result<Rule, (&'static str, String)> {
    let field = |name: &'static str| rule[name].as_str().map(str::trim).filter(|it| !it.is_empty());
    let text = field("rule").ok_or(("rule", "rule is not specified".to_owned()))?;
    let optional_old = rule["optionalOldSelf"] == true;
    // What an optional holds is not known by its field.
    let variables = [("self", Some(schema)), ("oldSelf", Some(schema).filter(|_| !optional_old))];
    let program = Program::compile(text, &variables).map_err(|it| ("rule", it.to_string()))?;
    let uses_old = program.uses("oldSelf");
    if optional_old && !uses_old {
        return Err(("optionalOldSelf", "may not be set if oldSelf is not used in rule".to_owned()));
    }
    let message = field("message");
    if message.is_some_and(|it| it.contains('\n')) {
        return Err(("message", "message must not contain line breaks".to_owned()));
    }
    let message_expression =
        field("messageExpression").map(|it| Program::compile(it, &variables)).transpose();
    let message_expression = message_expression.map_err(|it| ("messageExpression", it.to_string()))?;
    let reason = field("reason").unwrap_or("FieldValueInvalid");
    let reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];
    if !reasons.contains(&reason) {
        return Err(("reason", format!("supported values: {}", reasons.join(", "))));
    }
    Ok(Rule {
        program,
        text: text.to_owned(),
        message: message.map(str::to_owned),
        message_expression,
        reason: reason.to_owned(),
        field: field("fieldPath")
            .map(|it| field_path(it, schema))
            .transpose()
            .map_err(|it| ("fieldPath", it))?,
        optional_old,
        uses_old,
    })
}

/// A path such as `.spec.replicas` or `['a.b']`, as it is put behind that of the value. It must be in the schema.
fn field_path(path: &str, schema: &Schema) -> Result<String, String> {
    let wrong = || "fieldPath must be a valid path: does not refer to a valid field".to_owned();
    let (mut out, mut rest, mut schema) = (String::new(), path, schema);
    while !rest.is_empty() {
        let name = if let Some(quoted) = rest.strip_prefix("['") {
            let (name, after) = quoted.split_once("']").ok_or_else(wrong)?;
            rest = after;
            name
        } else {
            let plain = rest.strip_prefix('.').ok_or_else(wrong)?;
            let end = plain.find(['.', '[']).unwrap_or(plain.len());
            rest = &plain[end..];
            &plain[..end]
        };
        if schema.properties.contains_key(name) {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(name);
        } else {
            out.push('[');
            out.push_str(name);
            out.push(']');
        }
        schema = schema.child(name).ok_or_else(wrong)?;
    }
    if out.is_empty() { Err(wrong()) } else { Ok(out) }
}

/// What every object has. Of the metadata, rules and checks see the name alone.
fn add_metadata(schema: &mut Schema) {
    let string = || Schema { kind: Some(Kind::String), ..Schema::default() };
    for field in ["apiVersion", "kind"] {
        schema.properties.entry(field.to_owned()).or_insert_with(string);
    }
    let said = schema.properties.remove("metadata").unwrap_or_default();
    let mut metadata = Schema { kind: Some(Kind::Object), rules: said.rules, ..Schema::default() };
    let mut fields = said.properties;
    for field in ["name", "generateName"] {
        metadata.properties.insert(field.to_owned(), fields.remove(field).unwrap_or_else(string));
    }
    schema.properties.insert("metadata".to_owned(), metadata);
}

impl Checks {
    fn say_something(&self) -> bool {
        let sizes = [
            self.min_length,
            self.max_length,
            self.min_items,
            self.max_items,
            self.min_properties,
            self.max_properties,
        ];
        let combined = [&self.all_of, &self.any_of, &self.one_of];
        !self.required.is_empty()
            || self.choices.is_some()
            || self.minimum.is_some()
            || self.maximum.is_some()
            || self.multiple_of.is_some()
            || self.pattern.is_some()
            || self.not.is_some()
            || sizes.iter().any(Option::is_some)
            || combined.iter().any(|it| !it.is_empty())
    }
}

fn text<'a>(map: &'a Map<String, Value>, word: &str) -> &'a str {
    map.get(word).and_then(Value::as_str).unwrap_or_default()
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}
