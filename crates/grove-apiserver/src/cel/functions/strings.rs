//! Functions of texts.

use super::{Function, Result};
use crate::cel::value::{Text, Value};
use crate::cel::{Budget, EvalError};
use crate::pattern::Pattern;

/// As many parts as a text may be cut into.
const MOST_PARTS: usize = 100_000;

pub(super) fn call<'a>(function: Function, of: &str, rest: &[Value<'a>], budget: &mut Budget) -> Result<'a> {
    use Function as F;

    budget.spend(of.len() as u64 / 10)?;
    let text = |at: usize| rest.get(at).and_then(Value::as_str).ok_or_else(EvalError::overload);
    let number = |at: usize| rest.get(at).map(|it| it.as_int().ok_or_else(EvalError::overload)).transpose();
    Ok(match function {
        F::Contains => Value::Bool(of.contains(text(0)?)),
        F::StartsWith => Value::Bool(of.starts_with(text(0)?)),
        F::EndsWith => Value::Bool(of.ends_with(text(0)?)),
        F::Matches => {
            let pattern = compile(text(0)?, of, budget)?;
            Value::Bool(pattern.is_match(of))
        }
        F::Find => {
            let pattern = compile(text(0)?, of, budget)?;
            Value::text(pattern.find(of, 1).first().copied().unwrap_or_default())
        }
        F::FindAll => {
            let pattern = compile(text(0)?, of, budget)?;
            let limit = number(1)?.map_or(MOST_PARTS, |it| usize::try_from(it).unwrap_or(MOST_PARTS));
            let found = pattern.find(of, limit.min(MOST_PARTS));
            budget.spend(found.len() as u64)?;
            Value::list(found.into_iter().map(Value::text).collect())
        }
        F::CharAt => {
            let at = number(0)?.unwrap_or_default();
            let letter = index(of, at)?.and_then(|it| of[it..].chars().next());
            Value::text(letter.map(String::from).unwrap_or_default())
        }
        F::IndexOf | F::LastIndexOf => position(function, of, text(0)?, number(1)?)?,
        F::LowerAscii => Value::text(of.to_ascii_lowercase()),
        F::UpperAscii => Value::text(of.to_ascii_uppercase()),
        F::Trim => Value::text(of.trim()),
        F::Reverse => Value::text(of.chars().rev().collect::<String>()),
        F::Substring => {
            let start = index(of, number(0)?.unwrap_or_default())?.unwrap_or(of.len());
            let end = number(1)?.map_or(Ok(Some(of.len())), |it| index(of, it))?.unwrap_or(of.len());
            let part = of.get(start..end).ok_or_else(|| EvalError::wrong("invalid substring range"))?;
            Value::text(part)
        }
        F::Replace => {
            let limit = number(2)?.map_or(usize::MAX, |it| usize::try_from(it).unwrap_or(usize::MAX));
            replace(of, text(0)?, text(1)?, limit, budget)?
        }
        F::Split => {
            let limit = number(1)?.map_or(MOST_PARTS, |it| usize::try_from(it).unwrap_or(MOST_PARTS));
            split(of, text(0)?, limit.min(MOST_PARTS), budget)?
        }
        F::Format => format(of, rest.first(), budget)?,
        F::Quote => Value::text(format!("{of:?}")),
        _ => return Err(EvalError::overload()),
    })
}

/// A pattern that an expression made.
fn compile(pattern: &str, text: &str, budget: &mut Budget) -> std::result::Result<Pattern, EvalError> {
    budget.spend(100 + pattern.len() as u64)?;
    let pattern = Pattern::new(pattern).map_err(EvalError::wrong)?;
    budget.spend(pattern.cost(text))?;
    Ok(pattern)
}

/// Where a letter begins. None right behind the last one.
fn index(of: &str, at: i64) -> std::result::Result<Option<usize>, EvalError> {
    let out = || EvalError::wrong(format!("index out of range: {at}"));
    let wanted = usize::try_from(at).map_err(|_| out())?;
    match of.char_indices().nth(wanted) {
        Some((place, _)) => Ok(Some(place)),
        None if wanted == of.chars().count() => Ok(None),
        None => Err(out()),
    }
}

fn position<'a>(function: Function, of: &str, part: &str, offset: Option<i64>) -> Result<'a> {
    let letters = |place: usize| Value::int(of[..place].chars().count());
    let found = match (function, offset) {
        (Function::IndexOf, offset) => {
            let start = offset.map_or(Ok(Some(0)), |it| index(of, it))?.unwrap_or(of.len());
            of[start..].find(part).map(|it| it + start)
        }
        (_, None) => of.rfind(part),
        (_, Some(offset)) => {
            let last = index(of, offset)?.unwrap_or(of.len());
            let end = (last + part.len()).min(of.len());
            let end = (end..=of.len()).find(|it| of.is_char_boundary(*it)).unwrap_or(of.len());
            of[..end].rfind(part)
        }
    };
    Ok(found.map_or(Value::Int(-1), letters))
}

