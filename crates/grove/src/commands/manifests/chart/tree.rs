//! One tree for many installations: what all have in common once, and what only some have with its conditions.
//!
//! The chart's templates are not written, they are found: the objects are built with everything on, and again with each switch
//! turned. What goes when a switch is turned is what the switch is for. So a template can say nothing that the functions do not
//! say that `grove manifests` prints with.

use std::io;

use serde_json::{Map, Value};

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Leaf(Value),
    Map(Vec<Child>),
    List(Vec<Child>),
    /// Template text instead of a value.
    Template(Template),
}

/// What is below a node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Child {
    /// Empty in a list.
    pub(super) key: String,
    /// All have to hold for it to be there.
    pub(super) when: Vec<When>,
    pub(super) tree: Tree,
}

/// A switch is on, or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct When {
    pub(super) switch: usize,
    pub(super) on: bool,
}

/// Text of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Template {
    /// The key with the value of an expression, if that is not empty. A scalar stands on the key's line.
    With { expression: String, is_scalar: bool },
    /// Lines, indented as the node is.
    Lines(String),
}

/// What is in a map or list, by its key or by what makes it the same elsewhere.
type Named = Vec<(String, Value)>;

/// A value as it is in some of the installations: `None` is the one in which no switch is turned.
type Variant<'a> = (Option<usize>, &'a Value);

/// Joins values: `base` with no switch turned, and each of `turned` with one switch turned, which `initial` says whether it was
/// on before.
pub(super) fn join(base: &Value, turned: &[Value], initial: &[bool]) -> io::Result<Tree> {
    let turned = turned.iter().enumerate().map(|(switch, it)| (Some(switch), it));
    let all: Vec<Variant<'_>> = std::iter::once((None, base)).chain(turned).collect();
    Join { initial }.tree(&all, "")
}

struct Join<'a> {
    initial: &'a [bool],
}

