//! What changed from one form of an object to the next, in few words.

use serde_json::Value;

/// Fields that change with everything.
const DULL: [&str; 4] = ["managedFields", "resourceVersion", "lastTransitionTime", "generation"];
/// Longest value that is shown.
const LONG: usize = 160;

/// The fields that changed, with their new values.
pub(crate) fn changes(old: &Value, new: &Value) -> String {
    let mut words = Vec::new();
    compare("", old, new, &mut words);
    words.join(" ")
}

fn compare(path: &str, old: &Value, new: &Value, words: &mut Vec<String>) {
    if old == new {
        return;
    }
    match (old, new) {
        (Value::Object(before), Value::Object(after)) => {
            for key in before.keys().chain(after.keys().filter(|it| !before.contains_key(*it))) {
                if !DULL.contains(&key.as_str()) {
                    let (before, after) = (before.get(key), after.get(key));
                    let path = format!("{path}.{key}");
                    compare(&path, before.unwrap_or(&Value::Null), after.unwrap_or(&Value::Null), words);
                }
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (number, (before, after)) in before.iter().zip(after).enumerate() {
                let name = after.get("type").or_else(|| after.get("name")).and_then(Value::as_str);
                let name = name.map_or_else(|| number.to_string(), str::to_owned);
                compare(&format!("{path}[{name}]"), before, after, words);
            }
        }
        _ => {
            let text: String = new.to_string().chars().take(LONG).collect();
            words.push(format!("{path}={text}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_changed() {
        let old = json!({ "a": 1, "b": { "c": [{ "name": "x", "v": 1 }] }, "resourceVersion": "1" });
        let new =
            json!({ "a": 1, "b": { "c": [{ "name": "x", "v": 2 }] }, "resourceVersion": "2", "d": true });
        assert_eq!(changes(&old, &new), ".b.c[x].v=2 .d=true");
    }
}
