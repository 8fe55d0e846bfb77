//! The Common Expression Language, as Kubernetes uses it in `x-kubernetes-validations`, in match conditions and in mutations.
//!
//! ```text
//! text → token → parse → ast ─┬→ check (fields that the schema does not have)
//!                             └→ eval, with a budget → value
//! ```
//!
//! Written here rather than taken from a crate, see docs/decisions/0014-cel.md: every step is counted, so that no rule can
//! stall the server, and lists know the keys of their schema.

mod arithmetic;
mod ast;
mod check;
mod compare;
mod eval;
mod functions;
mod json;
mod parse;
#[cfg(test)]
mod tests;
mod token;
mod value;

use crate::schema::Schema;
use ast::Expr;
use parse::Messages;
pub(crate) use value::Value;

/// As much as the expressions of one write may cost in all, and each of them. The real server has the same numbers.
pub(crate) const MOST_PER_WRITE: u64 = 10_000_000;
const MOST_PER_EXPRESSION: u64 = 1_000_000;

/// Why an expression is no good.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CompileError(String);

impl CompileError {
    fn at(text: &str, place: usize, what: &str) -> Self {
        let before = text.get(..place).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
        Self(format!("compilation failed: ERROR: <input>:{line}:{column}: {what}"))
    }
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EvalError {
    /// What it asks for makes no sense, such as the field of a number.
    #[error("{0}")]
    Wrong(String),
    /// It takes too long.
    #[error("operation cancelled: actual cost limit exceeded")]
    Cost,
}

impl EvalError {
    fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }

    fn overload() -> Self {
        Self::Wrong("no such overload".to_owned())
    }
}

/// What may still be spent.
#[derive(Debug)]
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) fn new(cost: u64) -> Self {
        Self(cost)
    }

    /// Spends some of it.
    pub(crate) fn spend(&mut self, cost: u64) -> Result<(), EvalError> {
        self.0 = self.0.checked_sub(cost).ok_or(EvalError::Cost)?;
        Ok(())
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// An expression that can be evaluated.
#[derive(Debug)]
pub(crate) struct Program {
    expr: Expr,
    used: Vec<String>,
}

impl Program {
    /// Compiles an expression that may use these variables; the fields of those that have a schema are checked.
    pub(crate) fn compile(text: &str, variables: &[(&str, Option<&Schema>)]) -> Result<Self, CompileError> {
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        let parsed = parse::parse(text, &names, Messages::None)?;
        check::fields(&parsed.expr, variables)?;
        Ok(Self { expr: parsed.expr, used: parsed.used })
    }

    /// Compiles an expression that may make an `Object` with the fields that a mutation sets. Its value is a map.
    pub(crate) fn compile_mutation(text: &str, variables: &[&str]) -> Result<Self, CompileError> {
        let parsed = parse::parse(text, variables, Messages::Object)?;
        Ok(Self { expr: parsed.expr, used: parsed.used })
    }

    /// Whether it uses a variable.
    pub(crate) fn uses(&self, variable: &str) -> bool {
        self.used.iter().any(|it| it == variable)
    }

    /// Evaluates it.
    pub(crate) fn eval<'a>(
        &'a self,
        variables: &[(&'a str, Value<'a>)],
        budget: &mut Budget,
    ) -> Result<Value<'a>, EvalError> {
        let before = budget.0;
        let mut own = Budget(before.min(MOST_PER_EXPRESSION));
        let limit = own.0;
        let result = eval::Evaluator::new(variables, &mut own).eval(&self.expr);
        budget.0 = before - (limit - own.0);
        result
    }
}
