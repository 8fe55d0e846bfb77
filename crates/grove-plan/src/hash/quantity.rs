//! Quantities by their value: `1000m` and `1` are one.

/// Exponent of ten of a decimal suffix.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// Power of 1024 of a binary suffix.
const BINARY: [(&str, u32); 6] = [("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];

/// A quantity in the one way to write its value; text that is none stays as it is.
pub(super) fn canonical(text: &str) -> String {
    value(text.trim()).unwrap_or_else(|| text.to_owned())
}

fn value(text: &str) -> Option<String> {
    let end = text.find(|it: char| !it.is_ascii_digit() && !"+-.".contains(it)).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
    let mut exponent = -i32::try_from(fraction.len()).ok()?;
    if let Some((_, power)) = BINARY.iter().find(|it| it.0 == suffix) {
        mantissa = mantissa.checked_mul(1024_i128.checked_pow(*power)?)?;
    } else if let Some((_, power)) = DECIMAL.iter().find(|it| it.0 == suffix) {
        exponent = exponent.checked_add(*power)?;
    } else {
        // `1e3`; the sign belongs to the exponent.
        exponent = exponent.checked_add(suffix.strip_prefix(['e', 'E'])?.parse().ok()?)?;
    }
    if mantissa == 0 {
        return Some("0".to_owned());
    }
    while mantissa % 10 == 0 {
        mantissa /= 10;
        exponent = exponent.checked_add(1)?;
    }
    Some(if exponent == 0 { mantissa.to_string() } else { format!("{mantissa}e{exponent}") })
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn equal_values_are_written_the_same() {
        let rows: &[&[&str]] = &[
            &["1", "1000m", "1.0", "+1", "1e0", "1000000u", "0.001k"],
            &["4Gi", "4096Mi", "4294967296", "4194304Ki"],
            &["500m", "0.5", ".5", "5e-1", "5E-1"],
            &["0", "0m", "0Gi", "0.0", "-0"],
            &["2E", "2e18", "2000P"],
        ];
        for row in rows {
            for text in *row {
                assert_eq!(canonical(text), canonical(row[0]), "{text}");
            }
        }
        let firsts: Vec<String> = rows.iter().map(|it| canonical(it[0])).collect();
        for (index, first) in firsts.iter().enumerate() {
            assert!(!firsts[..index].contains(first), "{first}");
        }
    }

    #[test]
    fn different_values_are_not() {
        for (one, other) in
            [("1", "2"), ("1G", "1Gi"), ("1", "-1"), ("1m", "1M"), ("10", "1"), ("1e1", "1e2")]
        {
            assert_ne!(canonical(one), canonical(other), "{one} {other}");
        }
    }

    #[test]
    fn what_is_no_quantity_stays() {
        for text in ["", "many", "1x", "1e", "e3", "1.2.3", "1-2", &"9".repeat(60), "1e99999999999"] {
            assert_eq!(canonical(text), text);
        }
    }
}
