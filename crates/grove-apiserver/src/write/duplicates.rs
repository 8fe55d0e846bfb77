//! Reads JSON and says which fields come twice. The last one counts.
//!
//! Paths are put together only where a field comes twice: one for each value would cost the length of the body times the
//! number of its values where one name is as long as half of the body.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::schema::Path;

/// As many duplicates as are told.
const MOST: usize = 100;

/// As many as are looked at: the same field may come twice again and again.
const MOST_MET: usize = 10 * MOST;

/// The value of a body, and the paths of fields that come twice.
pub(super) fn parse(body: &[u8]) -> Result<(Value, Vec<String>), serde_json::Error> {
    let mut duplicates = Duplicates::default();
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = Place { path: &Path::Root, duplicates: &mut duplicates }.deserialize(&mut reader)?;
    reader.end()?;
    Ok((value, duplicates.told))
}

/// The fields that come twice.
#[derive(Default)]
struct Duplicates {
    told: Vec<String>,
    met: usize,
}

impl Duplicates {
    fn add(&mut self, path: &Path<'_>) {
        self.met += 1;
        if self.met > MOST_MET || self.told.len() >= MOST {
            return;
        }
        let path = path.to_string();
        if !self.told.contains(&path) {
            self.told.push(path);
        }
    }
}

/// A value to be read, and where it is.
struct Place<'a> {
    path: &'a Path<'a>,
    duplicates: &'a mut Duplicates,
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
            let path = self.path.index(out.len());
            match items.next_element_seed(Place { path: &path, duplicates: &mut *self.duplicates })? {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let path = self.path.field(&name);
            if out.contains_key(&name) {
                self.duplicates.add(&path);
            }
            let value = fields.next_value_seed(Place { path: &path, duplicates: &mut *self.duplicates })?;
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
    fn there_is_an_end_to_what_is_told() {
        let fields = |count: usize| {
            (0..count).map(|it| format!(r#""f{it}":1,"f{it}":2"#)).collect::<Vec<_>>().join(",")
        };
        let (_, duplicates) = parse(format!("{{{}}}", fields(1_000)).as_bytes()).unwrap();
        assert_eq!((duplicates.len(), duplicates[99].as_str()), (MOST, "f99"));
        // One that comes again and again is told once, and hides others only when it has come very often.
        let again = |count: usize| format!("{{{}{}}}", r#""a":1,"#.repeat(count), fields(1));
        assert_eq!(parse(again(900).as_bytes()).unwrap().1, ["a", "f0"]);
        assert_eq!(parse(again(9_000).as_bytes()).unwrap().1, ["a"]);
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for text in ["", "{", "{}{}", "{} x", "{\"a\":}", &deep] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
