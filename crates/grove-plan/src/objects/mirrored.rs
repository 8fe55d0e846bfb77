//! Keys that come from somewhere else (a set's metadata, a clique template) and go when they go there.
//!
//! Which of an object's labels and annotations came from us is written down on the object itself, because keys that
//! others put there have to survive.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Annotation that lists the mirrored keys: labels, then annotations.
pub const MIRRORED: &str = "grove.io/mirrored-keys";

/// Annotation of a clique that had a hash of another implementation, or of another version of ours, when its template was
/// changed: our hash of the template that it had, `=`, and that hash.
pub const ADOPTED: &str = "grove.io/adopted-template-hash";

/// Labels and annotations that an object should have, and which of them are mirrored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mirrored {
    /// Label keys.
    pub labels: BTreeSet<String>,
    /// Annotation keys.
    pub annotations: BTreeSet<String>,
}

impl Mirrored {
    /// What an object says of itself. An object without the annotation has only keys of others.
    pub fn read(annotations: Option<&BTreeMap<String, String>>) -> Self {
        let Some(text) = annotations.and_then(|it| it.get(MIRRORED)) else { return Self::default() };
        let mut halves = text.splitn(2, ';');
        let mut keys = || -> BTreeSet<String> {
            halves
                .next()
                .into_iter()
                .flat_map(|it| it.split(','))
                .filter(|it| !it.is_empty())
                .map(str::to_owned)
                .collect()
        };
        Self { labels: keys(), annotations: keys() }
    }

    /// The annotation's value; `None` where nothing is mirrored.
    pub fn write(&self) -> Option<String> {
        let join = |keys: &BTreeSet<String>| keys.iter().cloned().collect::<Vec<_>>().join(",");
        (!self.labels.is_empty() || !self.annotations.is_empty())
            .then(|| format!("{};{}", join(&self.labels), join(&self.annotations)))
    }

    /// Merge patch of `metadata` that removes what was mirrored before and is no longer wanted.
    pub(crate) fn removals(
        &self,
        labels: &BTreeMap<String, String>,
        annotations: &BTreeMap<String, String>,
    ) -> Map<String, Value> {
        let gone = |old: &BTreeSet<String>, new: &BTreeMap<String, String>| -> Map<String, Value> {
            old.iter().filter(|it| !new.contains_key(*it)).map(|it| (it.clone(), Value::Null)).collect()
        };
        let mut patch = Map::new();
        for (field, map) in
            [("labels", gone(&self.labels, labels)), ("annotations", gone(&self.annotations, annotations))]
        {
            if !map.is_empty() {
                patch.insert(field.to_owned(), Value::Object(map));
            }
        }
        patch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let keys = Mirrored {
            labels: ["a", "b/c"].map(str::to_owned).into(),
            annotations: ["d"].map(str::to_owned).into(),
        };
        let text = keys.write().unwrap();
        assert_eq!(text, "a,b/c;d");
        assert_eq!(Mirrored::read(Some(&[(MIRRORED.to_owned(), text)].into())), keys);
        assert_eq!(Mirrored::default().write(), None);
        assert_eq!(Mirrored::read(None), Mirrored::default());
        let only = Mirrored { annotations: ["d".to_owned()].into(), ..Mirrored::default() };
        assert_eq!(Mirrored::read(Some(&[(MIRRORED.to_owned(), only.write().unwrap())].into())), only);
    }
}
