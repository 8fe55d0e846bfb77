//! Amounts of a resource, as Kubernetes writes them: `8`, `500m`, `16Gi`, `1e3`.

use std::{fmt, iter::Sum};

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::{Serialize, Serializer};

/// An amount, in thousandths: nothing finer is ever asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Amount(i128);

/// More digits than this are not an amount of anything.
const MAX_DIGITS: usize = 24;

impl Amount {
    /// What an API server has checked; what is no amount is none.
    pub(crate) fn of(quantity: &Quantity) -> Self {
        parse(&quantity.0).map(Self).unwrap_or_default()
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is left; never less than nothing, also where more is used than there is.
    pub(crate) fn left_after(self, used: Self) -> Self {
        Self(self.0.saturating_sub(used.0).max(0))
    }

    /// Whole pieces, for devices.
    #[cfg(feature = "sandbox")]
    pub(crate) fn pieces(self) -> usize {
        usize::try_from(self.0 / 1000).unwrap_or_default()
    }

    /// For people: bytes are told in GiB.
    pub(crate) fn text(self, resource: &str) -> String {
        const GIB: i128 = 1000 * 1024 * 1024 * 1024;
        let bytes = ["memory", "ephemeral-storage"].contains(&resource) || resource.starts_with("hugepages-");
        if !bytes || self.0 == 0 {
            return self.to_string();
        }
        let tenths = self.0.saturating_mul(10) / GIB;
        format!("{}.{}Gi", tenths / 10, tenths % 10)
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1000, self.0 % 1000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:03}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Self::plus)
    }
}

/// A number: whole ones without a point.
impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0 / 1000) {
            Ok(whole) if self.0 % 1000 == 0 => serializer.serialize_i64(whole),
            // Thousandths of a processor, as near as a number of JSON comes to it.
            _ => self.to_string().parse::<f64>().unwrap_or_default().serialize(serializer),
        }
    }
}

/// Whether a text is an amount that a pod can ask for.
pub(crate) fn is_amount(text: &str) -> bool {
    parse(text).is_some_and(|it| it >= 0)
}

/// Thousandths, rounded up as Kubernetes does.
fn parse(text: &str) -> Option<i128> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    if digits.is_empty() || digits.len() > MAX_DIGITS {
        return None;
    }
    let mantissa: i128 = digits.parse().ok()?;
    let (base, power) = scale(suffix)?;
    let (mut above, mut below) =
        (mantissa.checked_mul(1000)?, 10_i128.checked_pow(part.len().try_into().ok()?)?);
    let factor = i128::from(base).checked_pow(power.unsigned_abs())?;
    if power < 0 {
        below = below.checked_mul(factor)?;
    } else {
        above = above.checked_mul(factor)?;
    }
    let value = above.checked_add(below - 1)? / below;
    Some(if negative { -value } else { value })
}

/// Base and power that a suffix stands for.
fn scale(suffix: &str) -> Option<(u16, i32)> {
    Some(match suffix {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (1024, 1),
        "Mi" => (1024, 2),
        "Gi" => (1024, 3),
        "Ti" => (1024, 4),
        "Pi" => (1024, 5),
        "Ei" => (1024, 6),
        other => (10, other.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

#[cfg(test)]
impl Amount {
    pub(crate) fn whole(count: i64) -> Self {
        Self(i128::from(count) * 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Amount {
        Amount::of(&Quantity(text.to_owned()))
    }

    #[test]
    fn amounts_as_kubernetes_writes_them() {
        let rows = [
            ("8", 8_000),
            ("+8", 8_000),
            ("-1", -1_000),
            ("500m", 500),
            ("1.5", 1_500),
            (".5", 500),
            ("1e3", 1_000_000),
            ("2E2", 200_000),
            ("1E", 1_000_000_000_000_000_000_000),
            ("1k", 1_000_000),
            ("1Ki", 1_024_000),
            ("1.5Gi", 1_610_612_736_000),
            // Rounded up.
            ("1n", 1),
            ("1500u", 2),
            // No amounts.
            ("", 0),
            ("x", 0),
            ("1x", 0),
            ("1.2.3", 0),
            ("1e99", 0),
            ("9999999999999999999999999", 0),
        ];
        for (text, want) in rows {
            assert_eq!(of(text), Amount(want), "{text}");
        }
    }

    #[test]
    fn amounts_for_people_and_machines() {
        let rows = [
            ("8", "nvidia.com/gpu", "8", "8"),
            ("0", "memory", "0", "0"),
            ("1500m", "cpu", "1.5", "1.5"),
            ("1040m", "cpu", "1.04", "1.04"),
            ("1536Mi", "memory", "1.5Gi", "1610612736"),
            ("2Gi", "hugepages-2Mi", "2.0Gi", "2147483648"),
        ];
        for (text, resource, people, machines) in rows {
            assert_eq!(of(text).text(resource), people, "{text}");
            assert_eq!(serde_json::to_string(&of(text)).unwrap(), machines, "{text}");
        }
    }

    #[test]
    fn nothing_is_less_than_nothing() {
        assert_eq!(of("4").left_after(of("8")), of("0"));
        assert_eq!(of("8").left_after(of("3")), of("5"));
        assert_eq!([of("1"), of("500m")].into_iter().sum::<Amount>(), of("1.5"));
    }
}
