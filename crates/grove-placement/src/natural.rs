//! Natural order: `rack-2` comes before `rack-10`.

use std::cmp::Ordering;

/// Compares runs of digits by their value, everything else by character. Equal only for equal texts.
pub fn compare(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    while let (Some(a), Some(b)) = (left.chars().next(), right.chars().next()) {
        if a.is_ascii_digit() && b.is_ascii_digit() {
            let (number, rest) = digits(left);
            let (other_number, other_rest) = digits(right);
            let order = number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (rest, other_rest);
        } else if a == b {
            (left, right) = (&left[a.len_utf8()..], &right[b.len_utf8()..]);
        } else {
            return a.cmp(&b);
        }
    }
    // `a-01` and `a-1` differ only in zeros.
    left.len().cmp(&right.len()).then_with(|| one.cmp(other))
}

/// The digits at the beginning without leading zeros, and what follows them.
fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    (number.trim_start_matches('0'), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_value() {
        let rows = [
            ("rack-2", "rack-10"),
            ("rack-2-node-9", "rack-2-node-10"),
            ("a", "b"),
            ("a", "a-1"),
            ("a-01", "a-1"),
            ("a-1", "a-02"),
            ("a9", "b1"),
            ("", "a"),
            ("99999999999999999999998", "99999999999999999999999"),
        ];
        for (less, more) in rows {
            assert_eq!(compare(less, more), Ordering::Less, "{less} {more}");
            assert_eq!(compare(more, less), Ordering::Greater, "{more} {less}");
            assert_eq!(compare(less, less), Ordering::Equal);
        }
    }
}
