use proptest::prelude::*;
use regex_lite::Regex;
use serde_json::{Value, json};

use super::*;
use crate::{
    limits::{MAX_JSON_PATH, MAX_JSON_PATH_RESULTS, MAX_JSON_PATH_STEPS},
    schema::JSON_PATH,
};

fn object() -> Value {
    json!({
        "metadata": { "labels": { "example.com/role": "worker", "a b": "c" } },
        "spec": {
            "replicas": 3,
            "nothing": null,
            "groups": [{ "name": "a", "min": 1 }, { "name": "b", "min": 2 }, { "name": "c" }],
            "roles": { "leader": { "min": 1 }, "worker": { "min": 4 } },
        },
    })
}

fn found(path: &str) -> Result<Value, String> {
    let object = object();
    let path = JsonPath::parse(path).map_err(|it| it.to_string())?;
    let found = path.find(&object["spec"], &object).map_err(|it| it.to_string())?;
    Ok(found.into_iter().cloned().collect())
}

#[test]
fn paths_lead_to_values() {
    let table = [
        (".replicas", json!([3])),
        ("$.spec.replicas", json!([3])),
        (".groups[1].name", json!(["b"])),
        (".groups[*].min", json!([1, 2])),
        (".roles[*].min", json!([1, 4])),
        (".roles['worker'].min", json!([4])),
        (r#"["replicas"]"#, json!([3])),
        (r"$.metadata.labels.example\.com/role", json!(["worker"])),
        ("$.metadata.labels['example.com/role']", json!(["worker"])),
        ("$.metadata.labels['a b']", json!(["c"])),
        (".roles", json!([{ "leader": { "min": 1 }, "worker": { "min": 4 } }])),
        // What is not there is not found, and no error.
        (".absent.deeper[0]", json!([])),
        (".groups[3].name", json!([])),
        (".groups[2].min", json!([])),
        (".nothing", json!([])),
        (".nothing.deeper[*]", json!([])),
    ];
    for (path, want) in table {
        assert_eq!(found(path), Ok(want), "{path}");
    }
}

#[test]
fn steps_that_do_not_fit_are_told_with_their_place() {
    let table = [
        (".replicas.min", ".replicas is a number, and the next step needs a map"),
        (".groups.name", ".groups is a list, and the next step needs a map"),
        (".groups[0].name[*]", ".groups[0].name is a text, and the next step needs a list or a map"),
        (".roles[0]", ".roles is a map, and the next step needs a list"),
        ("[0]", "what it begins with is a map, and the next step needs a list"),
    ];
    for (path, want) in table {
        assert_eq!(found(path), Err(want.to_owned()), "{path}");
    }
}

#[test]
fn malformed_paths_are_told_with_their_position() {
    let table = [
        ("", "character 1: the path names no field: write one, as .spec.replicas"),
        ("$", "character 2: the path names no field: write one, as .spec.replicas"),
        ("spec.replicas", "character 1: a path begins with a dot, as .spec.replicas"),
        ("{.spec.replicas}", "character 1: leave the braces out: .spec.replicas"),
        (".spec..replicas", "character 7: name every field: a path cannot search"),
        (".spec.", "character 7: a field has to follow the dot"),
        (".spec.*", "character 7: write [*] for all items, without a dot before it"),
        (".spec.[0]", "character 7: leave the dot before the bracket out"),
        (".ä", "character 2: a field has to follow the dot"),
        (
            "['ä'].b c",
            "character 8: ' ' does not fit here: write a dot and a field, or a key in brackets and quotes, as ['a b']",
        ),
        (".a[-1]", "character 4: write an index from 0, * or a key in quotes"),
        (".a[", "character 4: write an index from 0, * or a key in quotes"),
        (".a[?(@.b==1)]", "character 4: a path cannot filter: write an index, * or a key in quotes"),
        (".a[0", "character 5: ] is missing"),
        (".a[0:2]", "character 5: ] is missing"),
        (".a[12345]", "character 4: an index has at most 4 digits"),
        (".a['']", "character 5: the key is empty"),
        (".a['b]", "character 7: the key has no end: ' is missing"),
        (
            r".a\b",
            r"character 3: '\\' does not fit here: write a dot and a field, or a key in brackets and quotes, as ['a b']",
        ),
    ];
    for (path, want) in table {
        assert_eq!(JsonPath::parse(path).unwrap_err().to_string(), want, "{path}");
    }
}

#[test]
fn length_steps_and_results_have_an_end() {
    let long = |length: usize| format!(".{}", "a".repeat(length - 1));
    assert!(JsonPath::parse(&long(MAX_JSON_PATH)).is_ok());
    assert_eq!(JsonPath::parse(&long(MAX_JSON_PATH + 1)).unwrap_err().position, MAX_JSON_PATH + 1);
    assert!(JsonPath::parse(&".a".repeat(MAX_JSON_PATH_STEPS)).is_ok());
    let error = JsonPath::parse(&".a".repeat(MAX_JSON_PATH_STEPS + 1)).unwrap_err();
    assert_eq!((error.position, error.detail.as_str()), (65, "a path may have 32 steps"));

    let path = JsonPath::parse("[*][*]").unwrap();
    let lists = |count: usize| Value::from(vec![vec![1; 100]; count]);
    let most = lists(MAX_JSON_PATH_RESULTS / 100);
    assert_eq!(path.find(&most, &most).map(|it| it.len()), Ok(MAX_JSON_PATH_RESULTS));
    let more = lists(MAX_JSON_PATH_RESULTS / 100 + 1);
    assert_eq!(path.find(&more, &more), Err(NotFound::TooMany));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The schema refuses what the parser refuses, so that a cluster takes only rules that compile.
    #[test]
    fn the_pattern_of_the_schema_is_the_grammar(path in r#"[$.\[\]'"*0-9aä /_\\?{-]{0,12}|(\.a|\[0\]|\['a'\]|\[\*\]){0,40}"#) {
        let pattern = Regex::new(JSON_PATH).unwrap();
        prop_assert_eq!(pattern.is_match(&path), JsonPath::parse(&path).is_ok(), "{}", path);
    }

    #[test]
    fn nothing_panics(path in any::<String>()) {
        if let Ok(path) = JsonPath::parse(&path) {
            let _ = path.find(&object(), &object());
        }
    }
}
