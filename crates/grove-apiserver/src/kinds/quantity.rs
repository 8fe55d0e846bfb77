//! The one spelling of a quantity: `0.5` is `500m`, `1024Mi` is `1Gi`, `8` is `"8"`.

use serde_json::Value;

/// Digits after the point that count, as with the real server: what is finer is rounded up.
const SCALE: i128 = 1_000_000_000;

const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

enum Suffix {
    Binary,
    Decimal,
    /// `1e3`
    Exponent,
}

/// The spelling of a number or text that is a quantity.
pub(super) fn canonical(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => spell(text),
        Value::Number(number) => spell(&number.to_string()),
        _ => None,
    }
}

fn spell(text: &str) -> Option<String> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let digits = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(digits);
    let (base, exponent, form) = suffix_of(suffix)?;
    let nanos = nanos(number)?;
    let mut amount = nanos.checked_mul(i128::from(base).checked_pow(exponent.unsigned_abs())?);
    if exponent < 0 {
        let divisor = i128::from(base).checked_pow(exponent.unsigned_abs())?;
        amount = Some(nanos.div_euclid(divisor) + i128::from(nanos.rem_euclid(divisor) != 0));
    }
    // Beyond this the real server caps; nobody has as much of anything.
    let amount = amount?.min(i128::from(i64::MAX).checked_mul(SCALE)?);
    let sign = if negative && amount != 0 { "-" } else { "" };
    let shown = match form {
        // A binary quantity that is no whole number of bytes is shown as a decimal one.
        Suffix::Binary if amount % SCALE == 0 && amount / SCALE >= 1024 => binary(amount / SCALE),
        Suffix::Exponent => decimal(amount, true),
        _ => decimal(amount, false),
    };
    Some(format!("{sign}{shown}"))
}

/// Base, exponent and form of a suffix.
fn suffix_of(suffix: &str) -> Option<(u16, i32, Suffix)> {
    if let Some((_, exponent)) = DECIMAL.iter().find(|(it, _)| *it == suffix) {
        return Some((10, *exponent, Suffix::Decimal));
    }
    if let Some(power) = BINARY.iter().position(|it| *it == suffix) {
        return Some((1024, i32::try_from(power).ok()? + 1, Suffix::Binary));
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    (-30..=30).contains(&exponent).then_some((10, exponent, Suffix::Exponent))
}

/// The number in thousand-millionths, rounded up.
fn nanos(number: &str) -> Option<i128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && part.is_empty()) || part.contains('.') {
        return None;
    }
    let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let kept: String = part.chars().chain(std::iter::repeat('0')).take(9).collect();
    let rounds_up = part.chars().skip(9).any(|it| it != '0');
    whole.checked_mul(SCALE)?.checked_add(kept.parse::<i128>().ok()? + i128::from(rounds_up))
}

fn binary(mut amount: i128) -> String {
    let mut suffix = "";
    for next in BINARY {
        if amount % 1024 != 0 {
            break;
        }
        amount /= 1024;
        suffix = next;
    }
    format!("{amount}{suffix}")
}

/// In the largest unit that leaves no fraction.
fn decimal(nanos: i128, as_exponent: bool) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    let (mut amount, mut exponent) = (nanos, -9);
    while amount % 1000 == 0 && exponent < 18 {
        amount /= 1000;
        exponent += 3;
    }
    let suffix = DECIMAL.iter().find(|(_, it)| *it == exponent).map_or("", |(it, _)| it);
    match (as_exponent, exponent) {
        (true, 0) | (false, _) => format!("{amount}{suffix}"),
        (true, exponent) => format!("{amount}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        for (text, expected) in [
            ("8", "8"),
            ("0.5", "500m"),
            (".5", "500m"),
            ("5.", "5"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("1024", "1024"),
            ("500Ki", "500Ki"),
            ("0.5Ki", "512"),
            ("1000", "1k"),
            ("1e3", "1e3"),
            ("1E3", "1e3"),
            ("1E", "1E"),
            ("100n", "100n"),
            ("0.1n", "1n"),
            ("-1", "-1"),
            ("+1", "1"),
            ("0", "0"),
            ("-0", "0"),
        ] {
            assert_eq!(spell(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in ["", "-", "much", "1 Gi", "1.2.3", ".", "Gi", "1gi", "1e", "1e99999999999", "١"] {
            assert_eq!(spell(text), None, "{text}");
        }
        assert_eq!(canonical(&Value::Bool(true)), None);
    }
}
