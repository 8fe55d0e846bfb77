//! What of a value is owned by itself: field by field, item by item, or only as a whole. Read from a schema.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::kinds::{self, Definition, Ownership, Type};

/// How the parts of a value are told apart.
#[derive(Clone, Debug, Default)]
pub(crate) enum Shape {
    /// Nothing is known: objects by their fields, lists as a whole. So does the real server where it has no schema.
    #[default]
    Deduced,
    /// A whole.
    Atomic,
    /// An object with these fields, and others of one shape. Some fields are always there: those that Go has no way to leave
    /// out, and so has with nothing in them.
    Fields(BTreeMap<String, Shape>, Box<Shape>, BTreeSet<String>),
    /// A list whose items are known by these of their fields, and what stands for one that is left out.
    Items(Vec<(String, Option<Value>)>, Box<Shape>),
    /// A list of values that are there or not.
    Set,
    /// A type of built-in kinds, by its name. Such types may hold themselves.
    Named(&'static str),
}

static DEDUCED: Shape = Shape::Deduced;

/// The shapes of all types of built-in kinds.
static NAMED: LazyLock<BTreeMap<&'static str, Shape>> =
    LazyLock::new(|| kinds::all().map(|it| (it.name, Shape::of_definition(it))).collect());

impl Shape {
    /// The shape of objects, whose metadata is the same for all kinds.
    pub(crate) fn of_objects(schema: &Value) -> Self {
        let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let metadata = json!({"type": "object", "properties": {
            "labels": texts, "annotations": texts,
            "finalizers": {"type": "array", "x-kubernetes-list-type": "set"},
            "ownerReferences": {
                "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"],
                "items": {"type": "object", "x-kubernetes-map-type": "atomic"},
            },
        }});
        let (mut fields, rest) = match Self::of(schema) {
            Self::Fields(fields, rest, _) => (fields, rest),
            _ => (BTreeMap::new(), Box::default()),
        };
        fields.insert("metadata".to_owned(), Self::of(&metadata));
        // The metadata as such is nobody's.
        Self::Fields(fields, rest, ["metadata".to_owned()].into())
    }

    /// The shape of objects of a built-in kind.
    pub(crate) fn of_kind(definition: &'static Definition) -> Self {
        Self::Named(definition.name)
    }

    fn of_definition(definition: &'static Definition) -> Self {
        if definition.atomic {
            return Self::Atomic;
        }
        let field = |(name, field): (&&'static str, &kinds::Field)| {
            ((*name).to_owned(), Self::of_type(&field.holds, &field.owned))
        };
        let always = definition.fields.iter().filter(|(_, field)| field.always);
        let always = always.map(|(name, _)| (*name).to_owned()).collect();
        Self::Fields(definition.fields.iter().map(field).collect(), Box::default(), always)
    }

    fn of_type(of: &Type, owned: &Ownership) -> Self {
        match (of, owned) {
            (Type::List(_), Ownership::Set) => Self::Set,
            (Type::List(item), Ownership::Keys(keys)) => {
                let default = |key: &str| item.object()?.field(key)?.default.clone();
                let keys = keys.iter().map(|it| ((*it).to_owned(), default(it))).collect();
                Self::Items(keys, Box::new(Self::of_type(item, &Ownership::Usual)))
            }
            (_, Ownership::Atomic) | (Type::List(_), _) => Self::Atomic,
            (Type::Map(item), _) => {
                let item = Self::of_type(item, &Ownership::Usual);
                Self::Fields(BTreeMap::new(), Box::new(item), BTreeSet::new())
            }
            (Type::Object(name), _) => Self::Named(name),
            _ => Self::Deduced,
        }
    }

    /// What a name stands for.
    fn named(&self) -> &Self {
        match self {
            Self::Named(name) => NAMED.get(name).unwrap_or(&DEDUCED),
            shape => shape,
        }
    }

    fn of(schema: &Value) -> Self {
        let says = |key: &str| schema[key].as_str().unwrap_or_default();
        match (says("type"), says("x-kubernetes-list-type")) {
            _ if says("x-kubernetes-map-type") == "atomic" => Self::Atomic,
            ("array", "set") => Self::Set,
            ("array", "map") => {
                let properties = &schema["items"]["properties"];
                let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
                let key = |it: &str| (it.to_owned(), properties[it].get("default").cloned());
                let keys = keys.filter_map(Value::as_str).map(key).collect();
                Self::Items(keys, Box::new(Self::of(&schema["items"])))
            }
            ("array", _) => Self::Atomic,
            _ => {
                let properties = schema["properties"].as_object();
                let rest = schema.get("additionalProperties").filter(|it| it.is_object());
                if properties.is_none() && rest.is_none() {
                    return Self::Deduced;
                }
                let fields = properties.into_iter().flatten();
                let fields = fields.map(|(name, schema)| (name.clone(), Self::of(schema)));
                let rest = rest.map(Self::of).unwrap_or_default();
                Self::Fields(fields.collect(), Box::new(rest), BTreeSet::new())
            }
        }
    }

    pub(super) fn field(&self, name: &str) -> &Self {
        match self.named() {
            Self::Fields(fields, rest, _) => fields.get(name).unwrap_or(rest).named(),
            _ => &DEDUCED,
        }
    }

    /// Whether an object of this shape has a field by its nature. Keys of maps are there because somebody put them there.
    pub(super) fn declares(&self, name: &str) -> bool {
        matches!(self.named(), Self::Fields(fields, ..) if fields.contains_key(name))
    }

    /// Whether a field is always there, if only with nothing in it.
    pub(super) fn has_always(&self, name: &str) -> bool {
        matches!(self.named(), Self::Fields(_, _, always) if always.contains(name))
    }

    /// What tells the items of a list apart, and their shape. None of a list that is a whole.
    pub(super) fn items(&self) -> Option<(ItemKeys<'_>, &Self)> {
        match self.named() {
            Self::Items(keys, item) => Some((ItemKeys::Fields(keys), item.named())),
            Self::Set => Some((ItemKeys::Itself, &DEDUCED)),
            _ => None,
        }
    }
}

/// What tells the items of a list apart.
#[derive(Clone, Copy)]
pub(super) enum ItemKeys<'a> {
    Fields(&'a [(String, Option<Value>)]),
    Itself,
}

impl ItemKeys<'_> {
    /// The item as a step of a path. None where it lacks what it is known by.
    pub(super) fn step(self, item: &Value) -> Option<String> {
        let Self::Fields(keys) = self else { return Some(format!("v:{item}")) };
        let known: Option<BTreeMap<&String, &Value>> =
            keys.iter().map(|(key, default)| Some((key, item.get(key).or(default.as_ref())?))).collect();
        Some(format!("k:{}", serde_json::to_string(&known?).unwrap_or_default()))
    }
}
