//! JSONPath, as far as printer columns use it: `.spec.replicas`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[0:2]`, `[*]`, `.*`,
//! `..name`, and filters such as `[?(@.type=="Ready")]`.

use std::cmp::Ordering;

use serde_json::Value;

/// As long as a path may be, and as many values as it may find on its way.
const LONGEST: usize = 1_000;
const MOST_FOUND: usize = 10_000;

/// A path that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BadPath;

/// A path into an object.
#[derive(Clone, Debug)]
pub(crate) struct Path(Vec<Step>);

#[derive(Clone, Debug)]
enum Step {
    Field(String),
    /// Of a list; a negative one counts from the end.
    Index(i64),
    Range(Option<i64>, Option<i64>),
    All,
    /// The value itself and all that is in it.
    Descend,
    Filter(Filter),
}

/// Items of a list for which this is so.
#[derive(Clone, Debug)]
struct Filter {
    left: Operand,
    /// None: what `left` finds only has to be there.
    test: Option<(Operator, Operand)>,
}

#[derive(Clone, Debug)]
enum Operand {
    /// Of the item.
    Path(Path),
    Literal(Value),
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Path {
    /// Reads a path.
    pub(crate) fn parse(text: &str) -> Result<Self, BadPath> {
        if text.is_empty() || text.len() > LONGEST {
            return Err(BadPath);
        }
        parse(text, true)
    }

    /// The first value that is found.
    pub(crate) fn first<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        self.find(object).first().copied()
    }

    fn find<'a>(&self, object: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![object];
        for step in &self.0 {
            let mut next = Vec::new();
            for value in found {
                step.take(value, &mut next);
                if next.len() > MOST_FOUND {
                    next.truncate(MOST_FOUND);
                    break;
                }
            }
            found = next;
        }
        found
    }
}

/// `may_filter`: a filter holds no other filter, so that paths are not nested.
fn parse(text: &str, may_filter: bool) -> Result<Path, BadPath> {
    let mut steps = Vec::new();
    let mut rest = text.strip_prefix('$').unwrap_or(text);
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("..") {
            steps.push(Step::Descend);
            rest = after;
            if rest.is_empty() {
                return Err(BadPath);
            }
            if !rest.starts_with('[') {
                rest = field(rest, &mut steps)?;
            }
        } else if first == '[' {
            let end = closing(rest)?;
            steps.push(bracket(rest[1..end].trim(), may_filter)?);
            rest = &rest[end + 1..];
        } else {
            rest = field(rest.strip_prefix('.').unwrap_or(rest), &mut steps)?;
        }
    }
    Ok(Path(steps))
}

/// Takes a name off the front.
fn field<'a>(text: &'a str, steps: &mut Vec<Step>) -> Result<&'a str, BadPath> {
    let mut name = String::new();
    let mut chars = text.char_indices();
    let mut end = text.len();
    while let Some((at, next)) = chars.next() {
        match next {
            '\\' => name.push(chars.next().ok_or(BadPath)?.1),
            '.' | '[' => {
                end = at;
                break;
            }
            next => name.push(next),
        }
    }
    match name.as_str() {
        // A dot before a bracket, or at the end, says nothing.
        "" if end < text.len() && text[end..].starts_with('[') => {}
        "" => return Err(BadPath),
        "*" => steps.push(Step::All),
        _ => steps.push(Step::Field(name)),
    }
    Ok(&text[end..])
}

/// Where the bracket closes that the text begins with.
fn closing(text: &str) -> Result<usize, BadPath> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut is_escaped = false;
    for (at, next) in text.char_indices() {
        match (quote, next) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), next) if open == next => quote = None,
            (None, '\'' | '"') => quote = Some(next),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
    Err(BadPath)
}

/// What is between brackets.
fn bracket(text: &str, may_filter: bool) -> Result<Step, BadPath> {
    if text == "*" {
        return Ok(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|it| it.strip_suffix(')')) {
        return if may_filter { Filter::parse(filter.trim()).map(Step::Filter) } else { Err(BadPath) };
    }
    if let Some(name) = quoted(text) {
        return Ok(Step::Field(name));
    }
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| BadPath);
    if let Some((from, to)) = text.split_once(':') {
        let bound = |text: &str| if text.trim().is_empty() { Ok(None) } else { number(text).map(Some) };
        return Ok(Step::Range(bound(from)?, bound(to)?));
    }
    number(text).map(Step::Index)
}

