//! Whether an answer fits a pattern. A pattern is JSON that says only what matters:
//!
//! * an object fits if each of its fields fits; other fields may be there
//! * a list fits if it is as long and fits element by element
//! * `$any` fits whatever is there, `$absent` what is not, `$number` any number
//! * `{ $text: part }` fits a text that has this part
//! * `{ $not: pattern }` fits what is there and does not fit
//! * `{ $exactly: value }` fits nothing but this value
//! * `{ $length: 2 }` fits a list of this length, `{ $contains: pattern }` one that has a fitting element, and
//!   `{ $lacks: pattern }` one that has none; several of these may stand in one object, and all must fit

use serde_json::{Map, Value};

/// Where `got` does not fit `expected`: a line each, none if it fits.
pub(super) fn mismatches(expected: &Value, got: Option<&Value>) -> Vec<String> {
    let mut out = Vec::new();
    compare(expected, got, "", &mut out);
    out
}

/// Whether `got` fits `expected`.
pub(super) fn fits(expected: &Value, got: &Value) -> bool {
    mismatches(expected, Some(got)).is_empty()
}

fn compare(expected: &Value, got: Option<&Value>, at: &str, out: &mut Vec<String>) {
    let mut differs = |wanted: &dyn std::fmt::Display| out.push(line(at, wanted, got));
    match (expected, got) {
        (Value::String(word), None) if word == "$absent" => {}
        (_, None) => differs(expected),
        (Value::String(word), Some(value)) => {
            let fit = match word.as_str() {
                "$any" => true,
                "$absent" => false,
                "$number" => value.is_number(),
                _ => value == word,
            };
            if !fit {
                differs(expected);
            }
        }
        (Value::Object(fields), Some(value)) if fields.keys().any(|it| it.starts_with('$')) => {
            for (operator, operand) in fields {
                operate(operator, operand, value, at, out);
            }
        }
        (Value::Object(fields), Some(Value::Object(values))) => compare_fields(fields, values, at, out),
        (Value::Array(items), Some(Value::Array(values))) => {
            if items.len() != values.len() {
                return differs(&format!("a list of {}", items.len()));
            }
            for (index, (item, value)) in items.iter().zip(values).enumerate() {
                compare(item, Some(value), &format!("{at}/{index}"), out);
            }
        }
        (_, Some(value)) => {
            if expected != value {
                differs(expected);
            }
        }
    }
}

fn compare_fields(expected: &Map<String, Value>, got: &Map<String, Value>, at: &str, out: &mut Vec<String>) {
    for (name, pattern) in expected {
        // As in a JSON pointer, so that a label's key stays one step.
        let step = name.replace('~', "~0").replace('/', "~1");
        compare(pattern, got.get(name), &format!("{at}/{step}"), out);
    }
}

fn operate(operator: &str, operand: &Value, got: &Value, at: &str, out: &mut Vec<String>) {
    let items = got.as_array();
    let fit = match operator {
        "$text" => operand.as_str().is_some_and(|part| got.as_str().is_some_and(|text| text.contains(part))),
        "$not" => !fits(operand, got),
        "$exactly" => got == operand,
        "$length" => items.is_some_and(|it| operand.as_u64() == u64::try_from(it.len()).ok()),
        "$contains" => items.is_some_and(|it| it.iter().any(|item| fits(operand, item))),
        "$lacks" => items.is_some_and(|it| !it.iter().any(|item| fits(operand, item))),
        _ => false,
    };
    if !fit {
        out.push(line(at, &format!("{operator}: {operand}"), Some(got)));
    }
}

fn line(at: &str, wanted: &dyn std::fmt::Display, got: Option<&Value>) -> String {
    let at = if at.is_empty() { "/" } else { at };
    match got {
        Some(value) => format!("{at}: expected {wanted}, got {value}"),
        None => format!("{at}: expected {wanted}, got nothing"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({
            "metadata": { "name": "a", "generation": 2, "labels": { "example.com/role": "x" } },
            "items": [{ "name": "one", "size": 1 }, { "name": "two", "size": 2 }],
            "nothing": null,
        })
    }

    #[test]
    fn patterns_that_fit() {
        for pattern in [
            json!({}),
            json!({ "metadata": { "name": "a" } }),
            json!({ "metadata": { "name": "$any", "uid": "$absent", "generation": "$number" } }),
            json!({ "items": [{ "name": "one" }, { "size": 2 }] }),
            json!({ "items": { "$length": 2, "$contains": { "name": "two" }, "$lacks": { "name": "three" } } }),
            json!({ "metadata": { "name": { "$not": "b" } } }),
            json!({ "items": { "$contains": { "name": { "$text": "w" } } } }),
            json!({ "metadata": { "labels": { "$exactly": { "example.com/role": "x" } } } }),
            json!({ "nothing": null }),
            json!({ "nothing": "$any" }),
        ] {
            assert!(fits(&pattern, &object()), "{pattern}");
        }
    }

    #[test]
    fn patterns_that_do_not_fit() {
        for pattern in [
            json!([]),
            json!("a"),
            json!({ "metadata": { "name": "b" } }),
            json!({ "metadata": { "name": "$absent" } }),
            json!({ "metadata": { "name": "$number" } }),
            json!({ "metadata": { "uid": "$any" } }),
            json!({ "metadata": { "uid": { "$not": "b" } } }),
            json!({ "metadata": { "generation": "2" } }),
            json!({ "metadata": { "generation": { "$text": "2" } } }),
            json!({ "metadata": { "labels": { "$exactly": {} } } }),
            json!({ "metadata": { "name": { "$spelt-wrong": "a" } } }),
            json!({ "metadata": { "$length": 3 } }),
            json!({ "items": [{ "name": "one" }] }),
            json!({ "items": { "$length": 2, "$contains": { "name": "three" } } }),
            json!({ "items": { "$lacks": { "size": 1 } } }),
            json!({ "nothing": "$absent" }),
        ] {
            assert!(!fits(&pattern, &object()), "{pattern}");
        }
    }

    #[test]
    fn every_mismatch_has_its_place() {
        let pattern = json!({
            "metadata": { "name": "b", "labels": { "example.com/role": "y" } },
            "items": [{ "size": 1 }, { "size": 3 }],
            "spec": {},
        });
        assert_eq!(
            mismatches(&pattern, Some(&object())),
            [
                "/metadata/name: expected \"b\", got \"a\"",
                "/metadata/labels/example.com~1role: expected \"y\", got \"x\"",
                "/items/1/size: expected 3, got 2",
                "/spec: expected {}, got nothing",
            ]
        );
    }
}
