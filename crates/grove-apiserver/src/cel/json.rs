//! The value of an expression as JSON, for what is stored.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value as Json};

use super::EvalError;
use super::value::Value;

impl Value<'_> {
    /// The value as a field of an object has it.
    pub(crate) fn to_json(&self) -> Result<Json, EvalError> {
        Ok(match self {
            Self::Null => Json::Null,
            Self::Bool(it) => Json::Bool(*it),
            Self::Int(it) => (*it).into(),
            Self::Uint(it) => (*it).into(),
            Self::Double(it) => Number::from_f64(*it).map_or(Json::Null, Json::Number),
            Self::Text(it) => it.as_str().into(),
            Self::Bytes(it) => STANDARD.encode(it).into(),
            Self::Array(list, _) => list.to_vec().into(),
            Self::List(list) => list.iter().map(Self::to_json).collect::<Result<Vec<_>, _>>()?.into(),
            Self::Object(map, _) => Json::Object((*map).clone()),
            Self::Map(entries) => {
                let mut map = Map::new();
                for (key, value) in entries.iter() {
                    let key = key.as_str().ok_or_else(|| EvalError::wrong("keys of objects are strings"))?;
                    map.insert(key.to_owned(), value.to_json()?);
                }
                Json::Object(map)
            }
            other => {
                return Err(EvalError::wrong(format!(
                    "{} cannot be a field of an object",
                    other.type_name()
                )));
            }
        })
    }
}