/// A text between quotes.
fn quoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(next) = chars.next() {
        out.push(if next == '\\' { chars.next()? } else { next });
    }
    Some(out)
}

impl Step {
    fn take<'a>(&self, value: &'a Value, out: &mut Vec<&'a Value>) {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => out.extend(map.get(name)),
            (Self::Index(at), Value::Array(list)) => {
                let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
                let at = if *at < 0 { at.saturating_add(length) } else { *at };
                out.extend(usize::try_from(at).ok().and_then(|at| list.get(at)));
            }
            (Self::Range(from, to), Value::Array(list)) => {
                let bound = |at: Option<i64>, default: usize| {
                    let length = i64::try_from(list.len()).unwrap_or(i64::MAX);
                    let at = at.map(|it| if it < 0 { it.saturating_add(length) } else { it });
                    at.map_or(default, |it| usize::try_from(it).unwrap_or(0)).min(list.len())
                };
                let (from, to) = (bound(*from, 0), bound(*to, list.len()));
                out.extend(list.get(from..to).unwrap_or_default());
            }
            (Self::All, Value::Array(list)) => out.extend(list),
            (Self::All, Value::Object(map)) => out.extend(map.values()),
            (Self::Descend, value) => descend(value, out),
            (Self::Filter(filter), Value::Array(list)) => {
                out.extend(list.iter().filter(|it| filter.holds(it)));
            }
            _ => {}
        }
    }
}

/// The value and all that is in it, the outermost first.
fn descend<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        out.push(value);
        if out.len() > MOST_FOUND {
            return;
        }
        match value {
            Value::Array(list) => open.extend(list.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            _ => {}
        }
    }
}

