//! The syntax tree of an expression, with functions resolved and literal patterns compiled.

use super::functions::Function;
use crate::pattern::Pattern;

/// An expression.
#[derive(Debug)]
pub(super) enum Expr {
    Literal(Literal),
    /// A variable.
    Name(String),
    Select(Box<Select>),
    Index(Box<Index>),
    List(Vec<Item>),
    Map(Vec<Entry>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// Condition, then, else.
    Choose(Box<[Expr; 3]>),
    Binary(Operator, Box<[Expr; 2]>),
    Call(Function, Vec<Expr>),
    /// `matches` with a pattern that is known beforehand.
    Matches(Box<Expr>, Pattern),
    Loop(Box<Loop>),
    /// `cel.bind(name, value, body)`.
    Bind(Box<Bind>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// A field of a value.
#[derive(Debug)]
pub(super) struct Select {
    pub(super) of: Expr,
    pub(super) field: String,
    pub(super) mode: SelectMode,
}

/// What is asked about a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectMode {
    /// `a.b`
    Value,
    /// `has(a.b)`
    Presence,
    /// `a.?b`
    Optional,
}

/// `a[b]`, or `a[?b]`.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) of: Expr,
    pub(super) key: Expr,
    pub(super) optional: bool,
}

/// An element of a list; an optional one is left out if it has no value.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// An entry of a map.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

/// A macro over the elements of a list or the entries of a map.
#[derive(Debug)]
pub(super) struct Loop {
    pub(super) kind: LoopKind,
    pub(super) over: Expr,
    /// The index or key, where the macro has two variables.
    pub(super) key: Option<String>,
    /// The element; of a map its key where the macro has one variable.
    pub(super) value: String,
    pub(super) filter: Option<Expr>,
    pub(super) body: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoopKind {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
    TransformMap,
    SortBy,
    /// Not a loop over many: an optional value, whose result is optional again.
    OptionalMap,
    /// The same, with a result that is optional by itself.
    OptionalFlatMap,
}

#[derive(Debug)]
pub(super) struct Bind {
    pub(super) name: String,
    pub(super) value: Expr,
    pub(super) body: Expr,
}

impl Expr {
    /// The expressions that it is made of.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Literal(_) | Self::Name(_) => Vec::new(),
            Self::Select(select) => vec![&select.of],
            Self::Index(index) => vec![&index.of, &index.key],
            Self::List(items) => items.iter().map(|it| &it.value).collect(),
            Self::Map(entries) => entries.iter().flat_map(|it| [&it.key, &it.value]).collect(),
            Self::Not(of) | Self::Negate(of) | Self::Matches(of, _) => vec![of],
            Self::And(parts) | Self::Or(parts) | Self::Call(_, parts) => parts.iter().collect(),
            Self::Choose(parts) => parts.iter().collect(),
            Self::Binary(_, parts) => parts.iter().collect(),
            Self::Loop(it) => [&it.over, &it.body].into_iter().chain(&it.filter).collect(),
            Self::Bind(bind) => vec![&bind.value, &bind.body],
        }
    }

    /// How deep it is nested.
    pub(super) fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut open = vec![(self, 1)];
        while let Some((expr, depth)) = open.pop() {
            deepest = deepest.max(depth);
            open.extend(expr.parts().into_iter().map(|it| (it, depth + 1)));
        }
        deepest
    }
}
