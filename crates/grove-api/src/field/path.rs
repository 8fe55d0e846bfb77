//! Where in an object a finding is: `spec.template.cliques[1].name`.

use std::fmt;

/// One step into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A field of an object: `.name`.
    Field(String),
    /// An element of a list: `[3]`.
    Index(usize),
    /// An entry of a map with free keys: `[grove.io/mnnvl-group]`.
    Key(String),
}

/// A path to a field, printed the way the Kubernetes API server prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Segment>);

impl Path {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// A path made of field names, for example `Path::of(&["spec", "template"])`.
    pub fn of(fields: &[&str]) -> Self {
        Self(fields.iter().map(|field| Segment::Field((*field).to_owned())).collect())
    }

    /// The field `name` below this path.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        self.with(Segment::Field(name.to_owned()))
    }

    /// The list element `index` below this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(Segment::Index(index))
    }

    /// The map entry `key` below this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(Segment::Key(key.to_owned()))
    }

    /// The steps from the root.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The path without its last step; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, rest) = self.0.split_last()?;
        Some(Self(rest.to_vec()))
    }

    /// Reads `spec.levels[0].key` as it is printed; used for paths that serde or a table gives as text.
    pub fn parse(text: &str) -> Self {
        let mut path = Self::root();
        let mut rest = text.trim_start_matches('.');
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let (token, tail) = inner.split_once(']').unwrap_or((inner, ""));
                path = match token.parse() {
                    Ok(index) => path.index(index),
                    Err(_) => path.key(token),
                };
                rest = tail.trim_start_matches('.');
            } else {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                path = path.child(&rest[..end]);
                rest = rest[end..].trim_start_matches('.');
            }
        }
        path
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if position == 0 => write!(f, "{name}")?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_like_kubernetes() {
        let path = Path::of(&["spec", "template"]).child("cliques").index(1).child("annotations");
        assert_eq!(
            path.key("grove.io/mnnvl-group").to_string(),
            "spec.template.cliques[1].annotations[grove.io/mnnvl-group]"
        );
    }

    #[test]
    fn parses_what_it_prints() {
        for text in ["spec", "spec.levels[0].key", "metadata.annotations[a.b/c].x", "a[1][2].b", ""] {
            assert_eq!(Path::parse(text).to_string(), text);
        }
    }

    #[test]
    fn parent_drops_one_step() {
        assert_eq!(Path::parse("a.b[1]").parent(), Some(Path::parse("a.b")));
        assert_eq!(Path::root().parent(), None);
    }
}
