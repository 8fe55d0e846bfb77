//! Where a value is in an object, as Kubernetes writes it.

use std::fmt;

/// As many bytes as a message shows of one name: with a name of a megabyte, a hundred messages would have a hundred of them.
const LONGEST: usize = 256;

/// The place of a value. It borrows the place that it is in, so that a walk costs nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Path<'a> {
    /// The object itself.
    Root,
    /// A field.
    Field(&'a Path<'a>, &'a str),
    /// An entry of a map.
    Key(&'a Path<'a>, &'a str),
    /// An item of a list.
    Index(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn field(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    pub(crate) fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    pub(crate) fn index(&'a self, at: usize) -> Self {
        Self::Index(self, at)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => write!(f, "{}", Shown(name)),
            Self::Field(of, name) => write!(f, "{of}.{}", Shown(name)),
            Self::Key(of, name) => write!(f, "{of}[{}]", Shown(name)),
            Self::Index(of, at) => write!(f, "{of}[{at}]"),
        }
    }
}

/// A name as messages show it.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        if name.len() <= LONGEST {
            return f.write_str(name);
        }
        let end = (0..=LONGEST).rev().find(|it| name.is_char_boundary(*it)).unwrap_or(0);
        write!(f, "{}...", name.get(..end).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_with_their_names_cut() {
        let long = "ä".repeat(1 << 20);
        let list = Path::Field(&Path::Root, "list");
        assert_eq!(Path::Field(&list.index(3), "name").to_string(), "list[3].name");
        let shown = Path::Root.field(&long).to_string();
        assert_eq!(shown, format!("{}...", "ä".repeat(LONGEST / 2)));
        assert_eq!(Path::Key(&Path::Root, &long).to_string(), format!("[{shown}]"));
    }
}
