//! Why an object cannot be decoded, without what is in it: logs and Events are read by others than the object is.

/// How serde and kube begin to say it; what was found, which may be a secret, follows.
const CLASSES: &[&str] = &[
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "unknown field",
    MISSING,
    DUPLICATE,
];
const MISSING: &str = "missing field";
const DUPLICATE: &str = "duplicate field";

/// What comes between what was found and what our types expect there.
const EXPECTED: &[&str] = &[". Expected ", ", expected "];

const LONGEST: usize = 200;

/// What kube puts before it.
const PREFIX: &str = "Error deserializing response: ";

/// `error` as far as it is about our types: the kind of the error, and what was expected.
pub(super) fn without_values(error: &str) -> String {
    let error = error.strip_prefix(PREFIX).unwrap_or(error);
    let begins = |class: &&&str| error.get(..class.len()).is_some_and(|it| it.eq_ignore_ascii_case(class));
    let Some(class) = CLASSES.iter().find(begins) else { return "malformed value".to_owned() };
    // Names of fields of our own types.
    if [MISSING, DUPLICATE].contains(class) {
        let name = error[class.len()..].split_whitespace().next().unwrap_or_default();
        return bounded(&format!("{class} {name}"));
    }
    // The last one, because what was found may have the same words in it.
    let expected = EXPECTED.iter().filter_map(|it| Some((error.rfind(it)?, it.len()))).max();
    match expected {
        Some((at, length)) => bounded(&format!("{class}, expected {}", &error[at + length..])),
        None => (*class).to_owned(),
    }
}

/// Cuts what is longer than a line of a log.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out() {
        for (error, want) in [
            ("Invalid type integer `7`. Expected a map", "invalid type, expected a map"),
            (
                "invalid type: string \"hunter2\", expected u32 at line 1 column 9",
                "invalid type, expected u32 at line 1 column 9",
            ),
            ("invalid value: string \"a, expected b\", expected a date", "invalid value, expected a date"),
            ("Unknown variant hunter2. Expected one of A, B", "unknown variant, expected one of A, B"),
            ("unknown field `hunter2`, there are no fields", "unknown field"),
            ("Missing field spec", "missing field spec"),
            (
                "Error deserializing response: missing field `spec` at line 1 column 40",
                "missing field `spec`",
            ),
            ("hunter2 is no quantity", "malformed value"),
        ] {
            assert_eq!(without_values(error), want, "{error}");
        }
    }

    #[test]
    fn no_error_is_long() {
        let long = format!("Invalid type map. Expected {}", "ä".repeat(5_000));
        assert_eq!(without_values(&long).chars().count(), LONGEST + 1);
        let long = format!("Missing field {}", "x".repeat(5_000));
        assert_eq!(without_values(&long).chars().count(), LONGEST + 1);
    }
}
