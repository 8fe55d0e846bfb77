//! Values of expressions. Those of objects stay JSON, read with their schema, until an expression looks into them.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use k8s_openapi::jiff::{SignedDuration, Timestamp, civil::Date};
use serde_json::{Map, Value as Json};

use super::functions::network::{Cidr, Ip};
use super::functions::quantity::Quantity;
use super::{Budget, EvalError};
use crate::schema::{Kind, ListType, Schema, is_duration};

/// A value.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(Text<'a>),
    Bytes(Rc<[u8]>),
    /// A list of an object.
    Array(&'a [Json], Option<&'a Schema>),
    /// A list that an expression made.
    List(Rc<Vec<Value<'a>>>),
    /// A map or a message of an object.
    Object(&'a Map<String, Json>, Option<&'a Schema>),
    /// A map that an expression made, in the order in which it was made.
    Map(Rc<Vec<(Value<'a>, Value<'a>)>>),
    Time(Timestamp),
    Duration(SignedDuration),
    Optional(Option<Rc<Value<'a>>>),
    Quantity(Quantity),
    Ip(Ip),
    Cidr(Cidr),
    /// The name of a type.
    Type(&'static str),
}

/// A text, of an object or made.
#[derive(Clone, Debug)]
pub(crate) enum Text<'a> {
    Of(&'a str),
    Made(Rc<str>),
}

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Of(text) => text,
            Self::Made(text) => text,
        }
    }
}

impl<'a> Value<'a> {
    /// What JSON is to an expression. Without a schema, by what it looks like.
    pub(crate) fn of(json: &'a Json, schema: Option<&'a Schema>) -> Result<Self, EvalError> {
        Ok(match json {
            Json::Null => Self::Null,
            Json::Bool(it) => Self::Bool(*it),
            Json::Number(number) => {
                let is_double = schema.is_some_and(|it| it.kind == Some(Kind::Number));
                match number.as_i64() {
                    Some(whole) if !is_double => Self::Int(whole),
                    _ => {
                        let double = number.as_f64().unwrap_or(f64::NAN);
                        let is_integer = schema.is_some_and(|it| it.kind == Some(Kind::Integer));
                        if is_integer { Self::Int(whole(double)?) } else { Self::Double(double) }
                    }
                }
            }
            Json::String(text) => Self::of_text(text, schema)?,
            Json::Array(list) => Self::Array(list, schema),
            Json::Object(map) => Self::Object(map, schema),
        })
    }

    /// A text whose format says that it is something else.
    fn of_text(text: &'a str, schema: Option<&'a Schema>) -> Result<Self, EvalError> {
        let format = schema.filter(|it| it.kind == Some(Kind::String)).map_or("", |it| it.format.as_str());
        let bad = || EvalError::wrong(format!("Invalid {format} {text}"));
        Ok(match format {
            "date-time" | "datetime" => Self::Time(text.parse().map_err(|_| bad())?),
            "date" => {
                let date: Date = text.parse().map_err(|_| bad())?;
                let start = date.in_tz("UTC").map_err(|_| bad())?;
                Self::Time(start.timestamp())
            }
            "duration" => Self::Duration(is_duration(text).ok_or_else(bad)?),
            "byte" => Self::Bytes(STANDARD.decode(text).map_err(|_| bad())?.into()),
            _ => Self::Text(Text::Of(text)),
        })
    }

