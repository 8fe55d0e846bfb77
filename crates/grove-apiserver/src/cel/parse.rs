//! From tokens to a syntax tree. Macros are expanded and functions resolved here, so that what cannot be evaluated is
//! refused before anything is stored.

use super::CompileError;
use super::ast::{Bind, Entry, Expr, Index, Item, Literal, Loop, LoopKind, Operator, Select, SelectMode};
use super::functions::Function;
use super::token::{Token, tokens};
use super::value::unescape;
use crate::pattern::Pattern;

/// No deeper: the parser, the evaluator and the destructor recurse.
const DEEPEST: usize = 64;

/// The message that a mutation makes.
const MESSAGE: &str = "Object";

/// As long as an expression may be.
const LONGEST: usize = 64 * 1024;

/// Which messages an expression may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Messages {
    None,
    /// `Object{spec: Object.spec{…}}`: the types are named after the path of their field.
    Object,
}

/// Parses an expression that may use these variables.
pub(super) fn parse(text: &str, variables: &[&str], messages: Messages) -> Result<Parsed, CompileError> {
    if text.len() > LONGEST {
        return Err(CompileError(format!("expression is longer than {LONGEST} bytes")));
    }
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        next: 0,
        depth: 0,
        names: variables.iter().map(|it| (*it).to_owned()).collect(),
        used: Vec::new(),
        messages,
    };
    let expr = parser.choose()?;
    parser.expect_end()?;
    // A chain within a chain is deeper than either of them.
    if expr.depth() > DEEPEST {
        return Err(CompileError(format!("expression recursion limit exceeded: {DEEPEST}")));
    }
    Ok(Parsed { expr, used: parser.used })
}

