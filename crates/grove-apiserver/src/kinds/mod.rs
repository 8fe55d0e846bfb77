//! What the built-in kinds of Kubernetes are made of: which fields there are, of which type, and how their lists are
//! merged (strategic merge patch) and owned (server-side apply).
//!
//! `fields.txt` says it, made from Kubernetes' own OpenAPI documents by `examples/builtin_fields.rs`. A line that is not
//! indented begins a type, an indented one is a field:
//!
//! ```text
//! core.v1.Pod /v1 Pod                                          a kind
//!  spec core.v1.PodSpec
//! core.v1.PodSpec
//!  containers [core.v1.Container] keys=name merge=name always   items are told apart by, and merged by, their name; Go
//!                                                               has no way to leave it out
//!  overhead {q}                                                a map of quantities
//! ```

mod complete;
mod quantity;
mod read;
mod strict;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

pub(crate) use complete::complete;
pub(crate) use strict::{Problem, check};

static KINDS: LazyLock<Kinds> = LazyLock::new(|| read::read(include_str!("fields.txt")));

/// All types, by name, and which of them are kinds.
#[derive(Debug, Default)]
struct Kinds {
    definitions: BTreeMap<&'static str, Definition>,
    /// By `group/version` and kind.
    kinds: BTreeMap<(&'static str, &'static str), &'static str>,
}

/// A type with named fields.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: &'static str,
    /// Owned as a whole.
    pub(crate) atomic: bool,
    pub(crate) fields: BTreeMap<&'static str, Field>,
}

/// A field of a type.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) holds: Type,
    pub(crate) owned: Ownership,
    pub(crate) patch: Merge,
    /// What a value that is left out stands for, where it tells list items apart.
    pub(crate) default: Option<Value>,
    /// Whether it is always there, if only with nothing in it: a struct of Go that is no pointer, or what is not left out when it is
    /// empty.
    pub(crate) always: bool,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Any,
    Text,
    Bytes,
    Time,
    Integer,
    Number,
    Boolean,
    Quantity,
    IntOrText,
    Object(&'static str),
    List(Box<Type>),
    Map(Box<Type>),
}

/// How a list or map is owned in a server-side apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Ownership {
    /// Lists as a whole, maps by key.
    #[default]
    Usual,
    Atomic,
    Set,
    /// By these fields of the items.
    Keys(Vec<&'static str>),
}

/// How a strategic merge patch changes a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Merge {
    /// Lists are replaced, objects merged.
    #[default]
    Usual,
    /// A list of values: those of the patch are added.
    Values,
    /// A list of objects, told apart by this field.
    Key(&'static str),
    /// Even an object is replaced.
    Replace,
}

/// The type of a built-in kind.
pub(crate) fn of_kind(group: &str, version: &str, kind: &str) -> Option<&'static Definition> {
    let group_version = format!("{group}/{version}");
    // Coerced, so that it can be asked with texts that live shorter.
    let kinds: &BTreeMap<(&str, &str), &'static str> = &KINDS.kinds;
    kinds.get(&(group_version.as_str(), kind)).and_then(|it| by_name(it))
}

/// A type by its name.
pub(crate) fn by_name(name: &str) -> Option<&'static Definition> {
    KINDS.definitions.get(name)
}

/// All types.
pub(crate) fn all() -> impl Iterator<Item = &'static Definition> {
    KINDS.definitions.values()
}

impl Definition {
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.get(name)
    }
}

impl Type {
    /// What this is, or what its items are, if that has named fields.
    pub(crate) fn object(&self) -> Option<&'static Definition> {
        match self {
            Self::Object(name) => by_name(name),
            Self::List(item) => item.object(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(of: &Type) -> Vec<&'static str> {
        match of {
            Type::Object(name) => vec![name],
            Type::List(item) | Type::Map(item) => references(item),
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_line_is_understood() {
        let lines = include_str!("fields.txt").lines().filter(|it| !it.starts_with('#'));
        let (fields, types): (Vec<&str>, Vec<&str>) = lines.partition(|it| it.starts_with(' '));
        assert_eq!(all().count(), types.len());
        assert_eq!(all().map(|it| it.fields.len()).sum::<usize>(), fields.len());
        for definition in all() {
            for (name, field) in &definition.fields {
                for reference in references(&field.holds) {
                    assert!(by_name(reference).is_some(), "{}.{name}: {reference}", definition.name);
                }
                if let Ownership::Keys(keys) = &field.owned {
                    let item = field.holds.object().unwrap();
                    assert!(keys.iter().all(|it| item.field(it).is_some()), "{}.{name}", definition.name);
                }
                if let Merge::Key(key) = &field.patch {
                    assert!(field.holds.object().unwrap().field(key).is_some(), "{}.{name}", definition.name);
                }
            }
        }
    }

    /// Rows that people rely on, by hand.
    #[test]
    fn lists_of_pods() {
        let pod = of_kind("", "v1", "Pod").unwrap();
        let spec = pod.field("spec").unwrap().holds.object().unwrap();
        let list = |name: &str| spec.field(name).map(|it| (it.owned.clone(), it.patch.clone())).unwrap();
        for (name, keys, merge) in [
            ("containers", vec!["name"], Merge::Key("name")),
            ("volumes", vec!["name"], Merge::Key("name")),
            ("imagePullSecrets", vec!["name"], Merge::Key("name")),
            ("schedulingGates", vec!["name"], Merge::Key("name")),
            (
                "topologySpreadConstraints",
                vec!["topologyKey", "whenUnsatisfiable"],
                Merge::Key("topologyKey"),
            ),
        ] {
            assert_eq!(list(name), (Ownership::Keys(keys), merge), "{name}");
        }
        assert_eq!(list("tolerations"), (Ownership::Atomic, Merge::Usual));
        let container = spec.field("containers").unwrap().holds.object().unwrap();
        let ports = container.field("ports").unwrap();
        assert_eq!(ports.owned, Ownership::Keys(vec!["containerPort", "protocol"]));
        assert_eq!(ports.patch, Merge::Key("containerPort"));
        let port = ports.holds.object().unwrap();
        assert_eq!(port.field("protocol").unwrap().default, Some("TCP".into()));
        assert!(of_kind("", "v1", "Widget").is_none());
    }
}
