//! Amounts of resources, such as `1.5Gi` or `100m`.

use std::fmt;

use super::{Function, Result};
use crate::cel::EvalError;
use crate::cel::value::Value;

/// An amount in billionths, as exact as Kubernetes keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

const BILLION: i128 = 1_000_000_000;

const SUFFIXES: [(&str, i128); 15] = [
    ("n", 1),
    ("u", 1000),
    ("m", 1_000_000),
    ("", BILLION),
    ("k", BILLION * 1000),
    ("M", BILLION * 1_000_000),
    ("G", BILLION * BILLION),
    ("T", BILLION * BILLION * 1000),
    ("P", BILLION * BILLION * 1_000_000),
    ("E", BILLION * BILLION * BILLION),
    ("Ki", BILLION << 10),
    ("Mi", BILLION << 20),
    ("Gi", BILLION << 30),
    ("Ti", BILLION << 40),
    ("Pi", BILLION << 50),
];

impl Quantity {
    /// Reads an amount. Fractions of a billionth are rounded up, as Kubernetes does.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = rest.find(|it: char| !(it.is_ascii_digit() || it == '.')).unwrap_or(rest.len());
        let (number, suffix) = rest.split_at(end);
        let scale = scale(suffix)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') || number.len() > 40 {
            return None;
        }
        let mut amount = 0_i128;
        for digit in whole.bytes() {
            amount = amount.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        amount = amount.checked_mul(scale)?;
        // At most as many digits as an i128 has room for behind the point.
        let mut place = scale;
        let mut rest_is_zero = true;
        for digit in fraction.bytes() {
            let digit = i128::from(digit - b'0');
            let part = place.checked_mul(digit)?;
            rest_is_zero &= part % 10 == 0;
            amount = amount.checked_add(part / 10)?;
            place /= 10;
            rest_is_zero &= place > 0 || digit == 0;
        }
        amount += i128::from(!rest_is_zero);
        Some(Self(if negative { -amount } else { amount }))
    }
}

fn scale(suffix: &str) -> Option<i128> {
    if suffix == "Ei" {
        return Some(BILLION << 60);
    }
    if let Some((_, scale)) = SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some(*scale);
    }
    let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
    if exponent < 0 { (BILLION >= power).then(|| BILLION / power) } else { BILLION.checked_mul(power) }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / BILLION, self.0 % BILLION);
        if fraction == 0 { write!(f, "{whole}") } else { write!(f, "{}n", self.0) }
    }
}

pub(super) fn read<'a>(function: Function, of: &Value<'a>) -> Result<'a> {
    let text = of.as_str().ok_or_else(EvalError::overload)?;
    let quantity = Quantity::parse(text);
    if function == Function::IsQuantity {
        return Ok(Value::Bool(quantity.is_some()));
    }
    let wrong = || {
        EvalError::wrong(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        )
    };
    quantity.map(Value::Quantity).ok_or_else(wrong)
}

pub(super) fn call<'a>(function: Function, of: Quantity, rest: &[Value<'a>]) -> Result<'a> {
    use Function as F;

    let other = || match rest.first() {
        Some(Value::Quantity(other)) => Ok(*other),
        Some(Value::Int(whole)) => Ok(Quantity(i128::from(*whole) * BILLION)),
        _ => Err(EvalError::overload()),
    };
    let overflow = || EvalError::wrong("quantity overflow");
    let is_whole = of.0 % BILLION == 0;
    Ok(match function {
        F::QuantitySign => Value::Int(i64::try_from(of.0.signum()).unwrap_or_default()),
        F::QuantityIsInteger => Value::Bool(is_whole && i64::try_from(of.0 / BILLION).is_ok()),
        F::QuantityAsInteger if is_whole => Value::Int(
            i64::try_from(of.0 / BILLION).map_err(|_| EvalError::wrong("cannot convert value to integer"))?,
        ),
        F::QuantityAsInteger => return Err(EvalError::wrong("cannot convert value to integer")),
        #[allow(clippy::cast_precision_loss, reason = "the function says that it is approximate")]
        F::QuantityAsFloat => Value::Double(of.0 as f64 / BILLION as f64),
        F::QuantityAdd => Value::Quantity(Quantity(of.0.checked_add(other()?.0).ok_or_else(overflow)?)),
        F::QuantitySub => Value::Quantity(Quantity(of.0.checked_sub(other()?.0).ok_or_else(overflow)?)),
        F::QuantityLess => Value::Bool(of < other()?),
        F::QuantityGreater => Value::Bool(of > other()?),
        F::QuantityCompare => Value::Int(of.cmp(&other()?) as i64),
        _ => return Err(EvalError::overload()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts() {
        for (text, same) in [
            ("1", "1000m"),
            ("1Ki", "1024"),
            ("1.5Gi", "1536Mi"),
            ("0.1", "100m"),
            ("1e3", "1k"),
            ("-2", "-2000m"),
            ("1500e-3", "1.5"),
            ("+3", "3"),
            ("1Ei", "1024Pi"),
        ] {
            assert_eq!(Quantity::parse(text), Quantity::parse(same), "{text}");
            assert!(Quantity::parse(text).is_some(), "{text}");
        }
        assert!(Quantity::parse("0.0000000001") > Quantity::parse("0"), "rounded up");
        for wrong in
            ["", "m", "1x", "1.2.3", "--1", "1e99", "Ki", ".", "9999999999999999999999999999999999999999999"]
        {
            assert_eq!(Quantity::parse(wrong), None, "{wrong}");
        }
    }
}
