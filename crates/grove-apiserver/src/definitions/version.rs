//! The order of versions: `v2` before `v1` before `v1beta2` before `v1alpha1`, and others after them by name.

use std::cmp::Ordering;

/// Compares versions, the preferred one first.
pub(crate) fn by_priority(left: &str, right: &str) -> Ordering {
    match (parse(left), parse(right)) {
        (Some(left), Some(right)) => right.cmp(&left),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// How stable, which major, which minor.
fn parse(version: &str) -> Option<(u8, u64, u64)> {
    let number = |text: &str| -> Option<u64> {
        (!text.is_empty() && !text.starts_with(['0', '+'])).then(|| text.parse().ok())?
    };
    let rest = version.strip_prefix('v')?;
    for (word, stability) in [("alpha", 0), ("beta", 1)] {
        if let Some((major, minor)) = rest.split_once(word) {
            return Some((stability, number(major)?, number(minor)?));
        }
    }
    Some((2, number(rest)?, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_documentation() {
        let expected =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        let mut versions = expected.to_vec();
        versions.reverse();
        versions.sort_by(|left, right| by_priority(left, right));
        assert_eq!(versions, expected);
    }
}
