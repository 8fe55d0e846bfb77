//! Durations as Go writes them, such as `1h30m`.

use k8s_openapi::jiff::SignedDuration;

const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// The duration that a text stands for. None if it is none, or longer than Go can count.
pub(crate) fn is_duration(text: &str) -> Option<SignedDuration> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    if rest.is_empty() {
        return None;
    }
    let mut nanoseconds = 0_i128;
    while !rest.is_empty() {
        let end = rest.find(|it: char| !(it.is_ascii_digit() || it == '.')).unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        let unit_end = after.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let (_, scale) = UNITS.iter().find(|(known, _)| *known == unit)?;
        nanoseconds = nanoseconds.checked_add(amount(number, *scale)?)?;
        rest = after;
    }
    let nanoseconds = if negative { -nanoseconds } else { nanoseconds };
    i64::try_from(nanoseconds).ok().map(SignedDuration::from_nanos)
}

/// A number of units, in nanoseconds.
fn amount(number: &str, scale: i128) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || number.len() > 64 || fraction.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut out = whole.checked_mul(scale)?;
    let mut place = scale;
    for digit in fraction.bytes() {
        out = out.checked_add(place.checked_mul(i128::from(digit - b'0'))? / 10)?;
        place /= 10;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("0s", 0),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("-2ms", -2_000_000),
            ("3µs", 3_000),
            ("+.5m", 30_000_000_000),
        ] {
            assert_eq!(is_duration(text), Some(SignedDuration::from_nanos(nanoseconds)), "{text}");
        }
        for text in ["", "1", "s", "1d", "1h1", "1..5s", "--1s", "9999999999h", "."] {
            assert_eq!(is_duration(text), None, "{text}");
        }
    }
}
