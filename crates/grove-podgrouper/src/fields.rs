//! Lists, maps and texts of fields that nobody has checked. What is of another type is refused, with its field.

use std::fmt::Arguments;

use serde_json::{Map, Value};

use crate::plugin::Refused;

/// Characters of a text that a sentence repeats.
const SHOWN: usize = 64;

/// A list; empty where the field is not there.
pub(crate) fn list<'a>(value: &'a Value, field: Arguments<'_>) -> Result<&'a [Value], Refused> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(items) => Ok(items),
        other => Err(wanted(field, other, "a list")),
    }
}

/// A map; `None` where the field is not there.
pub(crate) fn map<'a>(
    value: &'a Value,
    field: Arguments<'_>,
) -> Result<Option<&'a Map<String, Value>>, Refused> {
    match value {
        Value::Null => Ok(None),
        Value::Object(fields) => Ok(Some(fields)),
        other => Err(wanted(field, other, "a map")),
    }
}

/// A text; `None` where the field is not there.
pub(crate) fn text<'a>(value: &'a Value, field: Arguments<'_>) -> Result<Option<&'a str>, Refused> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        other => Err(wanted(field, other, "a text")),
    }
}

/// A text that has to be there and to say something.
pub(crate) fn required_text<'a>(value: &'a Value, field: Arguments<'_>) -> Result<&'a str, Refused> {
    text(value, field)?
        .filter(|it| !it.is_empty())
        .ok_or_else(|| Refused(format!("{field} is missing or empty: set it")))
}

/// A text as sentences repeat it: short, however long it is.
pub(crate) fn cut(text: &str) -> &str {
    text.char_indices().nth(SHOWN).map_or(text, |(end, _)| &text[..end])
}

/// A value as sentences show it: short, whatever it is.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
        Value::String(text) if text.chars().count() > SHOWN => {
            format!("{:?}…", cut(text))
        }
        other => other.to_string(),
    }
}

fn wanted(field: Arguments<'_>, value: &Value, what: &str) -> Refused {
    Refused(format!("{field} is {}: make it {what}", shown(value)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn other_types_are_refused_with_their_field() {
        let field = format_args!("spec.a");
        let refused = |text: &str| Refused(text.to_owned());
        assert_eq!(list(&Value::Null, field), Ok(&[][..]));
        assert_eq!(list(&json!({}), field), Err(refused("spec.a is a map: make it a list")));
        assert_eq!(map(&Value::Null, field), Ok(None));
        assert_eq!(map(&json!([]), field), Err(refused("spec.a is a list: make it a map")));
        assert_eq!(text(&json!("b"), field), Ok(Some("b")));
        assert_eq!(text(&json!(7), field), Err(refused("spec.a is 7: make it a text")));
        assert_eq!(required_text(&json!(""), field), Err(refused("spec.a is missing or empty: set it")));
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "ä".repeat(100_000);
        assert_eq!(shown(&json!(long)), format!("\"{}\"…", "ä".repeat(64)));
        assert_eq!(shown(&json!("short")), "\"short\"");
    }
}
