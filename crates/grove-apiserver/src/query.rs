//! Percent encoding and the parameters of a request.

use std::num::{IntErrorKind, ParseIntError};

use serde_json::Value;

use crate::failure::{Cause, Failure};

/// The parameters behind the question mark.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(query: &str) -> Self {
        let pairs = query.split('&').filter(|it| !it.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key, true), decode(value, true))
        });
        Self(pairs.collect())
    }

    /// A parameter that says something.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .filter(|it| !it.is_empty())
    }

    /// Whether a switch is on. `?watch` alone is on, as are `1` and `true`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        value.is_some_and(|it| !matches!(it, "false" | "0"))
    }

    /// A number, or a refusal.
    pub(crate) fn number(&self, name: &str) -> Result<Option<i64>, Failure> {
        let bad = |text: &str, error: &ParseIntError| {
            let why = not_a_number(error);
            Failure::bad_request(format!("strconv.ParseInt: parsing {text:?}: {why} in parameter {name}"))
        };
        self.get(name).map(|text| text.parse::<i64>().map_err(|it| bad(text, &it))).transpose()
    }

    /// Whether nothing is to be stored.
    pub(crate) fn dry_run(&self, kind: &str) -> Result<bool, Failure> {
        match self.get("dryRun") {
            None => Ok(false),
            Some("All") => Ok(true),
            Some(other) => {
                let shown = Value::from(vec![other]).to_string();
                Err(Failure::invalid_options(kind, Cause::not_supported_shown("dryRun", &shown, &["All"])))
            }
        }
    }
}

/// Why a text is no number.
pub(crate) fn not_a_number(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    }
}

/// Decodes `%2F` and, in a query, `+`. What is not an encoding stays as it is.
pub(crate) fn decode(text: &str, in_query: bool) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        match (bytes[index], hexadecimal(bytes.get(index + 1..index + 3))) {
            (b'%', Some(byte)) => {
                out.push(byte);
                index += 2;
            }
            (b'+', _) if in_query => out.push(b' '),
            (byte, _) => out.push(byte),
        }
        index += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hexadecimal(digits: Option<&[u8]>) -> Option<u8> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    let &[high, low] = digits? else { return None };
    u8::try_from(value(high)? * 16 + value(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes() {
        for (encoded, decoded) in [
            ("a%2Fb", "a/b"),
            ("a+b", "a b"),
            ("%", "%"),
            ("%2", "%2"),
            ("%zz", "%zz"),
            ("%+1", "% 1"),
            ("%C3%A4", "ä"),
        ] {
            assert_eq!(decode(encoded, true), decoded);
        }
        assert_eq!(decode("a+b", false), "a+b");
    }

    #[test]
    fn reads_parameters() {
        let query =
            Query::parse("watch&limit=3&continue=&labelSelector=a%3Db&odd=x=y&sendInitialEvents=false");
        assert!(query.flag("watch") && !query.flag("sendInitialEvents") && !query.flag("none"));
        assert_eq!(query.number("limit"), Ok(Some(3)));
        assert_eq!(query.get("continue"), None);
        assert_eq!(query.get("labelSelector"), Some("a=b"));
        assert_eq!(query.get("odd"), Some("x=y"));
        assert_eq!(Query::parse("limit=x").number("limit").unwrap_err().code, 400);
    }
}
