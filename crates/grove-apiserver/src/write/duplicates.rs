//! Reads JSON and says which fields come twice. The last one counts.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// As many duplicates as are told.
const MOST: usize = 100;

/// The value of a body, and the paths of fields that come twice.
pub(super) fn parse(body: &[u8]) -> Result<(Value, Vec<String>), serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = Place { path: String::new(), duplicates: &mut duplicates }.deserialize(&mut reader)?;
    reader.end()?;
    Ok((value, duplicates))
}

/// A value to be read, and where it is.
struct Place<'a> {
    path: String,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is none"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, out.len());
            match items.next_element_seed(Place { path, duplicates: &mut *self.duplicates })? {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            if out.contains_key(&name) && self.duplicates.len() < MOST && !self.duplicates.contains(&path) {
                self.duplicates.push(path.clone());
            }
            let value = fields.next_value_seed(Place { path, duplicates: &mut *self.duplicates })?;
            out.insert(name, value);
        }
        Ok(Value::Object(out))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_that_come_twice() {
        let text = r#"{"a":{"b":1,"b":2,"b":3},"list":[{"c":1},{"c":1,"c":null}],"a":{"d":-1.5,"e":true}}"#;
        let (value, duplicates) = parse(text.as_bytes()).unwrap();
        assert_eq!(duplicates, ["a.b", "list[1].c", "a"]);
        assert_eq!(value, json!({"a": {"d": -1.5, "e": true}, "list": [{"c": 1}, {"c": null}]}));
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in ["", "{", "{}{}", "{} x", "{\"a\":}", &deep] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
