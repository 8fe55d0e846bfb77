//! Numbers of objects. Only whole numbers of JSON are numbers: a text or a fraction is refused.

use serde_json::Value;

use crate::plugin::Refused;

/// A number of pods; `None` where the field is not there.
pub(crate) fn count(object: &Value, path: &[&str]) -> Result<Option<u32>, Refused> {
    let Some(number) = integer(object, path)? else { return Ok(None) };
    match u32::try_from(number) {
        // The API has 32 bits with a sign.
        Ok(count) if i32::try_from(count).is_ok() => Ok(Some(count)),
        _ => Err(refused(path, "must be from 0 to 2147483647")),
    }
}

/// A whole number; `None` where the field is not there.
pub(crate) fn integer(object: &Value, path: &[&str]) -> Result<Option<i64>, Refused> {
    match field(object, path)? {
        None => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| refused(path, "must be a whole number")),
    }
}

/// A field below objects; `None` where it is not there, or null.
pub(crate) fn field<'a>(object: &'a Value, path: &[&str]) -> Result<Option<&'a Value>, Refused> {
    let mut at = object;
    for (depth, key) in path.iter().enumerate() {
        match at {
            Value::Object(fields) => match fields.get(*key) {
                Some(value) => at = value,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            _ => return Err(refused(&path[..depth], "must be an object")),
        }
    }
    Ok(Some(at).filter(|it| !it.is_null()))
}

/// Says which field is wrong, and how.
pub(crate) fn refused(path: &[&str], what: &str) -> Refused {
    Refused(format!("{}: {what}", path.join(".")))
}

#[cfg(test)]
mod tests;
