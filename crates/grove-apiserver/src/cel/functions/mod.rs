//! The functions of expressions: those of the language, and the libraries that Kubernetes adds.

mod convert;
mod lists;
pub(super) mod network;
pub(super) mod quantity;
mod strings;
mod time;

use super::value::Value;
use super::{Budget, EvalError};

pub(super) use lists::sort_by_key;

/// The value of a function, or what speaks against it.
type Result<'a> = std::result::Result<Value<'a>, EvalError>;

/// Declares all functions: its variant, its name, whether it is called on a value, and how many values it takes, the one
/// that it is called on included.
macro_rules! functions {
    ($($variant:ident $name:literal $method:literal $least:literal $most:literal,)*) => {
        /// A function.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function {
            /// The name of a type, such as `int`, where it is used as a value.
            TypeName,
            $(#[allow(missing_docs)] $variant,)*
        }

        const TABLE: &[(Function, &str, bool, usize, usize)] =
            &[$((Function::$variant, $name, $method, $least, $most),)*];
    };
}

functions! {
    Size "size" true 1 1, Size0 "size" false 1 1, Contains "contains" true 2 2, StartsWith "startsWith" true 2 2,
    EndsWith "endsWith" true 2 2, Matches "matches" true 2 2, Matches0 "matches" false 2 2,
    ToString "string" false 1 1, ToInt "int" false 1 1, ToUint "uint" false 1 1, ToDouble "double" false 1 1,
    ToBool "bool" false 1 1, ToBytes "bytes" false 1 1, ToDuration "duration" false 1 1,
    ToTimestamp "timestamp" false 1 1, TypeOf "type" false 1 1, Dyn "dyn" false 1 1,
    CharAt "charAt" true 2 2, IndexOf "indexOf" true 2 3, LastIndexOf "lastIndexOf" true 2 3,
    LowerAscii "lowerAscii" true 1 1, UpperAscii "upperAscii" true 1 1, Replace "replace" true 3 4,
    Split "split" true 2 3, Substring "substring" true 2 3, Trim "trim" true 1 1, Join "join" true 1 2,
    Format "format" true 2 2, Quote "strings.quote" false 1 1, Reverse "reverse" true 1 1,
    Find "find" true 2 2, FindAll "findAll" true 2 3,
    Sum "sum" true 1 1, Min "min" true 1 1, Max "max" true 1 1, IsSorted "isSorted" true 1 1, Sort "sort" true 1 1,
    Distinct "distinct" true 1 1, Flatten "flatten" true 1 1, Slice "slice" true 3 3, First "first" true 1 1,
    Last "last" true 1 1,
    SetsContains "sets.contains" false 2 2, SetsEquivalent "sets.equivalent" false 2 2,
    SetsIntersects "sets.intersects" false 2 2,
    OptionalOf "optional.of" false 1 1, OptionalNone "optional.none" false 0 0,
    OptionalOfNonZero "optional.ofNonZeroValue" false 1 1, HasValue "hasValue" true 1 1, OptionalValue "value" true 1 1,
    OrValue "orValue" true 2 2, Or "or" true 2 2,
    FullYear "getFullYear" true 1 2, Month "getMonth" true 1 2, Date "getDate" true 1 2,
    DayOfMonth "getDayOfMonth" true 1 2, DayOfWeek "getDayOfWeek" true 1 2, DayOfYear "getDayOfYear" true 1 2,
    Hours "getHours" true 1 2, Minutes "getMinutes" true 1 2, Seconds "getSeconds" true 1 2,
    Milliseconds "getMilliseconds" true 1 2,
    ToQuantity "quantity" false 1 1, IsQuantity "isQuantity" false 1 1, QuantitySign "sign" true 1 1,
    QuantityIsInteger "isInteger" true 1 1, QuantityAsInteger "asInteger" true 1 1,
    QuantityAsFloat "asApproximateFloat" true 1 1, QuantityAdd "add" true 2 2, QuantitySub "sub" true 2 2,
    QuantityLess "isLessThan" true 2 2, QuantityGreater "isGreaterThan" true 2 2, QuantityCompare "compareTo" true 2 2,
    ToIp "ip" false 1 1, IpOfCidr "ip" true 1 1, IsIp "isIP" false 1 1, IpIsCanonical "ip.isCanonical" false 1 1,
    IpFamily "family" true 1 1, IsLoopback "isLoopback" true 1 1, IsUnspecified "isUnspecified" true 1 1,
    IsGlobalUnicast "isGlobalUnicast" true 1 1, ToCidr "cidr" false 1 1, IsCidr "isCIDR" false 1 1,
    ContainsIp "containsIP" true 2 2, ContainsCidr "containsCIDR" true 2 2, PrefixLength "prefixLength" true 1 1,
    Masked "masked" true 1 1,
}

