//! Decides which of two `metadata.resourceVersion`s is the newer one.

use std::cmp::Ordering;

/// How `incoming` relates to `known`, or `None` when the two are not comparable.
///
/// Kubernetes promises decimal numbers of any length without leading zeros, so length and then text order them
/// without a conversion that could overflow.
pub(crate) fn compare(incoming: &str, known: &str) -> Option<Ordering> {
    if incoming == known {
        return Some(Ordering::Equal);
    }
    (is_number(incoming) && is_number(known))
        .then(|| incoming.len().cmp(&known.len()).then_with(|| incoming.cmp(known)))
}

fn is_number(version: &str) -> bool {
    version.bytes().all(|b| b.is_ascii_digit())
        && !version.is_empty()
        && (version == "0" || !version.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        for (incoming, known, want) in [
            ("10", "9", Some(Ordering::Greater)),
            ("9", "10", Some(Ordering::Less)),
            ("10", "10", Some(Ordering::Equal)),
            ("0", "1", Some(Ordering::Less)),
            ("340282366920938463463374607431768211457", "99", Some(Ordering::Greater)),
        ] {
            assert_eq!(compare(incoming, known), want, "{incoming} against {known}");
        }
    }

    #[test]
    fn anything_else_is_only_equal_to_itself() {
        for (incoming, known, want) in [
            ("a", "b", None),
            ("a", "a", Some(Ordering::Equal)),
            ("", "1", None),
            ("007", "8", None),
            ("-1", "1", None),
            ("", "", Some(Ordering::Equal)),
        ] {
            assert_eq!(compare(incoming, known), want, "{incoming:?} against {known:?}");
        }
    }
}
