//! Evaluates SPDX licence expressions: `OR`, `AND`, `WITH`, parentheses, and cargo's older `MIT/Apache-2.0`.
//!
//! It knows no list of licences. An identifier is whatever text stands in the expression, and the caller says
//! whether it is acceptable.

use std::iter::Peekable;
use std::vec::IntoIter;

/// Whether `expression` can be satisfied by licences that `accepts` accepts.
///
/// A licence with an exception is asked for as one text, `Apache-2.0 WITH LLVM-exception`, because accepting a
/// licence says nothing of what an exception makes of it. `X+` (or any later version) is satisfied by `X`.
pub(crate) fn satisfiable(expression: &str, accepts: &dyn Fn(&str) -> bool) -> Result<bool, String> {
    let mut parser = Parser { tokens: tokens(expression).into_iter().peekable(), accepts };
    let answer = parser.any_of()?;
    match parser.tokens.next() {
        None => Ok(answer),
        Some(token) => Err(format!("unexpected `{token}`")),
    }
}

fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Recursive descent, one method for each level of precedence. Both sides of an operator are always parsed, so
/// that a malformed expression is an error whatever its value.
struct Parser<'a> {
    tokens: Peekable<IntoIter<String>>,
    accepts: &'a dyn Fn(&str) -> bool,
}

impl Parser<'_> {
    fn any_of(&mut self) -> Result<bool, String> {
        let mut answer = self.all_of()?;
        while self.take("OR") {
            answer |= self.all_of()?;
        }
        Ok(answer)
    }

    fn all_of(&mut self) -> Result<bool, String> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let answer = self.any_of()?;
            return if self.take(")") { Ok(answer) } else { Err("missing `)`".to_owned()) };
        }
        let licence = self.identifier()?;
        if self.take("WITH") {
            let exception = self.identifier()?;
            return Ok((self.accepts)(&format!("{licence} WITH {exception}")));
        }
        let or_later = licence.strip_suffix('+');
        Ok((self.accepts)(&licence) || or_later.is_some_and(self.accepts))
    }

    fn identifier(&mut self) -> Result<String, String> {
        match self.tokens.next() {
            Some(token) if matches!(token.as_str(), "AND" | "OR" | "WITH" | "(" | ")") => {
                Err(format!("expected a licence, found `{token}`"))
            }
            Some(token) => Ok(token),
            None => Err("expected a licence at the end".to_owned()),
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.tokens.next_if(|it| it == token).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts `MIT`, `BSD` and `Apache-2.0 WITH LLVM-exception`.
    fn evaluate(expression: &str) -> Result<bool, String> {
        let accepted = ["MIT", "BSD", "Apache-2.0 WITH LLVM-exception"];
        satisfiable(expression, &|licence| accepted.contains(&licence))
    }

    #[test]
    fn expressions() {
        let table = [
            ("MIT", true),
            ("GPL", false),
            ("mit", false),
            ("MIT OR GPL", true),
            ("GPL OR MIT", true),
            ("GPL OR LGPL", false),
            ("MIT AND BSD", true),
            ("MIT AND GPL", false),
            ("GPL AND MIT", false),
            // AND binds tighter than OR.
            ("MIT OR BSD AND GPL", true),
            ("GPL AND BSD OR MIT", true),
            ("(MIT OR BSD) AND GPL", false),
            ("(GPL OR MIT) AND BSD", true),
            ("(MIT OR GPL)AND(BSD OR GPL)", true),
            ("((MIT))", true),
            // An exception is part of the licence.
            ("Apache-2.0 WITH LLVM-exception", true),
            ("Apache-2.0", false),
            ("MIT WITH LLVM-exception", false),
            ("Apache-2.0 WITH LLVM-exception AND GPL", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL", true),
            // Any later version includes this one.
            ("MIT+", true),
            ("GPL+", false),
            // The form from before cargo knew SPDX.
            ("MIT/GPL", true),
            ("GPL / MIT", true),
            ("GPL/LGPL", false),
        ];
        for (expression, want) in table {
            assert_eq!(evaluate(expression), Ok(want), "{expression}");
        }
    }

    #[test]
    fn malformed_expressions() {
        let table = [
            ("", "expected a licence at the end"),
            ("MIT OR", "expected a licence at the end"),
            ("OR MIT", "expected a licence, found `OR`"),
            ("MIT AND OR BSD", "expected a licence, found `OR`"),
            ("MIT WITH", "expected a licence at the end"),
            ("(MIT", "missing `)`"),
            ("MIT)", "unexpected `)`"),
            ("MIT BSD", "unexpected `BSD`"),
            ("()", "expected a licence, found `)`"),
        ];
        for (expression, want) in table {
            assert_eq!(evaluate(expression), Err(want.to_owned()), "{expression}");
        }
    }
}