impl Join<'_> {
    fn tree(&self, all: &[Variant<'_>], path: &str) -> io::Result<Tree> {
        let Some((_, first)) = all.first() else { return Err(inexpressible(path)) };
        let children = match first {
            Value::Object(_) => {
                let named = |value: &'_ Value| -> io::Result<Named> {
                    let map = value.as_object().ok_or_else(|| inexpressible(path))?;
                    Ok(map.iter().map(|(key, it)| (key.clone(), it.clone())).collect())
                };
                Tree::Map(self.children(all, path, named)?)
            }
            Value::Array(_) => {
                let named = |value: &'_ Value| -> io::Result<Named> {
                    let list = value.as_array().ok_or_else(|| inexpressible(path))?;
                    Ok(list.iter().map(|it| (identity(it), it.clone())).collect())
                };
                let mut children = self.children(all, path, named)?;
                for child in &mut children {
                    child.key.clear();
                }
                Tree::List(children)
            }
            _ if all.iter().all(|(_, it)| it == first) => Tree::Leaf((*first).clone()),
            _ => return Err(inexpressible(path)),
        };
        Ok(children)
    }

    fn children(
        &self,
        all: &[Variant<'_>],
        path: &str,
        named: impl Fn(&Value) -> io::Result<Named>,
    ) -> io::Result<Vec<Child>> {
        let parts: Vec<(Option<usize>, Named)> =
            all.iter().map(|(id, value)| Ok((*id, named(value)?))).collect::<io::Result<_>>()?;
        // The order of the first, and what it lacks behind what it follows elsewhere.
        let mut keys: Vec<String> = Vec::new();
        for (_, part) in &parts {
            let mut place = 0;
            for (key, _) in part {
                let found = keys.iter().position(|it| it == key);
                if found.is_none() {
                    keys.insert(place, key.clone());
                }
                place = found.unwrap_or(place) + 1;
            }
        }
        keys.into_iter()
            .map(|key| {
                let here = format!("{path}/{key}");
                let present: Vec<Variant<'_>> = parts
                    .iter()
                    .filter_map(|(id, part)| Some((*id, &part.iter().find(|it| it.0 == key)?.1)))
                    .collect();
                let when = self.when(all, &present, &here)?;
                Ok(Child { when, tree: self.tree(&present, &here)?, key })
            })
            .collect()
    }

    /// When something is there that only some of all have.
    fn when(&self, all: &[Variant<'_>], present: &[Variant<'_>], path: &str) -> io::Result<Vec<When>> {
        let ids = |them: &[Variant<'_>]| them.iter().map(|it| it.0).collect::<Vec<_>>();
        let (all, present) = (ids(all), ids(present));
        if present.contains(&None) {
            let gone = all.iter().flatten().filter(|it| !present.contains(&Some(**it)));
            return Ok(gone.map(|switch| When { switch: *switch, on: self.initial[*switch] }).collect());
        }
        match present.as_slice() {
            _ if present.len() == all.len() => Ok(Vec::new()),
            [Some(switch)] => Ok(vec![When { switch: *switch, on: !self.initial[*switch] }]),
            _ => Err(inexpressible(path)),
        }
    }
}

/// What makes an item of a list the same item in another installation.
fn identity(item: &Value) -> String {
    let object = (item.get("kind"), item.pointer("/metadata/namespace"), item.pointer("/metadata/name"));
    match object {
        (Some(kind), namespace, Some(name)) => {
            format!("{kind} {} {name}", namespace.unwrap_or(&Value::Null))
        }
        _ => item.get("name").map_or_else(|| item.to_string(), Value::to_string),
    }
}

fn inexpressible(path: &str) -> io::Error {
    io::Error::other(format!("{path}: what the switches do here cannot be said by conditions of the chart"))
}

impl Tree {
    /// The value where switches are as given.
    #[cfg(test)]
    pub(super) fn value(&self, on: &[bool]) -> Value {
        let there = |children: &'_ [Child]| -> Vec<(String, Value)> {
            let holds = |it: &&Child| it.when.iter().all(|it| on[it.switch] == it.on);
            children.iter().filter(holds).map(|it| (it.key.clone(), it.tree.value(on))).collect()
        };
        match self {
            Self::Leaf(value) => value.clone(),
            Self::Map(children) => Value::Object(there(children).into_iter().collect::<Map<_, _>>()),
            Self::List(children) => there(children).into_iter().map(|it| it.1).collect(),
            Self::Template(_) => Value::Null,
        }
    }

    /// The value without its conditions. For what has none.
    pub(super) fn unconditional(&self) -> Value {
        let each = |children: &[Child]| -> Vec<(String, Value)> {
            children.iter().map(|it| (it.key.clone(), it.tree.unconditional())).collect()
        };
        match self {
            Self::Leaf(value) => value.clone(),
            Self::Map(children) => Value::Object(each(children).into_iter().collect::<Map<_, _>>()),
            Self::List(children) => each(children).into_iter().map(|it| it.1).collect(),
            Self::Template(_) => Value::Null,
        }
    }

    /// The children.
    pub(super) fn children_mut(&mut self) -> Option<&mut Vec<Child>> {
        match self {
            Self::Map(children) | Self::List(children) => Some(children),
            Self::Leaf(_) | Self::Template(_) => None,
        }
    }

    /// The text or number of a field of a map.
    pub(super) fn text(&self, path: &[&str]) -> &str {
        match (self, path) {
            (Self::Leaf(value), []) => value.as_str().unwrap_or_default(),
            (Self::Map(children), [key, rest @ ..]) => {
                children.iter().find(|it| it.key == *key).map_or("", |it| it.tree.text(rest))
            }
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_switch_takes_away_is_conditional_on_it() {
        let base = json!({ "a": 1, "list": ["x", "y"], "map": { "deep": [{ "name": "n", "v": 1 }] } });
        let turned = [
            json!({ "a": 1, "list": ["y"], "map": { "deep": [{ "name": "n" }] } }),
            json!({ "a": 1, "b": 2, "list": ["x", "y", "z"], "map": { "deep": [{ "name": "n", "v": 1 }] } }),
        ];
        let tree = join(&base, &turned, &[true, false]).unwrap();
        assert_eq!(tree.value(&[true, false]), base);
        assert_eq!(tree.value(&[false, false]), turned[0]);
        assert_eq!(tree.value(&[true, true]), turned[1]);
        assert_eq!(
            tree.value(&[false, true]),
            json!({ "a": 1, "b": 2, "list": ["y", "z"], "map": { "deep": [{ "name": "n" }] } })
        );
    }

    #[test]
    fn a_value_that_a_switch_changes_is_an_error_that_names_it() {
        let error = join(&json!({ "a": { "b": 1 } }), &[json!({ "a": { "b": 2 } })], &[true]).unwrap_err();
        assert!(error.to_string().starts_with("/a/b: "), "{error}");
    }
}
