//! A YAML node with its line, as serde delivers it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::Spanned;

/// A value and the line it begins on.
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) shape: Shape,
}

/// What a node is.
pub(super) enum Shape {
    Map(Vec<(Key, Node)>),
    List(Vec<Node>),
    Scalar(Value),
}

/// A key and its line, which for a nested value is the line a user looks for.
pub(super) struct Key {
    pub(super) line: usize,
    pub(super) name: String,
}

fn line<T>(spanned: &Spanned<T>) -> usize {
    // Where the text is, not where an alias pulled it in.
    usize::try_from(spanned.defined.line()).unwrap_or(usize::MAX)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Shape>::deserialize(deserializer)?;
        Ok(Self { line: line(&spanned), shape: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<String>::deserialize(deserializer)?;
        Ok(Self { line: line(&spanned), name: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Shape, E> {
        Ok(Shape::Scalar(number(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        Shape::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Shape, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key()? {
            map.push((key, entries.next_value()?));
        }
        Ok(Shape::Map(map))
    }
}

/// `1e3` is the integer 1000 for Kubernetes, which reads YAML by way of JSON.
#[expect(clippy::cast_possible_truncation, reason = "guarded by the range")]
fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        (value as i64).into()
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}
