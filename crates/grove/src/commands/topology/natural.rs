//! The order in which people count: rack-2 stands before rack-10.

use std::cmp::Ordering;

/// Numbers by their value, all else by its characters. Different texts are never equal.
pub(super) fn order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    while let (Some(one), Some(other)) = (left.chars().next(), right.chars().next()) {
        if one.is_ascii_digit() && other.is_ascii_digit() {
            let (number, rest) = number(left);
            let (other, other_rest) = self::number(right);
            // Without leading zeros the longer number is the greater one, however long.
            let by_value = number.len().cmp(&other.len()).then_with(|| number.cmp(other));
            if by_value != Ordering::Equal {
                return by_value;
            }
            (left, right) = (rest, other_rest);
        } else if one == other {
            (left, right) = (&left[one.len_utf8()..], &right[other.len_utf8()..]);
        } else {
            return one.cmp(&other);
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// The number that a text begins with, without leading zeros, and what follows it.
fn number(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    (digits.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_count() {
        let sorted = [
            "",
            "2",
            "10",
            "a",
            "rack",
            "rack-",
            "rack-0",
            "rack-02",
            "rack-2",
            "rack-2-b",
            "rack-2b",
            "rack-10",
            "rack-99999999999999999999999999999",
            "rack-100000000000000000000000000000",
            "rack-x",
            "zone-1",
            "ä-1",
        ];
        for (number, one) in sorted.iter().enumerate() {
            for (other_number, other) in sorted.iter().enumerate() {
                assert_eq!(order(one, other), number.cmp(&other_number), "{one:?} and {other:?}");
            }
        }
    }
}
