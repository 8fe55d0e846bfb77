//! Quantities such as `500m` and `8Gi`, by their value.

/// Exponent of ten of a decimal suffix.
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
/// Power of 1024 of a binary suffix.
const BINARY: [(&str, u32); 6] = [("Ki", 1), ("Mi", 2), ("Gi", 3), ("Ti", 4), ("Pi", 5), ("Ei", 6)];
/// Decimal places that are kept. Kubernetes keeps nine.
const PLACES: i32 = 9;

/// The value of a quantity, in billionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(i128);

impl Amount {
    /// `None` where the text is no quantity, or one that is larger or finer than can be told.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|it: char| !it.is_ascii_digit() && !"+-.".contains(it)).unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let mut value: i128 = format!("{whole}{fraction}").parse().ok()?;
        let mut exponent = PLACES.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        if let Some((_, power)) = BINARY.iter().find(|it| it.0 == suffix) {
            value = value.checked_mul(1024_i128.checked_pow(*power)?)?;
        } else if let Some((_, power)) = DECIMAL.iter().find(|it| it.0 == suffix) {
            exponent = exponent.checked_add(*power)?;
        } else {
            exponent = exponent.checked_add(suffix.strip_prefix(['e', 'E'])?.parse().ok()?)?;
        }
        let factor = 10_i128.checked_pow(exponent.unsigned_abs())?;
        if exponent >= 0 {
            return Some(Self(value.checked_mul(factor)?));
        }
        (value % factor == 0).then(|| Self(value / factor))
    }

    /// The value in units of which `10^places` make one, rounded up as Kubernetes does; `None` where it is too large.
    pub fn scaled(self, places: u32) -> Option<i64> {
        let unit = 10_i128.checked_pow(PLACES.unsigned_abs().checked_sub(places)?)?;
        let floor = self.0.div_euclid(unit);
        i64::try_from(floor + i128::from(self.0.rem_euclid(unit) != 0)).ok()
    }

    pub(crate) fn is_negative(self) -> bool {
        self.0 < 0
    }

    /// Whether it has no decimal places.
    pub(crate) fn is_whole(self) -> bool {
        self.0 % 10_i128.pow(PLACES.unsigned_abs()) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_whatever_their_suffix() {
        for (less, more) in
            [("500m", "1"), ("1", "1001m"), ("1G", "1Gi"), ("-1", "0"), ("1023Mi", "1Gi"), ("1e3", "1001")]
        {
            let (less, more) = (Amount::parse(less).unwrap(), Amount::parse(more).unwrap());
            assert!(less < more);
        }
        for (one, same) in [("1", "1000m"), ("4Gi", "4096Mi"), ("2E", "2e18"), ("0.5", ".5"), ("+1", "1.0")] {
            assert_eq!(Amount::parse(one).unwrap(), Amount::parse(same).unwrap(), "{one}");
        }
    }

    #[test]
    fn whole_and_negative() {
        for (text, whole, negative) in
            [("1", true, false), ("1500m", false, false), ("2000m", true, false), ("-1", true, true)]
        {
            let amount = Amount::parse(text).unwrap();
            assert_eq!((amount.is_whole(), amount.is_negative()), (whole, negative), "{text}");
        }
    }

    #[test]
    fn scaled_values_are_rounded_up() {
        let rows = [
            ("1", 3, Some(1000)),
            ("1u", 3, Some(1)),
            ("1500m", 0, Some(2)),
            ("-1500m", 0, Some(-1)),
            ("8Ei", 0, None),
            ("1", 10, None),
        ];
        for (text, places, want) in rows {
            assert_eq!(Amount::parse(text).unwrap().scaled(places), want, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_judged() {
        for text in ["", "many", "1x", "1.2.3", &"9".repeat(60), "1e99999999999", "1e-30"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
    }
}
