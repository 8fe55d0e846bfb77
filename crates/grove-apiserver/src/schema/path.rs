//! Where a value is in an object, as Kubernetes writes it.

use std::fmt;

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
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(of, name) => write!(f, "{of}.{name}"),
            Self::Key(of, name) => write!(f, "{of}[{name}]"),
            Self::Index(of, at) => write!(f, "{of}[{at}]"),
        }
    }
}
