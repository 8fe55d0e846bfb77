//! Label selectors: `a=b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, `a>1`, `a<1`, separated by commas.

use serde_json::Value;

/// A label selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels(Vec<Requirement>);

/// Why a text is no label selector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse requirement: {0}")]
pub struct BadSelector(String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Operator {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
    GreaterThan(i64),
    LessThan(i64),
}

impl Labels {
    /// Reads a label selector; an empty text selects everything.
    pub fn parse(text: &str) -> Result<Self, BadSelector> {
        let requirements = split_outside_parentheses(text).map(str::trim).filter(|it| !it.is_empty());
        requirements.map(Requirement::parse).collect::<Result<_, _>>().map(Self)
    }

    /// The selector that a `LabelSelector` object means. None if it cannot be read.
    pub(crate) fn of_selector(selector: &Value) -> Option<Self> {
        let labels = selector.get("matchLabels").and_then(Value::as_object).into_iter().flatten();
        let mut out = Vec::new();
        for (key, value) in labels {
            let operator = Operator::In(vec![value.as_str()?.to_owned()]);
            out.push(Requirement { key: key.clone(), operator });
        }
        let expressions = selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten();
        for it in expressions {
            let values = it["values"].as_array().into_iter().flatten();
            let values = || values.clone().filter_map(|it| it.as_str().map(str::to_owned)).collect();
            let operator = match it["operator"].as_str()? {
                "In" => Operator::In(values()),
                "NotIn" => Operator::NotIn(values()),
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                _ => return None,
            };
            out.push(Requirement { key: it["key"].as_str()?.to_owned(), operator });
        }
        Some(Self(out))
    }

    /// Whether labels fit; `label` gives the value of a label, if there is one.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|it| it.matches(label(&it.key)))
    }

    /// Whether it selects everything.
    pub fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

impl Requirement {
    fn parse(text: &str) -> Result<Self, BadSelector> {
        if let Some(key) = text.strip_prefix('!') {
            return Self::new(key, Operator::DoesNotExist);
        }
        if let Some(at) = text.find(['=', '!', '<', '>']) {
            let (key, rest) = text.split_at(at);
            return match rest.as_bytes() {
                [b'=', b'=', ..] => Self::new(key, Operator::In(vec![value(&rest[2..])?])),
                [b'!', b'=', ..] => Self::new(key, Operator::NotIn(vec![value(&rest[2..])?])),
                [b'=', ..] => Self::new(key, Operator::In(vec![value(&rest[1..])?])),
                [b'>', ..] => Self::new(key, Operator::GreaterThan(number(&rest[1..])?)),
                [b'<', ..] => Self::new(key, Operator::LessThan(number(&rest[1..])?)),
                _ => Err(BadSelector(format!("found '{rest}', expected: in, notin, =, ==, !=, gt, lt"))),
            };
        }
        let Some(end) = text.find(|it: char| it.is_whitespace() || it == '(') else {
            return Self::new(text, Operator::Exists);
        };
        let (key, rest) = text.split_at(end);
        let rest = rest.trim_start();
        if let Some(set) = rest.strip_prefix("notin") {
            Self::new(key, Operator::NotIn(values(set)?))
        } else if let Some(set) = rest.strip_prefix("in") {
            Self::new(key, Operator::In(values(set)?))
        } else {
            Err(BadSelector(format!("found '{rest}', expected: in, notin, =, ==, !=, gt, lt")))
        }
    }

    fn new(key: &str, operator: Operator) -> Result<Self, BadSelector> {
        let key = key.trim();
        let is_key = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.' | '/');
        if key.is_empty() || !key.chars().all(is_key) {
            return Err(BadSelector(format!("found '{key}', expected: !, identifier, or ','")));
        }
        Ok(Self { key: key.to_owned(), operator })
    }

    fn matches(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|it| it.parse::<i64>().ok());
        match &self.operator {
            Operator::In(values) => value.is_some_and(|it| values.iter().any(|value| value == it)),
            Operator::NotIn(values) => value.is_none_or(|it| values.iter().all(|value| value != it)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan(bound) => number().is_some_and(|it| it > *bound),
            Operator::LessThan(bound) => number().is_some_and(|it| it < *bound),
        }
    }
}

fn value(text: &str) -> Result<String, BadSelector> {
    let text = text.trim();
    let is_value = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    if text.chars().all(is_value) {
        Ok(text.to_owned())
    } else {
        Err(BadSelector(format!("found '{text}', expected: identifier")))
    }
}

fn number(text: &str) -> Result<i64, BadSelector> {
    text.trim().parse().map_err(|_| BadSelector(format!("found '{text}', expected: an integer")))
}

fn values(set: &str) -> Result<Vec<String>, BadSelector> {
    let set = set.trim();
    let inner = set.strip_prefix('(').ok_or_else(|| BadSelector(format!("found '{set}' expected: '('")))?;
    let inner =
        inner.strip_suffix(')').ok_or_else(|| BadSelector(format!("found '{set}', expected: ',' or ')'")))?;
    inner.split(',').map(value).collect()
}

fn split_outside_parentheses(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |it| {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        it == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching() {
        for (selector, labels, expected) in [
            ("", "", true),
            ("a=1", "a=1", true),
            ("a==1", "a=1", true),
            ("a=1", "a=2", false),
            ("a=1", "", false),
            ("a=", "a=", true),
            ("a!=1", "a=2", true),
            ("a!=1", "", true),
            ("a!=1", "a=1", false),
            ("a in (1,2)", "a=2", true),
            ("a in (1, 2)", "a=3", false),
            ("a in(1)", "a=1", true),
            ("a notin (1,2)", "a=2", false),
            ("a notin (1,2)", "", true),
            ("a", "a=", true),
            ("a", "b=", false),
            ("!a", "b=", true),
            ("!a", "a=1", false),
            ("a>1", "a=2", true),
            ("a<1", "a=2", false),
            ("a>1", "a=x", false),
            ("a=1,b=2", "a=1 b=2", true),
            ("a=1,b=2", "a=1 b=3", false),
            ("a in (1,2),b", "a=1 b=3", true),
            ("example.com/a=1", "example.com/a=1", true),
            ("in=1", "in=1", true),
        ] {
            let pairs: Vec<(&str, &str)> =
                labels.split_whitespace().filter_map(|it| it.split_once('=')).collect();
            let label = |key: &str| pairs.iter().find(|(it, _)| *it == key).map(|(_, value)| *value);
            assert_eq!(Labels::parse(selector).unwrap().matches(label), expected, "{selector} on {labels}");
        }
    }

    #[test]
    fn what_is_no_selector() {
        for selector in [
            "a in",
            "a in (",
            "a in (1",
            "a in 1",
            "=1",
            "a b",
            "a=b c",
            "a in (b c)",
            "!",
            "a!b",
            "a>x",
            "ä",
        ] {
            assert!(Labels::parse(selector).is_err(), "{selector}");
        }
    }
}