impl Function {
    /// The function of a name that takes so many values.
    pub(super) fn find(name: &str, is_method: bool, count: usize) -> Option<Self> {
        let row = TABLE.iter().find(|(_, known, method, least, most)| {
            *known == name && *method == is_method && (*least..=*most).contains(&count)
        });
        row.map(|(function, ..)| match function {
            Self::Size0 => Self::Size,
            Self::Matches0 => Self::Matches,
            other => *other,
        })
    }

    /// Whether any function has this name.
    pub(super) fn exists(name: &str) -> bool {
        TABLE.iter().any(|(_, known, ..)| *known == name)
    }

    /// The type that a name stands for.
    pub(super) fn type_name(name: &str) -> Option<&'static str> {
        const TYPES: [&str; 10] =
            ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
        TYPES.into_iter().find(|it| *it == name)
    }
}

/// Calls a function. The parser saw to it that the number of arguments is right.
pub(super) fn call<'a>(function: Function, arguments: &[Value<'a>], budget: &mut Budget) -> Result<'a> {
    use Function as F;

    match (function, arguments) {
        (F::TypeName, [name]) => Ok(Value::Type(name.as_str().and_then(F::type_name).unwrap_or("type"))),
        (F::Size | F::Size0, [of]) => of.size(budget).map(Value::int),
        (F::TypeOf, [of]) => Ok(Value::Type(of.type_name())),
        (F::Dyn, [of]) => Ok(of.clone()),
        (F::OptionalNone, []) => Ok(Value::none()),
        (F::OptionalOf, [of]) => Ok(Value::some(of.clone())),
        (F::OptionalOfNonZero, [of]) => {
            Ok(if is_zero(of, budget)? { Value::none() } else { Value::some(of.clone()) })
        }
        (F::HasValue | F::OptionalValue | F::OrValue | F::Or, [Value::Optional(of), rest @ ..]) => {
            optional(function, of.as_deref(), rest)
        }
        (
            F::ToString
            | F::ToInt
            | F::ToUint
            | F::ToDouble
            | F::ToBool
            | F::ToBytes
            | F::ToDuration
            | F::ToTimestamp,
            [of],
        ) => convert::convert(function, of, budget),
        (
            F::FullYear
            | F::Month
            | F::Date
            | F::DayOfMonth
            | F::DayOfWeek
            | F::DayOfYear
            | F::Hours
            | F::Minutes
            | F::Seconds
            | F::Milliseconds,
            [of, zone @ ..],
        ) => time::part(function, of, zone.first()),
        (F::ToQuantity | F::IsQuantity, [of]) => quantity::read(function, of),
        (_, [Value::Quantity(of), rest @ ..]) => quantity::call(function, *of, rest),
        (F::ToIp | F::IsIp | F::IpIsCanonical | F::ToCidr | F::IsCidr, [of]) => network::read(function, of),
        (_, [of @ (Value::Ip(_) | Value::Cidr(_)), rest @ ..]) => network::call(function, of, rest),
        (_, [Value::Text(of), rest @ ..]) => strings::call(function, of.as_str(), rest, budget),
        (_, [of, rest @ ..]) => lists::call(function, of, rest, budget),
        _ => Err(EvalError::overload()),
    }
}

fn optional<'a>(function: Function, of: Option<&Value<'a>>, rest: &[Value<'a>]) -> Result<'a> {
    match (function, of, rest) {
        (Function::HasValue, of, _) => Ok(Value::Bool(of.is_some())),
        (Function::OptionalValue | Function::OrValue, Some(of), _) => Ok(of.clone()),
        (Function::OptionalValue, None, _) => Err(EvalError::wrong("optional.none() dereference")),
        (Function::Or, Some(of), _) => Ok(Value::some(of.clone())),
        (_, None, [other]) => Ok(other.clone()),
        _ => Err(EvalError::overload()),
    }
}

fn is_zero(of: &Value<'_>, budget: &mut Budget) -> std::result::Result<bool, EvalError> {
    Ok(match of {
        Value::Null => true,
        Value::Bool(it) => !it,
        Value::Int(it) => *it == 0,
        Value::Uint(it) => *it == 0,
        Value::Double(it) => *it == 0.0,
        Value::Duration(it) => it.is_zero(),
        Value::Text(_)
        | Value::Bytes(_)
        | Value::Array(..)
        | Value::List(_)
        | Value::Object(..)
        | Value::Map(_) => of.size(budget)? == 0,
        _ => false,
    })
}
