//! Whole numbers of fields that nobody has checked, and sums of them. What does not fit is refused, with its field.

use std::fmt::Arguments;

use serde_json::Value;

use crate::{fields::shown, plugin::Refused};

/// The API has 32 bits with a sign.
pub(crate) const MOST: u32 = i32::MAX as u32;

/// A whole number in a field, of at least so much; `None` where the field is not there. What is no such number is refused,
/// with the name of the field.
pub fn count(value: &Value, field: Arguments<'_>, least: u32) -> Result<Option<u32>, Refused> {
    if value.is_null() {
        return Ok(None);
    }
    let number = value.as_i64().and_then(|it| u32::try_from(it).ok());
    match number.filter(|it| (least..=MOST).contains(it)) {
        Some(count) => Ok(Some(count)),
        None => Err(wanted(field, &shown(value), least)),
    }
}

/// The same, where the field has to be there.
pub(crate) fn required(value: &Value, field: Arguments<'_>, least: u32) -> Result<u32, Refused> {
    count(value, field, least)?
        .ok_or_else(|| Refused(format!("{field} is missing: set it to a whole number of at least {least}")))
}

/// A number in a text: a label or an annotation.
pub(crate) fn parse(text: &str, field: Arguments<'_>, least: u32) -> Result<u32, Refused> {
    let number = text.parse().ok().filter(|it| (least..=MOST).contains(it));
    number.ok_or_else(|| wanted(field, &shown(&Value::from(text)), least))
}

/// A sum of pods.
pub(crate) fn add(one: u32, other: u32, fields: Arguments<'_>) -> Result<u32, Refused> {
    bounded(one.checked_add(other), fields)
}

/// A product of pods.
pub(crate) fn multiply(one: u32, other: u32, fields: Arguments<'_>) -> Result<u32, Refused> {
    bounded(one.checked_mul(other), fields)
}

fn bounded(pods: Option<u32>, fields: Arguments<'_>) -> Result<u32, Refused> {
    pods.filter(|it| *it <= MOST)
        .ok_or_else(|| Refused(format!("{fields} ask for more than {MOST} pods: lower them")))
}

fn wanted(field: Arguments<'_>, is: &str, least: u32) -> Refused {
    Refused(format!("{field} is {is}: set it to a whole number from {least} to {MOST}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_whole_numbers_in_their_range_are_numbers() {
        let table = [
            (json!(null), Ok(None)),
            (json!(1), Ok(Some(1))),
            (json!(2_147_483_647), Ok(Some(MOST))),
            (json!(2_147_483_648_u32), Err("2147483648")),
            (json!(0), Err("0")),
            (json!(-1), Err("-1")),
            (json!(1.0), Err("1.0")),
            (json!("1"), Err("\"1\"")),
            (json!([1]), Err("a list")),
        ];
        for (value, expected) in table {
            let expected = expected.map_err(|it| {
                Refused(format!("spec.a is {it}: set it to a whole number from 1 to 2147483647"))
            });
            assert_eq!(count(&value, format_args!("spec.a"), 1), expected, "{value}");
        }
    }

    #[test]
    fn a_missing_number_is_asked_for() {
        let expected = "spec.a is missing: set it to a whole number of at least 0";
        assert_eq!(required(&Value::Null, format_args!("spec.a"), 0), Err(Refused(expected.to_owned())));
        assert_eq!(required(&json!(0), format_args!("spec.a"), 0), Ok(0));
    }

    #[test]
    fn texts_are_numbers_in_base_ten() {
        assert_eq!(parse("12", format_args!("label a"), 1), Ok(12));
        for text in ["", "0", "-1", "1.5", "0x1", " 1", "abc", "2147483648", "99999999999999999999"] {
            let expected = format!("label a is \"{text}\": set it to a whole number from 1 to 2147483647");
            assert_eq!(parse(text, format_args!("label a"), 1), Err(Refused(expected)));
        }
    }

    #[test]
    fn sums_and_products_do_not_overflow() {
        let field = format_args!("spec.a");
        let refused = || Err(Refused("spec.a ask for more than 2147483647 pods: lower them".to_owned()));
        assert_eq!(add(MOST - 1, 1, field), Ok(MOST));
        assert_eq!(add(MOST, 1, field), refused());
        assert_eq!(multiply(46_341, 46_341, field), refused());
        assert_eq!(multiply(MOST, 3, field), refused());
        assert_eq!(multiply(46_340, 46_340, field), Ok(2_147_395_600));
    }
}
