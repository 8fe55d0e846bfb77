//! The value of an expression.

use std::rc::Rc;

use super::ast::{Bind, Expr, Index, Item, Literal, Loop, LoopKind, Operator, Select, SelectMode};
use super::compare::{contains, equal, order};
use super::value::{Text, Value};
use super::{Budget, EvalError, arithmetic, functions};

type Result<'a> = std::result::Result<Value<'a>, EvalError>;

/// Evaluates one expression.
pub(super) struct Evaluator<'a, 'b> {
    /// The variables that are known here, the innermost last.
    names: Vec<(&'a str, Value<'a>)>,
    budget: &'b mut Budget,
}

impl<'a, 'b> Evaluator<'a, 'b> {
    pub(super) fn new(variables: &[(&'a str, Value<'a>)], budget: &'b mut Budget) -> Self {
        Self { names: variables.to_vec(), budget }
    }

    pub(super) fn eval(&mut self, expr: &'a Expr) -> Result<'a> {
        self.budget.spend(1)?;
        match expr {
            Expr::Literal(literal) => Ok(constant(literal)),
            Expr::Name(name) => {
                let known = self.names.iter().rev().find(|(known, _)| known == name);
                known
                    .map(|(_, it)| it.clone())
                    .ok_or_else(|| EvalError::wrong(format!("no such attribute(s): {name}")))
            }
            Expr::Select(select) => self.select(select),
            Expr::Index(index) => self.index(index),
            Expr::List(items) => self.list(items),
            Expr::Map(entries) => self.map(entries),
            Expr::Not(of) => self.bool(of).map(|it| Value::Bool(!it)),
            Expr::Negate(of) => arithmetic::negate(&self.eval(of)?),
            Expr::And(parts) => self.decide(parts, false),
            Expr::Or(parts) => self.decide(parts, true),
            Expr::Choose(parts) => {
                let [condition, then, other] = &**parts;
                if self.bool(condition)? { self.eval(then) } else { self.eval(other) }
            }
            Expr::Binary(operator, sides) => {
                let left = self.eval(&sides[0])?;
                let right = self.eval(&sides[1])?;
                self.binary(*operator, &left, &right)
            }
            Expr::Call(function, arguments) => {
                let arguments: std::result::Result<Vec<_>, _> =
                    arguments.iter().map(|it| self.eval(it)).collect();
                functions::call(*function, &arguments?, self.budget)
            }
            Expr::Matches(of, pattern) => {
                let of = self.eval(of)?;
                let text = of.as_str().ok_or_else(EvalError::overload)?;
                self.budget.spend(pattern.cost(text))?;
                Ok(Value::Bool(pattern.is_match(text)))
            }
            Expr::Loop(it) => self.over(it),
            Expr::Bind(bind) => self.bind(bind),
        }
    }

    fn bool(&mut self, expr: &'a Expr) -> std::result::Result<bool, EvalError> {
        self.eval(expr)?.as_bool().ok_or_else(EvalError::overload)
    }

    /// `&&` and `||`: one part that decides is enough, also if another has no value.
    fn decide(&mut self, parts: &'a [Expr], decisive: bool) -> Result<'a> {
        let mut wrong = None;
        for part in parts {
            match self.bool(part) {
                Ok(value) if value == decisive => return Ok(Value::Bool(decisive)),
                Ok(_) => {}
                Err(EvalError::Cost) => return Err(EvalError::Cost),
                Err(error) => wrong = Some(error),
            }
        }
        wrong.map_or(Ok(Value::Bool(!decisive)), Err)
    }

    fn select(&mut self, select: &'a Select) -> Result<'a> {
        let of = self.eval(&select.of)?;
        let found = of.field(&select.field)?;
        match (select.mode, &of) {
            (SelectMode::Presence, _) => Ok(Value::Bool(found.is_some())),
            (SelectMode::Optional, _) | (SelectMode::Value, Value::Optional(_)) => {
                Ok(found.map_or_else(Value::none, Value::some))
            }
            (SelectMode::Value, _) => {
                found.ok_or_else(|| EvalError::wrong(format!("no such key: {}", select.field)))
            }
        }
    }

    fn index(&mut self, index: &'a Index) -> Result<'a> {
        let of = self.eval(&index.of)?;
        let key = self.eval(&index.key)?;
        let (of, optional) = match of {
            Value::Optional(Some(inner)) => ((*inner).clone(), true),
            Value::Optional(None) => return Ok(Value::none()),
            of => (of, index.optional),
        };
        let found = self.element(&of, &key);
        match found {
            Ok(value) if optional => Ok(value.map_or_else(Value::none, Value::some)),
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(match &key {
                Value::Int(at) if !matches!(of, Value::Object(..) | Value::Map(_)) => {
                    EvalError::wrong(format!("index out of bounds: {at}"))
                }
                Value::Text(key) => EvalError::wrong(format!("no such key: {}", key.as_str())),
                _ => EvalError::wrong("no such key"),
            }),
            Err(error) => Err(error),
        }
    }

    fn element(
        &mut self,
        of: &Value<'a>,
        key: &Value<'a>,
    ) -> std::result::Result<Option<Value<'a>>, EvalError> {
        let at = || match key {
            Value::Int(at) => Ok(usize::try_from(*at).ok()),
            Value::Uint(at) => Ok(usize::try_from(*at).ok()),
            Value::Double(at) if at.fract() == 0.0 => Ok(usize::try_from(super::value::whole(*at)?).ok()),
            _ => Err(EvalError::overload()),
        };
        match of {
            Value::Array(list, schema) => {
                let item = schema.and_then(|it| it.items.as_deref());
                at()?.and_then(|at| list.get(at)).map(|it| Value::of(it, item)).transpose()
            }
            Value::List(list) => Ok(at()?.and_then(|at| list.get(at)).cloned()),
            Value::Object(..) => match key {
                Value::Text(key) => of.field(key.as_str()),
                _ => Err(EvalError::overload()),
            },
            Value::Map(map) => {
                for (known, value) in map.iter() {
                    if equal(known, key, self.budget)? {
                        return Ok(Some(value.clone()));
                    }
                }
                Ok(None)
            }
            _ => Err(EvalError::overload()),
        }
    }

    fn list(&mut self, items: &'a [Item]) -> Result<'a> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match (item.optional, self.eval(&item.value)?) {
                (true, Value::Optional(inner)) => out.extend(inner.map(|it| (*it).clone())),
                (true, _) => return Err(EvalError::overload()),
                (false, value) => out.push(value),
            }
        }
        Ok(Value::list(out))
    }

    fn map(&mut self, entries: &'a [super::ast::Entry]) -> Result<'a> {
        let mut out: Vec<(Value<'a>, Value<'a>)> = Vec::with_capacity(entries.len());
        for entry in entries {
            let key = self.eval(&entry.key)?;
            if !matches!(key, Value::Text(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_)) {
                return Err(EvalError::wrong("unsupported key type"));
            }
            let value = match (entry.optional, self.eval(&entry.value)?) {
                (true, Value::Optional(Some(inner))) => (*inner).clone(),
                (true, Value::Optional(None)) => continue,
                (true, _) => return Err(EvalError::overload()),
                (false, value) => value,
            };
            for (known, _) in &out {
                if equal(known, &key, self.budget)? {
                    return Err(EvalError::wrong("Failed with repeated key"));
                }
            }
            out.push((key, value));
        }
        Ok(Value::Map(Rc::new(out)))
    }

    fn binary(&mut self, operator: Operator, left: &Value<'a>, right: &Value<'a>) -> Result<'a> {
        let ordered = |budget: &mut Budget| order(left, right, budget)?.ok_or_else(EvalError::overload);
        let is = match operator {
            Operator::Equal => equal(left, right, self.budget)?,
            Operator::NotEqual => !equal(left, right, self.budget)?,
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                if matches!((left, right), (Value::Double(it), _) | (_, Value::Double(it)) if it.is_nan()) {
                    return Ok(Value::Bool(false));
                }
                let found = ordered(self.budget)?;
                match operator {
                    Operator::Less => found.is_lt(),
                    Operator::LessOrEqual => found.is_le(),
                    Operator::Greater => found.is_gt(),
                    _ => found.is_ge(),
                }
            }
            Operator::In => contains(right, left, self.budget)?,
            _ => return arithmetic::binary(operator, left, right, self.budget),
        };
        Ok(Value::Bool(is))
    }

    fn bind(&mut self, bind: &'a Bind) -> Result<'a> {
        let value = self.eval(&bind.value)?;
        self.names.push((&bind.name, value));
        let result = self.eval(&bind.body);
        self.names.pop();
        result
    }

    /// The keys or indexes, and the values, that a loop sees.
    fn elements(&mut self, it: &'a Loop) -> std::result::Result<Vec<(Value<'a>, Value<'a>)>, EvalError> {
        let over = self.eval(&it.over)?;
        if let Some(items) = over.items(self.budget)? {
            return Ok(items.into_iter().enumerate().map(|(at, item)| (Value::int(at), item)).collect());
        }
        let entries = over.entries(self.budget)?.ok_or_else(EvalError::overload)?;
        // With one variable a map is the list of its keys.
        let one = it.key.is_none();
        Ok(entries
            .into_iter()
            .map(|(key, value)| if one { (key.clone(), key) } else { (key, value) })
            .collect())
    }

    /// Evaluates a part of a loop for one element.
    fn with(&mut self, it: &'a Loop, element: &(Value<'a>, Value<'a>), part: &'a Expr) -> Result<'a> {
        let before = self.names.len();
        if let Some(key) = &it.key {
            self.names.push((key, element.0.clone()));
        }
        self.names.push((&it.value, element.1.clone()));
        let result = self.eval(part);
        self.names.truncate(before);
        result
    }

    fn over(&mut self, it: &'a Loop) -> Result<'a> {
        if matches!(it.kind, LoopKind::OptionalMap | LoopKind::OptionalFlatMap) {
            return self.over_optional(it);
        }
        let elements = self.elements(it)?;
        match it.kind {
            LoopKind::All => self.find(it, &elements, false),
            LoopKind::Exists => self.find(it, &elements, true),
            LoopKind::ExistsOne => {
                let mut found = 0;
                for element in &elements {
                    let is = self.with(it, element, &it.body)?.as_bool().ok_or_else(EvalError::overload)?;
                    found += usize::from(is);
                }
                Ok(Value::Bool(found == 1))
            }
            LoopKind::SortBy => {
                let mut keyed = Vec::with_capacity(elements.len());
                for element in elements {
                    let key = self.with(it, &element, &it.body)?;
                    keyed.push((key, element.1));
                }
                functions::sort_by_key(keyed, self.budget)
            }
            LoopKind::Filter => {
                let mut out = Vec::new();
                for element in elements {
                    if self.with(it, &element, &it.body)?.as_bool().ok_or_else(EvalError::overload)? {
                        out.push(element.1);
                    }
                }
                Ok(Value::list(out))
            }
            _ => self.transform(it, elements),
        }
    }

    /// One element that decides is enough, also if others have no value.
    fn find(&mut self, it: &'a Loop, elements: &[(Value<'a>, Value<'a>)], decisive: bool) -> Result<'a> {
        let mut wrong = None;
        for element in elements {
            match self.with(it, element, &it.body).map(|it| it.as_bool()) {
                Ok(Some(value)) if value == decisive => return Ok(Value::Bool(decisive)),
                Ok(Some(_)) => {}
                Ok(None) => wrong = Some(EvalError::overload()),
                Err(EvalError::Cost) => return Err(EvalError::Cost),
                Err(error) => wrong = Some(error),
            }
        }
        wrong.map_or(Ok(Value::Bool(!decisive)), Err)
    }

    fn transform(&mut self, it: &'a Loop, elements: Vec<(Value<'a>, Value<'a>)>) -> Result<'a> {
        let mut out = Vec::new();
        for element in elements {
            if let Some(filter) = &it.filter
                && !self.with(it, &element, filter)?.as_bool().ok_or_else(EvalError::overload)?
            {
                continue;
            }
            let value = self.with(it, &element, &it.body)?;
            out.push((element.0, value));
        }
        Ok(match it.kind {
            LoopKind::TransformMap => Value::Map(Rc::new(out)),
            _ => Value::list(out.into_iter().map(|(_, value)| value).collect()),
        })
    }

    fn over_optional(&mut self, it: &'a Loop) -> Result<'a> {
        let inner = match self.eval(&it.over)? {
            Value::Optional(Some(inner)) => inner,
            Value::Optional(None) => return Ok(Value::none()),
            _ => return Err(EvalError::overload()),
        };
        let result = self.with(it, &(Value::Null, (*inner).clone()), &it.body)?;
        Ok(if it.kind == LoopKind::OptionalMap { Value::some(result) } else { result })
    }
}

fn constant(literal: &Literal) -> Value<'_> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(it) => Value::Bool(*it),
        Literal::Int(it) => Value::Int(*it),
        Literal::Uint(it) => Value::Uint(*it),
        Literal::Double(it) => Value::Double(*it),
        Literal::Text(it) => Value::Text(Text::Of(it)),
        Literal::Bytes(it) => Value::Bytes(it.as_slice().into()),
    }
}