/// An expression, and the variables from outside that it uses.
pub(super) struct Parsed {
    pub(super) expr: Expr,
    pub(super) used: Vec<String>,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    /// The variables that are known here, the innermost last.
    names: Vec<String>,
    used: Vec<String>,
    messages: Messages,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.next).map_or(&Token::End, |(_, token)| token)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(it) if *it == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), CompileError> {
        if self.take(sign) { Ok(()) } else { Err(self.error(&format!("Syntax error: expected '{sign}'"))) }
    }

    fn expect_end(&self) -> Result<(), CompileError> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(self.error("Syntax error: extraneous input, expecting <EOF>")),
        }
    }

    fn error(&self, what: &str) -> CompileError {
        let place = self.tokens.get(self.next).map_or(self.text.len(), |(place, _)| *place);
        CompileError::at(self.text, place, what)
    }

    /// Runs a step one level deeper.
    fn deeper<T>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error(&format!("expression recursion limit exceeded: {DEEPEST}")));
        }
        let out = step(self);
        self.depth -= 1;
        out
    }

    fn choose(&mut self) -> Result<Expr, CompileError> {
        self.deeper(|it| {
            let condition = it.or()?;
            if !it.take("?") {
                return Ok(condition);
            }
            let then = it.or()?;
            it.expect(":")?;
            let other = it.choose()?;
            Ok(Expr::Choose(Box::new([condition, then, other])))
        })
    }

    fn or(&mut self) -> Result<Expr, CompileError> {
        self.chain("||", Self::and, Expr::Or)
    }

    fn and(&mut self) -> Result<Expr, CompileError> {
        self.chain("&&", Self::relation, Expr::And)
    }

    /// Long chains are one node, and so no deeper than short ones.
    fn chain(
        &mut self,
        sign: &str,
        part: impl Fn(&mut Self) -> Result<Expr, CompileError>,
        join: fn(Vec<Expr>) -> Expr,
    ) -> Result<Expr, CompileError> {
        let first = part(self)?;
        if !self.is(sign) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(sign) {
            parts.push(part(self)?);
        }
        Ok(join(parts))
    }

    fn relation(&mut self) -> Result<Expr, CompileError> {
        const SIGNS: [(&str, Operator); 7] = [
            ("==", Operator::Equal),
            ("!=", Operator::NotEqual),
            ("<=", Operator::LessOrEqual),
            (">=", Operator::GreaterOrEqual),
            ("<", Operator::Less),
            (">", Operator::Greater),
            ("in", Operator::In),
        ];
        self.binary(&SIGNS, Self::sum)
    }

    fn sum(&mut self) -> Result<Expr, CompileError> {
        self.binary(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Expr, CompileError> {
        const SIGNS: [(&str, Operator); 3] =
            [("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Modulo)];
        self.binary(&SIGNS, Self::unary)
    }

    fn binary(
        &mut self,
        signs: &[(&str, Operator)],
        part: impl Fn(&mut Self) -> Result<Expr, CompileError>,
    ) -> Result<Expr, CompileError> {
        let mut left = part(self)?;
        let mut steps = 0;
        while let Some((sign, operator)) = signs.iter().find(|(sign, _)| self.is(sign)) {
            self.expect(sign)?;
            steps += 1;
            // Each step makes the tree one deeper on the left.
            if self.depth + steps > DEEPEST {
                return Err(self.error(&format!("expression recursion limit exceeded: {DEEPEST}")));
            }
            let right = part(self)?;
            left = Expr::Binary(*operator, Box::new([left, right]));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, CompileError> {
        if self.take("!") {
            let of = self.deeper(Self::unary)?;
            return Ok(Expr::Not(Box::new(of)));
        }
        if self.take("-") {
            let literal = match self.peek() {
                Token::Literal(Literal::Int(it)) => Some(Literal::Int(it.wrapping_neg())),
                Token::Literal(Literal::Double(it)) => Some(Literal::Double(-it)),
                _ => None,
            };
            if let Some(literal) = literal {
                self.next += 1;
                return self.members(Expr::Literal(literal));
            }
            let of = self.deeper(Self::unary)?;
            return Ok(Expr::Negate(Box::new(of)));
        }
        let first = self.primary()?;
        self.members(first)
    }

    /// What follows a value: fields, calls, indexes.
    fn members(&mut self, first: Expr) -> Result<Expr, CompileError> {
        let mut of = first;
        let mut steps = 0;
        loop {
            steps += 1;
            if self.depth + steps > DEEPEST {
                return Err(self.error(&format!("expression recursion limit exceeded: {DEEPEST}")));
            }
            if self.take(".?") {
                let field = self.name()?;
                of = Expr::Select(Box::new(Select { of, field, mode: SelectMode::Optional }));
            } else if self.take(".") {
                let field = self.name()?;
                of = if self.take("(") {
                    self.method(of, &field)?
                } else {
                    Expr::Select(Box::new(Select { of, field, mode: SelectMode::Value }))
                };
            } else if self.is("[") || self.is("[?") {
                let optional = self.is("[?");
                self.next += 1;
                let key = self.choose()?;
                self.expect("]")?;
                of = Expr::Index(Box::new(Index { of, key, optional }));
            } else {
                return Ok(of);
            }
        }
    }

    fn name(&mut self) -> Result<String, CompileError> {
        let Token::Name(name) = self.peek() else { return Err(self.error("Syntax error: expected a name")) };
        let name = name.clone();
        self.next += 1;
        Ok(name)
    }

    fn primary(&mut self) -> Result<Expr, CompileError> {
        if let Token::Literal(literal) = self.peek() {
            let literal = literal.clone();
            self.next += 1;
            return Ok(Expr::Literal(literal));
        }
        if self.take("(") {
            let inner = self.choose()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.is("[") || self.is("[?") {
            let optional = self.is("[?");
            self.next += 1;
            return self.list(optional);
        }
        if self.take("{") {
            return self.map();
        }
        if self.messages == Messages::Object
            && let Some(of) = self.message_type()
        {
            return self.message(&of);
        }
        let place = self.next;
        let name = self.name()?;
        if self.take("(") {
            return self.function(&name);
        }
        // A namespace such as `cel` or `sets` is no variable.
        if !self.names.contains(&name) {
            if self.is(".") && matches!(name.as_str(), "cel" | "optional" | "sets") {
                self.next += 1;
                let function = format!("{name}.{}", self.name()?);
                self.expect("(")?;
                return self.function(&function);
            }
            if Function::type_name(&name).is_some() {
                return Ok(Expr::Call(Function::TypeName, vec![Expr::Literal(Literal::Text(name))]));
            }
            self.next = place;
            return Err(self.error(&format!("undeclared reference to '{name}' (in container '')")));
        }
        if !self.used.contains(&name) {
            self.used.push(name.clone());
        }
        Ok(Expr::Name(name))
    }

    /// A list, whose bracket is open; `optional` if a question mark stood behind it.
    fn list(&mut self, mut optional: bool) -> Result<Expr, CompileError> {
        let mut items = Vec::new();
        while optional || !self.take("]") {
            optional |= self.take("?");
            items.push(Item { value: self.choose()?, optional });
            optional = false;
            if !self.take(",") && !self.is("]") {
                return Err(self.error("Syntax error: expected ',' or ']'"));
            }
        }
        Ok(Expr::List(items))
    }

    fn map(&mut self) -> Result<Expr, CompileError> {
        let mut entries = Vec::new();
        while !self.take("}") {
            let optional = self.take("?");
            let key = self.choose()?;
            self.expect(":")?;
            entries.push(Entry { key, value: self.choose()?, optional });
            if !self.take(",") && !self.is("}") {
                return Err(self.error("Syntax error: expected ',' or '}'"));
            }
        }
        Ok(Expr::Map(entries))
    }

    /// The type of the message that begins here, if one does: names with dots between them, and a brace.
    fn message_type(&self) -> Option<String> {
        let mut rest = self.tokens.get(self.next..)?.iter().map(|(_, token)| token);
        let mut path = String::new();
        while let Some(Token::Name(name)) = rest.next() {
            path.push_str(name);
            match rest.next() {
                Some(Token::Sign(".")) => path.push('.'),
                Some(Token::Sign("{")) => {
                    return Some(path).filter(|it| it.split('.').next() == Some(MESSAGE));
                }
                _ => return None,
            }
        }
        None
    }

    /// A message, as a map of its fields.
    fn message(&mut self, of: &str) -> Result<Expr, CompileError> {
        while !self.take("{") {
            self.next += 1;
        }
        let mut entries = Vec::new();
        while !self.take("}") {
            let optional = self.take("?");
            let written = self.name()?;
            let field = unescape(&written).unwrap_or_else(|| written.clone());
            self.expect(":")?;
            let wanted = format!("{of}.{written}");
            if let Some(found) = self.message_type().filter(|it| *it != wanted) {
                return Err(self.error(&format!(
                    "unexpected type name {found:?}, expected {wanted:?}, which matches field name path from root Object type"
                )));
            }
            let key = Expr::Literal(Literal::Text(field));
            entries.push(Entry { key, value: self.choose()?, optional });
            if !self.take(",") && !self.is("}") {
                return Err(self.error("Syntax error: expected ',' or '}'"));
            }
        }
        Ok(Expr::Map(entries))
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, CompileError> {
        let mut arguments = Vec::new();
        while !self.take(")") {
            arguments.push(self.choose()?);
            if !self.take(",") && !self.is(")") {
                return Err(self.error("Syntax error: expected ',' or ')'"));
            }
        }
        Ok(arguments)
    }

    /// A function that is not called on a value; its bracket is open.
    fn function(&mut self, name: &str) -> Result<Expr, CompileError> {
        if name == "has" {
            let argument = self.choose()?;
            self.expect(")")?;
            return match argument {
                Expr::Select(mut select) if select.mode == SelectMode::Value => {
                    select.mode = SelectMode::Presence;
                    Ok(Expr::Select(select))
                }
                _ => Err(self.error("invalid argument to has() macro")),
            };
        }
        if name == "cel.bind" {
            let variable = self.name()?;
            self.expect(",")?;
            let value = self.choose()?;
            self.expect(",")?;
            let body = self.within(&[&variable], Self::choose)?;
            self.expect(")")?;
            return Ok(Expr::Bind(Box::new(Bind { name: variable, value, body })));
        }
        let place = self.next;
        let arguments = self.arguments()?;
        self.resolve(place, name, false, arguments)
    }

    /// A function or macro of a value; its bracket is open.
    fn method(&mut self, of: Expr, name: &str) -> Result<Expr, CompileError> {
        let place = self.next;
        if let Some(expr) = self.macro_of(of, name)? {
            return match expr {
                MacroOr::Macro(expr) => Ok(expr),
                MacroOr::Value(of) => {
                    let mut arguments = vec![of];
                    arguments.extend(self.arguments()?);
                    self.resolve(place, name, true, arguments)
                }
            };
        }
        Err(self.error(&format!("invalid use of macro {name}")))
    }

    fn resolve(
        &self,
        place: usize,
        name: &str,
        is_method: bool,
        mut arguments: Vec<Expr>,
    ) -> Result<Expr, CompileError> {
        let Some(function) = Function::find(name, is_method, arguments.len()) else {
            let place = self.tokens.get(place.saturating_sub(2)).map_or(0, |(place, _)| *place);
            let what = if Function::exists(name) {
                format!("found no matching overload for '{name}'")
            } else {
                format!("undeclared reference to '{name}' (in container '')")
            };
            return Err(CompileError::at(self.text, place, &what));
        };
        if function == Function::Matches
            && let Some(Expr::Literal(Literal::Text(pattern))) = arguments.get(1)
        {
            let pattern =
                Pattern::new(pattern).map_err(|it| self.error(&format!("invalid matches argument: {it}")))?;
            return Ok(Expr::Matches(Box::new(arguments.swap_remove(0)), pattern));
        }
        Ok(Expr::Call(function, arguments))
    }

    /// Parses with more variables known.
    fn within<T>(
        &mut self,
        names: &[&String],
        step: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let before = self.names.len();
        self.names.extend(names.iter().map(|it| (*it).clone()));
        let out = step(self);
        self.names.truncate(before);
        // What was bound here is none of the variables from outside.
        self.used.retain(|it| self.names.contains(it));
        out
    }

    /// A macro of a value, if this is one; otherwise the value is given back. None if it is wrong.
    fn macro_of(&mut self, of: Expr, name: &str) -> Result<Option<MacroOr>, CompileError> {
        let kind = match name {
            "all" => LoopKind::All,
            "exists" => LoopKind::Exists,
            "exists_one" | "existsOne" => LoopKind::ExistsOne,
            "filter" => LoopKind::Filter,
            "map" | "transformList" => LoopKind::Map,
            "transformMap" => LoopKind::TransformMap,
            "sortBy" => LoopKind::SortBy,
            "optMap" => LoopKind::OptionalMap,
            "optFlatMap" => LoopKind::OptionalFlatMap,
            _ => return Ok(Some(MacroOr::Value(of))),
        };
        let first = self.name()?;
        self.expect(",")?;
        let takes_two =
            matches!(name, "all" | "exists" | "exists_one" | "existsOne" | "transformList" | "transformMap");
        let second = match (takes_two, self.peek(), self.tokens.get(self.next + 1)) {
            (true, Token::Name(second), Some((_, Token::Sign(",")))) => Some(second.clone()),
            _ => None,
        };
        if second.is_some() {
            self.next += 2;
        } else if name.starts_with("transform") {
            return Ok(None);
        }
        let (key, value) = match second {
            Some(second) => (Some(first), second),
            None => (None, first),
        };
        let mut names = vec![&value];
        names.extend(&key);
        let names: Vec<String> = names.into_iter().cloned().collect();
        let names: Vec<&String> = names.iter().collect();
        let (filter, body) = self.within(&names, |it| {
            let body = it.choose()?;
            let may_filter = matches!(kind, LoopKind::Map | LoopKind::TransformMap);
            if may_filter && it.take(",") { Ok((Some(body), it.choose()?)) } else { Ok((None, body)) }
        })?;
        self.expect(")")?;
        Ok(Some(MacroOr::Macro(Expr::Loop(Box::new(Loop { kind, over: of, key, value, filter, body })))))
    }
}

enum MacroOr {
    Macro(Expr),
    Value(Expr),
}
