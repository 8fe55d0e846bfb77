//! Reads `fields.txt`. A line that cannot be read is left out; a test sees to it that there is none.

use std::collections::BTreeMap;

use super::{Definition, Field, Kinds, Merge, Ownership, Type};

pub(super) fn read(text: &'static str) -> Kinds {
    let mut out = Kinds::default();
    let mut open: Option<Definition> = None;
    for line in text.lines().filter(|it| !it.starts_with('#')) {
        if let Some(line) = line.strip_prefix(' ') {
            if let (Some(definition), Some((name, field))) = (&mut open, field(line)) {
                definition.fields.insert(name, field);
            }
        } else {
            let next = begin(&mut out.kinds, line);
            close(&mut out, open.replace(next));
        }
    }
    close(&mut out, open);
    out
}

fn close(kinds: &mut Kinds, definition: Option<Definition>) {
    if let Some(definition) = definition {
        kinds.definitions.insert(definition.name, definition);
    }
}

/// The first line of a type: its name, and of a kind its group, version and kind.
fn begin(kinds: &mut BTreeMap<(&'static str, &'static str), &'static str>, line: &'static str) -> Definition {
    let mut words = line.split(' ');
    let name = words.next().unwrap_or_default();
    let rest: Vec<&'static str> = words.collect();
    if let [group_version, kind, ..] = rest.as_slice() {
        kinds.insert((group_version, kind), name);
    }
    Definition { name, atomic: rest.last() == Some(&"atomic"), fields: BTreeMap::new() }
}

fn field(line: &'static str) -> Option<(&'static str, Field)> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let holds = of_type(words.next()?)?;
    let (owned, patch) = (Ownership::default(), Merge::default());
    let mut field = Field { holds, owned, patch, default: None, always: false };
    for word in words {
        match word.split_once('=') {
            Some(("keys", keys)) => field.owned = Ownership::Keys(keys.split(',').collect()),
            Some(("merge", key)) => field.patch = Merge::Key(key),
            Some(("default", value)) => field.default = serde_json::from_str(value).ok(),
            Some(_) => return None,
            None => match word {
                "set" => field.owned = Ownership::Set,
                "atomic" => field.owned = Ownership::Atomic,
                "merge" => field.patch = Merge::Values,
                "replace" => field.patch = Merge::Replace,
                "always" => field.always = true,
                // Clients that make patches need it; who applies one does not.
                "retain" => {}
                _ => return None,
            },
        }
    }
    Some((name, field))
}

fn of_type(word: &'static str) -> Option<Type> {
    let inside = |open: char, close: char| word.strip_prefix(open)?.strip_suffix(close);
    if let Some(item) = inside('[', ']') {
        return Some(Type::List(Box::new(of_type(item)?)));
    }
    if let Some(item) = inside('{', '}') {
        return Some(Type::Map(Box::new(of_type(item)?)));
    }
    Some(match word {
        "*" => Type::Any,
        "s" => Type::Text,
        "y" => Type::Bytes,
        "t" => Type::Time,
        "i" => Type::Integer,
        "n" => Type::Number,
        "b" => Type::Boolean,
        "q" => Type::Quantity,
        "x" => Type::IntOrText,
        name => Type::Object(name),
    })
}
