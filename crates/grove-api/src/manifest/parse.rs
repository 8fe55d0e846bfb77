//! From text to documents.

use serde_saphyr::{Options, alias_limits, budget, options};

use super::{Document, node::Node};
use crate::limits::{MAX_MANIFEST_BYTES, MAX_MANIFEST_DEPTH};

/// Nodes that aliases may add to a file: enough for shared pod templates, too few for a bomb.
const MAX_ALIASED_EVENTS: usize = 100_000;
/// Nodes in a file; a manifest of the largest size has far fewer.
const MAX_NODES: usize = 500_000;

/// Enough for the deepest manifest allowed.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// Why a text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// Reads all documents of a YAML or JSON text. Empty documents are left out.
pub fn parse(text: &str) -> Result<Vec<Document>, ParseError> {
    if text.len() > MAX_MANIFEST_BYTES {
        let message = format!(
            "the file has {} bytes, of {MAX_MANIFEST_BYTES} allowed: an API server would not take it; split it",
            text.len()
        );
        return Err(ParseError { line: None, message });
    }
    // The parser recurses, about 40 KB of stack a level when not optimised: the caller's thread may have too little.
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || documents(text));
        let result = thread.ok().and_then(|thread| thread.join().ok());
        result.unwrap_or_else(|| Err(ParseError { line: None, message: "the parser failed".to_owned() }))
    })
}

fn documents(text: &str) -> Result<Vec<Document>, ParseError> {
    let nodes: Vec<Node> =
        serde_saphyr::from_multiple_with_options(text, reading()).map_err(|error| explain(&error))?;
    Ok(nodes.into_iter().map(Document::new).collect())
}

fn reading() -> Options {
    options! {
        // YAML 1.1, as Kubernetes reads it: `defaultMode: 0644` is 420.
        legacy_octal_numbers: true,
        budget: budget! {
            max_depth: MAX_MANIFEST_DEPTH,
            flow_nesting_limit: MAX_MANIFEST_DEPTH,
            max_nodes: MAX_NODES,
            max_events: 4 * MAX_NODES,
            // What aliases add is bounded below; how often one is used is nobody's business.
            enforce_alias_anchor_ratio: false,
        },
        alias_limits: alias_limits! {
            max_total_replayed_events: MAX_ALIASED_EVENTS,
        },
        with_snippet: false,
    }
}

fn explain(error: &serde_saphyr::Error) -> ParseError {
    let line = error.location().and_then(|it| usize::try_from(it.line()).ok()).filter(|it| *it > 0);
    let text = error.to_string();
    // The line is told apart from the text; the hint about options is for programmers.
    let text = text.split(" at line ").next().unwrap_or_default();
    let text = text.split(", set DuplicateKeyPolicy").next().unwrap_or_default();
    if text.starts_with("recursion limit") || text.starts_with("budget breached: Depth") {
        return ParseError { line, message: format!("is nested more than {MAX_MANIFEST_DEPTH} levels deep") };
    }
    ParseError { line, message: text.trim_end_matches([',', ' ']).to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::field::Path;

    fn values(text: &str) -> Vec<Value> {
        parse(text).unwrap().into_iter().map(|it| it.value).collect()
    }

    fn refusal(text: &str) -> ParseError {
        parse(text).err().unwrap_or_else(|| panic!("{text:.60} was accepted"))
    }

    #[test]
    fn scalars_are_those_of_kubernetes() {
        let cases = [
            ("0644", json!(420)),
            ("\"0644\"", json!("0644")),
            ("0o17", json!(15)),
            ("0x1F", json!(31)),
            ("1e3", json!(1000)),
            ("1.5", json!(1.5)),
            ("yes", json!(true)),
            ("off", json!(false)),
            ("~", json!(null)),
            ("", json!(null)),
            ("2001-01-01", json!("2001-01-01")),
            ("1.2.3", json!("1.2.3")),
        ];
        for (text, want) in cases {
            assert_eq!(values(&format!("a: {text}\n"))[0]["a"], want, "{text}");
        }
    }

    #[test]
    fn several_documents_and_json() {
        assert_eq!(values("---\n# nothing\n---\na: 1\n---\na: 2\n"), [json!({"a": 1}), json!({"a": 2})]);
        assert_eq!(values("{\n\t\"a\": [1,\n\t2]\n}\n"), [json!({"a": [1, 2]})]);
        assert!(values("").is_empty());
    }

    #[test]
    fn anchors_and_merge_keys_work() {
        let text = "base: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\n";
        let want = json!({"base": {"x": 1, "y": 2}, "use": {"x": 1, "y": 2}, "more": {"x": 1, "y": 3}});
        assert_eq!(values(text)[0], want);
    }

    #[test]
    fn an_anchor_may_be_used_often() {
        let text =
            format!("pod: &pod {{ containers: [{{ name: c }}] }}\nall: [{}]\n", vec!["*pod"; 500].join(", "));
        assert_eq!(values(&text)[0]["all"].as_array().map(Vec::len), Some(500));
    }

    #[test]
    fn duplicate_keys_are_errors() {
        let error = refusal("a: 1\nb: 2\na: 3\n");
        assert_eq!(error, ParseError { line: Some(3), message: "duplicate mapping key: a".to_owned() });
    }

    #[test]
    fn alias_bombs_are_refused() {
        let line = |level: usize| {
            let item = if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) };
            format!("a{level}: &a{level} [{}]\n", vec![item; 10].join(", "))
        };
        let text: String = (0..9).map(line).collect();
        assert!(refusal(&text).message.contains("alias"), "{}", refusal(&text).message);
    }

    #[test]
    fn size_and_nesting_are_bounded() {
        assert!(refusal(&format!("a: \"{}\"\n", "x".repeat(3_000_000))).message.contains("split it"));
        for deep in [
            format!("a: {}{}", "[".repeat(10_000), "]".repeat(10_000)),
            "- ".repeat(10_000),
            "{a: ".repeat(10_000),
        ] {
            assert_eq!(refusal(&deep).message, "is nested more than 100 levels deep");
        }
    }

    #[test]
    fn broken_text_has_a_line() {
        for (text, line) in [("a: 1\nb: [\n", 2), ("a: b: c\n", 1), ("a: .nan\n", 1), ("? {x: 1}\n: 2\n", 1)]
        {
            assert_eq!(refusal(text).line, Some(line), "{text:?}");
        }
    }

    #[test]
    fn fields_know_their_line() {
        let documents = parse("# c\na:\n  b:\n  - x: 1\n  - x: 2\n---\nq: 1\n").unwrap();
        let line = |path: &str| documents[0].line_of(&Path::parse(path));
        assert_eq!([line("a"), line("a.b"), line("a.b[0].x"), line("a.b[1].x")], [2, 3, 4, 5]);
        assert_eq!(line("a.b[1].missing.deeper"), 5);
        assert_eq!(documents[1].line_of(&Path::parse("q")), 7);
    }

    #[test]
    fn lists_are_taken_apart() {
        let text = "kind: List\nitems:\n- a: 1\n- a: 2\n";
        let items = parse(text).unwrap().remove(0).flatten();
        assert_eq!(items.len(), 2);
        assert_eq!(items[1].value, json!({"a": 2}));
        assert_eq!(items[1].line_of(&Path::parse("a")), 4);
    }
}
