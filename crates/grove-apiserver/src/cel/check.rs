//! Fields that an expression reads and the schema does not have. What is not known to be wrong is left to evaluation.

use super::CompileError;
use super::ast::{Expr, LoopKind};
use super::value::unescape;
use crate::schema::Schema;

/// What is known of a value: the schema of it, or of what an optional holds.
type Known<'a> = Option<&'a Schema>;

/// Refuses the first field that is not there.
pub(super) fn fields(expr: &Expr, variables: &[(&str, Option<&Schema>)]) -> Result<(), CompileError> {
    Checker { names: variables.to_vec() }.infer(expr).map(drop)
}

struct Checker<'a> {
    names: Vec<(&'a str, Known<'a>)>,
}

impl<'a> Checker<'a> {
    fn infer(&mut self, expr: &'a Expr) -> Result<Known<'a>, CompileError> {
        match expr {
            Expr::Name(name) => {
                Ok(self.names.iter().rev().find(|(known, _)| known == name).and_then(|(_, it)| *it))
            }
            Expr::Select(select) => {
                let of = self.infer(&select.of)?;
                field(of, &select.field)
            }
            Expr::Index(index) => {
                self.infer(&index.key)?;
                let of = self.infer(&index.of)?;
                Ok(of.and_then(element))
            }
            Expr::Choose(parts) => {
                parts.iter().try_for_each(|part| self.infer(part).map(drop))?;
                // One branch may be another than the other.
                Ok(None)
            }
            Expr::Loop(it) => {
                let of = self.infer(&it.over)?;
                let element = match it.kind {
                    LoopKind::OptionalMap | LoopKind::OptionalFlatMap => of,
                    // Of a map, the one variable is the key.
                    _ => of.and_then(|it| it.items.as_deref()),
                };
                let before = self.names.len();
                if let Some(key) = &it.key {
                    self.names.push((key, None));
                }
                self.names.push((&it.value, element));
                let result =
                    it.filter.iter().chain([&it.body]).try_for_each(|part| self.infer(part).map(drop));
                self.names.truncate(before);
                result?;
                Ok(of.filter(|_| it.kind == LoopKind::Filter))
            }
            Expr::Bind(bind) => {
                let value = self.infer(&bind.value)?;
                self.names.push((&bind.name, value));
                let body = self.infer(&bind.body);
                self.names.pop();
                body
            }
            other => {
                other.parts().into_iter().try_for_each(|part| self.infer(part).map(drop))?;
                Ok(None)
            }
        }
    }
}

fn field<'a>(of: Known<'a>, name: &str) -> Result<Known<'a>, CompileError> {
    let Some(schema) = of else { return Ok(None) };
    if !schema.is_message() {
        return Ok(schema.child(name));
    }
    let unescaped = unescape(name);
    match schema.child(unescaped.as_deref().unwrap_or(name)) {
        Some(child) => Ok(Some(child)),
        None => Err(CompileError(format!("compilation failed: ERROR: <input>: undefined field '{name}'"))),
    }
}

fn element(schema: &Schema) -> Option<&Schema> {
    schema.items.as_deref().or_else(|| schema.additional_schema())
}