impl Filter {
    fn parse(text: &str) -> Result<Self, BadPath> {
        let operators = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
        ];
        let mut quote = None;
        for (at, next) in text.char_indices() {
            match (quote, next) {
                (Some(open), next) if open == next => quote = None,
                (None, '\'' | '"') => quote = Some(next),
                (None, _) => {
                    let found = operators.iter().find(|(it, _)| text[at..].starts_with(it));
                    if let Some((sign, operator)) = found {
                        let left = Operand::parse(text[..at].trim())?;
                        let right = Operand::parse(text[at + sign.len()..].trim())?;
                        return Ok(Self { left, test: Some((*operator, right)) });
                    }
                }
                _ => {}
            }
        }
        Ok(Self { left: Operand::parse(text)?, test: None })
    }

    fn holds(&self, item: &Value) -> bool {
        let left = self.left.value(item);
        let Some((operator, right)) = &self.test else { return left.is_some() };
        let (Some(left), Some(right)) = (left, right.value(item)) else { return false };
        let order = compare(left, right);
        match operator {
            Operator::Equal => left == right || order == Some(Ordering::Equal),
            Operator::NotEqual => left != right && order != Some(Ordering::Equal),
            Operator::Less => order == Some(Ordering::Less),
            Operator::LessOrEqual => order.is_some_and(Ordering::is_le),
            Operator::Greater => order == Some(Ordering::Greater),
            Operator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}

impl Operand {
    fn parse(text: &str) -> Result<Self, BadPath> {
        if let Some(path) = text.strip_prefix('@') {
            return parse(path, false).map(Self::Path);
        }
        if let Some(text) = quoted(text) {
            return Ok(Self::Literal(text.into()));
        }
        // Numbers and booleans are written as in JSON.
        serde_json::from_str(text).map(Self::Literal).map_err(|_| BadPath)
    }

    fn value<'a>(&'a self, item: &'a Value) -> Option<&'a Value> {
        match self {
            Self::Path(path) => path.first(item),
            Self::Literal(value) => Some(value),
        }
    }
}

fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object() -> Value {
        json!({
            "spec": {"replicas": 3, "a.b": {"c": "dotted"}, "it's": 1},
            "status": {"list": [1, 2, 3, 4], "conditions": [
                {"type": "Ready", "status": "True", "since": 5}, {"type": "Fresh", "status": "False", "since": 9, "why": "x"}]},
        })
    }

    #[test]
    fn paths() {
        let ready = json!({"type": "Ready", "status": "True", "since": 5});
        for (path, expected) in [
            (".spec.replicas", Some(json!(3))),
            ("spec.replicas", Some(json!(3))),
            ("$.spec.replicas", Some(json!(3))),
            (".spec.none", None),
            (".spec.replicas.none", None),
            (".spec['a.b'].c", Some(json!("dotted"))),
            (".spec[\"a.b\"].c", Some(json!("dotted"))),
            (r".spec.a\.b.c", Some(json!("dotted"))),
            (r".spec['it\'s']", Some(json!(1))),
            (".status.list[0]", Some(json!(1))),
            (".status.list[-1]", Some(json!(4))),
            (".status.list[-9]", None),
            (".status.list[7]", None),
            (".status.list[1:3]", Some(json!(2))),
            (".status.list[-2:]", Some(json!(3))),
            (".status.list[3:1]", None),
            (".status.list[*]", Some(json!(1))),
            (".status.conditions[*].type", Some(json!("Ready"))),
            (".status.conditions[0]", Some(ready.clone())),
            (".status.*[0]", Some(json!(1))),
            ("..type", Some(json!("Ready"))),
            (".status..why", Some(json!("x"))),
            (r#".status.conditions[?(@.type=="Ready")]"#, Some(ready)),
            (r#".status.conditions[?(@.type=="Fresh")].status"#, Some(json!("False"))),
            (".status.conditions[?(@.type=='Fresh')].status", Some(json!("False"))),
            (r#".status.conditions[?(@.type == "Gone")].status"#, None),
            (r#".status.conditions[?(@.type!="Ready")].type"#, Some(json!("Fresh"))),
            (".status.conditions[?(@.since>5)].type", Some(json!("Fresh"))),
            (".status.conditions[?(@.since >= 5)].type", Some(json!("Ready"))),
            (".status.conditions[?(@.since<=5)].type", Some(json!("Ready"))),
            (".status.conditions[?(@.since<5)].type", None),
            (".status.conditions[?(@.why)].type", Some(json!("Fresh"))),
            (".status.conditions[?(@['why']=='x')].type", Some(json!("Fresh"))),
            (".status.list[?(@==3)]", Some(json!(3))),
            (".spec[?(@.type==1)]", None),
        ] {
            assert_eq!(Path::parse(path).unwrap().first(&object()), expected.as_ref(), "{path}");
        }
    }

    #[test]
    fn what_is_no_path() {
        let long = ".a".repeat(LONGEST);
        for path in [
            "",
            ".",
            "..",
            ".a.",
            ".a[",
            ".a[]",
            ".a[x]",
            ".a['b]",
            ".a[1:x]",
            ".a[?(@.b==)]",
            ".a[?(b)]",
            ".a[?(@.b[?(@.c)])]",
            ".a\\",
            ".[?(@.a=='x]",
            &long,
        ] {
            assert_eq!(Path::parse(path).map(|_| ()), Err(BadPath), "{path}");
        }
    }

    /// Nothing panics, and nothing takes long.
    #[test]
    fn random_paths() {
        let parts =
            [".", "..", "[", "]", "?(", ")", "@", "*", "a", "\\", "'", "\"", "==", "-1", ":", "ä", "$", " "];
        let mut state = 1_u64;
        let mut roll = |sides: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % sides
        };
        let mut fine = 0;
        for _ in 0..50_000 {
            let text: String = (0..roll(9)).map(|_| parts[roll(parts.len())]).collect();
            if let Ok(path) = Path::parse(&text) {
                path.first(&object());
                fine += 1;
            }
        }
        assert!(fine > 100);
    }

    #[test]
    fn what_is_found_is_bounded() {
        let list: Vec<Value> = (0..500).map(|_| json!(vec![0; 500])).collect();
        let found = Path::parse("..[*]..[*]").unwrap().find(&json!(list)).len();
        assert!(found <= MOST_FOUND, "{found}");
    }
}