    pub(crate) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::Text(Text::Made(text.into()))
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(Rc::new(items))
    }

    pub(super) fn int(size: usize) -> Self {
        Self::Int(i64::try_from(size).unwrap_or(i64::MAX))
    }

    /// A map with texts as its keys.
    pub(crate) fn map(entries: Vec<(&'a str, Self)>) -> Self {
        Self::Map(Rc::new(entries.into_iter().map(|(key, it)| (Self::Text(Text::Of(key)), it)).collect()))
    }

    pub(crate) fn some(value: Self) -> Self {
        Self::Optional(Some(Rc::new(value)))
    }

    pub(crate) fn none() -> Self {
        Self::Optional(None)
    }

    pub(crate) fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(it) = self { Some(*it) } else { None }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Text(it) = self { Some(it.as_str()) } else { None }
    }

    pub(super) fn as_int(&self) -> Option<i64> {
        if let Self::Int(it) = self { Some(*it) } else { None }
    }

    /// The elements of a list. None if it is no list.
    pub(super) fn items(&self, budget: &mut Budget) -> Result<Option<Vec<Value<'a>>>, EvalError> {
        match self {
            Self::Array(list, schema) => {
                budget.spend(list.len() as u64)?;
                let item = schema.and_then(|it| it.items.as_deref());
                let items: Result<Vec<_>, _> = list.iter().map(|it| Self::of(it, item)).collect();
                items.map(Some)
            }
            Self::List(list) => {
                budget.spend(list.len() as u64)?;
                Ok(Some(list.to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// The entries of a map. None if it is no map.
    pub(super) fn entries(
        &self,
        budget: &mut Budget,
    ) -> Result<Option<Vec<(Value<'a>, Value<'a>)>>, EvalError> {
        match self {
            Self::Object(map, schema) => {
                budget.spend(map.len() as u64)?;
                let entries = map.iter().filter(|(key, _)| is_seen(*schema, key));
                let entry = |(key, value): (&'a String, &'a Json)| {
                    let value = Self::of(value, schema.and_then(|it| it.child(key)))?;
                    Ok((Self::Text(Text::Of(key)), value))
                };
                entries.map(entry).collect::<Result<Vec<_>, _>>().map(Some)
            }
            Self::Map(map) => {
                budget.spend(map.len() as u64)?;
                Ok(Some(map.to_vec()))
            }
            _ => Ok(None),
        }
    }

    /// How many elements, entries or letters it has.
    pub(super) fn size(&self, budget: &mut Budget) -> Result<usize, EvalError> {
        Ok(match self {
            Self::Array(list, _) => list.len(),
            Self::List(list) => list.len(),
            Self::Object(map, schema) => map.keys().filter(|key| is_seen(*schema, key)).count(),
            Self::Map(map) => map.len(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Text(text) => {
                let text = text.as_str();
                budget.spend(text.len() as u64 / 10)?;
                text.chars().count()
            }
            _ => return Err(EvalError::overload()),
        })
    }

    /// The field of a message or the entry of a map with a text as its key.
    pub(super) fn field(&self, name: &str) -> Result<Option<Value<'a>>, EvalError> {
        match self {
            Self::Object(map, schema) => {
                let is_message = schema.is_some_and(Schema::is_message);
                let unescaped = if is_message { unescape(name) } else { None };
                let name = unescaped.as_deref().unwrap_or(name);
                if !is_seen(*schema, name) {
                    return Ok(None);
                }
                let child = schema.and_then(|it| it.child(name));
                map.get(name).map(|it| Self::of(it, child)).transpose()
            }
            Self::Map(map) => {
                Ok(map.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, it)| it.clone()))
            }
            Self::Optional(Some(inner)) => inner.field(name),
            Self::Optional(None) => Ok(None),
            _ => Err(EvalError::overload()),
        }
    }

    /// How the order of a list counts when it is compared.
    pub(super) fn list_type(&self) -> Option<&'a ListType> {
        if let Self::Array(_, Some(schema)) = self { Some(&schema.list_type) } else { None }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Array(..) | Self::List(_) => "list",
            Self::Object(..) | Self::Map(_) => "map",
            Self::Time(_) => "google.protobuf.Timestamp",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Optional(_) => "optional_type",
            Self::Quantity(_) => "kubernetes.Quantity",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Type(_) => "type",
        }
    }
}

/// Messages show the fields that their schema has, and no others.
fn is_seen(schema: Option<&Schema>, key: &str) -> bool {
    schema.is_none_or(|it| !it.is_message() || it.child(key).is_some())
}

pub(super) fn whole(double: f64) -> Result<i64, EvalError> {
    // The bounds are exact, while i64::MAX as a double is not in its range.
    let fits =
        double.is_finite() && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&double);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "in range, as was just seen; CEL cuts the fraction off"
    )]
    if fits { Ok(double as i64) } else { Err(EvalError::wrong("range error: integer overflow")) }
}

/// Names that cannot be written in an expression, as they are written there.
const ESCAPED: [(&str, &str); 4] =
    [("__underscores__", "__"), ("__dot__", "."), ("__dash__", "-"), ("__slash__", "/")];

/// Words that an expression may not use as names.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// The name of the field that an expression means, if that is another.
pub(super) fn unescape(name: &str) -> Option<String> {
    if !name.contains("__") {
        return None;
    }
    if let Some(word) = name.strip_prefix("__").and_then(|it| it.strip_suffix("__"))
        && RESERVED.contains(&word)
    {
        return Some(word.to_owned());
    }
    let mut out = String::new();
    let mut rest = name;
    while !rest.is_empty() {
        if let Some((escaped, plain)) = ESCAPED.iter().find(|(escaped, _)| rest.starts_with(escaped)) {
            out.push_str(plain);
            rest = &rest[escaped.len()..];
        } else {
            let letter = rest.chars().next()?;
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    Some(out)
}
