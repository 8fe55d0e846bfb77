//! Where the next page of a list begins. Clients must not look into it.

use crate::failure::Failure;
use crate::store::Key;

/// A list of a revision, read up to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) revision: u64,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Token {
    pub(crate) fn after(key: &Key, revision: u64) -> Self {
        Self { revision, namespace: key.namespace.clone(), name: key.name.clone() }
    }

    /// Namespaces have no dots, so the name is what is left.
    pub(crate) fn write(&self) -> String {
        format!("{}.{}.{}", self.revision, self.namespace, self.name)
    }

    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let mut parts = text.splitn(3, '.');
        let mut next = || parts.next();
        let token = (|| {
            let (revision, namespace, name) = (next()?.parse().ok()?, next()?.to_owned(), next()?.to_owned());
            Some(Self { revision, namespace, name })
        })();
        token.ok_or_else(|| {
            Failure::bad_request(format!("invalid continue token: continue key is not valid: {text:?}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        for (namespace, name) in [("a", "b"), ("", "b.c.d"), ("a", "")] {
            let token = Token::after(&Key::new("things", namespace, name), 7);
            assert_eq!(Token::read(&token.write()), Ok(token));
        }
        for text in ["", "nonsense", "1", "1.a", "x.a.b"] {
            assert_eq!(Token::read(text).unwrap_err().code, 400, "{text}");
        }
    }
}