fn replace<'a>(of: &str, old: &str, new: &str, limit: usize, budget: &mut Budget) -> Result<'a> {
    let times = if old.is_empty() { of.len() + 1 } else { of.matches(old).count() }.min(limit);
    // Paid before it is made: it may be much longer than what it is made of.
    budget.spend(times.saturating_mul(new.len()) as u64 / 10)?;
    Ok(Value::text(of.replacen(old, new, limit)))
}

fn split<'a>(of: &str, by: &str, limit: usize, budget: &mut Budget) -> Result<'a> {
    let parts: Vec<String> = if limit == 0 {
        Vec::new()
    } else if by.is_empty() {
        let mut letters: Vec<String> = of.chars().take(limit - 1).map(String::from).collect();
        let rest: String = of.chars().skip(limit - 1).collect();
        letters.extend(Some(rest).filter(|it| !it.is_empty()));
        letters
    } else {
        of.splitn(limit, by).map(str::to_owned).collect()
    };
    budget.spend(parts.len() as u64)?;
    Ok(Value::list(parts.into_iter().map(Value::text).collect()))
}

/// `"%s is %d".format([...])`
fn format<'a>(of: &str, arguments: Option<&Value<'a>>, budget: &mut Budget) -> Result<'a> {
    let arguments =
        arguments.map(|it| it.items(budget)).transpose()?.flatten().ok_or_else(EvalError::overload)?;
    let mut arguments = arguments.iter();
    let mut out = String::new();
    let mut letters = of.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        if letters.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut precision = String::new();
        if letters.next_if_eq(&'.').is_some() {
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                precision.push(digit);
            }
        }
        let precision = precision.parse::<usize>().ok().map(|it| it.min(100));
        let verb = letters.next().unwrap_or_default();
        let argument = arguments.next().ok_or_else(|| EvalError::wrong("index 0 out of range"))?;
        let before = out.len();
        write(&mut out, verb, precision, argument, 0)?;
        budget.spend((out.len() - before) as u64 / 10 + 1)?;
    }
    Ok(Value::text(out))
}

fn write(
    out: &mut String,
    verb: char,
    precision: Option<usize>,
    of: &Value<'_>,
    depth: usize,
) -> std::result::Result<(), EvalError> {
    use std::fmt::Write as _;

    let written = match (verb, of) {
        ('s', _) => return show(out, of, depth),
        ('d', Value::Int(it)) => write!(out, "{it}"),
        ('d', Value::Uint(it)) => write!(out, "{it}"),
        ('f', Value::Double(it)) => write!(out, "{it:.*}", precision.unwrap_or(6)),
        ('e', Value::Double(it)) => write!(out, "{it:.*e}", precision.unwrap_or(6)),
        ('b', Value::Int(it)) => write!(out, "{it:b}"),
        ('b', Value::Bool(it)) => write!(out, "{}", u8::from(*it)),
        ('o', Value::Int(it)) => write!(out, "{it:o}"),
        ('x', Value::Int(it)) => write!(out, "{it:x}"),
        ('X', Value::Int(it)) => write!(out, "{it:X}"),
        _ => {
            return Err(EvalError::wrong(format!(
                "could not parse formatting clause: unrecognized formatting clause \"{verb}\""
            )));
        }
    };
    // Writing to a String cannot fail.
    written.map_err(|_| EvalError::overload())
}

/// A value as `%s` shows it.
fn show(out: &mut String, of: &Value<'_>, depth: usize) -> std::result::Result<(), EvalError> {
    const DEEPEST: usize = 16;
    const LONGEST: usize = 64 * 1024;
    if depth > DEEPEST || out.len() > LONGEST {
        return Err(EvalError::Cost);
    }
    // The size of an object is bounded where it is received; that of the text is bounded above.
    let mut paid = Budget::new(LONGEST as u64);
    match of {
        Value::Null => out.push_str("null"),
        Value::Text(Text::Of(text)) => out.push_str(text),
        Value::Array(..) | Value::List(_) => {
            out.push('[');
            for (at, item) in of.items(&mut paid)?.unwrap_or_default().iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                show(out, item, depth + 1)?;
            }
            out.push(']');
        }
        Value::Object(..) | Value::Map(_) => {
            out.push('{');
            for (at, (key, value)) in of.entries(&mut paid)?.unwrap_or_default().iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                show(out, key, depth + 1)?;
                out.push_str(": ");
                show(out, value, depth + 1)?;
            }
            out.push('}');
        }
        _ => {
            let text = super::convert::convert(Function::ToString, of, &mut paid)?;
            out.push_str(text.as_str().unwrap_or_default());
        }
    }
    Ok(())
}
